"""`flash_attention`: what it chooses by itself, what it returns, and the sentence for each input it does not take."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

import kernels
from kernels import TileConfig, TileTrace, attention, flash_attention
from kernels.common.checks import Limits
from kernels.common.precision import TRITON_PRECISIONS
from kernels.variants.flash import launch_flash
from kernels.variants.hopper.launch import HOPPER
from tests.kernels.cases import LAYOUTS, Case, Draw, Inputs
from tests.kernels.limits import check_lse, check_output, expect

H200 = Limits("9.0", 132, 232448)
A100 = Limits("8.0", 108, 166912)
CPU = Limits()
SIXTEEN_BITS = ("flash" if HOPPER.refusal(H200) else "hopper", "ieee")
EXACT = "bf16x6" if "bf16x6" in TRITON_PRECISIONS else "tf32x3"


def both(x: Inputs, **options: Any) -> tuple[torch.Tensor, torch.Tensor]:
    result = flash_attention(x.q, x.k, x.v, return_lse=True, **options)
    assert isinstance(result, tuple)
    return result


@pytest.mark.parametrize("dtype", ["fp32", "fp16", pytest.param("bf16", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("causal", [False, True], ids=["all keys", "causal"])
def test_it_is_attention_with_nothing_but_the_tensors(causal: bool, dtype: str, draw: Draw, device: str) -> None:
    """Any heads, any layout: as exact as the limits of fp32 or of the 16-bit type."""
    if dtype == "bf16" and device == "cpu":
        pytest.skip("the interpreter refuses it")
    longest, count = (60, 3) if device == "cpu" else (300, 12)
    for like in draw.cases(count, Case(1, 1, draw.random.choice([8, 24, 64]), dtype, causal), longest=longest):
        case = replace(like, layout=draw.random.choice(LAYOUTS))
        about = f"TILESCOPE_SEED={draw.seed}, {case}"
        x = draw.inputs(case, device)
        expected = expect(x, causal, "ieee")
        out, lse = both(x, causal=causal)
        assert out.dtype == x.q.dtype and out.shape == x.q.shape and out.is_contiguous(), about
        assert lse.dtype == torch.float32 and lse.shape == x.q.shape[:3], about
        check_output(out, expected, about)
        check_lse(lse, expected, "ieee", about)
        alone = flash_attention(x.q, x.k, x.v, causal=causal)
        assert isinstance(alone, torch.Tensor) and torch.equal(alone, out), f"return_lse changed the output; {about}"


@pytest.mark.parametrize(
    ("kernel", "precision"),
    [("flash", "ieee"), ("flash", None), ("split_kv", "tf32x3"), ("split_kv", "bf16x3"), ("split_kv", None)],
)
def test_kernel_precision_tile_and_scale_are_used(kernel: str, precision: str | None, draw: Draw, device: str) -> None:
    if precision not in (None, *TRITON_PRECISIONS):
        pytest.skip("this Triton is too old")
    case = Case(40, 50, 16, "fp32", True, 1, 2, 1)
    x = draw.inputs(case, device)
    scale = draw.random.uniform(0.05, 1.0)
    expected = expect(x, True, precision or "ieee", scale)
    out, lse = both(x, causal=True, kernel=kernel, precision=precision, scale=scale, tile=TileConfig(32, 32, 4, 1, 2))
    about = f"TILESCOPE_SEED={draw.seed}, scale {scale}"
    check_output(out, expected, about)
    check_lse(lse, expected, precision or "ieee", about)


@pytest.mark.parametrize(
    ("limits", "dtype", "d", "wanted"),
    [
        (H200, "fp32", 64, ("split_kv", "bf16x6")),
        (H200, "bf16", 64, SIXTEEN_BITS),
        (H200, "fp16", 256, SIXTEEN_BITS),
        (H200, "fp16", 20, ("flash", "ieee")),
        (A100, "fp32", 5, ("split_kv", "bf16x6")),
        (A100, "bf16", 64, ("flash", "ieee")),
        (CPU, "fp32", 64, ("split_kv", "bf16x6")),
        (CPU, "fp16", 64, ("flash", "ieee")),
    ],
)
def test_the_kernel_is_chosen_by_device_dtype_and_d(
    limits: Limits, dtype: str, d: int, wanted: tuple[str, str], draw: Draw, monkeypatch: pytest.MonkeyPatch
) -> None:
    launched = record(limits, monkeypatch)
    case = Case(20, 30, d, dtype, True, 2, 4, 2)
    x = draw.inputs(case, "cpu")
    flash_attention(x.q, x.k, x.v, causal=True)
    (name, options), *others = launched
    assert not others
    assert (name, options["precision"]) == wanted
    assert options["causal"] and options["scale"] is None and options["lse"] is None
    assert options["tile"] == attention.NAMED[name].spec.default_tile(case, limits, wanted[1])


@pytest.mark.parametrize(("kernel", "precision"), [("flash", EXACT), ("split_kv", "bf16x6")])
def test_the_default_precision_is_as_exact_as_fp32(
    kernel: str, precision: str, draw: Draw, monkeypatch: pytest.MonkeyPatch
) -> None:
    launched = record(H200, monkeypatch)
    x = draw.inputs(Case(20, 30, 16), "cpu")
    flash_attention(x.q, x.k, x.v, kernel=kernel)
    assert [(name, options["precision"]) for name, options in launched] == [(kernel, precision)]


def record(limits: Limits, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, Any]]]:
    """What would be launched on a device with `limits`, in place of launching it."""
    launched: list[tuple[str, dict[str, Any]]] = []

    def recorder(name: str) -> Any:
        return lambda *tensors, **options: launched.append((name, options))

    monkeypatch.setattr(attention, "device_limits", lambda device: limits)
    monkeypatch.setattr(attention, "LAUNCHES", {name: recorder(name) for name in attention.LAUNCHES})
    return launched


def tensors(**shapes: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
    return {"q": (1, 2, 8, 16), "k": (1, 2, 8, 16), "v": (1, 2, 8, 16)} | shapes


@pytest.mark.parametrize(
    ("shapes", "options", "words"),
    [
        (tensors(q=(8, 16)), {}, r"q has shape (8, 16); expected [batch, heads, rows, D]"),
        (tensors(k=(2, 8, 16)), {}, r"k has shape (2, 8, 16); expected [batch, heads, rows, D]"),
        (tensors(v=(1, 1, 2, 8, 16)), {}, r"v has shape (1, 1, 2, 8, 16); expected [batch, heads, rows, D]"),
        (tensors(q=(1, 2, 0, 16)), {}, "q has shape (1, 2, 0, 16); expected [batch, heads, rows, D], each at least 1"),
        (
            tensors(k=(1, 2, 0, 16), v=(1, 2, 0, 16)),
            {},
            "k has shape (1, 2, 0, 16); expected [batch, heads, rows, D], each at least 1",
        ),
        (
            tensors(q=(0, 2, 8, 16), k=(0, 2, 8, 16), v=(0, 2, 8, 16)),
            {},
            "q has shape (0, 2, 8, 16); expected [batch, heads, rows, D], each at least 1",
        ),
        (tensors(q=(1, 2, 8, 257), k=(1, 2, 8, 257), v=(1, 2, 8, 257)), {}, "D is 257; expected at most 256"),
        (tensors(q=(1, 3, 8, 16)), {}, "q has 3 heads and k 2; expected a multiple of k's"),
        (
            tensors(v=(1, 2, 9, 16)),
            {},
            "k is (1, 2, 8, 16) and v (1, 2, 9, 16); expected both [1, Hkv, N, 16]",
        ),
        (tensors(), {"scale": 0.0}, "scale is 0.0; expected a number from 1e-06 to 1e+06"),
        (tensors(), {"scale": -1.0}, "scale is -1.0; expected a number from 1e-06 to 1e+06"),
        (tensors(), {"scale": float("inf")}, "scale is inf; expected a number from 1e-06 to 1e+06"),
        (tensors(), {"scale": float("nan")}, "scale is nan; expected a number from 1e-06 to 1e+06"),
        (tensors(), {"kernel": "fast"}, "kernel is 'fast'; expected one of auto, flash, split_kv, hopper"),
        (tensors(), {"kernel": "flash", "precision": "fp16x3"}, "precision is fp16x3; expected one of ieee, "),
        (tensors(), {"precision": "fp64"}, "precision is fp64; expected one of ieee, "),
        (tensors(), {"tile": TileConfig(48)}, "block_m is 48; expected one of 16, 32, 64, 128, 256"),
    ],
)
def test_unfit_inputs_get_one_line(
    shapes: dict[str, tuple[int, ...]], options: dict[str, Any], words: str, device: str
) -> None:
    with pytest.raises(ValueError) as caught:
        flash_attention(*(torch.ones(shape, device=device) for shape in shapes.values()), **options)
    assert str(caught.value).startswith(words)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("shape", [(1, 2, 0, 16), (0, 2, 8, 16), (1, 2, 8, 0), (1, 0, 8, 16)])
def test_empty_inputs_get_one_line_where_tiles_are_looked_up_too(
    shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table is asked for the nearest problem, by the logarithms of its sizes."""
    monkeypatch.setattr(attention, "device_limits", lambda device: H200)
    x = torch.ones(shape)
    with pytest.raises(ValueError) as caught:
        flash_attention(x, x, x)
    assert str(caught.value) == f"q has shape {shape}; expected [batch, heads, rows, D], each at least 1"


