"""Inputs that break an online softmax: huge scores, equal ones, one hot key, infinite keys, rows that see nothing.

Every variant, on the interpreter with small problems and on a GPU with larger ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
import torch

from kernels import VARIANTS, KernelVariant, TileConfig
from kernels.common.checks import Limits, device_limits, interpreted
from kernels.plain.precisions import PRECISIONS
from kernels.plain.spec import KernelSpec
from kernels.reference import attention
from kernels.variants.split_kv.launch import SPLIT_KV, launch_split_kv
from tests.kernels.cases import NAN, Case, Draw, Inputs
from tests.kernels.launching import check_launch, gives_lse, launch, parts_before
from tests.kernels.limits import EXACT, check_lse, check_output, expect

# numpy, unlike a GPU, warns of -inf * 0 in a masked score.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

TILES = {"cpu": TileConfig(32, 32, 4, 1), "cuda": TileConfig(64, 32, 4, 1)}


@dataclass(frozen=True)
class Setup:
    """A variant with a dtype and a precision on a device, and problems that suit them."""

    variant: KernelVariant
    dtype: str
    precision: str
    device: str
    before: bool = False
    """For `split_kv`: whether K and V are split into parts by a kernel that runs before."""

    @property
    def tile(self) -> TileConfig:
        """The device's usual one, or where the kernel does not take it the first of its space."""
        spec, case, tile = self.variant.spec, self.case(1, 1), TILES[self.device]
        taken = tile if spec.nearest(tile, case.d) == tile else spec.space(case, Limits())[0]
        return replace(taken, splits=2) if spec.splits else taken

    def case(self, m: int, n: int, causal: bool = False, heads: int = 1, kv_heads: int = 1) -> Case:
        """A problem of 8 times these sizes on a GPU, and with D 64 in place of 16."""
        factor, d = (8, 64) if self.device == "cuda" else (1, 16)
        return Case(m * factor, n * factor, d, self.dtype, causal and self.variant.spec.causal, 1, heads, kv_heads)

    def check(self, case: Case, x: Inputs, draw: Draw) -> torch.Tensor:
        return check_launch(self.variant, case, self.tile, self.precision, draw, self.device, x)


def tried(spec: KernelSpec, device: str) -> list[str]:
    """Of fp32: what the interpreter makes as it is, and on a GPU also the most exact that the tensor cores make."""
    first = next((name for name in spec.precisions if PRECISIONS[name].on_interpreter), "ieee")
    others = {name for name in spec.precisions if name not in ("ieee", first)} if device == "cuda" else set()
    return [first, *sorted(others, key=lambda name: PRECISIONS[name].exactness)[-1:]]


def _setups() -> list[Any]:
    setups = []
    for variant in VARIANTS:
        for device in ("cpu", "cuda"):
            for dtype in variant.spec.dtypes:
                if device == "cpu" and (variant.spec.capability or dtype == "bf16"):
                    continue
                for precision in tried(variant.spec, device) if dtype == "fp32" else ("ieee",):
                    marks = (pytest.mark.gpu,) if device == "cuda" else ()
                    for before in (False, True) if variant.spec.splits and dtype == "fp32" else (False,):
                        name = f"{variant.name}-{dtype}-{precision}-{device}{'-before' if before else ''}"
                        setup = Setup(variant, dtype, precision, device, before)
                        setups.append(pytest.param(setup, id=name, marks=marks))
    return setups


@pytest.fixture(params=_setups())
def chosen(request: pytest.FixtureRequest) -> Iterator[Setup]:
    """Every variant, dtype and device; those that this process cannot use are skipped."""
    setup = request.param
    assert isinstance(setup, Setup)
    if setup.device == "cpu" and not interpreted():
        pytest.skip("this process compiles for the GPU")
    reason = setup.variant.refusal(device_limits(torch.device("cuda"))) if setup.device == "cuda" else ""
    if reason:
        pytest.skip(reason)
    with parts_before(setup.before):
        yield setup


@pytest.mark.parametrize("sign", [1, -1], ids=["up to 1e4", "down to -1e4"])
def test_scores_of_ten_thousand(chosen: Setup, sign: int, draw: Draw) -> None:
    """fp32 has about 3 digits after the point there, and SDPA no more."""
    case = chosen.case(40, 37)
    x = draw.inputs(case, chosen.device)
    scores = sign * (x.q.double() @ x.k.double().mT) * case.d**-0.5
    x.q.mul_(1e4 / float(scores.max()))
    chosen.check(case, x, draw)


