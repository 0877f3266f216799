"""Which run the window shows: the live one, or one of the table's. Table, panels and the form's title follow it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from PyQt6.QtWidgets import QDockWidget

from workbench.run.events import Failed, Finished
from workbench.run.library import Library
from workbench.run.protocols import protocol_on
from workbench.run.record import RunRecord
from workbench.run.session import SessionError
from workbench.ui.files.reading import RunReader
from workbench.ui.form.controls import Controls
from workbench.ui.form.specs import differing_fields
from workbench.ui.runs.table import ResultsTable
from workbench.ui.window.stage import Stage
from workbench.ui.worker import Grown, Kept


class ShownRun:
    """Shows runs of the library on the stage; `say` takes a line for the user.

    `setup` is the form's dock, whose title says where the form is not what the run shown was made with. While it
    `is_live` what goes on is shown, and not a run chosen from the table.
    """

    def __init__(
        self,
        library: Library,
        results: ResultsTable,
        stage: Stage,
        controls: Controls,
        setup: QDockWidget,
        say: Callable[[str], None],
    ) -> None:
        self._library = library
        self._results = results
        self._stage = stage
        self._controls = controls
        self._setup = setup
        self._say = say
        self.is_live = True
        self._reader = RunReader(self._whole, library.bytes_of, self._show_whole, results)
        self._list_runs()

    def show(self, record: RunRecord) -> None:
        """Show a run of the table in every panel, once it has been read: until then all shows the one before."""
        self.is_live = False
        if not self._reader.ask(record):
            self._say(f"Reading run {record.run_id}…")

    def finish(self) -> None:
        """Show now what is still being read."""
        self._reader.finish()

    def _whole(self, record: RunRecord) -> RunRecord:
        try:
            return self._library.load(record)
        except SessionError as error:
            return record.without_result(Failed("damaged", str(error)))

    def _show_whole(self, whole: RunRecord) -> None:
        if isinstance(whole.end, Failed) and whole.end.kind == "damaged":
            self._say(whole.end.message)
        self._stage.show_run(whole)
        self.compare_form()

    def choose(self, record: RunRecord) -> None:
        """Show a run that was chosen in a panel, and select it in the table."""
        self._results.select(record.key)
        self.show(record)

    def show_last(self) -> None:
        """Show the last finished run that the session already holds, with its settings in the form, if there is one."""
        own = [run for run in self._library.records() if not run.source and isinstance(run.end, Finished)]
        if own:
            self._results.select(own[-1].key)
            self._controls.set_request(own[-1].started.request)
            self.show(own[-1])

    def take(self, grown: Grown) -> None:
        """The live run has grown; a panel only takes note of that, and draws on the next frame."""
        if self.is_live:
            self._reader.forget()
            self._stage.show_run(grown.record, grown.event)
            if grown.event is None:
                self.compare_form()

    def open_recording(self, path: Path) -> RunRecord:
        """Add a recording's runs to the table and show its last finished one, else its last.

        Raises SessionError if it cannot be read.
        """
        runs = self._library.open_recording(path)
        self._list_runs()
        last = next((run for run in reversed(runs) if isinstance(run.end, Finished)), runs[-1])
        self._results.select(last.key)
        self.show(last)
        return last

    def add(self, kept: Kept) -> None:
        """Add a run that has ended to the table, and mark it there if it is the one that is shown."""
        summary = self._library.add(kept.record, saved=not kept.problem)
        self._stage.rename(kept.live, summary.key)
        self._results.upsert(summary)
        if self._stage.run is not None and self._stage.run.key == summary.key:
            self._results.select(summary.key)
        self._stage.set_history(self._library.records())

    def compare_form(self) -> None:
        """Say beside the form's title where it is not what the run shown was made with; the list of docks keeps its."""
        run, title = self._stage.run, self._controls.title
        differing: tuple[str, ...] = ()
        if run is not None:
            asked, made = self._controls.request(), run.started.request
            if asked.protocol != made.protocol:  # one that is left open is what the run's device makes of it
                usual = protocol_on(asked.protocol, run.started.device.mode == "cuda")
                asked = replace(asked, protocol=usual.name)
            differing = differing_fields(asked, made)
        self._setup.setWindowTitle(f"{title} – differs from the run shown" if differing else title)
        self._setup.setToolTip(f"not as in the run shown: {', '.join(differing)}" if differing else "")
        action = self._setup.toggleViewAction()
        if action is not None:
            action.setText(title)

    def _list_runs(self) -> None:
        """Put all runs into the table, and into what shows a trend of them."""
        self._results.set_records(self._library.records())
        self._stage.set_history(self._library.records())
