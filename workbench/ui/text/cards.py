"""What a panel shows in words: why there is no picture, what is under the mouse, coloured names."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from PyQt6.QtCore import QPoint, Qt
from PyQt6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from workbench.run.events import Failed
from workbench.run.record import RunRecord
from workbench.run.request import RunRequest
from workbench.ui.text.spans import colored, swatch_spans
from workbench.ui.theme import Theme
from workbench.words.names import baseline_text, kernel_text, rival_text, tile_text
from workbench.words.results import failure_words, remedy_text

LONGEST_MESSAGE = 700  # characters; the log holds the rest


def kernel_title(request: RunRequest | None) -> str:
    """How the kernel of `request` is named in legends: beside a rival with its tile, which may be all that differs."""
    if request is not None and request.rival is not None:
        return f"{kernel_text(request.kernel, request.precision)} {tile_text(request.tile)}"
    return f"{kernel_text(request.kernel, request.precision)} kernel" if request else "kernel"


def baseline_title(request: RunRequest | None, backend: str) -> str:
    """How SDPA is named in legends: with the backend it really took, else the one asked for; or the rival."""
    if request is not None and request.rival is not None:
        return rival_text(request.rival)
    chosen = backend or (request.sdpa if request else "")
    name = baseline_text(chosen)
    return f"{name} ({chosen})" if chosen and name == "SDPA" else name


def swatch(text: str, color: str) -> str:
    """A square of `color` followed by `text`, as in a legend; the two are never parted."""
    return "".join(span.html() for span in swatch_spans(text, color))


class MessageCard(QWidget):
    """A quiet line, or a failure with what to try, in the middle of an area; below it a button, if one is offered."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._failed: Failed | None = None
        self._text = ""
        self.label = QLabel()
        self.label.setTextFormat(Qt.TextFormat.RichText)
        self.label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)  # to be copied into a report
        self.label.setWordWrap(True)
        self.label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.label.setMaximumWidth(640)
        self.button = QPushButton()
        self.button.hide()
        # no alignment flags: an aligned label gets its size hint, which is too low for wrapped text
        layout = QVBoxLayout(self)
        layout.setSpacing(10)
        layout.addStretch(1)
        for widget, stretch in ((self.label, 20), (self.button, 0)):
            across = QHBoxLayout()
            across.addStretch(1)
            across.addWidget(widget, stretch)
            across.addStretch(1)
            layout.addLayout(across)
        layout.addStretch(1)

    def show_text(self, text: str, offer: str = "", tip: str = "") -> None:
        """Say `text` quietly; `offer` is on the button below it, with `tip` as its tooltip, and "" shows none."""
        self._failed, self._text = None, text
        self.button.setText(offer)
        self.button.setToolTip(tip)
        self.button.setVisible(bool(offer))
        self.apply_theme(self._theme)

    def show_failure(self, failed: Failed) -> None:
        """Say what happened and what to try."""
        self._failed = failed
        self.button.hide()
        self.apply_theme(self._theme)

    def apply_theme(self, theme: Theme) -> None:
        """Write the text again in the colours of `theme`."""
        self._theme = theme
        self.label.setText(self._failure_text(self._failed) if self._failed else colored(self._text, theme.muted))

    def _failure_text(self, failed: Failed) -> str:
        theme = self._theme
        color = theme.warn if failed.kind == "cancelled" else theme.bad
        message = failed.message.strip()
        if len(message) > LONGEST_MESSAGE:
            message = message[:LONGEST_MESSAGE].rstrip() + " …"
        words = failure_words(failed)
        lines = [colored(words[:1].upper() + words[1:], color, bold=True, size=13), _paragraph(message)]
        lines.append(_paragraph(remedy_text(failed)))
        return "<br><br>".join(line for line in lines if line)


def _paragraph(text: str) -> str:
    return escape(text).replace("\n", "<br>")


@dataclass(frozen=True)
class Empty:
    """What an empty panel says before any run, during one, and after one that left it nothing to show."""

    before: str
    during: str
    after: str


class PlotStack(QStackedWidget):
    """A plot, or the card that says why there is none."""

    def __init__(self, theme: Theme, plots: QWidget) -> None:
        super().__init__()
        self.plots = plots
        self.card = MessageCard(theme)
        self.addWidget(plots)
        self.addWidget(self.card)

    def show_plots(self) -> None:
        """Show the plot."""
        self.setCurrentWidget(self.plots)

    def show_text(self, text: str, offer: str = "", tip: str = "") -> None:
        """Show a quiet line instead of the plot, and below it a button that says `offer`."""
        self.card.show_text(text, offer, tip)
        self.setCurrentWidget(self.card)

    def show_reason(self, empty: Empty, run: RunRecord | None) -> None:
        """Show why there is no plot: the run's failure, or the words that fit how far it has come."""
        if run is None:
            self.show_text(empty.before)
        elif isinstance(run.end, Failed):
            self.card.show_failure(run.end)
            self.setCurrentWidget(self.card)
        else:
            self.show_text(empty.during if run.end is None else empty.after)

    @property
    def shows_plots(self) -> bool:
        """Whether the plot is what is seen."""
        return self.currentWidget() is self.plots


class HoverCard(QLabel):
    """A small card beside the mouse, kept inside the widget it lies on."""

    def __init__(self, theme: Theme, over: QWidget) -> None:
        super().__init__(over)
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.apply_theme(theme)
        self.hide()

    def apply_theme(self, theme: Theme) -> None:
        """Take the colours of `theme`."""
        self.setStyleSheet(
            f"QLabel {{ background: {theme.raised}; color: {theme.text}; border: 1px solid {theme.border};"
            " border-radius: 4px; padding: 4px 6px; }"
        )

    def show_at(self, position: QPoint, lines: list[str]) -> None:
        """Show `lines` of rich text beside `position`, in the coordinates of the widget below."""
        self.setText("<br>".join(f"<nobr>{line}</nobr>" for line in lines))
        self.adjustSize()
        over = self.parentWidget()
        assert over is not None
        x, y = position.x() + 14, position.y() + 14
        if x + self.width() > over.width():
            x = position.x() - self.width() - 14
        if y + self.height() > over.height():
            y = position.y() - self.height() - 14
        self.move(max(0, x), max(0, y))
        self.show()
        self.raise_()
