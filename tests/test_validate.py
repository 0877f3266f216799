"""What cannot work is said before anything runs, with the value and what is allowed; the rest is left alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.samples import GPU, INTERPRETER
from workbench.estimate import launch_seconds, measured_seconds_per_tile, run_seconds, timed_launches
from workbench.model import BaselineInfo, Problem, RunRequest, TileConfig, VariantInfo
from workbench.presets import PRESETS, WELCOME, find_preset
from workbench.validate import find_faults, size_text, trace_bytes

ARTICLE = VariantInfo("article", "", "", ("fp32",), ("ieee",), 256, (16, 32, 64, 128, 256), False, False, False)
BASELINES = (BaselineInfo("auto", ("fp32", "fp16")), BaselineInfo("flash", ("fp16",)))
GOOD = RunRequest(Problem(64, 129, 128))


def faults(request: RunRequest) -> dict[str, str]:
    return {f.field: f.message for f in find_faults(request, GPU, (ARTICLE,), BASELINES)}


@pytest.mark.parametrize("preset", PRESETS, ids=lambda p: p.name)
def test_every_preset_can_run(preset: object) -> None:
    from workbench.presets import Preset

    assert isinstance(preset, Preset)
    assert faults(RunRequest(preset.problem, preset.tile, rtol=preset.rtol, atol=preset.atol)) == {}


@pytest.mark.parametrize(
    ("request_", "field", "value", "allowed"),
    [
        (replace(GOOD, problem=Problem(0, 1, 1)), "m", "0", "1 to 16777216"),
        (replace(GOOD, problem=Problem(1, -5, 1)), "n", "-5", "1 to"),
        (replace(GOOD, problem=Problem(1, 1, 257)), "d", "257", "1 to 256"),
        (replace(GOOD, problem=Problem(1, 1, 1, seed=-1)), "seed", "-1", "0 to"),
        (replace(GOOD, tile=TileConfig(8, 16)), "block_m", "8", "powers of two from 16 to 256"),
        (replace(GOOD, tile=TileConfig(16, 512)), "block_n", "512", "powers of two from 16 to 256"),
        (replace(GOOD, tile=TileConfig(16, 48)), "block_n", "48", "powers of two from 16 to 256"),
        (replace(GOOD, tile=TileConfig(num_warps=64)), "num_warps", "64", "1, 2, 4, 8, 16, 32"),
        (replace(GOOD, tile=TileConfig(num_stages=0)), "num_stages", "0", "1 to 8"),
        (replace(GOOD, tile=TileConfig(splits=2)), "splits", "2", "1"),
        (replace(GOOD, sdpa="flash"), "sdpa", "flash", "auto"),
        (replace(GOOD, kernel="other"), "kernel", "other", "article"),
        (replace(GOOD, precision="tf32"), "precision", "tf32", "ieee"),
        (replace(GOOD, rtol=float("nan")), "rtol", "nan", "finite"),
        (replace(GOOD, problem=Problem(1, 1, 1, heads=2)), "heads", "2", "1"),
        (replace(GOOD, problem=Problem(1, 1, 1, dtype="fp64")), "dtype", "fp64", "fp32, fp16, bf16"),
        (replace(GOOD, problem=Problem(2**24, 2**24, 256)), "m", "16777216", "80.0 GiB"),
    ],
)
def test_a_fault_names_its_field_the_value_and_what_is_allowed(
    request_: RunRequest, field: str, value: str, allowed: str
) -> None:
    found = faults(request_)
    assert list(found) == [field]
    assert value in found[field] and allowed in found[field] and "\n" not in found[field]


def test_a_kernels_own_limits_are_kept() -> None:
    narrow = replace(ARTICLE, name="narrow", max_d=64, blocks=(64,))
    request = replace(GOOD, kernel="narrow", tile=TileConfig(64, 32))
    found = {f.field: f.message for f in find_faults(request, GPU, (narrow,))}
    assert found == {"d": "D is 128; kernel narrow takes 1 to 64", "block_n": "BLOCK_N is 32; kernel narrow takes 64"}


def test_rules_of_the_device_wait_until_it_is_known() -> None:
    assert find_faults(replace(GOOD, sdpa="flash", kernel="other")) == ()


def test_sizes_are_written_in_their_unit() -> None:
    assert [size_text(n) for n in (12, 2048, 16 * 2**20, 3 * 2**30)] == ["12 B", "2.0 KiB", "16.0 MiB", "3.0 GiB"]
    assert trace_bytes(RunRequest(Problem(1024, 4096, 128), TileConfig(16, 16))) == 3 * 4 * 1024 * 256


def test_the_estimate_grows_with_the_tiles_and_learns() -> None:
    small, large = (RunRequest(Problem(n, n, 64)) for n in (64, 512))
    assert 40 * launch_seconds(small) < launch_seconds(large) < 80 * launch_seconds(small)
    assert launch_seconds(large) == pytest.approx(8.4, rel=0.2), "512 x 512 x 64 with 16 x 16 tiles took 8.4 s"
    assert run_seconds(large) > 30 > run_seconds(small)
    assert timed_launches(10.0) == 3 and timed_launches(0.001) == 20

    from tests.samples import make_record

    measured = make_record(1, Problem(64, 64, 16), kernel_us=48_000.0, device=INTERPRETER).measurement("kernel")
    assert measured is not None
    assert measured_seconds_per_tile(measured) == pytest.approx(3e-3, rel=0.1)


def test_a_first_run_is_short_everywhere() -> None:
    assert run_seconds(RunRequest(find_preset(WELCOME["interpreter"]).problem)) < 5
    assert find_preset(WELCOME["cuda"]).problem == Problem(512, 2048, 128)
