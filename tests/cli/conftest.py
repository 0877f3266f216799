"""The command line in this process, with one engine for all tests of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PyQt6.QtWidgets import QApplication

from tests.cli.command_line import CommandLine
from tests.shared_engine import SharedEngine
from tests.shared_engine import shared_engine as shared_engine


@pytest.fixture
def here(shared_engine: SharedEngine, capfd: pytest.CaptureFixture[str], qapp: QApplication) -> Iterator[CommandLine]:
    """`tilescope` without a process of its own. A command that needs an application finds pytest-qt's, as it was."""
    palette, sheet = qapp.palette(), qapp.styleSheet()
    yield CommandLine(shared_engine, capfd)
    if qapp.styleSheet() != sheet:
        qapp.setPalette(palette)
        qapp.setStyleSheet(sheet)
