"""How far a run has come, on stderr: on a terminal one line that is written anew, elsewhere a line for each phase."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable

from workbench.analysis.numbers import duration_text
from workbench.cli.output import note, pass_on
from workbench.run.events import Progress
from workbench.words.times import counts_time, steps_text

AGAIN = "\r\x1b[K"  # to the line's begin, and nothing in it
EVERY_S = 0.1  # a terminal is told no oftener
LEAST_S = 1.0  # a pace is no pace before that


class ProgressLine:
    """Tells a run's progress. Whatever else is said meanwhile goes through `say`, or after `end_line`.

    `expected_s` is how long the whole run takes, where that is known: what is left of it then stands beside the phases
    that count nothing.
    """

    def __init__(self, is_terminal: bool | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._is_terminal = sys.stderr.isatty() if is_terminal is None else is_terminal
        self._clock = clock
        self._phase, self._began, self._written = "", 0.0, 0.0
        self._is_open = False
        self._start = clock()
        self.expected_s = 0.0

    def take(self, progress: Progress) -> None:
        """Say how far a phase has come; where nobody watches, only that it begins."""
        now = self._clock()
        is_new = progress.phase != self._phase or progress.done == 0
        if is_new:
            self.end_line()
            self._phase, self._began = progress.phase, now
        if not self._is_terminal:
            if is_new:
                note(progress.phase)
        elif is_new or now - self._written >= EVERY_S or progress.done == progress.total:
            self._written = now
            self._write(", ".join(filter(None, (progress.phase, steps_text(progress), self._left(progress, now)))))

    def say(self, text: str) -> None:
        """A line of the program's own, which leaves what is written of the progress."""
        self.end_line()
        note(text)

    def end_line(self) -> None:
        """Begin a new line, should the last one be one that is written anew."""
        if self._is_open:
            pass_on("\n")
        self._is_open = False

    def _left(self, progress: Progress, now: float) -> str:
        """How long it will take yet, at the pace so far; a limit of time is ended before it where enough is known."""
        passed, done, total = now - self._began, progress.done, progress.total
        if total and counts_time(progress):
            return f"at most {duration_text((total - done) / 1e3)} left" if done < total else ""
        if total:
            left = passed * (total - done) / done if done else 0.0
            return f"about {duration_text(left)} left" if left and passed >= LEAST_S else ""
        left = self.expected_s - (now - self._start)
        return f"about {duration_text(left)} left of the whole run" if left > 0 else ""

    def _write(self, text: str) -> None:
        room = max(20, shutil.get_terminal_size().columns - 1)
        line = f"tilescope: {text}"
        pass_on(AGAIN + (line if len(line) <= room else f"{line[: room - 1]}…"))
        self._is_open = True
