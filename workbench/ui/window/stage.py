"""What shows a run: the headline and the panels, which read one record, drawn a piece at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from math import inf
from time import perf_counter

from PyQt6.QtCore import QCoreApplication, QEvent

from workbench.run.events import CeilingsMeasured, Failed, Log, Progress, Ready, RunEvent, Started
from workbench.run.record import RunKey, RunRecord
from workbench.run.request import RunRequest
from workbench.ui.headline.strip import Headline
from workbench.ui.panels import PANELS
from workbench.ui.panels.bases.maps import share_choice
from workbench.ui.panels.bases.panel import Panel
from workbench.ui.plots.kept_picture import PlotArea
from workbench.ui.theme import Theme
from workbench.words.caption import caption_parts

MOST_DRAWS = 4  # of one panel at once; two settle what is known


class Stage:
    """Holds the run that is shown, the headline and one panel of each kind; `draw_next` and `flush` draw them.

    The run is a record, which grows while it goes on; nobody else puts one together for the window to show.
    """

    def __init__(self, theme: Theme) -> None:
        self.headline = Headline(theme)
        self.panels: dict[str, Panel] = {panel.name: panel(theme) for panel in PANELS}
        share_choice(self.panels.values())
        self.run: RunRecord | None = None
        self._turns = deque(self.panels.values())
        self._drawn: dict[str, float] = {}

    def show_run(self, run: RunRecord, change: RunEvent | None = None) -> None:
        """Show `run`; `change` is what it has grown by, if it is the one that is shown already."""
        if self.run is None or run.key != self.run.key:
            change = None
        self.run = run
        self.headline.show_run(run, change)
        for panel in self.panels.values():
            if panel.shows_run:
                panel.show_run(run, change)

    def show_nothing(self) -> None:
        """Show no run, as at first."""
        self.run = None
        self.headline.show_nothing()
        for panel in self.panels.values():
            if panel.shows_run:
                panel.show_nothing()

    def rename(self, key: RunKey, to: RunKey) -> None:
        """The run `key` is called `to` from now on: it is in a file."""
        if self.run is not None and self.run.key == key:
            self.run = replace(self.run, source=to.source, run_id=to.number)
            for panel in self.panels.values():
                if panel.shows_run:
                    panel.run = self.run

    @property
    def request(self) -> RunRequest | None:
        """What the run shown was asked for; None before any."""
        return self.run.started.request if self.run is not None else None

    def caption(self, name: str) -> tuple[str, ...]:
        """What a picture of the panel called `name` says below it; nothing before any run, or for what is of no run."""
        shows_run = name in self.panels and self.panels[name].shows_run
        return caption_parts(self.run.started) if shows_run and self.run is not None else ()

    def hear(self, event: Ready | CeilingsMeasured | Log | Started | Failed) -> None:
        """What the engine says, whatever run is shown."""
        if isinstance(event, Ready):
            self.headline.learn(event)
        for panel in self.panels.values():
            panel.hear(event)

    def show_measuring(self, on: bool, progress: Progress | None = None) -> None:
        """Whether the device's ceilings are being measured, and how far that is."""
        for panel in self.panels.values():
            panel.show_measuring(on, progress)

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
        """Draw everything that is new, and what fits otherwise once a draw has changed a layout."""
        for _ in range(MOST_DRAWS):
            QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)
            drawn = [panel for panel in self.panels.values() if panel.tick(inf)]
            for area in (area for panel in drawn for area in panel.findChildren(PlotArea)):
                area.settle()
            if not drawn:
                break
        self.headline.tick()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)

    def apply_theme(self, theme: Theme) -> None:
        """Take the colours of `theme`."""
        self.headline.apply_theme(theme)
        for panel in self.panels.values():
            panel.apply_theme(theme)
