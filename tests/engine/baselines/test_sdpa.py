"""The baselines on the CPU against float64: masks, grouped heads, and what they say of themselves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from kernels.reference import attention
from tests.samples import GPU, INTERPRETER
from workbench.engine import announce
from workbench.engine.baselines import sdpa as baseline
from workbench.engine.baselines.packages import FlashPackage
from workbench.engine.baselines.sdpa import Sdpa, make_baseline
from workbench.engine.failures import InvalidRequestError
from workbench.engine.inputs import make_inputs
from workbench.run.request import SDPA_CHOICES, Problem

CPU = torch.device("cpu")
LIMITS = {"fp32": 1e-6, "fp16": 2e-3, "bf16": 1.6e-2}


def largest_error(choice: str, problem: Problem) -> float:
    """Of the rows that see a key."""
    inputs = make_inputs(problem, CPU)
    made = make_baseline(choice, problem, inputs)
    out = made.ordered(made())
    assert out.shape == inputs.q.shape and out.dtype == inputs.q.dtype
    expected = attention(inputs.q, inputs.k, inputs.v, causal=problem.causal)
    return float((out.double() - expected)[:, :, problem.blind_rows :].abs().max())


@pytest.mark.parametrize("kv_heads", [6, 3, 1])
@pytest.mark.parametrize(("m", "n"), [(24, 24), (10, 33), (33, 10)], ids=["M = N", "M < N", "M > N"])
@pytest.mark.parametrize("causal", [False, True], ids=["all keys", "causal"])
@pytest.mark.parametrize("choice", ["auto", "math", "flash"])
def test_every_mask_and_group_is_ours(choice: str, causal: bool, m: int, n: int, kv_heads: int) -> None:
    problem = Problem(m, n, 8, batch=2, heads=6, kv_heads=kv_heads, causal=causal)
    assert largest_error(choice, problem) < LIMITS["fp32"]


@pytest.mark.parametrize("dtype", ["fp16", "bf16"])
def test_16_bit_inputs_give_16_bit_outputs(dtype: str) -> None:
    assert largest_error("auto", Problem(20, 33, 16, heads=2, dtype=dtype, causal=True)) < LIMITS[dtype]


@pytest.mark.parametrize("choice", ["math", "flash"])
def test_the_backend_that_is_forced_is_taken(choice: str) -> None:
    problem = Problem(10, 33, 8, heads=2, causal=True)
    assert Sdpa(choice, problem, make_inputs(problem, CPU)).backend == choice


def test_a_backend_that_pytorch_refuses_is_one_line() -> None:
    problem = Problem(10, 33, 8, heads=2)
    with pytest.raises(InvalidRequestError, match="sdpa is efficient, which PyTorch refuses for 10 × 33 × 8, fp32"):
        Sdpa("efficient", problem, make_inputs(problem, CPU))


@pytest.mark.parametrize(("m", "n", "kv_heads"), [(10, 10, 2), (10, 33, 2), (10, 33, 1)])
@pytest.mark.parametrize("causal", [False, True])
def test_a_backend_without_groups_gets_views(
    m: int, n: int, kv_heads: int, causal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Flash on the CPU takes groups; here it is made to look as if it did not."""
    ask: Callable[..., int] = torch._fused_sdp_choice

    def refuse_groups(*args: object, enable_gqa: bool, **more: object) -> int:
        if enable_gqa:
            raise RuntimeError("No viable backend")
        return ask(*args, enable_gqa=False, **more)

    problem = Problem(m, n, 8, batch=2, heads=6, kv_heads=kv_heads, causal=causal)
    inputs = make_inputs(problem, CPU)
    monkeypatch.setattr(torch, "_fused_sdp_choice", refuse_groups)
    made = Sdpa("flash", problem, inputs)
    assert "flash takes no grouped heads" in made.note and made.backend == "flash"
    assert made._k.data_ptr() == inputs.k.data_ptr() and made._v.data_ptr() == inputs.v.data_ptr(), "nothing is copied"
    expected = attention(inputs.q, inputs.k, inputs.v, causal=causal)
    torch.testing.assert_close(made.ordered(made()).double(), expected, rtol=0, atol=LIMITS["fp32"])


