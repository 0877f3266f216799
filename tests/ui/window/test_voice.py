"""Which event makes which message old."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.samples import GPU, make_record
from tests.ui.conftest import MakeWindow
from tests.ui.form.driver import ready
from workbench.run.events import Failed, Progress
from workbench.run.record import RunBuilder
from workbench.run.request import Problem, RunRequest
from workbench.ui.notices.notice import Kind, Notice, Topic
from workbench.ui.window.main import MainWindow
from workbench.ui.worker import EngineDown, Grown, Kept, OfCeilings

PROBLEM = Problem(32, 64, 16)
FAILURE = Failed("memory", "96 GiB are wanted", "Try a smaller M.", "Traceback")


def fail(window: MainWindow, failure: Failed = FAILURE) -> None:
    builder = RunBuilder(RunRequest(PROBLEM), -1)
    window._take(Grown(builder.record()))
    builder.take(failure)
    window._take(Grown(builder.record(), failure))


def run_well(window: MainWindow) -> None:
    window._take(Grown(RunBuilder(RunRequest(PROBLEM), -2).record()))


def lose(window: MainWindow) -> None:
    record = replace(make_record(1, PROBLEM, device=GPU), run_id=-3)
    window._on_kept(Kept(record, record.key, "disk full."))


def save(window: MainWindow) -> None:
    window._voice.tell(Topic.KEEPING)  # as saving does


def engine_down(window: MainWindow) -> None:
    window._take(EngineDown(FAILURE))


def engine_up(window: MainWindow) -> None:
    window._take(ready())


def ceilings_fail(window: MainWindow) -> None:
    window._take(OfCeilings(FAILURE))


def ceilings_again(window: MainWindow) -> None:
    window._take(OfCeilings(Progress("copying")))


def refuse_form(window: MainWindow) -> None:
    window.controls.set_request(RunRequest(replace(PROBLEM, m=0)))
    window.run()


def change_form(window: MainWindow) -> None:
    window.controls.set_request(RunRequest(PROBLEM))


Act = Callable[[MainWindow], None]


@pytest.mark.parametrize(
    ("begins", "words", "ends"),
    [
        (fail, "96 GiB are wanted", run_well),
        (lose, "held in memory", save),
        (engine_down, "96 GiB are wanted", engine_up),
        (ceilings_fail, "were not measured", ceilings_again),
        (refuse_form, "M is 0", change_form),
    ],
)
def test_a_message_stands_until_the_event_that_makes_it_untrue(
    make_test_window: MakeWindow, begins: Act, words: str, ends: Act
) -> None:
    window = make_test_window()
    begins(window)
    assert words in window.notices.text() and window.notices.isVisible()
    window._voice.say("something of the routine")
    assert words in window.notices.text()
    ends(window)
    assert words not in window.notices.text()


def test_a_failed_run_says_which_it_was_and_has_its_remedy_and_traceback(make_test_window: MakeWindow) -> None:
    window = make_test_window()
    fail(window)
    (notice,) = window.notices.notices()
    assert "article" in notice.line and "16×16" in notice.line and "Try a smaller M." in notice.line
    assert "Traceback" in notice.details


def test_a_run_that_was_stopped_is_no_message(make_test_window: MakeWindow) -> None:
    window = make_test_window()
    fail(window, Failed("cancelled", "stopped"))
    assert window.notices.notices() == ()


def test_an_error_of_the_program_stays_whatever_happens(make_test_window: MakeWindow) -> None:
    window = make_test_window()
    window.troubled.emit("Traceback", "An error in the window")
    for act in (run_well, save, engine_up, ceilings_again, change_form):
        act(window)
    assert window.notices.notices() == (Notice(Kind.ERROR, Topic.PROGRAM, "An error in the window", "Traceback"),)


def test_a_message_is_in_the_log_too(make_test_window: MakeWindow) -> None:
    window = make_test_window()
    fail(window)
    log = window.widget("log")
    window.flush()
    assert "96 GiB are wanted" in log.text()  # type: ignore[attr-defined]


def test_what_is_said_while_something_goes_on_ends_with_it(make_test_window: MakeWindow) -> None:
    """And takes no other line away."""
    window = make_test_window()
    voice, status = window._voice, window.status
    voice.say_while("Reading run 3…")
    assert status.currentMessage() == "Reading run 3…"
    voice.end_saying()
    assert status.currentMessage() == ""
    voice.say_while("Reading run 3…")
    voice.say("Saved")
    voice.end_saying()
    assert status.currentMessage() == "Saved"
