"""The command line for tests: as a process, or in this one, with what it prints and its exit status."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import LIMIT_S
from tests.shared_engine import SharedEngine
from workbench.cli.start import main

ROOT = Path(__file__).resolve().parents[2]
RECORDING = "assets/recordings/h200-article-shapes.tilescope"
ON_INTERPRETER = ("--device", "interpreter")
# As few launches as there can be, where the times are not what is tested.
HARDLY_TIMED = ("--protocol", "warm", "--max-samples", "2")
# What this process has of a display and of the interpreter, and a user has not.
HIDDEN = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM", "TRITON_INTERPRET")

Done = subprocess.CompletedProcess[str]


def tilescope(*arguments: object, **variables: str) -> Done:
    """`python main.py` as a user starts it: without this process's display and interpreter settings."""
    environment = {key: value for key, value in os.environ.items() if key not in HIDDEN} | variables
    command = [sys.executable, "main.py", *map(str, arguments)]
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )


def complaint_of(done: Done) -> str:
    """The one line that a command whose request cannot work says last, on stderr alone."""
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    return [line for line in done.stderr.splitlines() if line.startswith("tilescope: ")][-1]


class CommandLine:
    """`main()` in this process, with the tests' shared engine in the place of one that it would start."""

    def __init__(self, engine: SharedEngine, capture: pytest.CaptureFixture[str]) -> None:
        self._engine = engine
        self._capture = capture

    def __call__(self, *arguments: object) -> Done:
        """What `tilescope` gives for these arguments."""
        words = ["main.py", *map(str, arguments)]
        self._engine.warm()
        self._capture.readouterr()
        with pytest.MonkeyPatch.context() as patch:
            for name in HIDDEN:
                patch.delenv(name, raising=False)
            patch.chdir(ROOT)
            patch.setattr(sys, "argv", words)
            for module in ("workbench.cli.commands", "workbench.ui.worker"):
                patch.setattr(f"{module}.KernelHost", self._engine.host)
            status = _run_main()
        said = self._capture.readouterr()
        return subprocess.CompletedProcess(words, status, said.out, said.err)


def _run_main() -> int:
    """What the process would exit with. An exception, which would be a traceback there, goes through."""
    before = signal.getsignal(signal.SIGINT)
    try:
        return main()
    finally:
        signal.signal(signal.SIGINT, before)
