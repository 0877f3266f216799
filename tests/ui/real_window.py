"""The program as a person has it: `python main.py` on an X server of its own, driven by xdotool.

Nothing here waits for a time: every step is followed by what it leads to, a window, a run in the file, a picture.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from PyQt6.QtCore import QPoint

from tests.patience import LIMIT_S, wait_until
from workbench.cli.doctor import X11_LIBRARIES, missing_libraries
from workbench.run.record import RunRecord
from workbench.run.session import Session, SessionError

ROOT = Path(__file__).resolve().parents[2]
SCREEN = "1600x1000x24"
TITLE = "Tilescope"


def lacking() -> str:
    """What this machine lacks to open a real window, "" if that is nothing."""
    programs = [program for program in ("Xvfb", "xdotool") if shutil.which(program) is None]
    return ", ".join(programs + missing_libraries(X11_LIBRARIES))


class Display:
    """An X server without a screen, on the first number that is free."""

    def __init__(self) -> None:
        reading, writing = os.pipe()
        # Left to itself it begins anew whenever its last client has gone: whoever connects just then is refused, as the
        # program is beside an xdotool that has looked for its window in vain.
        command = ["Xvfb", "-displayfd", str(writing), "-screen", "0", SCREEN, "-nolisten", "tcp", "-noreset"]
        self._process = subprocess.Popen(command, pass_fds=[writing], stderr=subprocess.DEVNULL)
        os.close(writing)
        with os.fdopen(reading) as number:
            self.name = f":{number.readline().strip()}"
        assert self.name != ":", "Xvfb has not started"

    def close(self) -> None:
        """End the server."""
        self._process.terminate()
        self._process.wait(LIMIT_S)


class RealWindow:
    """The window of a program whose files are all in `folder`, with a hand on its mouse and keys."""

    def __init__(self, display: Display, folder: Path, *arguments: str) -> None:
        homes = {name: str(folder / name) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")}
        without = ("WAYLAND_DISPLAY", "QT_SCALE_FACTOR", "TRITON_INTERPRET")
        kept = {name: value for name, value in os.environ.items() if name not in without}
        self._env = kept | homes | {"DISPLAY": display.name, "QT_QPA_PLATFORM": "xcb", "OMP_NUM_THREADS": "1"}
        self.session = folder / "real.tilescope"
        command = [sys.executable, "main.py", "--session", str(self.session), *arguments]
        self._log = (folder / "log.txt").open("w")
        self._process = subprocess.Popen(command, cwd=ROOT, env=self._env, stdout=self._log, stderr=self._log)

    def focus(self, title: str) -> str:
        """Give the keyboard to the window with this in its title, once it is there; returns its number."""
        self._wait(lambda: bool(self._windows(title)))
        number = self._windows(title)[-1]
        self._do("windowfocus", "--sync", number)  # no window manager does it here
        return number

    def is_shown(self, title: str) -> bool:
        """Whether there is a window with this in its title."""
        return bool(self._windows(title))

    def click(self, place: QPoint, times: int = 1) -> None:
        """Click at `place` of the window, which stands in the screen's corner."""
        self._do("mousemove", "--sync", str(place.x()), str(place.y()))
        self._do("click", "--repeat", str(times), "1")

    def keys(self, *names: str) -> None:
        """Press keys in turn: "ctrl+r", "F5", "Return"."""
        self._do("key", "--clearmodifiers", *names)

    def write(self, text: str) -> None:
        """Type `text` in the place of what is in the field that has the focus."""
        self._do("key", "--clearmodifiers", "ctrl+a")
        self._do("type", "--clearmodifiers", text)

    def runs(self) -> list[RunRecord]:
        """The runs in the session's file, oldest first; none before there is one."""
        try:
            return Session(self.session, read_only=True).summaries() if self.session.exists() else []
        except SessionError:  # it is being made
            return []

    def run_number(self, number: int) -> RunRecord:
        """The run of this number, from 1, once it is in the file."""
        self._wait(lambda: len(self.runs()) >= number)
        return self.runs()[number - 1]

    def end(self) -> int:
        """The exit status, once the program has ended of its own accord."""
        return self._process.wait(LIMIT_S)

    def close(self) -> None:
        """End the program, if it goes on."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(LIMIT_S)
        self._log.close()

    def _wait(self, reached: Callable[[], bool]) -> None:
        """Wait for what the program does; with what it has said where it ends instead."""
        wait_until(lambda: reached() or self._process.poll() is not None)
        if self._process.poll() is not None:
            self._log.flush()
            raise AssertionError(f"the program has ended: {Path(self._log.name).read_text()}")

    def _windows(self, title: str) -> list[str]:
        found = self._do("search", "--onlyvisible", "--name", title, check=False)
        return found.split()

    def _do(self, *command: str, check: bool = True) -> str:
        done = subprocess.run(
            ["xdotool", *command], env=self._env, check=check, capture_output=True, text=True, timeout=LIMIT_S
        )
        return done.stdout
