"""The whole GPU proof in one command: what passed, what failed, and what was not reached in the time.

python -m tests.gpu.prove --output FOLDER [--minutes 9.5] [--workers N]

Tests that time nothing go first, side by side; those marked `timed` follow alone, one after another, the quick ones
first; what then is left of the others has the rest. FOLDER gets `summary.md`, `summary.json` and `log.txt`. The exit
status is 0 if nothing failed and everything was reached, else 1.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.gpu.proving.portion import ROOT, START_S, Clock, Portion, Result, Test, Told, end, start_pytest
from tests.gpu.proving.summary import counts_of, write_summary

MINUTES = 9.5
UNTIMED_SHARE = 0.55  # of the time, at most, before the timed tests begin
LOOK_S = 0.1
LOG = "log.txt"
OUT_OF_TIME = "the time was over"
OF_QT = ("PyQt6", "pyqtgraph", "pytestqt")


class Proof:
    """Runs the tests marked `gpu` under `paths` of `root`, `seconds` long at most; log and summary are in `folder`."""

    def __init__(
        self,
        root: Path,
        paths: Sequence[str],
        folder: Path,
        seconds: float,
        workers: int,
        clock: Clock = time.monotonic,
    ) -> None:
        self._root, self._paths, self._folder, self._workers = root, paths, folder, workers
        self._clock, self._began = clock, clock()
        self._end = self._began + seconds
        self._untimed_end = self._began + seconds * UNTIMED_SHARE
        self._scratch = Path(tempfile.mkdtemp(prefix="tilescope-proof-"))
        self._portions = 0
        (folder / LOG).unlink(missing_ok=True)
        self.results: list[Result] = []

    def run(self) -> bool:
        """Everything; whether nothing failed and all was reached. A summary is there even where it is interrupted."""
        left: list[Test] = []
        try:
            tests = self._collect()
            left = [test for test in tests if not test.missing]
            self.results += [Result(test.id, "not reached", 0.0, test.missing) for test in tests if test.missing]
            untimed, timed = ([test for test in left if test.timed is kind] for kind in (False, True))
            untimed = self._side_by_side(untimed, self._untimed_end)
            timed = self._one_by_one(timed)
            left = self._side_by_side(untimed, self._end) + timed
        finally:
            known = {result.id for result in self.results}
            self.results += [Result(test.id, "not reached", 0.0, OUT_OF_TIME) for test in left if test.id not in known]
            shutil.rmtree(self._scratch, ignore_errors=True)
            print(write_summary(self._folder, self.results, self._clock() - self._began), flush=True)
        counts = counts_of(self.results)
        return bool(counts["passed"]) and not counts["failed"] and not counts["not reached"]

    def _collect(self) -> list[Test]:
        """All tests marked `gpu`, files of few tests first: those with many compile for long."""
        told, log = self._scratch / "collected", self._scratch / "collected.log"
        options = ("--collect-only", "--continue-on-collection-errors", "-m", "gpu")
        process = start_pytest(self._paths, self._root, log, {"TILESCOPE_TOLD": str(told)}, *options)
        try:
            process.wait(START_S)
        finally:
            end(process)
        self._keep(log)
        tests = []
        for line in Told(told).read():
            if "test" in line:
                tests.append(Test(line["test"], line["timed"], line["limit"], line["missing"]))
            elif self._matters(line["unread"], line["reason"]):
                self.results.append(Result(line["unread"], "not reached", 0.0, line["reason"]))
        sizes = Counter(_file(test) for test in tests)
        return sorted(tests, key=lambda test: sizes[_file(test)])

    def _matters(self, unread: str, reason: str) -> bool:
        """Whether there may be GPU tests in a file that could not be read: most of the window's have none."""
        if not any(package in reason for package in OF_QT):
            return True
        path = self._root / unread
        return path.is_file() and "mark.gpu" in path.read_text(encoding="utf-8")

    def _side_by_side(self, tests: Sequence[Test], until: float) -> list[Test]:
        """Run them in all workers, dealt out in turn, so that neighbours, which take equally long, are apart."""
        hands = [list(tests[first :: self._workers]) for first in range(self._workers)]
        return self._work_off([hand for hand in hands if hand], self._workers, until)

    def _one_by_one(self, tests: Sequence[Test]) -> list[Test]:
        """Run them alone, each file in a process, those with the shortest limits first."""
        files: dict[str, list[Test]] = {}
        for test in sorted(tests, key=lambda test: test.limit):
            files.setdefault(_file(test), []).append(test)
        return self._work_off(list(files.values()), 1, self._end)

    def _work_off(self, hands: list[list[Test]], workers: int, until: float) -> list[Test]:
        """Run each hand in a process, `workers` at a time, and go on behind what ended one; what is left at `until`."""
        running: list[Portion] = []
        try:
            while hands or running:
                if self._clock() >= until:
                    return self._break_off(running) + [test for hand in hands for test in hand]
                while hands and len(running) < workers:
                    running.append(self._start(hands.pop(0)))
                for portion in [portion for portion in running if portion.follow()]:
                    running.remove(portion)
                    self._take(portion)
                    if portion.left:
                        hands.insert(0, portion.left)
                time.sleep(LOOK_S)
        finally:
            self._break_off(running)
        return []

    def _start(self, tests: list[Test]) -> Portion:
        self._portions += 1
        return Portion(tests, self._root, self._scratch, f"portion-{self._portions}", self._clock)

    def _break_off(self, running: list[Portion]) -> list[Test]:
        """The tests that they had not finished."""
        left = []
        for portion in running:
            left += portion.stop()
            self._take(portion)
        running.clear()
        return left

    def _take(self, portion: Portion) -> None:
        self.results += portion.results
        self._keep(portion.log)
        write_summary(self._folder, self.results, self._clock() - self._began)

    def _keep(self, log: Path) -> None:
        with (self._folder / LOG).open("ab") as kept:
            kept.write(log.read_bytes() + b"\n")


def _file(test: Test) -> str:
    return test.id.partition("::")[0]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; its exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.gpu.prove", description=__doc__.partition("\n")[0])
    parser.add_argument("--output", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--minutes", type=float, default=MINUTES, help="stop after this long (default %(default)s)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="default: one a core")
    given = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # with a summary
    given.output.mkdir(parents=True, exist_ok=True)
    return 0 if Proof(ROOT, ["tests"], given.output, given.minutes * 60, given.workers).run() else 1


if __name__ == "__main__":
    sys.exit(main())
