"""The line under the headline that shows one message at a time, and how many there are."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PyQt6.QtCore import QEvent, QSize, Qt
from PyQt6.QtGui import QKeyEvent
from PyQt6.QtWidgets import QHBoxLayout, QLabel, QMessageBox, QPushButton, QSizePolicy, QWidget

from workbench.ui.notices.notice import Notice, Topic
from workbench.ui.text.elided import ElidedLabel
from workbench.ui.theme import Theme, icon

LEAST_WIDTH = 240  # as the headline's: a tool bar hides what asks for more room than there is
ICON = 16  # px


class NoticeBar(QWidget):
    """Holds the messages that are true and not dismissed; hidden without any. What matters most comes first."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("notices")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._theme = theme
        self._notices: list[Notice] = []
        self._place = 0
        self._icon, self._kind, self._count = QLabel(), ElidedLabel(bold=True, cuts=False), QLabel()
        self._line = ElidedLabel()
        self._line.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._next = self._button("Next", self._show_next, "Show the next message")
        self._details = self._button("Details…", self._show_details, "All of what is known of it")
        self._dismiss = self._button(
            "Dismiss", self.dismiss, "Put this message away (Esc while a button here has focus)"
        )
        self._acts: list[QPushButton] = []
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(14, 2, 14, 4)
        self._row.setSpacing(8)
        for widget in (self._icon, self._kind, self._line, self._count, self._next, self._details, self._dismiss):
            self._row.addWidget(widget)
        self._row.setStretchFactor(self._line, 1)
        self.hide()

    def sizeHint(self) -> QSize:
        """As narrow as the headline."""
        return QSize(LEAST_WIDTH, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """As the size hint."""
        return self.sizeHint()

    def notices(self) -> tuple[Notice, ...]:
        """All that stand, in the order in which they are shown."""
        return tuple(self._notices)

    def text(self) -> str:
        """What is shown, in reading order; "" without a message."""
        return self.accessibleName() if self._notices else ""

    def take(self, told: Notice | Topic) -> None:
        """Show a message in place of an older one of its topic, or with a topic alone take that one away."""
        topic = told if isinstance(told, Topic) else told.topic
        self._notices = [other for other in self._notices if other.topic is not topic]
        if isinstance(told, Notice):
            # Stable: of equal weight the newest is first.
            self._notices = sorted([told, *self._notices], key=lambda notice: notice.kind)
            self._place = 0
        self._show()

    def dismiss(self) -> None:
        """Put away the message that is shown."""
        del self._notices[self._place]
        self._show()

    def apply_theme(self, theme: Theme) -> None:
        """Take the colours of `theme`."""
        self._theme = theme
        self._show()

    def event(self, a0: QEvent | None) -> bool:
        """Esc is for the message while the focus is here, and not for the run."""
        if isinstance(a0, QKeyEvent) and a0.key() == Qt.Key.Key_Escape:
            if a0.type() == QEvent.Type.ShortcutOverride:
                a0.accept()
                return True
            if a0.type() == QEvent.Type.KeyPress:
                self.dismiss()
                return True
        return super().event(a0)

    def _button(self, text: str, act: Callable[..., object], tip: str) -> QPushButton:
        button = QPushButton(text)
        button.setToolTip(tip)
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        button.clicked.connect(act)
        return button

    def _show(self) -> None:
        self._place = min(self._place, max(0, len(self._notices) - 1))
        self.setVisible(bool(self._notices))
        for button in self._acts:
            self._row.removeWidget(button)
            button.hide()  # at once: it is deleted only when the events of now are done with
            button.deleteLater()
        self._acts = []
        if not self._notices:
            return
        notice, count = self._notices[self._place], len(self._notices)
        color = self._theme.color(notice.kind.color)
        self._icon.setPixmap(icon(notice.kind.icon, color.name()).pixmap(ICON, ICON))
        self._kind.set_text(notice.kind.word, color)
        one_line = " ".join(notice.line.split())
        self._line.set_text(one_line, self._theme.color("text"))
        self._count.setText(f"{self._place + 1} of {count}")
        self._count.setVisible(count > 1)
        self._next.setVisible(count > 1)
        self._details.setVisible(bool(notice.details))
        for text, act in notice.actions:
            button = self._button(text, partial(self._act, notice, act), text)
            self._row.insertWidget(self._row.indexOf(self._dismiss), button)
            button.show()
            self._acts.append(button)
        among = f", {self._place + 1} of {count}" if count > 1 else ""
        self.setAccessibleName(f"{notice.kind.word}{among}: {one_line}")

    def _act(self, notice: Notice, act: Callable[[], None], _: bool = False) -> None:
        """A message is done with once something is done about it."""
        self.take(notice.topic)
        act()

    def _show_next(self) -> None:
        self._place = (self._place + 1) % len(self._notices)
        self._show()

    def _show_details(self) -> None:
        notice = self._notices[self._place]
        plain = QMessageBox.StandardButton.Close
        box = QMessageBox(QMessageBox.Icon.NoIcon, notice.kind.word, notice.line, plain, self)
        box.setObjectName("notice_details")
        box.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setInformativeText(notice.details)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.open()
