"""Which run the window shows: the live one, or one of the table's. Table, panels and the form's title follow it."""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from pathlib import Path

from PyQt6.QtWidgets import QDockWidget, QMainWindow

from workbench.analysis.listing.near import near
from workbench.run.events import Failed, Finished, RunEvent
from workbench.run.library import Library
from workbench.run.protocols import protocol_on
from workbench.run.record import RunRecord
from workbench.run.session import SessionError
from workbench.ui.files.names import window_title
from workbench.ui.files.reading import RunReader
from workbench.ui.form.controls import Controls
from workbench.ui.form.specs import differing_fields
from workbench.ui.notices.notice import Kind, Notice, Topic
from workbench.ui.runs.table import ResultsTable
from workbench.ui.window.stage import Stage
from workbench.ui.window.voice import Voice
from workbench.ui.worker import Grown, Kept

MOST_IN_TREND = 1000  # runs: each has to be read for it, which takes a millisecond
STEP = 200  # by which the oldest leave it: for each that leaves, the others are read anew


class ShownRun:
    """Shows runs of the library on the stage; `voice` says what stands in the way.

    The title of `window` says where the run shown is from. `setup` is the form's dock, whose title says where the form
    is not what the run shown was made with. While it `is_live` what goes on is shown, and not a run chosen from the
    table.
    """

    def __init__(
        self,
        window: QMainWindow,
        library: Library,
        results: ResultsTable,
        stage: Stage,
        controls: Controls,
        setup: QDockWidget,
        voice: Voice,
    ) -> None:
        self._window = window
        self._library = library
        self._results = results
        self._stage = stage
        self._controls = controls
        self._setup = setup
        self._voice = voice
        self.is_live = True
        self._reader = RunReader(self._whole, library.bytes_of, self._show_whole, results)
        self._list_runs()
        self.compare_form()

    def show(self, record: RunRecord) -> None:
        """Show a run of the table in every panel, once it has been read: until then all shows the one before."""
        self.is_live = False
        if not self._reader.ask(record):
            self._voice.say_while(f"Reading run {record.run_id}…")

    def finish(self) -> None:
        """Show now what is still being read."""
        self._reader.finish()

    def _whole(self, record: RunRecord) -> RunRecord:
        try:
            return self._library.load(record)
        except SessionError as error:
            return record.without_result(Failed("damaged", str(error)))

    def _show_whole(self, whole: RunRecord) -> None:
        self._voice.end_saying()
        if isinstance(whole.end, Failed) and whole.end.kind == "damaged":
            self._voice.tell(Notice(Kind.ERROR, Topic.FILE, whole.end.message))
        self._show_run(whole)
        self.compare_form()

    def show_session(self) -> None:
        """List the runs of another session, and show its last finished one with its settings in the form, if any.

        What goes on stays where it is shown and the session has no run that could be.
        """
        self._reader.forget()
        self._results.set_records(())  # what was selected is no run of this session
        self._list_runs()
        if not self.show_last() and not self._goes_on:
            self._show_nothing()
        self.compare_form()

    def close_recording(self, source: str) -> None:
        """Take the runs of a recording out of the table, and out of sight; the form stays."""
        self._reader.forget(source)
        self._library.close_recording(source)
        self._list_runs()
        shown = self._stage.run
        if shown is not None and shown.source == source and not self.show_last(fill_form=False):
            self._show_nothing()
        self.compare_form()

    @property
    def _goes_on(self) -> bool:
        return self._stage.run is not None and self._stage.run.is_live

    def _show_nothing(self) -> None:
        self._reader.forget()
        self._stage.show_nothing()

    def choose(self, record: RunRecord) -> None:
        """Show a run that was chosen in a panel, and select it in the table."""
        self._results.select(record.key)
        self.show(record)

    def show_last(self, fill_form: bool = True) -> bool:
        """Show the session's last finished run, with its settings in the form; says whether there is one."""
        own = reversed(self._library.records().where(source=""))
        last = next((run for run in own if isinstance(run.end, Finished)), None)
        if last is not None:
            self._results.select(last.key)
            if fill_form:
                self._controls.set_request(last.started.request)
            self.show(last)
        return last is not None

    def take(self, grown: Grown) -> None:
        """The live run has grown; a panel only takes note of that, and draws on the next frame."""
        if self.is_live:
            self._reader.forget()
            self._voice.end_saying()
            self._show_run(grown.record, grown.event)
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
        """Add a run that has ended to the table, and mark it there if it is the one that is shown.

        One that is in the file of the session before this one, in which it began, is shown as from there.
        """
        if kept.session not in (None, self._library.session.path) and not kept.problem:
            self._show_elsewhere(kept, kept.session)
            return
        summary = self._library.add(kept.record, saved=not kept.problem)
        self._stage.rename(kept.live, summary.key)
        self._results.upsert(summary)
        if self._stage.run is not None and self._stage.run.key == summary.key:
            self._results.select(summary.key)
        self.list_history()

    def _show_run(self, run: RunRecord, event: RunEvent | None = None) -> None:
        """Show a run, among others that its trend is of where its problem is another than before."""
        before = self._stage.run
        self._stage.show_run(run, event)
        if before is None or before.started.request.problem != run.started.request.problem:
            self.list_history()

    def _show_elsewhere(self, kept: Kept, session: Path | None) -> None:
        if self._stage.run is not None and self._stage.run.key == kept.live and session is not None:
            self._stage.show_run(replace(self._stage.run, source=session.stem, run_id=kept.record.run_id))
            self.compare_form()

    def compare_form(self) -> None:
        """Say in the window's title what is shown, and beside the form's where that is not what it was made with.

        The list of docks keeps its title.
        """
        self._window.setWindowTitle(window_title(self._library.session.path, self._stage.run))
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
        self.list_history()

    def list_history(self) -> None:
        """Let what shows a trend of the runs be of those that the table's filter asks for.

        Of very many those are chosen that can stand in one trend with the run shown.
        """
        runs, asked = self._library.records(), self._results.asked
        runs = runs.chosen(asked.places(runs)) if asked.terms else runs
        shown = self._stage.run
        if len(runs) > MOST_IN_TREND and shown is not None:
            runs = near(runs, shown.started.request.problem)
        first = max(0, ceil((len(runs) - MOST_IN_TREND) / STEP)) * STEP
        if first:
            self._voice.say(f"The trend is of the newest {len(runs) - first:,} of {len(runs):,} runs that belong to it")
        self._stage.set_history(runs[first:])

    def take_marks(self, others_are_hidden: bool) -> None:
        """Show what is now said of runs."""
        if others_are_hidden:
            self._list_runs()
        else:
            self._results.set_marks(self._library.records().marks)
            if self._results.asked.terms:  # which may ask for a star
                self._results.filter.edit.textChanged.emit(self._results.filter.edit.text())
