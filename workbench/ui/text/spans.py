"""One line of text in several colours that ends in an ellipsis where it does not fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape

from PyQt6.QtCore import QEvent, QSize, Qt
from PyQt6.QtGui import QFont, QResizeEvent
from PyQt6.QtWidgets import QLabel, QSizePolicy, QWidget

from workbench.ui.text.fit import ELLIPSIS, elided, level, text_height, text_width


def colored(text: str, color: str, bold: bool = False, size: int = 0, space: str = " ") -> str:
    """`text` as rich text; `color` "" is the label's own, `size` is in points, 0 for the label's own."""
    style = (f"color:{color};" if color else "") + ("font-weight:bold;" if bold else "")
    style += f"font-size:{size}pt;" if size else ""
    return f'<span style="{style}">{escape(text).replace(" ", space)}</span>'


@dataclass(frozen=True)
class Span:
    """A piece of a line, with what `colored` takes."""

    text: str
    color: str = ""
    bold: bool = False
    size: int = 0

    def html(self) -> str:
        """The piece as rich text; its spaces stay."""
        return colored(self.text, self.color, self.bold, self.size, space="&nbsp;")

    def font(self, own: QFont) -> QFont:
        """The font of the piece in a label whose `own` it may be."""
        font = QFont(own)
        font.setBold(self.bold)
        if self.size:
            font.setPointSize(self.size)
        return font


def swatch_spans(name: str, color: str) -> list[Span]:
    """A square of `color` and `name`, as in a legend."""
    return [Span("■ ", color), Span(name)]


class SpanLine(QLabel):
    """One line of spans, elided to the room there is; the tooltip has the whole. Its text can be selected.

    Where the whole does not fit, the longest shorter version that does is shown, and only else an ellipsis.
    `elides` False keeps the room of the whole line, for what must always be read. See also `shorten_together`.
    """

    def __init__(self, elides: bool = True, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._versions: tuple[tuple[Span, ...], ...] = ((),)
        self._elides = elides
        self._group: tuple[SpanLine, ...] = (self,)
        self._size = QSize(3, self.fontMetrics().height())
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def set_spans(self, *versions: Sequence[Span], tooltip: str = "") -> None:
        """Show one of `versions`, from the longest to the shortest; `tooltip` is the whole line unless given."""
        given = tuple(map(tuple, versions))
        self.setToolTip(tooltip or _plain(given[0]))
        if given != self._versions:
            self._versions = given
            self.setAccessibleName(self.plain())
            self._measure()
            for line in self._group:
                line._fit()

    def plain(self) -> str:
        """The whole line without its colours."""
        return _plain(self._versions[0])

    def shown(self) -> str:
        """The line as it is painted."""
        return _plain(self._fitting())

    def colors(self) -> dict[str, str]:
        """The colour of each piece."""
        return {span.text.strip(): span.color for span in self._versions[0]}

    def sizeHint(self) -> QSize:
        """Room for the whole line."""
        return self._size

    def minimumSizeHint(self) -> QSize:
        """Room for a few characters, or for all of it."""
        whole = self.sizeHint()
        return QSize(min(whole.width(), 40), whole.height()) if self._elides else whole

    def resizeEvent(self, a0: QResizeEvent | None) -> None:
        super().resizeEvent(a0)
        for line in self._group:
            line._fit()

    def changeEvent(self, a0: QEvent | None) -> None:
        """Another font needs another size."""
        super().changeEvent(a0)
        if a0 is not None and a0.type() in (QEvent.Type.FontChange, QEvent.Type.ApplicationFontChange):
            self._measure()
            self._fit()

    def _measure(self) -> None:
        """Note the size of the whole line; the layout, which may be the window's, is asked only if it is another."""
        spans = self._versions[0] or (Span(""),)
        height = max(text_height(span.font(self.font())) for span in spans)
        size = QSize(int(self._length(spans)) + 3, round(height))
        if size != self._size:
            self._size = size
            self.updateGeometry()

    def _fit(self) -> None:
        super().setText("".join(span.html() for span in self._fitting()))

    def _fitting(self) -> Sequence[Span]:
        """The spans that fit, the last of them elided."""
        if not self._elides:
            return self._versions[0]
        found = max(level(line._versions, line.width() - 2, line._length) for line in self._group)
        return self._versions[found] if found < len(self._versions) else self._elided(self._versions[-1])

    def _elided(self, spans: Sequence[Span]) -> list[Span]:
        room, result = float(self.width()), list[Span]()
        for i, span in enumerate(spans):
            width = self._length([span])
            after = self._length([replace(span, text=ELLIPSIS)]) if i + 1 < len(spans) else 0.0
            if width + after > room:
                return [*result, replace(span, text=elided(span.text, room - 2, span.font(self.font())) or ELLIPSIS)]
            result.append(span)
            room -= width
        return result

    def _length(self, spans: Sequence[Span]) -> float:
        return sum(text_width(span.text, span.font(self.font())) for span in spans)


def _plain(spans: Sequence[Span]) -> str:
    return "".join(span.text for span in spans)


def shorten_together(*lines: SpanLine) -> None:
    """Show of all `lines`, which have as many versions each, the same one: what one leaves out, no other says."""
    for line in lines:
        line._group = lines