def test_without_the_private_function_the_backend_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(torch, "_fused_sdp_choice")
    problem = Problem(10, 10, 8)
    made = Sdpa("auto", problem, make_inputs(problem, CPU))
    assert made.backend == "unknown" and made().shape == (1, 1, 10, 8)


def test_every_choice_is_announced_or_its_package_is_missing() -> None:
    for device in (GPU, INTERPRETER):
        known = {b.name: b for b in announce.announced_baselines(device)}
        assert [name for name in SDPA_CHOICES if name in known] == list(known)
        missing = {name for name in SDPA_CHOICES if name not in known}
        assert missing <= {"none", *baseline_packages()} and all(b.description for b in known.values())
        assert bool(known["flex"].unavailable) is (device is INTERPRETER)
        assert "causal_lower_right" in known["auto"].description
    assert {b.name for b in announce.announced_baselines(GPU) if "fp32" not in b.dtypes} >= {"flash", "cudnn"}


@pytest.mark.parametrize(
    ("version", "refusal"),
    [("2.6.0+cu124", "it needs torch 2.7 or newer; this is 2.6.0+cu124"), ("2.7.0", ""), ("2.13.0+cpu", "")],
)
def test_flex_is_refused_where_torch_is_older_than_triton(version: str, refusal: str) -> None:
    known = {b.name: b for b in announce.announced_baselines(replace(GPU, torch=version))}
    assert known["flex"].unavailable == refusal
    assert "NVIDIA GPU" in announce.announced_baselines(replace(INTERPRETER, torch=version))[5].unavailable


def test_an_installed_package_is_announced_and_called_as_its_function_wants(monkeypatch: pytest.MonkeyPatch) -> None:
    """No such package can be installed here: one is put in its place that attends with PyTorch."""
    import importlib.machinery
    import sys
    import types

    package = types.ModuleType("flash_attn")
    package.__spec__ = importlib.machinery.ModuleSpec("flash_attn", None)

    def flash_attn_func(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, causal: bool) -> tuple[torch.Tensor, int]:
        ours = [t.transpose(1, 2) for t in (q, k, v)]
        return attention(*ours, causal=causal).to(q.dtype).transpose(1, 2), 0

    package.flash_attn_func = flash_attn_func  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "flash_attn", package)
    (found,) = [b for b in announce.announced_baselines(GPU) if b.name == "flash_attn"]
    assert found.dtypes == ("fp16", "bf16") and not found.unavailable
    assert announce.announced_baselines(INTERPRETER)[-1].unavailable
    problem = Problem(12, 20, 8, batch=2, heads=4, kv_heads=2, dtype="fp16", causal=True)
    assert isinstance(make_baseline("flash_attn", problem, make_inputs(problem, CPU)), FlashPackage)
    assert largest_error("flash_attn", problem) < LIMITS["fp16"]


@pytest.mark.filterwarnings("ignore")  # that it is not compiled here, and what importing torch's compiler brings
@pytest.mark.parametrize(("m", "n"), [(24, 24), (10, 33), (33, 10)], ids=["M = N", "M < N", "M > N"])
@pytest.mark.parametrize("causal", [False, True], ids=["all keys", "causal"])
def test_flex_has_our_mask_and_our_groups(m: int, n: int, causal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Uncompiled, since compiling is for a GPU; the mask and the call are the same."""
    if too_old := announce.flex_refusal(torch.__version__):
        pytest.skip(too_old)
    monkeypatch.setattr(torch, "compile", lambda function, **options: function)
    assert largest_error("flex", Problem(m, n, 16, batch=2, heads=4, kv_heads=2, causal=causal)) < LIMITS["fp32"]


def baseline_packages() -> set[str]:
    from workbench.engine.baselines.packages import PACKAGES

    return set(PACKAGES)


def test_the_names_of_the_backends_are_pytorchs() -> None:
    assert set(baseline._BACKENDS) < set(SDPA_CHOICES)
