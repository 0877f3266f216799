"""The whole window for tests, with its real engine on the interpreter, its files in a temporary folder."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from math import inf
from pathlib import Path

import pytest
from PyQt6 import sip
from PyQt6.QtCore import QSettings
from PyQt6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.shared_engine import SharedEngine
from tests.shared_engine import shared_engine as shared_engine
from workbench.cli.app import make_application, make_window
from workbench.run.session import Session
from workbench.ui.theme import apply_theme, load_theme
from workbench.ui.window.main import MainWindow

MakeWindow = Callable[..., MainWindow]


@pytest.fixture
def styled(qapp: QApplication) -> Iterator[None]:
    """The application's style sheet, as every window of the product has it, for one test."""
    before = qapp.styleSheet()
    apply_theme(qapp, load_theme("dark"))
    yield
    qapp.setStyleSheet(before)


@pytest.fixture
def make_test_window(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MakeWindow]:
    """Make windows that share one session folder and one settings file; all are closed and destroyed at the end.

    They do not ask before a long run: how long one is expected to take follows from how fast the machine was so far.

    What is left of a window would get its part of each style sheet that a later one sets, which takes seconds of many.
    """
    make_application()
    monkeypatch.setattr("workbench.ui.window.control.ASK_ABOVE_SECONDS", inf)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))  # where new sessions go
    made: list[MainWindow] = []

    def make(session: str = "test.tilescope", device: str = "interpreter") -> MainWindow:
        settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
        window = make_window(Session(tmp_path / session), settings, "dark", device)
        window.controls.set_request(window.controls.request())
        made.append(window)
        window.show()
        return window

    yield make
    for window in made:
        window.close()
        sip.delete(window)
    made.clear()
    gc.collect()


@pytest.fixture
def make_warm_window(
    make_test_window: MakeWindow, shared_engine: SharedEngine, monkeypatch: pytest.MonkeyPatch
) -> MakeWindow:
    """The same with an engine that has been used before, for tests of what comes after its start."""
    shared_engine.warm()
    monkeypatch.setattr("workbench.ui.worker.KernelHost", shared_engine.host)
    return make_test_window
