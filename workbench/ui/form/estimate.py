"""EstimateLabel: how long a run of what the form says will take on the interpreter."""

from __future__ import annotations

from PyQt6.QtWidgets import QLabel

from workbench.analysis.estimate import ASK_ABOVE_SECONDS, SECONDS_PER_TILE, run_seconds
from workbench.analysis.numbers import duration_text
from workbench.run.events import Ready
from workbench.run.request import RunRequest
from workbench.ui.form.fields import set_property


class EstimateLabel(QLabel):
    """Says it in a line, which is hidden for a GPU."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("estimate")
        self.setWordWrap(True)
        self.seconds_per_tile = SECONDS_PER_TILE  # what one tile update takes

    def seconds(self, request: RunRequest, ready: Ready | None) -> float:
        """How long `request` takes on the interpreter of the engine that is `ready`; 0 on a GPU."""
        interpreted = request.device == "interpreter"
        if request.device == "auto":
            interpreted = ready is not None and ready.device.mode == "interpreter"
        return run_seconds(request, self.seconds_per_tile) if interpreted else 0.0

    def show_seconds(self, seconds: float) -> None:
        """Say that a run takes so long; 0 says nothing."""
        if seconds:
            self.setText(f"about {duration_text(seconds)} on the interpreter")
            set_property(self, "level", "warn" if seconds > ASK_ABOVE_SECONDS else "")
        self.setVisible(seconds > 0)
