"""One pytest process over some of the tests, followed from outside: it may fail, crash or hang."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
Clock = Callable[[], float]
START_S = 180.0  # for a process to have read its tests
PYTEST_ENDS = (0, 1)  # nothing failed, and something did
OF_AN_END = ("outcome", "seconds", "reason", "text")
OPTIONS = ("-q", "-s", "-p", "no:cacheprovider", "-p", "tests.gpu.proving.told")


@dataclass(frozen=True)
class Test:
    """A test that was found; `limit` is in seconds, and `missing` says what it cannot run without."""

    __test__ = False
    id: str
    timed: bool = False
    limit: float = START_S
    missing: str = ""


@dataclass(frozen=True)
class Result:
    """How it ended: passed, failed, skipped or "not reached"; the reason in a line, and all that a failure said."""

    id: str
    outcome: str
    seconds: float = 0.0
    reason: str = ""
    text: str = ""


class Told:
    """The lines that a process has told since they were last read."""

    def __init__(self, path: Path) -> None:
        self._path, self._at = path, 0

    def read(self) -> list[dict[str, Any]]:
        """Whole lines alone: the last may be on its way."""
        if not self._path.exists():
            return []
        with self._path.open("rb") as file:
            file.seek(self._at)
            whole = file.read().rpartition(b"\n")[0]
        self._at += len(whole) + bool(whole)
        return [json.loads(line) for line in whole.splitlines()]


class Portion:
    """A running process over `tests`, in this order. Its files are in `folder`, named after `name`."""

    def __init__(
        self, tests: Sequence[Test], root: Path, folder: Path, name: str, clock: Clock = time.monotonic
    ) -> None:
        self.left = list(tests)
        self.results: list[Result] = []
        self.log = folder / f"{name}.log"
        self._limits = {test.id: test.limit for test in tests}
        self._began: str | None = None
        self._clock, self._since = clock, clock()
        wanted = folder / f"{name}.wanted"
        wanted.write_text("\n".join(self._limits), encoding="utf-8")
        self._told = Told(folder / f"{name}.told")
        files = dict.fromkeys(test.id.partition("::")[0] for test in tests)
        settings = {"TILESCOPE_TOLD": str(folder / f"{name}.told"), "TILESCOPE_WANTED": str(wanted)}
        self._process = start_pytest(files, root, self.log, settings)

    def follow(self) -> bool:
        """Take what was told, end what hangs, and say whether the process has ended."""
        code = self._process.poll()  # first: what it told before its end is then there to be read
        self._listen()
        if code is not None:
            self._conclude(f"the process ended with {code}")
            if code not in PYTEST_ENDS and not self.left:
                self.results.append(Result(self.log.stem, "failed", 0.0, f"ended with {code} after its last test"))
            return True
        limit = START_S if self._began is None else self._limits[self._began]
        if self._clock() - self._since > limit:
            end(self._process)
            self._conclude(f"no end after {limit:.0f} s")
            return True
        return False

    def stop(self) -> list[Test]:
        """End it, whatever it does, and return the tests that have not ended."""
        end(self._process)
        self._listen()
        return self.left

    def _listen(self) -> None:
        for line in self._told.read():
            self._since = self._clock()
            if "began" in line:
                self._began = line["began"]
            elif "ended" in line:
                self._settle(Result(line["ended"], *(line[name] for name in OF_AN_END)))

    def _settle(self, result: Result) -> None:
        self._began = None
        self.results.append(result)
        self.left = [test for test in self.left if test.id != result.id]

    def _conclude(self, how: str) -> None:
        """After the end: the test that was under way failed; with none at all, nothing that is left can run."""
        if self._began is not None:
            self._settle(Result(self._began, "failed", self._clock() - self._since, how))
        elif not self.results:
            lines = self.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
            reason = f"{how}: {lines[-1] if lines else 'it said nothing'}"
            for test in list(self.left):
                self._settle(Result(test.id, "not reached", 0.0, reason))


def start_pytest(
    paths: Iterable[str], root: Path, log: Path, settings: dict[str, str], *more: str
) -> subprocess.Popen[bytes]:
    """Without the plugins that happen to be installed, but with pytest-qt where it is."""
    qt = ("-p", "pytestqt.plugin") if find_spec("pytestqt") and find_spec("PyQt6") else ()
    importable = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": importable} | settings
    environment.pop("PYTEST_ADDOPTS", None)
    command = [sys.executable, "-m", "pytest", *OPTIONS, *qt, *more, *paths]
    with log.open("wb") as file:
        return subprocess.Popen(
            command, stdout=file, stderr=subprocess.STDOUT, cwd=root, env=environment, start_new_session=True
        )


def end(process: subprocess.Popen[bytes]) -> None:
    """With all that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
