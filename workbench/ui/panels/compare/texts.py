"""Lines of text above a plot that never take its room: where there are many, they scroll."""

from __future__ import annotations

from PyQt6.QtCore import Qt
from PyQt6.QtGui import QResizeEvent
from PyQt6.QtWidgets import QFrame, QLabel, QScrollArea, QSizePolicy

MOST_LINES = 4


def make_wrapping(label: QLabel) -> None:
    """Let `label` take as many lines as its text needs in the width there is, and never ask for more of that."""
    label.setWordWrap(True)
    label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)


class Lines(QScrollArea):
    """Rich text as high as it needs, up to MOST_LINES."""

    def __init__(self) -> None:
        super().__init__()
        self._label = QLabel()
        make_wrapping(self._label)
        self._label.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.setWidget(self._label)
        self.setWidgetResizable(True)
        viewport = self.viewport()
        assert viewport is not None
        for ground in (self._label, viewport):  # the panel's own is seen through them
            ground.setAutoFillBackground(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def text(self) -> str:
        """What it says."""
        return self._label.text()

    def set_text(self, text: str) -> None:
        """Say `text` from now on."""
        self._label.setText(text)
        self._fit()

    def resizeEvent(self, a0: QResizeEvent | None) -> None:
        """Another width takes other lines."""
        super().resizeEvent(a0)
        self._fit()

    def _fit(self) -> None:
        most = MOST_LINES * self.fontMetrics().lineSpacing() + 4
        needed = self._label.heightForWidth(max(1, self.width()))
        height = min(most, needed) if self._label.text() else 0
        policy = Qt.ScrollBarPolicy
        self.setVerticalScrollBarPolicy(policy.ScrollBarAsNeeded if needed > most else policy.ScrollBarAlwaysOff)
        if height != self.height():
            self.setFixedHeight(height)
