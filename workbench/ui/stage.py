"""What shows a run: the headline and the panels, fed by the same events, drawn a piece at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from workbench.model import CeilingsMeasured, Log, Progress, Ready, RunEvent, RunRecord
from workbench.ui.panels import PANELS
from workbench.ui.panels.panel import Panel
from workbench.ui.panels.roofline import RooflinePanel
from workbench.ui.theme import Theme
from workbench.ui.verdict import Verdict

LOG = "log"


class Stage:
    """Holds the headline and one panel of each kind. Events are only stored; `draw_next` and `flush` show them."""

    def __init__(self, theme: Theme) -> None:
        self.verdict = Verdict(theme)
        self.panels: dict[str, Panel] = {panel.name: panel(theme) for panel in PANELS}
        self._turns = deque(self.panels.values())

    def take(self, event: RunEvent) -> None:
        """One event of a live run."""
        self.verdict.take(event)
        for panel in self.panels.values():
            panel.take(event)

    def replay(self, events: Iterable[RunEvent], source: str) -> None:
        """A run that is over; `source` says where it was recorded, "" in this session."""
        self.verdict.show_source(source)
        for event in events:
            self.verdict.take(event)
            for name, panel in self.panels.items():
                if name != LOG:  # the log is of the engine, not of a run
                    panel.take(event)

    def learn(self, event: Ready | CeilingsMeasured) -> None:
        """What the engine says of its device, whatever run is shown."""
        for panel in self.panels.values():
            panel.take(event)

    def show_measuring(self, on: bool, progress: Progress | None = None) -> None:
        """Whether the device's ceilings are being measured, and how far that is."""
        roofline = self.panels[RooflinePanel.name]
        assert isinstance(roofline, RooflinePanel)
        roofline.show_measuring(on, progress)

    def log(self, text: str) -> None:
        """Put `text` into the log, whatever run is shown."""
        self.panels[LOG].take(Log(text))

    def set_history(self, records: Sequence[RunRecord]) -> None:
        """All finished runs, oldest first."""
        for panel in self.panels.values():
            panel.set_history(records)

    def draw_next(self) -> bool:
        """Draw the next panel that has something new, in turn; says whether there was one."""
        for _ in range(len(self._turns)):
            self._turns.rotate(-1)
            if self._turns[-1].tick():
                return True
        return False

    def flush(self) -> None:
        """Draw everything that is new."""
        for panel in self.panels.values():
            panel.tick()
        self.verdict.tick()

    def apply_theme(self, theme: Theme) -> None:
        """Take the colours of `theme`."""
        self.verdict.apply_theme(theme)
        for panel in self.panels.values():
            panel.apply_theme(theme)
