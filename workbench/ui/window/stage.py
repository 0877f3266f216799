"""What shows a run: the headline and the panels, fed by the same events, drawn a piece at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from math import inf
from time import perf_counter

from workbench.run.events import CeilingsMeasured, Log, Progress, Ready, RunEvent, Started
from workbench.run.record import RunRecord
from workbench.run.request import RunRequest
from workbench.ui.headline.strip import Headline
from workbench.ui.panels import PANELS
from workbench.ui.panels.bases.panel import Panel
from workbench.ui.panels.roofline.panel import RooflinePanel
from workbench.ui.theme import Theme
from workbench.words.caption import caption_text

LOG = "log"


class Stage:
    """Holds the headline and one panel of each kind. Events are only stored; `draw_next` and `flush` show them."""

    def __init__(self, theme: Theme) -> None:
        self.headline = Headline(theme)
        self.panels: dict[str, Panel] = {panel.name: panel(theme) for panel in PANELS}
        self._turns = deque(self.panels.values())
        self._drawn: dict[str, float] = {}
        self._started: Started | None = None

    def take(self, event: RunEvent) -> None:
        """One event of a live run."""
        self._note(event)
        self.headline.take(event)
        for panel in self.panels.values():
            panel.take(event)

    def replay(self, events: Iterable[RunEvent], source: str) -> None:
        """A run that is over; `source` says where it was recorded, "" in this session."""
        self.headline.show_source(source)
        for event in events:
            self._note(event)
            self.headline.take(event)
            for name, panel in self.panels.items():
                if name != LOG:  # the log is of the engine, not of a run
                    panel.take(event)

    def _note(self, event: RunEvent) -> None:
        if isinstance(event, Started):
            self._started = event

    @property
    def request(self) -> RunRequest | None:
        """What the run shown was asked for; None before any."""
        return self._started.request if self._started is not None else None

    def caption(self, name: str) -> str:
        """The line below a picture of the panel called `name`; "" before any run, and for what is of no run."""
        shows_run = name in self.panels and name != LOG
        return caption_text(self._started) if shows_run and self._started is not None else ""

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
        """Draw the next panel that has something new, in turn; says whether there was one.

        A panel that was drawn less than `rest_s` ago waits: samples come faster than anyone sees them.
        """
        for _ in range(len(self._turns)):
            self._turns.rotate(-1)
            panel = self._turns[-1]
            if perf_counter() - self._drawn.get(panel.name, -inf) >= panel.rest_s and panel.tick():
                self._drawn[panel.name] = perf_counter()
                return True
        return False

    def flush(self) -> None:
        """Draw everything that is new."""
        for panel in self.panels.values():
            panel.tick()
        self.headline.tick()

    def apply_theme(self, theme: Theme) -> None:
        """Take the colours of `theme`."""
        self.headline.apply_theme(theme)
        for panel in self.panels.values():
            panel.apply_theme(theme)
