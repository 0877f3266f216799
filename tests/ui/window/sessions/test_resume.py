"""Going on where one stopped."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path

import pytest
from PyQt6.QtWidgets import QPushButton

from kernels.plain.tiles import TileConfig
from tests.samples import GPU, INTERPRETER, make_record
from tests.ui.conftest import MakeWindow
from tests.ui.form.driver import ready
from workbench.analysis.presets import WELCOME, find_preset
from workbench.run.environment import DeviceInfo
from workbench.run.request import Problem, RunRequest
from workbench.run.session import Session
from workbench.ui.window.main import MainWindow
from workbench.ui.window.sessions.resume import FORM_KEY, when_text

MINE = RunRequest(Problem(20, 41, 8, seed=3), TileConfig(32, 32), sdpa="math", max_seconds=2.5)


@pytest.fixture(autouse=True)
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the engine says is told by the tests."""
    monkeypatch.setattr("workbench.ui.worker.RunWorker.start", lambda self: None)
    monkeypatch.setattr("workbench.ui.worker.RunWorker.submit", lambda self, request: None)


def begin(window: MainWindow, device: DeviceInfo = INTERPRETER) -> MainWindow:
    window.start(None)
    window._take(ready(device))
    return window


def leave(window: MainWindow, runs: int = 0) -> None:
    """Enter something, keep some runs, and close."""
    window.controls.set_request(MINE)
    for number in range(runs):
        window._worker._session.add(make_record(number + 1, Problem(16, 32, 8), device=GPU))
    window.close()


@pytest.mark.parametrize("device", [GPU, INTERPRETER], ids=["cuda", "interpreter"])
def test_the_demo_runs_on_the_very_first_start_alone(make_test_window: MakeWindow, device: DeviceInfo) -> None:
    window = begin(make_test_window("first.tilescope"), device)
    assert window.is_running()
    assert window.controls.request().problem == find_preset(WELCOME[device.mode]).problem
    window.close()
    assert not begin(make_test_window("second.tilescope"), device).is_running()


@pytest.mark.parametrize("driver", [True, False])
def test_the_form_of_a_first_start_shows_from_its_first_frame_what_will_be_run(
    make_test_window: MakeWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, driver: bool
) -> None:
    monkeypatch.setattr("workbench.ui.window.first_run.DRIVER", tmp_path / ("" if driver else "none"))
    window = make_test_window()
    window.start(None)
    shown = [window.controls.request()]
    window.controls.requestChanged.connect(shown.append)
    window._take(ready(GPU if driver else INTERPRETER))
    assert {request.problem for request in shown if request is not None} == {shown[0].problem}
    assert window.is_running()


def test_the_form_comes_back_as_it_was_left(make_test_window: MakeWindow) -> None:
    leave(begin(make_test_window("first.tilescope")))
    window = begin(make_test_window("second.tilescope"))
    assert window.controls.request() == MINE and not window.is_running()


@pytest.mark.parametrize("kept", ["", "{", "[1, 2]", '{"$type": "Bird"}', '{"$type": "RunRequest", "problem": 3}'])
def test_a_form_that_cannot_be_read_is_that_of_a_start(make_test_window: MakeWindow, kept: str) -> None:
    make_test_window("first.tilescope").close()
    window = make_test_window("second.tilescope")
    window._settings.setValue(FORM_KEY, kept)
    before = window.controls.request()
    window.start(None)
    assert window.controls.request() == before


def offer_of(window: MainWindow) -> dict[str, QPushButton]:
    return {b.text(): b for b in window.notices.findChildren(QPushButton) if b.isVisible()}


def test_the_last_session_is_offered_and_gone_on_with(make_test_window: MakeWindow) -> None:
    leave(begin(make_test_window("kv-tiles.tilescope")), runs=2)
    window = begin(make_test_window("new.tilescope"))
    assert "Go on with kv-tiles (2 runs, today " in window.notices.text()
    offer_of(window)["Go on"].click()
    assert window.session_path().name == "kv-tiles.tilescope" and len(window.results.records()) == 2
    assert window.notices.notices() == ()


def test_an_offer_that_is_not_taken_is_gone_once_something_runs(make_test_window: MakeWindow) -> None:
    leave(begin(make_test_window("kv-tiles.tilescope")), runs=1)
    window = begin(make_test_window("new.tilescope"))
    window.run()
    assert window.notices.notices() == () and window.session_path().name == "new.tilescope"


def test_nothing_is_offered_where_a_file_was_asked_for(make_test_window: MakeWindow, tmp_path: Path) -> None:
    leave(begin(make_test_window("kv-tiles.tilescope")), runs=1)
    Session(tmp_path / "asked.tilescope").add(make_record(1, Problem(16, 32, 8), device=GPU))
    assert begin(make_test_window("asked.tilescope")).notices.notices() == ()
    window = make_test_window("new.tilescope")
    window.open_recording(tmp_path / "asked.tilescope")
    begin(window)
    assert window.notices.notices() == () and "16 × 32" in window.headline.text()


def test_a_session_that_is_gone_empty_or_a_recording_is_not_offered(
    make_test_window: MakeWindow, tmp_path: Path
) -> None:
    leave(begin(make_test_window("gone.tilescope")), runs=1)
    (tmp_path / "gone.tilescope").unlink()
    window = begin(make_test_window("second.tilescope"))
    assert window.notices.notices() == ()
    path = tmp_path / "recording.tilescope"
    Session(path).add(make_record(1, Problem(16, 32, 8), device=GPU))
    Session(path).seal()
    window.open_recording(path)
    leave(window)
    assert begin(make_test_window("third.tilescope")).notices.notices() == ()


@pytest.mark.parametrize(("day", "words"), [(30, "today 17:40"), (29, "yesterday 17:40"), (28, "2026-11-28 17:40")])
def test_a_day_is_called_as_people_do(day: int, words: str) -> None:
    assert when_text(datetime(2026, 11, day, 17, 40), date(2026, 11, 30)) == words
