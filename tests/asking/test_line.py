"""The line that repeats a run gives that very run when it is read, whatever it is made of."""

from __future__ import annotations

import random
import shlex
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import pytest

from kernels.plain.launch_options import LAUNCH_OPTIONS
from kernels.plain.precisions import PRECISIONS
from kernels.plain.tiles import BLOCKS, TileConfig
from workbench.analysis.presets import PRESETS
from workbench.asking.line import command_line, is_line, read_line
from workbench.asking.options import flags
from workbench.asking.reading import LIMITS, heeds_limits, request_from
from workbench.asking.usage import UsageError
from workbench.cli.grammar import make_parser
from workbench.run.protocols import PROTOCOL_CHOICES
from workbench.run.request import (
    DEVICE_CHOICES,
    DTYPES,
    INPUT_DISTRIBUTIONS,
    SDPA_CHOICES,
    TRACE_ROWS,
    Problem,
    Rival,
    RunRequest,
    look_up,
    put,
)

CASES = 300
Draw = Callable[[random.Random], Any]


def whole(low: int, high: int) -> Draw:
    return lambda rng: rng.randint(low, high)


def one_of(values: Any) -> Draw:
    choices = tuple(values)
    return lambda rng: rng.choice(choices)


def number(rng: random.Random) -> float:
    return rng.choice([0.0, 2e-3, 1e-5, 1e20, -1e-7, rng.random(), 10 ** rng.uniform(-9, 3)])


# How each part of a request is drawn, good or not: what is read is judged later.
DRAWN: dict[str, Draw] = {
    "m": whole(-3, 2**24),
    "n": whole(0, 2**24),
    "d": whole(1, 256),
    "batch": whole(1, 9),
    "heads": whole(1, 64),
    "kv_heads": whole(1, 64),
    "dtype": one_of((*DTYPES, "fp8")),
    "causal": one_of((True, False)),
    "seed": whole(0, 2**63 - 1),
    "inputs": one_of(INPUT_DISTRIBUTIONS),
    "trace_rows": one_of(TRACE_ROWS),
    "block_m": one_of((*BLOCKS, 48)),
    "block_n": one_of((*BLOCKS, 0)),
    "splits": whole(0, 12),
    **{one.name: one_of(one.allowed) for one in LAUNCH_OPTIONS},
    "kernel": one_of(("article", "flash", "split_kv", "my kernel; rm -rf ~", "-x", "it's", "größer", "")),
    "precision": one_of(PRECISIONS),
    "sdpa": one_of(SDPA_CHOICES),
    "device": one_of(DEVICE_CHOICES),
    "protocol": one_of(PROTOCOL_CHOICES),
    "rtol": number,
    "atol": number,
    "time_limit_s": lambda rng: rng.choice([None, 3.0, 0.25, 1e3]),
    "max_seconds": lambda rng: rng.choice([5.0, 0.5, 60.0]),
    "max_samples": whole(1, 10**6),
    "rival": one_of((None, Rival("flash", TileConfig(64, 32, splits=3)), Rival("article", TileConfig(), "tf32"))),
}
NO_OPTION = {"problem", "tile", "trace", "keep_tensors", "auto_tile"}
USUAL = RunRequest(Problem(64, 129, 128))


def drawn(seed: int) -> RunRequest:
    """A request with about half of its parts changed, and some of its tile left open."""
    rng = random.Random(seed)
    request = USUAL
    for name, draw in DRAWN.items():
        if rng.random() < 0.5:
            request = put(request, name, draw(rng))
    names = [field.name for field in fields(TileConfig)]
    left = tuple(name for name in names if rng.random() < 0.3) if rng.random() < 0.5 else ()
    for name in left:  # what is left open has no value of its own
        request = put(request, name, getattr(TileConfig(), name))
    request = replace(request, auto_tile=left)
    return request if heeds_limits(request) else replace(request, **{name: getattr(USUAL, name) for name in LIMITS})


def test_each_part_of_a_request_is_drawn_and_has_an_option() -> None:
    named = {field.name for part in (RunRequest, Problem, TileConfig) for field in fields(part)} - NO_OPTION
    assert set(DRAWN) == named
    assert set(flags()) == named | {"preset"}


@pytest.mark.parametrize("seed", range(CASES))
def test_what_is_copied_is_read_as_the_same_request(seed: int) -> None:
    request = drawn(seed)
    assert read_line(command_line(request)).request == request


@pytest.mark.parametrize("name", sorted(DRAWN))
def test_no_part_is_lost_when_it_alone_differs(name: str) -> None:
    rng = random.Random(name)
    usual = replace(USUAL, protocol="cold", tile=TileConfig(32, 32))
    values = (DRAWN[name](rng) for _ in range(1000))
    request = put(usual, name, next(value for value in values if value != look_up(usual, name)))
    expected = request
    if not heeds_limits(request):
        expected = replace(request, max_seconds=USUAL.max_seconds, max_samples=USUAL.max_samples)
    assert read_line(command_line(request)).request == expected


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
def test_the_command_line_itself_makes_the_same_run_of_it(preset: Any) -> None:
    request = RunRequest(preset.problem, preset.tile, rtol=preset.rtol, atol=preset.atol)
    python, file, *words = shlex.split(command_line(request))
    assert (python, file) == ("python", "main.py")
    assert request_from(make_parser().parse_args(words)) == request


def test_a_line_says_what_is_not_the_usual_and_no_more() -> None:
    assert command_line(replace(USUAL, auto_tile=tuple(field.name for field in fields(TileConfig)))) == (
        "python main.py run -m 64 -n 129 -d 128 --kernel article"
    )


@pytest.mark.parametrize(
    "before",
    [
        "python main.py run",
        "$ python main.py run",
        ".venv/bin/python main.py run",
        "CUDA_VISIBLE_DEVICES=1 python3 ./main.py run",
        "tilescope run",
        "run",
        "",
        "  python main.py run \\\n ",
    ],
)
def test_a_line_is_read_however_it_begins(before: str) -> None:
    read = read_line(f"{before} -m 7 --causal --json --trace states.npz")
    assert read.request == RunRequest(Problem(7, 129, 128, causal=True))
    assert read.left_out == ("--json", "--trace")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("python main.py run -m twelve", "'twelve'"),
        ("python main.py run --blockm 3", "--blockm"),
        ("python main.py run --preset huge", "'huge'"),
        ("python main.py run -m 3 more", "more"),
        ("python main.py run -m", "-m"),
        ("python main.py doctor", "'python main.py doctor'"),
        ("rm -rf / run -m 3", "'rm -rf / run -m 3'"),
        ("python main.py run --kernel 'flash", "no closing quotation"),
        ("", "''"),
    ],
)
def test_what_is_not_understood_is_said_in_one_line_that_names_it(text: str, named: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_line(text)
    assert named in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_number_is_no_line() -> None:
    assert is_line(command_line(USUAL)) and is_line("tilescope run --causal")
    assert not any(map(is_line, ("128", "1e-3", "-5", "", "run", "a run - of two")))


@pytest.mark.parametrize("text", ["flash", "kernel", "block_m=many", "block_k=16", "kernel=flash,,block_m=16", ""])
def test_what_is_no_rival_is_refused_with_what_is_allowed(text: str) -> None:
    with pytest.raises(UsageError, match=r"is no part of a rival; allowed are kernel=NAME"):
        read_line(f"run -m 16 --rival={text}")


def test_a_rival_takes_the_place_of_sdpa() -> None:
    request = read_line("run --rival kernel=flash,block_m=64").request
    assert (request.sdpa, request.rival) == ("none", Rival("flash", TileConfig(block_m=64)))