@pytest.mark.parametrize(
    ("dtypes", "words"),
    [
        ((torch.float64,) * 3, "q is torch.float64; expected float32, float16 or bfloat16"),
        ((torch.float32, torch.float16, torch.float32), "k is torch.float16; expected torch.float32, as q"),
        ((torch.float16, torch.float16, torch.float32), "v is torch.float32; expected torch.float16, as q"),
        ((torch.int32,) * 3, "q is torch.int32; expected float32, float16 or bfloat16"),
    ],
    ids=["fp64", "k differs", "v differs", "integers"],
)
def test_unfit_dtypes_get_one_line(dtypes: tuple[torch.dtype, ...], words: str, device: str) -> None:
    with pytest.raises(ValueError) as caught:
        flash_attention(*(torch.ones(1, 2, 8, 17, dtype=dtype, device=device) for dtype in dtypes))
    assert str(caught.value) == words


def test_bf16_and_hopper_are_refused_on_the_cpu() -> None:
    x = torch.ones(1, 1, 8, 16, dtype=torch.bfloat16)
    with pytest.raises(
        ValueError, match=r"q is torch\.bfloat16 on the CPU; Triton's interpreter multiplies it wrongly"
    ):
        flash_attention(x, x, x)
    with pytest.raises(
        ValueError, match=r"kernel hopper needs a GPU of compute capability 9\.0; Triton\'s interpreter has none"
    ):
        flash_attention(x, x, x, kernel="hopper")


