"""The runs that were deleted, to be brought back: they are still in their file."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QAbstractItemView, QDialog, QDialogButtonBox, QLabel, QListWidget, QVBoxLayout, QWidget

from workbench.analysis.numbers import counted, format_time
from workbench.run.kept.runs import Runs
from workbench.run.record import RunKey

WIDER = 24  # px: as the default button it is bold, which its own hint leaves out
MOST_LISTED = 1000  # others come into the list as these leave it


class DeletedRuns(QDialog):
    """Lists deleted `runs`, by what the index has of them; `restore` takes those that are to be shown again."""

    def __init__(self, runs: Runs, restore: Callable[[Sequence[RunKey]], None], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("deleted_runs")
        self.setWindowTitle("Deleted runs")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._keys = runs.keys[:MOST_LISTED]
        self._restore = restore
        self.list = QListWidget()
        self.list.setAccessibleName(self.windowTitle())
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.list.addItems(texts(runs[:MOST_LISTED]))
        self.list.selectAll()
        about = counted(len(runs), "deleted run") + ", nothing of which is lost" if runs else "No run was deleted."
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        back = self.buttons.addButton("Restore", QDialogButtonBox.ButtonRole.AcceptRole)
        assert back is not None
        back.setToolTip("Show the selected runs again")
        back.setMinimumWidth(back.sizeHint().width() + WIDER)
        back.setEnabled(bool(runs))
        self.buttons.accepted.connect(self._on_accepted)
        self.buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        for widget in (QLabel(about), self.list, self.buttons):
            layout.addWidget(widget)
        self.resize(560, 320)

    def _on_accepted(self) -> None:
        chosen = [self._keys[index.row()] for index in self.list.selectedIndexes()]
        if chosen:
            self._restore(chosen)
        self.accept()


def texts(runs: Runs) -> list[str]:
    """What tells deleted runs apart, a line each."""
    columns = [runs.column(name) for name in ("run", "source", "name", "kernel", "tile", "shape", "state", "figure")]
    lines = []
    for number, source, name, kernel, tile, shape, state, us in zip(*columns, strict=True):
        time = format_time(us) if isinstance(us, float) else ""
        words = (f"run {number}", source, f"“{name}”" if name else "", kernel, tile, shape, state, time)
        lines.append(
            " · ".join(str(word).replace("x", " × ") if word in (tile, shape) else str(word) for word in words if word)
        )
    return lines
