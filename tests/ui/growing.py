"""How tests feed what shows a run: event by event, as a live one grows, or a whole record."""

from __future__ import annotations

from typing import Any, Protocol
from weakref import WeakKeyDictionary

from tests.samples import events_of
from workbench.run.events import CeilingsMeasured, Failed, Log, Ready, RunEvent, Started
from workbench.run.record import RunBuilder, RunRecord
from workbench.ui.headline.strip import Headline
from workbench.ui.panels.bases.panel import Panel


class ShowsRuns(Protocol):
    """A panel, the headline, or the stage with all of them."""

    def show_run(self, run: RunRecord, change: RunEvent | None = None) -> None: ...


_builders: WeakKeyDictionary[Any, RunBuilder] = WeakKeyDictionary()


def grow(view: ShowsRuns, *events: RunEvent, number: int = 0) -> None:
    """Let `view` take `events`: a `Started` begins another run, which has `number`.

    What the engine says of itself is of no run.
    """
    for event in events:
        if isinstance(event, Ready) and isinstance(view, Headline):
            view.learn(event)
        elif isinstance(view, Panel) and (not view.shows_run or isinstance(event, Ready | CeilingsMeasured)):
            assert isinstance(event, Ready | CeilingsMeasured | Log | Started | Failed)
            view.hear(event)
        else:
            _grow(view, event, number)


def feed(panel: Panel, record: RunRecord) -> None:
    """Let `panel` draw the whole run."""
    panel.show_run(record)
    panel.tick()


def _grow(view: ShowsRuns, event: RunEvent, number: int) -> None:
    if isinstance(event, Started):
        _builders[view] = RunBuilder(event.request, number)
        view.show_run(_builders[view].record())
    elif view not in _builders and isinstance(view, Panel) and view.run is not None:
        _builders[view] = RunBuilder(view.run.started.request, view.run.run_id)
        for earlier in events_of(view.run):
            _builders[view].take(earlier)
    builder = _builders[view]
    builder.take(event)
    view.show_run(builder.record(), event)
