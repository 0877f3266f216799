"""A plugin by which a pytest process tells, a line of JSON a time, what it collected, began and ended.

TILESCOPE_TOLD names the file that it writes, TILESCOPE_WANTED one of test ids, a line each: those alone are run, in
that order. Lines: {"test", "timed", "limit", "missing"} and {"unread", "reason"} of a collection, {"began"}, and
{"ended", "outcome", "seconds", "reason", "text"}, of which `text` is all that a failure said.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

LIMIT_S = 180.0  # of a test, where no mark names one
LONGEST = 400
OF_QT = {"qapp", "qtbot"}


class Told:
    """Writes as the tests go on."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", encoding="utf-8")
        self._parts: list[pytest.TestReport] = []

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file that could not be read."""
        if report.failed:
            self._tell(unread=report.nodeid, reason=_last_line(report.longreprtext))

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leave what is wanted, in its order."""
        if wanted := os.environ.get("TILESCOPE_WANTED"):
            place = {name: at for at, name in enumerate(Path(wanted).read_text(encoding="utf-8").splitlines())}
            others = [item for item in items if item.nodeid not in place]
            config.hook.pytest_deselected(items=others)
            items[:] = sorted((item for item in items if item.nodeid in place), key=lambda item: place[item.nodeid])

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """All that is there."""
        has_qt = session.config.pluginmanager.hasplugin("pytestqt.plugin")
        for item in session.items if session.config.option.collectonly else ():
            lacks_qt = not has_qt and OF_QT & set(getattr(item, "fixturenames", ()))
            self._tell(
                test=item.nodeid,
                timed=item.get_closest_marker("timed") is not None,
                limit=_limit(item),
                missing="pytest-qt is not installed" if lacks_qt else "",
            )

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """A test has begun."""
        self._parts = []
        self._tell(began=nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """One of its parts has ended."""
        self._parts.append(report)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """All of its parts have ended: the worst counts."""
        outcome, reason = _worst(self._parts)
        text = "\n".join(part.longreprtext for part in self._parts if part.failed)
        seconds = sum(part.duration for part in self._parts)
        self._tell(ended=nodeid, outcome=outcome, seconds=seconds, reason=reason, text=text)

    def _tell(self, **what: object) -> None:
        self._file.write(json.dumps(what) + "\n")
        self._file.flush()  # whatever becomes of the process


def pytest_configure(config: pytest.Config) -> None:
    """Begin to tell."""
    config.pluginmanager.register(Told(Path(os.environ["TILESCOPE_TOLD"])), "told")


def _limit(item: pytest.Item) -> float:
    """Seconds, by the mark of pytest-timeout, which need not be there."""
    marker = item.get_closest_marker("timeout")
    return float(marker.args[0]) if marker else LIMIT_S


def _worst(parts: Sequence[pytest.TestReport]) -> tuple[str, str]:
    failed = next((part for part in parts if part.failed), None)
    if failed is not None:
        return "failed", _short(failed)
    skipped = next((part for part in parts if part.skipped), None)
    if skipped is None:
        return "passed", ""
    place = skipped.longrepr
    return "skipped", str(place[2]).removeprefix("Skipped: ") if isinstance(place, tuple) else "expected to fail"


def _short(report: pytest.TestReport) -> str:
    """What a failed assertion or an exception says, in one line."""
    crash = getattr(report.longrepr, "reprcrash", None)
    said = _last_line(report.longreprtext) if crash is None else " ".join(str(crash.message).split())
    return said[:LONGEST]


def _last_line(text: str) -> str:
    return next((line.removeprefix("E").strip() for line in reversed(text.splitlines()) if line.strip()), "")[:LONGEST]