def test_equal_scores_give_the_mean_of_the_values(chosen: Setup, draw: Draw) -> None:
    case = chosen.case(40, 37)
    for name in ("q", "k"):
        x = draw.inputs(case, chosen.device)
        getattr(x, name).zero_()
        out = chosen.check(case, x, draw)
        mean = x.v.double().mean(dim=2, keepdim=True)
        assert float((out.double() - mean).abs().max()) <= expect(x, False, chosen.precision).limit


def test_nothing_but_zeros(chosen: Setup, draw: Draw) -> None:
    """Zero and tiny tiles of Q and K at once: whatever a kernel scales them by, their scores are 0."""
    case = chosen.case(40, 37, causal=True)
    for size in (0.0, 1e-30 if chosen.dtype == "fp32" else 1e-7):
        x = draw.inputs(case, chosen.device)
        x.q.mul_(size)
        x.k.mul_(size)
        chosen.check(case, x, draw)
    x = draw.inputs(case, chosen.device)
    x.v.zero_()
    assert (chosen.check(case, x, draw) == 0).all()


def test_one_hot_key_gives_its_value(chosen: Setup, draw: Draw) -> None:
    """A score far above all others: the weights of the rest are 0 in fp32."""
    case = chosen.case(40, 37)
    hot = draw.random.randrange(case.n)
    x = draw.inputs(case, chosen.device)
    x.k.zero_()
    x.k[0, 0, hot] = 30 * x.q[0, 0, 3]
    out = chosen.check(case, x, draw)
    worst = float((out[0, 0, 3].double() - x.v[0, 0, hot].double()).abs().max())
    assert worst <= expect(x, False, chosen.precision).limit, f"TILESCOPE_SEED={draw.seed}"


@pytest.mark.parametrize("shape", [(1, 1), (1, 37), (20, 1), (2, 3)], ids=["1 x 1", "one row", "one key", "2 x 3"])
@pytest.mark.parametrize("causal", [False, True], ids=["all keys", "causal"])
def test_one_row_one_key(chosen: Setup, causal: bool, shape: tuple[int, int], draw: Draw) -> None:
    case = replace(chosen.case(1, 1, causal), m=shape[0], n=shape[1])
    chosen.check(case, draw.inputs(case, chosen.device), draw)


@pytest.mark.parametrize("heads", [(1, 1), (2, 1)], ids=["one head", "two"])
def test_rows_that_see_no_key_are_zero(chosen: Setup, heads: tuple[int, int], draw: Draw) -> None:
    """More rows than keys: whole query blocks see nothing, one sees the first keys. Never NaN, where SDPA gives it."""
    if not chosen.variant.spec.causal:
        pytest.skip("no causal mask")
    case = chosen.case(80, 13, True, *heads)
    out = chosen.check(case, draw.inputs(case, chosen.device), draw)
    assert (out[:, :, : case.m - case.n] == 0).all(), f"TILESCOPE_SEED={draw.seed}"
    assert (out[:, :, case.m - case.n :] != 0).any(dim=3).all()


def test_infinite_keys_behind_the_mask_do_not_show(chosen: Setup, draw: Draw) -> None:
    """The last keys are -inf: the rows that do not see them are as if they were not there."""
    if not chosen.variant.spec.causal:
        pytest.skip("no causal mask")
    case = chosen.case(40, 37, True)
    behind = case.m // 2
    x = draw.inputs(case, chosen.device)
    infinite = x.k.clone()
    infinite[:, :, case.n - behind :] = float("-inf")
    rows = case.m - behind
    seen = Inputs(x.q[:, :, :rows], x.k[:, :, : case.n - behind], x.v[:, :, : case.n - behind])
    expected = expect(seen, True, chosen.precision)
    out = torch.full_like(x.q, NAN)
    lse = torch.full(x.q.shape[:3], NAN, device=chosen.device)
    more = {"lse": lse} if gives_lse(chosen.variant) else {}
    launch(chosen.variant, Inputs(x.q, infinite, x.v), out, chosen.tile, chosen.precision, case, **more)
    about = f"TILESCOPE_SEED={draw.seed}, {chosen}, {case}"
    check_output(out[:, :, :rows], expected, about)
    if more:
        check_lse(lse[:, :, :rows], expected, chosen.precision, about)


MAGNITUDES = {
    "huge": (1e30, 1e30, 1e30),
    "tiny": (1e-30, 1e-30, 1e-30),
    "falling": (1e30, 1.0, 1e-30),
    "rising": (1e-30, 1.0, 1e30),
    "between": (1.0, 1e30, 1e-30),
}


