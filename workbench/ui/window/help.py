"""What the Help menu says."""

from __future__ import annotations

from PyQt6.QtWidgets import QMessageBox, QWidget

from workbench import __version__
from workbench.run.events import Ready
from workbench.ui.window.actions import COMMANDS

MOUSE = (
    ("Up, Down in a field", "the next value; block sizes and warps step through powers of two"),
    ("Tab", "the next field, list or plot; F6 goes to the next area, where the keyboard was in it"),
    ("Arrows in a plot", "move a cross that reads as the mouse does, with Shift in larger steps; Enter clicks there"),
    ("Wheel on a plot", "zoom; drag to move, double-click to see all"),
    ("Hover a plot", "the value under the cursor"),
    ("Hover the strip under the latency plots", "clock, power and temperature at that time"),
    ("Hover a framed warning in the headline", "the whole sentence"),
    ("Head list above a map", "another head, in all maps; Up and Down step through them"),
    ("Click the state heatmap", "hold that row in the lines below; click again to let go"),
    (
        "Click a run in the table",
        "show it in every panel; right-click to copy it, also as a command line, or to use its settings",
    ),
    ("Ctrl+C in the table", "copy the selected runs, with the units in a header"),
    ("Ctrl+D, F2, Shift+F2, Del in the table", "star, name, annotate, delete the selected runs; Undo takes it back"),
    ("Right-click the table's header", "choose its columns; drag one to move it, its edge to size it"),
)


def show_keys(parent: QWidget) -> None:
    """A dialog with every key, and what the mouse does."""
    rows = [(", ".join(command.keys), command.text.rstrip("…")) for command in COMMANDS if command.keys]
    cells = "".join(f"<tr><td><b>{left}</b>&nbsp;&nbsp;</td><td>{right}</td></tr>" for left, right in [*rows, *MOUSE])
    _show(parent, "Keys and mouse", f"<table cellspacing='4'>{cells}</table>")


def show_about(parent: QWidget, ready: Ready | None) -> None:
    """A dialog with the versions and the device."""
    where = "The engine has not started yet."
    if ready is not None:
        device = ready.device
        versions = f"torch {device.torch}, triton {device.triton}, Python {device.python}"
        where = f"{device.name} ({device.mode_label})<br>{versions}"
        if device.mode == "cuda":
            where += f"<br>CUDA {device.cuda}, driver {device.driver}, compute capability {device.capability}"
    text = f"<h3>Tilescope {__version__}</h3><p>A workbench for attention kernels, tile by tile.</p><p>{where}</p>"
    _show(parent, "About Tilescope", text)


def _show(parent: QWidget, title: str, html: str) -> None:
    box = QMessageBox(QMessageBox.Icon.NoIcon, title, html, QMessageBox.StandardButton.Close, parent)
    box.setObjectName("help")
    box.open()
    box.finished.connect(box.deleteLater)
