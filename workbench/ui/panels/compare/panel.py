"""ComparePanel: the runs chosen in the table beside each other, against one of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QPushButton, QStackedWidget, QTabBar, QVBoxLayout, QWidget

from workbench.analysis.comparison import LEAST_RUNS, MOST_RUNS, request_in_turns
from workbench.run.record import RunKey, RunRecord
from workbench.ui.panels.bases.panel import BUDGET_S, Panel
from workbench.ui.panels.compare.grid import ComparisonGrid
from workbench.ui.panels.compare.shares import SharesPlot, legend
from workbench.ui.panels.compare.states import Beside, StatesView, all_apart
from workbench.ui.panels.compare.texts import Lines, make_wrapping
from workbench.ui.places import Place
from workbench.ui.plots.kept_picture import PlotArea
from workbench.ui.text.cards import PlotStack, swatch
from workbench.ui.theme import Theme
from workbench.ui.work import Work
from workbench.words.comparing import Compared, compared

ASK = f"Choose {LEAST_RUNS} to {MOST_RUNS} runs in the table: Ctrl-click adds one, Shift-click all up to it."
TURNS = "Launch both kernels in turns, as kernel and SDPA are, so that what slows both drops out of the ratio"
NO_TURNS = "Takes two runs of one problem, which differ in kernel, tile or precision"
FIRST = "the first chosen"
TOO_MANY = f"More than {MOST_RUNS} runs are chosen. {ASK}"


class ComparePanel(Panel):
    """What differs between the chosen runs, their figures against the reference, and their launches over one axis.

    The first run that was chosen and measured is the reference, until another is set; that one stays it, and stands
    first, whichever runs are chosen. `turnsRequested` carries a RunRequest that measures two of them in turns. `load`
    gives a run with its maps and states, which are read when they are looked at, in a thread.
    """

    name = "compare"
    title = "Compare"
    place = Place.UPPER
    shows_run = False

    turnsRequested = pyqtSignal(object)  # RunRequest
    referenceChanged = pyqtSignal(object)  # RunRecord, or None

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self.found: Compared | None = None
        self.reference: RunRecord | None = None
        self._chosen: tuple[RunRecord, ...] = ()
        self._is_broken = False  # what was chosen last could not be compared
        self._has_states = False
        self._work: Work[Compared] = Work()
        self._reading: Work[tuple[Beside, ...]] = Work()
        self.load: Callable[[RunRecord], RunRecord] = lambda run: run
        self.answer, self.legend = QLabel(), Lines()
        self.grid, self.shares, self.states = ComparisonGrid(theme), SharesPlot(theme), StatesView(theme)
        self.references, self.turns = QComboBox(), QPushButton("Measure in turns")
        self.views, self.pages = QTabBar(), QStackedWidget()
        self.graphics = PlotArea()
        self.stack = PlotStack(theme, self.pages)
        self._lay_out()
        self.apply_theme(theme)

    def _lay_out(self) -> None:
        times, column = QWidget(), QVBoxLayout(self)
        make_wrapping(self.answer)
        self.graphics.addItem(self.shares.plot)
        under = QVBoxLayout(times)
        under.setContentsMargins(0, 0, 0, 0)
        under.addWidget(self.legend)
        under.addWidget(self.graphics, 1)
        for title, page in (("Table", self.grid), ("Times", times), ("States", self.states)):
            self.views.addTab(title)
            self.pages.addWidget(page)
        self.views.currentChanged.connect(self._show_page)
        column.setContentsMargins(8, 6, 8, 4)
        column.setSpacing(4)
        column.addWidget(self.answer)
        column.addLayout(self._controls())
        column.addWidget(self.stack, 1)

    def _controls(self) -> QHBoxLayout:
        row, name = QHBoxLayout(), QLabel("&Reference:")
        name.setBuddy(self.references)
        self.references.setAccessibleName("Reference")
        self.references.setToolTip("The run that the others are held against; it stays while others are chosen")
        self.references.activated.connect(self._on_reference)
        self.turns.clicked.connect(self._on_turns)
        self.references.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.references.setMinimumWidth(90)
        self.views.setAccessibleName("What of the comparison is shown")
        self.views.setDrawBase(False)
        self.views.setExpanding(False)
        self.views.setUsesScrollButtons(False)
        row.addWidget(self.views)
        row.addSpacing(12)
        row.addWidget(name)
        row.addWidget(self.references)
        row.addStretch(1)
        row.addWidget(self.turns)
        return row

    @property
    def runs(self) -> tuple[RunRecord, ...]:
        """What is compared: the reference that was set, and the chosen runs."""
        others = self._chosen
        if self.reference is None or self.reference.key in [run.key for run in others]:
            return others
        return (self.reference, *others)

    @property
    def is_complete(self) -> bool:
        """Whether all is shown that was asked for."""
        return not self._work.is_busy and not self._reading.is_busy and not self._stale

    def choose(self, records: Sequence[RunRecord]) -> None:
        """Compare `records`, in the order in which they were chosen."""
        self._chosen = tuple(records)
        self._begin()

    def set_reference(self, record: RunRecord | None) -> None:
        """Hold all against `record` from now on; None: against the first that is chosen."""
        self.reference = record
        self._begin()
        self.referenceChanged.emit(record)

    @property
    def can_compare(self) -> bool:
        """Whether so many runs are chosen as can be compared."""
        return LEAST_RUNS <= len(self.runs) <= MOST_RUNS

    def _begin(self) -> None:
        self.found = None
        self._reading.forget()
        self._has_states = False
        self._is_broken = False
        if self.can_compare:
            self._work.ask(self._job())
        else:
            self._work.forget()
        self.redraw()

    def _job(self) -> partial[Compared]:
        return partial(compared, self.runs, self.reference.key if self.reference is not None else None)

    def _show_page(self, page: int) -> None:
        self.pages.setCurrentIndex(page)
        self._ask_states()

    def _ask_states(self) -> None:
        """Read the runs for their states, once they are looked at."""
        if self.found is None or self._has_states or self.pages.currentWidget() is not self.states:
            return
        self._has_states = True
        self.states.show_reading()
        self._reading.ask(partial(all_apart, self.runs, self.found.reference, self.load))

    def tick(self, budget_s: float = BUDGET_S) -> bool:
        """Take what the threads have found, and draw it."""
        states = self._reading.taken()
        if states is not None:
            self.states.show_apart(states)
        was_broken, self._is_broken = self._is_broken, True  # if taking raises, until others are chosen
        found = self._work.taken()
        self._is_broken = was_broken
        if found is not None:
            self.found = found
            self.mark_stale()
        # Drawing beside a thread that computes takes several times as long; it needs less than what would be drawn.
        return False if self._work.is_busy else super().tick(budget_s)

    def draw_now(self) -> bool:
        """Draw at once, as for a picture, which does not wait for the thread."""
        if self.found is None and self.can_compare and not self._is_broken:
            self._work.forget()
            self.found = self._job()()
            self.mark_stale()
        return super().draw_now()

    def draw(self) -> None:
        """Show the comparison, or how to come by one."""
        self.answer.setVisible(self.found is not None)
        self.turns.setEnabled(False)
        if not self.can_compare:
            self.stack.show_text(TOO_MANY if len(self.runs) > MOST_RUNS else ASK)
        elif self.found is None:  # its work failed, which says so itself
            self.stack.show_text("These runs cannot be compared.")
        else:
            self._show(self.found)
            self.stack.show_plots()

    def _show(self, found: Compared) -> None:
        self.answer.setText(found.answer)
        self.grid.show_compared(found)
        self.shares.show(self.runs)
        color = self.theme.color
        self.legend.set_text("&nbsp; ".join(swatch(text, color(token).name()) for text, token in legend(self.runs)))
        self.references.clear()
        self.references.addItems([title.replace("\n", ", ") for title in found.titles])
        if self.reference is not None:
            self.references.addItem(FIRST)
        self.references.setCurrentIndex(found.reference)
        self._ask_states()
        self.turns.setEnabled(self._in_turns() is not None)
        self.turns.setToolTip(TURNS if self.turns.isEnabled() else NO_TURNS)

    def _in_turns(self) -> object:
        return request_in_turns(*self.runs) if len(self.runs) == LEAST_RUNS else None

    def _on_reference(self, place: int) -> None:
        self.set_reference(self.runs[place] if place < len(self.runs) else None)

    def _on_turns(self) -> None:
        request = self._in_turns()
        if request is not None:
            self.turnsRequested.emit(request)

    def forget(self, key: RunKey) -> None:
        """The run `key` is no longer there."""
        if self.reference is not None and self.reference.key == key:
            self.set_reference(None)

    def apply_theme(self, theme: Theme) -> None:
        """Take the colours of `theme`."""
        super().apply_theme(theme)
        self.graphics.setBackground(theme.surface)
        self.stack.card.apply_theme(theme)
        self.grid.apply_theme(theme)
        self.shares.apply_theme(theme)
        self.states.apply_theme(theme)
