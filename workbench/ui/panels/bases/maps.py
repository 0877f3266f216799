"""MapPanel: what the panels that show one head's map at a time have in common."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.run.measurement import Role
from workbench.run.request import Problem
from workbench.ui.panels.bases.heads import HeadBox, HeadChoice
from workbench.ui.panels.bases.plots import PicturePanel
from workbench.ui.plots.heatmap import HeatmapView
from workbench.ui.theme import Theme


class MapPanel(PicturePanel):
    """A map with its head selector.

    Subclasses look at `changed` when they draw: what is shown is to be set anew, not only its visible part.
    """

    def __init__(self, theme: Theme, view: HeatmapView) -> None:
        super().__init__(theme, view.graphics)
        self.view = view
        self.head_box = HeadBox()
        self.changed = True
        view.moved.connect(self.mark_stale)
        self.head_box.chosen.connect(lambda: self.choice.choose(self.head_box.number()))
        self.share(HeadChoice())

    def share(self, choice: HeadChoice) -> None:
        """Follow `choice`, which other maps may follow as well."""
        self.choice = choice
        choice.changed.connect(self.redraw)

    def wanted_heads(self, role: Role = "kernel") -> tuple[int | None, ...]:
        """The heads to show, by number, the best first: the one chosen, else the one with the worst error of `role`."""
        check = self.run.check(role) if self.run is not None else None
        return self.choice.number, check.error.worst[0] if check is not None else None

    @property
    def problem(self) -> Problem:
        """The problem of the run that is shown; there must be one."""
        assert self.run is not None
        return self.run.started.request.problem

    def redraw(self) -> None:
        """Set all that is shown anew at the next tick."""
        self.changed = True
        self.mark_stale()


def share_choice(panels: Iterable[object]) -> None:
    """Let all maps among `panels` show the same head."""
    choice = HeadChoice()
    for panel in panels:
        if isinstance(panel, MapPanel):
            panel.share(choice)
