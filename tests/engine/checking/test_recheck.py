"""A kernel whose output changes while it is timed is found out; one that adds in another order is only reported."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest
import torch

from kernels import VARIANTS, KernelVariant
from kernels.plain.tiles import TileConfig
from tests.engine.timing.played_clock import play_host_clock
from tests.samples import INTERPRETER
from workbench.engine import steps
from workbench.engine.checking.compare import compare
from workbench.engine.checking.recheck import CHANGED_AFTERWARDS, SUSPECT_A_RACE, recheck
from workbench.engine.host.stopping import StopFlag
from workbench.run.events import Rechecked, RunEvent
from workbench.run.measurement import ErrorStats
from workbench.run.record import RunBuilder
from workbench.run.request import Problem, RunRequest
from workbench.words.results import NOT_LAUNCHED_AGAIN

EXPECTED = torch.randn(1, 2, 8, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
RIGHT = EXPECTED.float()
NUDGED = RIGHT + 1e-5
WRONG = RIGHT + 1.0


ON_THE_INTERPRETER = pytest.mark.skipif(
    os.environ.get("TRITON_INTERPRET") != "1", reason="this process compiles for the GPU"
)


@pytest.fixture(autouse=True)
def played(monkeypatch: pytest.MonkeyPatch) -> None:
    """Launches of a millisecond: of those that take long on a busy machine none is repeated."""
    play_host_clock(monkeypatch, 1000.0)


def error_of(out: torch.Tensor, left_out: int = 0) -> ErrorStats:
    return compare(out, EXPECTED, 2e-3, 2e-3, rows_left_out=left_out).stats


def of(after: torch.Tensor, *again: torch.Tensor, before: torch.Tensor = RIGHT, left_out: int = 0) -> Rechecked:
    turns = iter(again)
    return recheck(
        "kernel",
        before,
        error_of(before, left_out),
        after,
        lambda out: error_of(out, left_out),
        (lambda: next(turns)) if again else None,
    )


def test_the_same_bits_are_fine() -> None:
    found = of(RIGHT.clone(), RIGHT, RIGHT)
    assert not found.failed and found.bits_equal and found.deterministic is True
    assert found.max_abs_before == found.max_abs_after and "two more launches" in found.text


@pytest.mark.parametrize("after", [NUDGED, WRONG], ids=["within the tolerance", "wrong"])
def test_other_bits_of_a_deterministic_kernel_are_a_failure(after: torch.Tensor) -> None:
    found = of(after, RIGHT, RIGHT)
    assert found.failed and found.text == SUSPECT_A_RACE and not found.bits_equal
    assert found.max_abs_after > found.max_abs_before


def test_bits_that_differ_from_launch_to_launch_are_reported() -> None:
    found = of(NUDGED, RIGHT, NUDGED)
    assert not found.failed and found.deterministic is False and found.text.startswith("not deterministic")
    assert found.text.endswith("; other bits after timing, within the tolerance as before")
    assert of(RIGHT, RIGHT, NUDGED).bits_equal and not of(RIGHT, RIGHT, NUDGED).failed
    assert of(RIGHT, RIGHT, NUDGED).text.endswith("; the same bits after timing")
    beyond = of(WRONG, RIGHT, NUDGED)
    assert beyond.failed and beyond.text == f"{SUSPECT_A_RACE}; two launches on equal inputs differ as well"


@pytest.mark.parametrize(
    ("after", "begin"),
    [
        (RIGHT.clone(), "the same bits after timing; "),
        (NUDGED, "other bits after timing, within the tolerance as before; "),
        (WRONG, f"{SUSPECT_A_RACE}; "),
    ],
    ids=["equal", "within the tolerance", "wrong"],
)
def test_what_is_not_launched_again_is_said_not_to_be_known(after: torch.Tensor, begin: str) -> None:
    found = of(after)
    assert found.deterministic is None and found.text == begin + NOT_LAUNCHED_AGAIN


def test_an_output_that_was_wrong_before_is_not_called_within_the_tolerance() -> None:
    found = of(WRONG + 2, WRONG, WRONG + 1, before=WRONG + 1)
    assert not found.failed and "within the tolerance" not in found.text and "other bits after timing" in found.text


def test_an_error_that_grew_beyond_the_tolerance_is_a_failure_however_it_came() -> None:
    assert of(WRONG, RIGHT, NUDGED).failed and of(WRONG).failed
    assert not of(WRONG, RIGHT, NUDGED, before=WRONG + 1).failed, "it was wrong before as well, which is said elsewhere"
    assert not of(NUDGED).failed and of(NUDGED).deterministic is None


def test_launches_after_timing_are_held_against_the_output_before() -> None:
    """Both may agree with each other, and the last timed one with the first, and still be wrong."""
    for other in (NUDGED, WRONG, torch.full_like(RIGHT, float("nan"))):
        found = of(RIGHT.clone(), other, other)
        assert found.failed and found.bits_equal and found.deterministic and found.text == CHANGED_AFTERWARDS
        assert found.max_abs_after > found.max_abs_before
    assert of(RIGHT.clone(), NUDGED, WRONG).failed, "one of two that differ is outside the tolerance"


def test_rows_that_see_no_key_do_not_count() -> None:
    blind, other = RIGHT.clone(), RIGHT.clone()
    blind[..., :3, :], other[..., :3, :] = float("nan"), 7.0
    found = of(other, blind, other, before=blind, left_out=3)
    assert found.bits_equal and found.deterministic and not found.failed


@ON_THE_INTERPRETER
@pytest.mark.parametrize(("changes_at", "failed"), [(10**9, False), (4, True)], ids=["steady", "changes"])
def test_a_run_of_a_kernel_that_changes_its_output_fails(
    monkeypatch: pytest.MonkeyPatch, changes_at: int, failed: bool
) -> None:
    """From its fourth launch on the kernel writes one other value, within the tolerance."""
    request = RunRequest(Problem(16, 16, 8), TileConfig(16, 16), sdpa="none", trace=False)
    events: list[RunEvent] = []
    run = steps.Run(request, INTERPRETER, events.append, StopFlag())
    real, count = run._variant.launch, 0

    def launch(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, out: torch.Tensor, **options: object) -> object:
        nonlocal count
        count += 1
        result = real(q, k, v, out, **options)  # type: ignore[arg-type]
        if count >= changes_at:
            out[0, 0, 3, 2] += 1e-4
        return result

    monkeypatch.setattr(run, "_variant", replace(run._variant, launch=launch))
    run.go()
    builder = RunBuilder(request)
    for event in events:
        builder.take(event)
    record = builder.record()
    (found,) = record.rechecked
    assert found.failed is failed and found.deterministic is True and found.bits_equal is not failed
    assert record.checked[0].error.passed and record.passed is not failed


@ON_THE_INTERPRETER
@pytest.mark.parametrize("variant", [v for v in VARIANTS if not v.spec.capability], ids=lambda v: v.name)
def test_no_kernel_adds_in_another_order_from_launch_to_launch(variant: KernelVariant) -> None:
    """None has atomics: also where several programs share the keys, their parts are added in one order."""
    tile = TileConfig(16, 16, splits=3 if variant.spec.splits else 1)
    request = RunRequest(Problem(32, 80, 16), tile, kernel=variant.name, sdpa="none", trace=False)
    events: list[RunEvent] = []
    steps.Run(request, INTERPRETER, events.append, StopFlag()).go()
    (found,) = [event for event in events if isinstance(event, Rechecked)]
    assert found.bits_equal and found.deterministic and not found.failed