@pytest.mark.parametrize("sizes", MAGNITUDES.values(), ids=MAGNITUDES)
def test_values_of_any_size_in_each_tile(chosen: Setup, sizes: tuple[float, ...], draw: Draw) -> None:
    """Every row is as exact as its own values allow: its error is held to its weights times their tiles' sizes.

    With the causal mask the first rows see the first tile alone, so that a scale taken from a later one would show.
    """
    if chosen.dtype != "fp32":
        pytest.skip("out of the range of 16 bits, or not a sum that fp32 must hold to this")
    case, x = _with_tiles(chosen, draw, causal=True)
    factors = _by_tile(chosen, case, sizes)
    x.v.mul_(factors)
    out = torch.full_like(x.q, NAN)
    launch(chosen.variant, x, out, chosen.tile, chosen.precision, case)
    # A weight is as exact as its score, whose rounding goes with the lengths of its two vectors.
    unit = EXACT * (1 + expect(x, case.causal, chosen.precision).size[..., None] / 8)
    allowed = unit * attention(x.q, x.k, _largest_by_tile(x.v, chosen.tile.block_n), causal=case.causal)
    error = (out.double() - attention(x.q, x.k, x.v, causal=case.causal)).abs()
    assert torch.isfinite(out).all(), f"TILESCOPE_SEED={draw.seed}"
    assert (error <= allowed).all(), f"{float((error / allowed).max()):.3g} times the limit; TILESCOPE_SEED={draw.seed}"


@pytest.mark.parametrize("sizes", MAGNITUDES.values(), ids=MAGNITUDES)
def test_keys_of_any_size_in_each_tile(chosen: Setup, sizes: tuple[float, ...], draw: Draw) -> None:
    """Q makes up for the largest tile, so that its scores are ordinary and those of the others 0, or all are."""
    if chosen.dtype != "fp32":
        pytest.skip("out of the range of 16 bits")
    case, x = _with_tiles(chosen, draw, causal=True)
    x.k.mul_(_by_tile(chosen, case, sizes))
    x.q.mul_(1 / max(sizes))
    chosen.check(case, x, draw)


def _with_tiles(chosen: Setup, draw: Draw, causal: bool) -> tuple[Case, Inputs]:
    """A problem of three tiles, the last one not whole."""
    case = chosen.case(1, 1, causal)
    n = 3 * chosen.tile.block_n - 3
    case = replace(case, m=n, n=n)
    return case, draw.inputs(case, chosen.device)


def _by_tile(chosen: Setup, case: Case, sizes: tuple[float, ...]) -> torch.Tensor:
    """[N, 1]: one of `sizes` for each key tile."""
    tile = torch.arange(case.n, device=chosen.device) // chosen.tile.block_n
    return torch.tensor(sizes, device=chosen.device)[tile][:, None]


def _largest_by_tile(v: torch.Tensor, block_n: int) -> torch.Tensor:
    """`v` with each value replaced by the largest of its tile, by size."""
    tiles = torch.split(v.abs(), block_n, dim=2)
    sizes = [tile.amax(dim=(2, 3), keepdim=True).expand_as(tile) for tile in tiles]
    return torch.cat(sizes, dim=2)


@pytest.mark.parametrize("splits", [1, 3])
@pytest.mark.parametrize("sizes", [(1.0, 0, 0, 0, 0, 0, 0), (1e30, 1.0, 1e-30), (1e30, 0, 1e-30, 0, 1.0)], ids=str)
def test_fp16x3_survives_tiles_that_fall_one_after_another(sizes: tuple[float, ...], splits: int, device: str) -> None:
    """The unit of the sum follows the tiles' sizes down, but never so far that what was summed before overflows."""
    generator = torch.Generator().manual_seed(5)
    n = 32 * len(sizes)
    q, k, v = (torch.randn(1, 1, rows, 16, generator=generator).to(device) for rows in (40, n, n))
    v *= torch.tensor(sizes).repeat_interleave(32)[:, None].to(device)
    out = torch.full_like(q, NAN)
    SPLIT_KV.launch(q, k, v, out, tile=TileConfig(32, 32, 4, 1, splits), precision="fp16x3")
    assert float((out.double() - attention(q, k, v)).abs().max()) <= 2.0**-20 * max(sizes)


def test_many_splits_are_combined(device: str) -> None:
    """More than are unrolled at once, and a last round that is not whole."""
    generator = torch.Generator().manual_seed(6)
    q, k, v = (torch.randn(1, 2, rows, 16, generator=generator).to(device) for rows in (3, 16 * 37, 16 * 37))
    out, lse = torch.full_like(q, NAN), torch.full(q.shape[:3], NAN, device=device)
    launch_split_kv(q, k, v, out, tile=TileConfig(16, 16, 4, 1, 37), precision="ieee", lse=lse)
    scores = q.double() @ k.double().transpose(2, 3) / 4
    torch.testing.assert_close(out.double(), scores.softmax(3) @ v.double(), rtol=0, atol=1e-6)
    torch.testing.assert_close(lse.double(), scores.logsumexp(3), rtol=0, atol=1e-5)
