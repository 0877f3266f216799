"""The window's side of what is said of runs: the commands, the step that each is, and what shows it."""

from __future__ import annotations

from collections.abc import Callable

from workbench.run.library import Library
from workbench.ui.runs.deleted import DeletedRuns
from workbench.ui.runs.marking import Marking
from workbench.ui.runs.table import ResultsTable
from workbench.ui.window.actions import Actions
from workbench.ui.window.shown import ShownRun
from workbench.ui.window.undo import Undo


class MarksControl:
    """Lets runs of the table be marked and asked for; `bring` puts the table in front, `say` takes a line."""

    def __init__(
        self,
        library: Library,
        results: ResultsTable,
        shown: ShownRun,
        undo: Undo,
        commands: Actions,
        bring: Callable[[str], object],
        say: Callable[[str], None],
    ) -> None:
        self._library = library
        self._results = results
        self._bring = bring
        self._steps = undo.add_stack(results)
        self.marking = results.marking = Marking(library, self._steps, results, results.selected_keys)
        self.marking.changed.connect(shown.take_marks)
        self.marking.said.connect(say)
        results.filterChanged.connect(shown.list_history)
        commands.connect(filter=self.open_filter, deleted=self.show_deleted)

    def forget(self) -> None:
        """Take back nothing of a session that was left: the next one has runs of the same numbers."""
        self._steps.clear()

    def open_filter(self) -> None:
        """Let runs be asked for."""
        self._bring(self._results.name)
        self._results.filter.open_line()

    def show_deleted(self) -> None:
        """List the deleted runs, to bring some back."""
        DeletedRuns(self._library.deleted(), self.marking.restore, self._results.window()).open()
