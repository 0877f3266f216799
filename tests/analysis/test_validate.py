"""What cannot work is said before anything runs, with the value and what is allowed; the rest is left alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kernels.plain.spec import Limit
from kernels.plain.tiles import TileConfig
from kernels.plain.traffic import WrittenScores
from tests.samples import GPU, INTERPRETER, make_kernel
from workbench.analysis.estimate import (
    duration_words,
    launch_seconds,
    measured_seconds_per_tile,
    run_seconds,
    timed_launches,
)
from workbench.analysis.presets import PRESETS, WELCOME, Preset, find_preset
from workbench.analysis.validate import find_faults
from workbench.run.environment import BaselineInfo, DeviceInfo
from workbench.run.protocols import PROTOCOLS
from workbench.run.request import Problem, RunRequest

DTYPES = ("fp32", "fp16", "bf16")
ARTICLE = make_kernel("article", dtypes=("fp32",), precisions=("ieee",), heads=False, causal=False)
GENERAL_FACTS: dict[str, Any] = {"precisions": ("ieee", "tf32"), "block_ns": (16, 32), "d_step": 8, "splits": True}
GENERAL = make_kernel("general", **GENERAL_FACTS)
ELSEWHERE = make_kernel("elsewhere", "kernel elsewhere needs a GPU of compute capability 1.0", **GENERAL_FACTS)
FIXED = make_kernel("fixed", limits=(Limit("num_warps", (8,)),), **GENERAL_FACTS)
KERNELS = (ARTICLE, GENERAL, FIXED, ELSEWHERE)
BASELINES = (
    BaselineInfo("auto", DTYPES),
    BaselineInfo("flash", ("fp16", "bf16")),
    BaselineInfo("cudnn", ("fp16", "bf16"), d_step=8),
    BaselineInfo("efficient", DTYPES, unavailable="it needs an NVIDIA GPU"),
    BaselineInfo("flex", DTYPES, min_d=16),
)
GOOD = RunRequest(Problem(64, 129, 128))
MANY = RunRequest(Problem(64, 129, 128, 2, 8, 4), TileConfig(32, 32), kernel="general")


def faults(request: RunRequest, device: DeviceInfo = GPU) -> dict[str, str]:
    return {f.field: f.message for f in find_faults(request, device, KERNELS, BASELINES)}


@pytest.mark.parametrize("preset", PRESETS, ids=lambda p: p.name)
def test_every_preset_can_run(preset: Preset) -> None:
    assert faults(RunRequest(preset.problem, preset.tile, rtol=preset.rtol, atol=preset.atol)) == {}


@pytest.mark.parametrize(
    ("request_", "field", "value", "allowed"),
    [
        (replace(GOOD, problem=Problem(0, 1, 1)), "m", "0", "1 to 16777216"),
        (replace(GOOD, problem=Problem(1, -5, 1)), "n", "-5", "1 to"),
        (replace(GOOD, problem=Problem(1, 1, 257)), "d", "257", "1 to 256"),
        (replace(GOOD, problem=Problem(1, 1, 1, seed=-1)), "seed", "-1", "0 to"),
        (replace(GOOD, tile=TileConfig(8, 16)), "block_m", "8", "kernel article takes 16, 32, 64, 128, 256"),
        (replace(GOOD, tile=TileConfig(16, 512)), "block_n", "512", "kernel article takes 16, 32, 64, 128, 256"),
        (replace(GOOD, tile=TileConfig(16, 48)), "block_n", "48", "kernel article takes 16, 32, 64, 128, 256"),
        (replace(GOOD, tile=TileConfig(num_warps=64)), "num_warps", "64", "article takes 1, 2, 4, 8, 16, 32"),
        (replace(GOOD, tile=TileConfig(num_stages=0)), "num_stages", "0", "1 to 8"),
        (replace(GOOD, tile=TileConfig(splits=2)), "splits", "2", "1"),
        (replace(GOOD, tile=TileConfig(splits=-1)), "splits", "-1", "auto, or 1 to 16777216"),
        (replace(GOOD, tile=TileConfig(splits=2**24 + 1)), "splits", "16777217", "auto, or 1 to 16777216"),
        (replace(GOOD, protocol="fast"), "protocol", "'fast'", "auto, block, cold, warm, graph, graph-cold, profiler"),
        (replace(GOOD, max_seconds=0.0), "max_seconds", "0", "above 0 to 600"),
        (replace(GOOD, max_seconds=float("nan")), "max_seconds", "nan", "above 0 to 600"),
        (replace(GOOD, max_samples=0), "max_samples", "0", "1 to 1000000"),
        (replace(GOOD, sdpa="flash"), "sdpa", "flash", "auto, flex, none"),
        (replace(GOOD, sdpa="efficient"), "sdpa", "it needs an NVIDIA GPU", "auto, flex, none"),
        (replace(GOOD, sdpa="flash_attn"), "sdpa", "flash_attn, which is not installed here", "auto, flex, none"),
        (replace(GOOD, problem=Problem(8, 8, 8), sdpa="flex"), "sdpa", "from 16 to 256, not 8", "auto, none"),
        (
            replace(MANY, problem=Problem(8, 8, 24, dtype="fp16"), kernel="general", sdpa="cudnn", precision="tf32"),
            "precision",
            "tf32; fp16",
            "ieee alone",
        ),
        (replace(GOOD, kernel="elsewhere"), "kernel", "compute capability 1.0", "allowed are article, general, fixed"),
        (replace(GOOD, problem=Problem(8, 8, 8, causal=True)), "causal", "no causal mask", "article"),
        (replace(GOOD, problem=Problem(8, 8, 8, dtype="bf16")), "dtype", "bf16", "fp32"),
        (replace(MANY, problem=Problem(8, 8, 12)), "d", "12", "multiples of 8"),
        (replace(MANY, problem=Problem(8, 8, 8, 1, 8, 3)), "kv_heads", "3", "divisors of heads: 1, 2, 4, 8"),
        (replace(MANY, problem=Problem(8, 8, 8, 0)), "batch", "0", "1 to 65536"),
        (replace(MANY, tile=TileConfig(64, 64)), "block_n", "64", "kernel general takes 16, 32"),
        (replace(MANY, kernel="fixed", tile=TileConfig(32, 32, 4)), "num_warps", "4", "kernel fixed takes 8"),
        (replace(MANY, precision="bf16x3"), "precision", "bf16x3", "ieee, tf32"),
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
    narrow = make_kernel("narrow", max_d=64, block_ns=(64,))
    request = replace(GOOD, kernel="narrow", tile=TileConfig(64, 32))
    found = {f.field: f.message for f in find_faults(request, GPU, (narrow,))}
    assert found == {"d": "D is 128; kernel narrow takes 1 to 64", "block_n": "BLOCK_N is 32; kernel narrow takes 64"}


@pytest.mark.parametrize(
    "request_",
    [
        MANY,
        replace(MANY, tile=TileConfig(32, 32, splits=0)),
        replace(MANY, tile=TileConfig(32, 32, splits=7)),
        replace(MANY, precision="tf32"),
        replace(MANY, problem=Problem(40, 20, 24, 2, 8, 8, "bf16", causal=True), sdpa="cudnn"),
        replace(GOOD, tile=TileConfig(splits=0)),
    ],
)
def test_what_a_kernel_takes_is_no_fault(request_: RunRequest) -> None:
    assert faults(request_) == {}


def test_a_precision_of_newer_tritons_is_refused_as_such() -> None:
    old = make_kernel("general", **GENERAL_FACTS, newer_precisions=("bf16x6",))
    (found,) = find_faults(replace(MANY, precision="bf16x6"), GPU, (old,), BASELINES)
    assert found.message == "precision is bf16x6, which needs a newer Triton; kernel general takes ieee, tf32"


@pytest.mark.parametrize("dtype", DTYPES)
def test_of_a_kernel_that_cannot_run_here_that_alone_is_said(dtype: str) -> None:
    """What it takes elsewhere would read as if another value made it run."""
    request = replace(MANY, kernel="elsewhere", problem=replace(MANY.problem, dtype=dtype, d=12))
    here = replace(ELSEWHERE, dtypes=())
    assert [fault.field for fault in find_faults(request, GPU, (here, GENERAL), BASELINES)] == ["kernel"]


def test_a_limit_of_a_kernel_is_refused_with_its_reason() -> None:
    limit = Limit("block_m", (128,), 64, "a third consumer has registers where D is at most 64")
    narrow = make_kernel("narrow", limits=(limit,), **GENERAL_FACTS)
    request = replace(MANY, kernel="narrow", tile=TileConfig(20, 32))
    (found,) = find_faults(request, GPU, (narrow,), BASELINES)
    assert found.message == f"BLOCK_M is 20; kernel narrow takes 128: {limit.why}"


def test_where_no_kernel_can_run_none_is_called_allowed() -> None:
    (found,) = find_faults(replace(MANY, kernel="elsewhere"), GPU, (ELSEWHERE,), BASELINES)
    assert found.message == ELSEWHERE.unavailable


def test_bf16_is_refused_on_the_interpreter_alone() -> None:
    request = replace(MANY, problem=Problem(8, 8, 8, dtype="bf16"))
    assert faults(request) == {}
    assert faults(request, INTERPRETER) == {
        "dtype": "dtype is bf16, which Triton's interpreter multiplies wrongly; allowed are fp32, fp16"
    }
    assert faults(replace(request, kernel="article"), INTERPRETER)["dtype"].endswith("wrongly; allowed are fp32")
    told = tuple(replace(v, dtypes=tuple(d for d in v.dtypes if d != "bf16")) for v in KERNELS)
    assert [f.message for f in find_faults(request, INTERPRETER, told)] == list(faults(request, INTERPRETER).values())


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_interpreter_takes_the_protocols_that_mean_something_there(protocol: str) -> None:
    request = replace(GOOD, protocol=protocol)
    assert faults(request) == {}
    found = faults(request, INTERPRETER)
    if protocol in ("block", "warm"):
        assert found == {}
    else:
        assert list(found) == ["protocol"]
        assert found["protocol"].startswith(f"protocol is {protocol}, which ")
        assert found["protocol"].endswith("; on the interpreter allowed are block, warm")


@pytest.mark.parametrize(
    ("torch", "taken"),
    [
        ("2.6.0", False),
        ("2.7.1+cu128", False),
        ("2.8.0", True),
        ("2.11.0a0+git12ab", True),
        ("3.0.0", True),
        ("?", True),
    ],
)
def test_a_cold_graph_needs_events_that_older_torch_lacks(torch: str, taken: bool) -> None:
    request, device = replace(GOOD, protocol="graph-cold"), replace(GPU, torch=torch)
    needs = f"protocol is graph-cold, which needs torch 2.8 or newer, and this is {torch}"
    others = "allowed are block, cold, warm, graph, profiler"
    assert faults(request, device) == ({} if taken else {"protocol": f"{needs}; {others}"})
    assert faults(replace(request, protocol="graph"), device) == {}
    assert "on the interpreter allowed are" in faults(request, replace(INTERPRETER, torch=torch))["protocol"]


def test_a_tile_that_the_engine_chooses_is_not_looked_at() -> None:
    open_ = replace(MANY, tile=TileConfig(16, 64, 3, splits=-1), auto_tile=("block_n", "num_warps", "splits"))
    assert faults(open_) == {}
    assert list(faults(replace(open_, auto_tile=("num_warps",)))) == ["splits", "block_n"]


def test_memory_counts_every_head() -> None:
    one = replace(MANY, problem=Problem(2**17, 2**17, 128))
    assert faults(one) == {}
    many = faults(replace(one, problem=replace(one.problem, batch=16, heads=32)))
    assert "16 x 32 heads" in many["m"] and "80.0 GiB" in many["m"]


def test_the_kernel_that_writes_s_and_p_needs_room_for_both() -> None:
    """Of 8 heads of 2^15 x 2^15 S takes 32 GiB in fp32, P 32 GiB in fp32 and 16 GiB in fp16."""
    written = make_kernel("written", movement=WrittenScores())
    request = RunRequest(Problem(2**15, 2**15, 64, 1, 8, 8), TileConfig(32, 32), kernel="written")
    assert find_faults(request, GPU, (written,)) == ()
    (fault,) = find_faults(request, replace(GPU, memory_bytes=64 * 2**30), (written,))
    assert fault.field == "m" and ", 64.0 GiB of it for S and P; Test GPU has 64.0 GiB" in fault.message
    half = replace(request, problem=replace(request.problem, dtype="fp16"))
    assert find_faults(half, replace(GPU, memory_bytes=64 * 2**30), (written,)) == ()
    other = replace(request, kernel="general")
    assert find_faults(other, replace(GPU, memory_bytes=64 * 2**30), KERNELS) == ()


def test_what_would_take_days_on_the_interpreter_is_refused_there() -> None:
    request = RunRequest(Problem(10**6, 10**6, 64))
    assert faults(request) == {}
    found = faults(request, replace(INTERPRETER, memory_bytes=2**40))
    assert list(found) == ["m"] and "on the interpreter; allowed is up to 1 day" in found["m"]
    assert "1000000 × 1000000 × 64, which takes about 2178 days on" in found["m"]
    assert faults(RunRequest(Problem(2000, 2000, 64)), INTERPRETER) == {}
    open_ = replace(request, auto_tile=("block_m", "block_n"))
    assert find_faults(open_, replace(INTERPRETER, memory_bytes=2**40)) == (), "its tile is not known yet"


def test_the_reference_alone_can_take_too_long() -> None:
    """Tiles of 256 x 256 leave few updates; the float64 reference makes every score all the same."""
    coarse = RunRequest(Problem(4096, 4096, 16), TileConfig(256, 256))
    launches = (2 + timed_launches(launch_seconds(coarse)) + 1) * launch_seconds(coarse)
    assert run_seconds(coarse) - launches == pytest.approx(0.5 + 2 * 4096**2 * 3.7e-8, rel=0.02)
    one = replace(coarse, trace=False)
    assert run_seconds(coarse) - run_seconds(one) > launch_seconds(coarse) + 4096**2 * 3.5e-8


def test_times_are_said_in_their_unit() -> None:
    seconds = (0.4, 40, 61, 3 * 3600, 86400, 10**7)
    words = ["0 seconds", "40 seconds", "1 minute", "3 hours", "1 day", "116 days"]
    assert [duration_words(s) for s in seconds] == words


def test_rules_of_the_device_wait_until_it_is_known() -> None:
    assert find_faults(replace(GOOD, sdpa="flash", kernel="other")) == ()


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


def test_the_estimate_counts_heads_and_what_the_mask_leaves() -> None:
    whole = RunRequest(Problem(512, 512, 64))
    heads = replace(whole, problem=replace(whole.problem, batch=2, heads=3))
    assert launch_seconds(heads) == pytest.approx(6 * launch_seconds(whole))
    # 32 x 32 tiles, of which a causal mask leaves 32 * 33 / 2.
    causal = replace(whole, problem=replace(whole.problem, causal=True))
    assert launch_seconds(causal) / launch_seconds(whole) == pytest.approx(528 / 1024, rel=0.02)
    one_tile = RunRequest(Problem(5, 5, 64, causal=True))
    assert launch_seconds(one_tile) == launch_seconds(replace(one_tile, problem=Problem(5, 5, 64)))


def test_a_first_run_is_short_everywhere() -> None:
    assert run_seconds(RunRequest(find_preset(WELCOME["interpreter"]).problem)) < 5
    assert find_preset(WELCOME["cuda"]).problem == Problem(512, 2048, 128)
