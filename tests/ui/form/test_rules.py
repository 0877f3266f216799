"""How the form follows a new kernel, dtype or preset, and what it says cannot be chosen."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kernels.plain.precisions import PRECISIONS
from kernels.plain.tiles import TileConfig
from tests.samples import GPU, INTERPRETER
from tests.ui.form.driver import ANY, ready
from workbench.analysis.presets import find_preset
from workbench.run.request import DTYPES, SDPA_CHOICES, Problem, RunRequest, put
from workbench.ui.form.rules import FormRules

RULES = FormRules(ready())
SMALL = RunRequest(Problem(64, 128, 32))
HEADS = RunRequest(Problem(64, 128, 32, 2, 8, 4, "bf16", True), kernel="any", rtol=1.6e-2, atol=1.6e-2)


def test_before_the_engine_is_known_nothing_follows_and_nothing_is_refused() -> None:
    rules = FormRules()
    request = replace(SMALL, kernel="any", precision="bf16x3")
    assert rules.with_kernel(request, SMALL).request == request
    assert rules.kernel_reasons(request) == {}
    assert rules.reasons(request, "dtype", DTYPES) == {}
    assert rules.best_tile(request) is None


def test_a_kernel_is_refused_for_the_problem_and_not_for_what_follows_it() -> None:
    assert RULES.kernel_reasons(SMALL).keys() == {"far"}
    assert "compute capability 12.0" in RULES.kernel_reasons(SMALL)["far"]
    reasons = RULES.kernel_reasons(HEADS)
    assert reasons.keys() == {"article", "far"}
    for words in ("heads is 8; kernel article takes 1", "causal is on; kernel article has no causal mask"):
        assert words in reasons["article"]
    assert "dtype" not in reasons["article"]


def test_choices_are_refused_one_by_one_with_the_line_that_the_fault_would_have() -> None:
    assert RULES.reasons(SMALL, "dtype", DTYPES).keys() == {"fp16", "bf16"}
    assert RULES.reasons(SMALL, "precision", PRECISIONS).keys() == set(PRECISIONS) - {"ieee"}
    assert RULES.reasons(HEADS, "dtype", DTYPES) == {}
    assert RULES.reason(SMALL, "causal", True) == "causal is on; kernel article has no causal mask"
    assert RULES.reason(SMALL, "splits", 2) == "splits is 2; kernel article takes 1"
    refused = RULES.reasons(SMALL, "sdpa", SDPA_CHOICES)
    assert "it needs a GPU" in refused["flex"]
    assert "not installed" in refused["flash_attn"]
    assert not {"auto", "math", "none"} & refused.keys()


def test_bf16_is_refused_on_the_interpreter() -> None:
    rules = FormRules(ready(INTERPRETER))
    assert rules.reasons(replace(SMALL, kernel="any"), "dtype", DTYPES).keys() == {"bf16"}


def test_a_new_kernel_moves_dtype_and_backend_and_usual_tolerances_and_says_so() -> None:
    before = replace(HEADS, problem=Problem(64, 128, 32, dtype="bf16"), sdpa="flash")
    settled = RULES.with_kernel(replace(before, kernel="article"), before)
    request = settled.request
    assert (request.problem.dtype, request.sdpa, request.rtol, request.atol) == ("fp32", "auto", 2e-3, 2e-3)
    assert settled.notes["dtype"] == "was bf16: kernel article takes fp32"
    assert settled.notes["sdpa"].startswith("was flash: ")
    assert settled.notes["rtol"] == "both were 0.016: 0.002 is usual for fp32"
    assert RULES.faults(request) == ()


def test_a_new_kernel_takes_the_nearest_dtype() -> None:
    settled = RULES.with_kernel(replace(SMALL, kernel="half"), SMALL)
    assert settled.request.problem.dtype == "fp16"
    assert settled.notes["dtype"] == "was fp32: kernel half takes fp16, bf16"
    assert RULES.faults(settled.request) == ()


@pytest.mark.parametrize(
    ("wanted", "kernel", "expected"),
    [("bf16x3", "article", "ieee"), ("tf32x3", "any", "bf16x6"), ("fp16x3", "any", "bf16x6"), ("tf32", "any", "tf32")],
)
def test_a_precision_that_is_not_there_becomes_the_next_one_that_is_no_worse(
    wanted: str, kernel: str, expected: str
) -> None:
    settled = RULES.with_kernel(replace(SMALL, kernel=kernel, precision=wanted), SMALL)
    assert settled.request.precision == expected
    assert ("precision" in settled.notes) == (wanted != expected)


def test_sixteen_bits_take_ieee_and_say_why() -> None:
    before = replace(SMALL, kernel="any", precision="bf16x3")
    settled = RULES.with_dtype(put(before, "dtype", "bf16"), before)
    assert settled.request.precision == "ieee"
    assert "was bf16x3: bf16 takes ieee alone" in settled.notes["precision"]
    assert settled.request.rtol == settled.request.atol == 1.6e-2


def test_tolerances_that_somebody_set_stay() -> None:
    before = replace(SMALL, kernel="any", rtol=1e-6)
    settled = RULES.with_dtype(put(before, "dtype", "bf16"), before)
    assert (settled.request.rtol, settled.request.atol) == (1e-6, 2e-3)
    assert "rtol" not in settled.notes


def test_a_new_kernel_brings_its_own_tile_but_the_articles_keeps_the_one_there_is() -> None:
    tile = TileConfig(32, 128, 8, 2)
    before = replace(SMALL, tile=tile)
    to_other = RULES.with_kernel(replace(before, kernel="any"), before)
    assert to_other.request.tile == ANY.spec.default_tile(SMALL.problem, GPU)
    back = RULES.with_kernel(replace(before, kernel="article"), to_other.request)
    assert back.request.tile == tile
    wide = replace(before, kernel="article", tile=TileConfig(256, 128, 8, 2, 4))
    nearest = RULES.with_kernel(wide, before)
    assert nearest.request.tile == TileConfig(128, 128, 8, 2, 1)
    assert nearest.notes["splits"] == "was 4: kernel article takes 1"
    assert nearest.notes["block_m"].startswith("was 256: kernel article takes 16, 32")


def test_best_tile_fits_the_blocks_of_the_kernel() -> None:
    interpreted = FormRules(ready(INTERPRETER))
    tile = interpreted.best_tile(RunRequest(Problem(20, 20, 8, dtype="fp16"), kernel="half"))
    assert tile is not None and tile.block_m == 64 and tile.block_n == 32
    assert RULES.best_tile(replace(SMALL, problem=Problem(0, 128, 32))) is None
    assert RULES.best_tile(replace(SMALL, kernel="elsewhere")) is None


def test_kv_heads_go_with_the_heads() -> None:
    assert RULES.with_heads(put(SMALL, "heads", 8)).request.problem.kv_heads == 8
    assert RULES.with_heads(put(SMALL, "heads", 0)).request.problem.kv_heads == SMALL.problem.kv_heads


def test_a_preset_brings_a_kernel_that_can_take_it() -> None:
    preset = find_preset("article-small")
    settled = RULES.with_preset(replace(HEADS, kernel="half"), preset)
    request = settled.request
    assert (request.problem, request.tile, request.kernel) == (preset.problem, preset.tile, "article")
    assert settled.notes["kernel"] == "was half: dtype is fp32; kernel half takes fp16, bf16"
    assert RULES.faults(request) == ()


def test_a_presets_tile_is_the_articles() -> None:
    preset = find_preset("article-small")
    request = RULES.with_preset(replace(SMALL, kernel="any", precision="tf32"), preset).request
    assert request.tile == ANY.spec.default_tile(preset.problem, GPU, "tf32")
    assert (request.precision, request.rtol) == ("tf32", 4e-3)
    assert RULES.with_preset(SMALL, preset).request.tile == preset.tile
