"""The question before a run that will take long."""

from __future__ import annotations

from collections.abc import Callable

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QMessageBox, QWidget

from workbench.ui.words import duration_text


def ask_before(parent: QWidget, seconds: float, go_on: Callable[[], None]) -> None:
    """Ask whether to begin a run of about `seconds` on the interpreter; `go_on` is called if so."""
    box = QMessageBox(parent)
    box.setObjectName("long_run")
    box.setIcon(QMessageBox.Icon.Question)
    box.setWindowTitle("A long run")
    box.setText(f"This will take about {duration_text(seconds)} on the interpreter.")
    box.setInformativeText("A smaller M or N, or larger tiles, take less. You can stop the run at any time.")
    run = box.addButton("Run anyway", QMessageBox.ButtonRole.AcceptRole)
    box.addButton(QMessageBox.StandardButton.Cancel)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.buttonClicked.connect(lambda button: go_on() if button is run else None)
    box.open()
