"""Which head the maps are of: one choice for all of them, and the list in each to choose it from."""

from __future__ import annotations

from collections.abc import Sequence

from PyQt6.QtCore import QObject, QSize, pyqtSignal
from PyQt6.QtWidgets import QComboBox

from workbench.run.request import Problem
from workbench.words.names import head_text

ARROW_WIDTH = 56  # px of the arrow, the padding and the frame


class HeadChoice(QObject):
    """The head that somebody has chosen, by its number; it stays from run to run. None before: maps then begin alike.

    `changed` says that another one was chosen, in whichever of the maps that share the choice.
    """

    changed = pyqtSignal()

    def __init__(self) -> None:
        super().__init__()
        self.number: int | None = None

    def choose(self, number: int) -> None:
        """Choose the head with this number among all of the problem."""
        self.number = number
        self.changed.emit()


class HeadBox(QComboBox):
    """The heads whose maps were kept, by number; hidden where the problem has a single head.

    `chosen` says that the user has chosen another one.
    """

    chosen = pyqtSignal()

    def __init__(self) -> None:
        super().__init__()
        self._heads: tuple[int, ...] = ()
        self._problem: Problem | None = None
        self._longest = ""
        self.setAccessibleName("Head")
        self.setMaxVisibleItems(20)
        self.currentIndexChanged.connect(self._on_change)
        self.hide()

    def sizeHint(self) -> QSize:
        """Room for the longest name; Qt would measure all of them, and there may be very many."""
        return QSize(self.fontMetrics().horizontalAdvance(self._longest) + ARROW_WIDTH, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """As the size hint: what head a map is of is never cut."""
        return self.sizeHint()

    def show_heads(self, problem: Problem, heads: Sequence[int], count: int, *wanted: int | None) -> int:
        """Offer the heads of a map whose first axis has `count` of them; returns the index of the one to show.

        `heads` are their numbers, empty for all in order; shown is the first of `wanted` that is among them.
        """
        numbers = tuple(heads) or tuple(range(count))
        blocked = self.blockSignals(True)
        if (problem, numbers) != (self._problem, self._heads):
            self._problem, self._heads = problem, numbers
            self._fill(problem)
        index = next((numbers.index(number) for number in wanted if number in numbers), 0)
        self.setCurrentIndex(index)
        self.blockSignals(blocked)
        self.setVisible(problem.total_heads > 1)
        self._explain()
        return index

    def number(self) -> int:
        """The number of the head that is shown, counted over all batches."""
        return self._heads[self.currentIndex()] if self._heads else 0

    def _fill(self, problem: Problem) -> None:
        names = [f"{head_text(problem, number)} of {problem.heads}" for number in self._heads]
        self.clear()
        self.addItems(names)
        self._longest = max(names, key=len, default="")
        self.updateGeometry()

    def _explain(self) -> None:
        """Say in the tooltip which KV head this one shares, and whether others were left out."""
        problem = self._problem
        assert problem is not None
        lines = ["The head that the maps of softmax states and errors show."]
        if problem.kv_heads != problem.heads:
            shared = self.number() % problem.heads * problem.kv_heads // problem.heads
            lines.append(f"It reads KV head {shared + 1} of {problem.kv_heads}.")
        if len(self._heads) < problem.total_heads:
            lines.append(f"Of {problem.total_heads} heads {len(self._heads)} were kept.")
        self.setToolTip("\n".join(lines))

    def _on_change(self) -> None:
        self._explain()
        self.chosen.emit()
