"""Going on where one stopped: the form comes back by itself, and the last session is offered."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date, datetime, timedelta
from functools import partial
from pathlib import Path

from PyQt6.QtCore import QSettings

from workbench.analysis.numbers import counted
from workbench.run.codec import decode_request, encode_request
from workbench.run.library import Library
from workbench.run.request import RunRequest
from workbench.run.session import Session, SessionError
from workbench.ui.files.recent import Recent
from workbench.ui.notices.notice import Kind, Notice, Topic

FORM_KEY = "form"
KEPT_BEFORE = (FORM_KEY, "geometry")  # either of them says that the program was here already


class Resume:
    """What is kept in the settings of the last time."""

    def __init__(self, settings: QSettings, library: Library, recent: Recent) -> None:
        self._settings = settings
        self._library = library
        self._recent = recent
        self.is_first_start = not any(settings.contains(key) for key in KEPT_BEFORE) and not recent.paths()

    def keep(self, request: RunRequest) -> None:
        """Keep the form, and the session if anything is in it."""
        self._settings.setValue(FORM_KEY, json.dumps(encode_request(request)))
        path = self._library.session.path
        if path.exists():
            self._recent.add(path)

    def form(self) -> RunRequest | None:
        """The form as it was left; None if it was not kept, or by a program that had another one."""
        kept = self._settings.value(FORM_KEY)
        try:
            return decode_request(json.loads(kept)) if isinstance(kept, str) else None
        except (ValueError, TypeError, AttributeError):
            return None

    def offer(self, go_on: Callable[[Path], object]) -> Notice | None:
        """The offer to go on with the last session; None where there is none."""
        for path in self._recent.paths(without=self._library.session.path):
            try:
                session = Session(path)
                count = 0 if session.is_sealed() else len(session.numbers())
                changed = datetime.fromtimestamp(path.stat().st_mtime)
            except (SessionError, OSError):
                continue
            if count:
                line = f"Go on with {path.stem} ({counted(count, 'run')}, {when_text(changed)})?"
                actions: tuple[tuple[str, Callable[[], None]], ...] = (
                    ("Go on", partial(_do, go_on, path)),
                    ("New session", _nothing),
                )
                return Notice(Kind.INFO, Topic.RESUME, line, actions=actions)
        return None


def when_text(time: datetime, today: date | None = None) -> str:
    """A time of a day, as people say it: today, yesterday, else its date."""
    today = today or date.today()
    days = {today: "today", today - timedelta(days=1): "yesterday"}
    return f"{days.get(time.date(), f'{time:%Y-%m-%d}')} {time:%H:%M}"


def _do(go_on: Callable[[Path], object], path: Path) -> None:
    go_on(path)


def _nothing() -> None:
    """The session of this window is a new one already."""
