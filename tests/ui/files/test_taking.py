"""A picture is taken in steps between which the window lives, of one moment, and written by a thread."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest
from PyQt6.QtCore import QObject, QTimer
from PyQt6.QtGui import QColor, QImage
from pytestqt.qtbot import QtBot

from tests.patience import LIMIT_MS
from tests.samples import make_record
from tests.ui.conftest import MakeWindow
from workbench.run.request import Problem
from workbench.run.session import Session
from workbench.ui.files import pictures
from workbench.ui.files.pictures import take_picture
from workbench.ui.files.taking import PictureTaker, PictureWriter
from workbench.ui.panels.bases.panel import Panel


def image(color: str = "red") -> QImage:
    made = QImage(8, 8, QImage.Format.Format_RGB32)
    made.fill(QColor(color))
    return made


def test_a_step_a_turn_and_no_frame_between_them(qtbot: QtBot) -> None:
    parent = QObject()
    frames = QTimer(parent)
    frames.start(1)
    seen: list[str] = []
    frames.timeout.connect(lambda: seen.append("frame"))

    def steps() -> Generator[None, None, QImage]:
        for _ in range(3):
            seen.append("step")
            QTimer.singleShot(0, lambda: seen.append("turn"))
            yield
        return image()

    taker = PictureTaker(frames, parent)
    got: list[QImage] = []
    taker.take(steps(), got.append)
    taker.take(steps(), got.append)  # beside another one
    qtbot.waitUntil(lambda: bool(got), timeout=LIMIT_MS)
    steps_and_turns = [one for one in seen if one != "frame"]
    assert steps_and_turns[:5] == ["step", "turn", "step", "turn", "step"]
    last = len(seen) - 1 - seen[::-1].index("step")
    assert "frame" not in seen[:last] and frames.isActive()
    taker.take(steps(), got.append)
    qtbot.waitUntil(lambda: len(got) == 2, timeout=LIMIT_MS)


def test_frames_go_on_after_a_picture_that_failed(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    parent = QObject()
    frames = QTimer(parent)
    frames.start(1)

    def steps() -> Generator[None, None, QImage]:
        yield
        raise RuntimeError("no memory")

    taker = PictureTaker(frames, parent)
    with qtbot.captureExceptions() as caught:
        taker.take(steps(), lambda image: None)
        qtbot.waitUntil(lambda: bool(caught), timeout=LIMIT_MS)
    assert frames.isActive()


@pytest.mark.parametrize("name", ["window", *("latency", "softmax", "error", "memory")])
def test_the_parts_make_the_whole(
    make_test_window: MakeWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """A picture in steps is that of one paint, to the pixel."""
    Session(tmp_path / "kept.tilescope").add(make_record(1, Problem(64, 128, 16)))
    window = make_test_window("kept.tilescope")
    window.show_record(window.results.records()[0])
    widget = window if name == "window" else window.widget(name)
    window.flush()
    if isinstance(widget, Panel):
        widget.draw_now()
    assert len(pictures._parts(widget)) > 1
    stepped = take_picture(widget, 2.0)
    monkeypatch.setattr(pictures, "_parts", lambda widget: [None])
    assert stepped == take_picture(widget, 2.0)


@pytest.mark.parametrize(
    ("file", "problem"), [("a.png", ""), ("none/a.png", "cannot be written"), ("a.xyz", "allowed")]
)
def test_a_thread_writes_and_says_how_that_went(qtbot: QtBot, tmp_path: Path, file: str, problem: str) -> None:
    writer = PictureWriter()
    with qtbot.waitSignal(writer.written, timeout=LIMIT_MS) as told:
        writer.write(image(), tmp_path / file).join()
    path, said = told.args
    assert path == tmp_path / file and problem in said and bool(said) is bool(problem)
    assert (tmp_path / file).is_file() is not bool(problem)