def test_the_cpu_needs_the_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels.common.checks, "interpreted", lambda: False)
    x = torch.ones(1, 1, 8, 16)
    with pytest.raises(ValueError, match="q is on the CPU; set TRITON_INTERPRET=1 before Triton is imported"):
        flash_attention(x, x, x)


@pytest.mark.gpu
def test_tensors_of_two_devices_get_one_line() -> None:
    x = torch.ones(1, 1, 8, 16, device="cuda")
    with pytest.raises(ValueError, match="k is on cpu; expected cuda:0, where q is"):
        flash_attention(x, x.cpu(), x)


def test_it_is_what_the_package_offers() -> None:
    assert "flash_attention" in kernels.__all__
    assert kernels.flash_attention is attention.flash_attention


def test_an_input_that_requires_a_gradient_is_refused() -> None:
    """Its gradient would be missing without a word."""
    q, k, v = (torch.randn(1, 1, 4, 16, requires_grad=name == "k") for name in "qkv")
    with pytest.raises(ValueError, match=r"k requires a gradient; this is forward only: call it under torch\.no_grad"):
        flash_attention(q, k, v)
    with torch.no_grad():
        assert torch.isfinite(flash_attention(q, k, v)).all()  # type: ignore[arg-type]


def test_few_rows_with_many_keys_are_split(draw: Draw, monkeypatch: pytest.MonkeyPatch) -> None:
    launched = record(H200, monkeypatch)
    for case, wanted in ((Case(1, 8192, 64, "fp16"), "split_kv"), (Case(1, 100, 64, "fp16"), SIXTEEN_BITS[0])):
        x = draw.inputs(case, "cpu")
        flash_attention(x.q, x.k, x.v)
        assert launched[-1][0] == wanted


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("lse", torch.empty(1, 1, 3), r"lse is torch.float32 \(1, 1, 3\); expected torch.float32 \(1, 1, 4\)"),
        ("lse", torch.empty(1, 1, 4, dtype=torch.float16), "lse is torch.float16"),
        ("lse", torch.empty(1, 1, 8)[..., ::2], "lse has strides"),
        ("trace", TileTrace.unwritten(1, 4, 40, 16, torch.device("cpu")), r"expected torch.float32 \(1, 4, 2\)"),
    ],
    ids=["too short", "of 16 bits", "strided", "of other tiles"],
)
def test_what_is_written_beside_the_output_must_fit(name: str, value: Any, words: str) -> None:
    q, k = torch.randn(1, 1, 4, 16), torch.randn(1, 1, 20, 16)
    with pytest.raises(ValueError, match=words):
        launch_flash(q, k, k, torch.empty_like(q), tile=TileConfig(16, 16), **{name: value})


def test_an_output_whose_elements_share_memory_is_refused() -> None:
    q = torch.randn(1, 2, 4, 16)
    with pytest.raises(ValueError, match="expected a tensor whose elements lie apart"):
        launch_flash(q, q, q, torch.empty(1, 1, 4, 16).expand(1, 2, 4, 16), tile=TileConfig(16, 16))
