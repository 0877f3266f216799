"""The dialogs that ask for a file."""

from __future__ import annotations

from pathlib import Path

from PyQt6.QtWidgets import QFileDialog, QWidget

from workbench.run.session import SUFFIX
from workbench.ui.theme import ASSETS


def ask_for_recording(parent: QWidget) -> Path | None:
    """A recording to open, first those that come with the program; None if the user cancels."""
    start = str(ASSETS / "recordings")
    name, _ = QFileDialog.getOpenFileName(parent, "Open recording", start, f"Tilescope recordings (*{SUFFIX})")
    return Path(name) if name else None


def ask_where_to_save(parent: QWidget, title: str, suggestion: str, kinds: str) -> Path | None:
    """A file to write; None if the user cancels. The dialog itself asks before it names one that is there.

    The suffix is the dialog's own doing, so that what it asks about is what is written.
    """
    dialog = QFileDialog(parent, title, suggestion, kinds)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setDefaultSuffix(Path(suggestion).suffix)
    if dialog.exec() != QFileDialog.DialogCode.Accepted:
        return None
    return Path(dialog.selectedFiles()[0])
