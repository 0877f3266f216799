"""Ctrl+C ends a command in one line, and leaves no process behind."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command_line import ON_INTERPRETER, ROOT
from tests.patience import LIMIT_S, is_alive, wait_until
from workbench.run.events import Failed
from workbench.run.session import Session


def test_ctrl_c_is_one_line_and_leaves_no_child() -> None:
    command = [sys.executable, "main.py", "run", "-m", "512", "-n", "512", "-d", "64", *ON_INTERPRETER]
    run = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert run.stderr is not None
    said: list[str] = []
    for line in run.stderr:
        said.append(line)
        if "checking the kernel" in line:
            break
    assert "tilescope: this takes about 50 seconds on the interpreter; Ctrl+C stops it\n" in said[:-1]
    children = Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text(encoding="ascii").split()
    run.send_signal(signal.SIGINT)
    _, errors = run.communicate(timeout=LIMIT_S)
    assert run.returncode == 130 and errors.strip().splitlines()[-1] == "tilescope: stopped"
    assert "Traceback" not in errors
    assert children
    wait_until(lambda: not any(is_alive(int(child)) for child in children))


# Sends itself and its engine what Ctrl+C sends in a terminal, once the first samples have been taken.
WHILE_TIMED = """
import os, signal, sys
from workbench.engine.host.process import KernelHost
from workbench.run.events import Samples

def interrupted(host, request, run=KernelHost.run):
    has_sent = False
    for event in run(host, request):
        yield event
        if isinstance(event, Samples) and not has_sent:
            has_sent = True
            os.killpg(0, signal.SIGINT)

KernelHost.run = interrupted
import main
sys.exit(main.main())
"""


def test_a_run_that_ctrl_c_stops_is_kept_and_printed(tmp_path: Path) -> None:
    """Also in a terminal, where the engine gets the signal too."""
    path = tmp_path / "s.tilescope"
    words = ["--preset", "tiny", "--protocol", "warm", "--max-seconds", "600", "--json", "--session", str(path)]
    command = [sys.executable, "-c", WHILE_TIMED, "run", *words, *ON_INTERPRETER]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_S, check=False, start_new_session=True
    )
    assert done.returncode == 130 and done.stderr.splitlines()[-1] == "tilescope: stopped"
    result = json.loads(done.stdout)
    assert result["failure"]["kind"] == "cancelled" and result["results"][0]["partial"]["samples"]
    (kept,) = Session(path, read_only=True).summaries()
    assert isinstance(kept.end, Failed) and kept.partial and kept.checked


# Sends itself what Ctrl+C sends, as soon as a module is asked for.
WHILE_IMPORTING = """
import os, signal, sys

class Interrupt:
    def find_spec(self, name, path, target=None):
        if name == {name!r}:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupt())
sys.argv[1:] = ["run", "--preset", "tiny"]
import main
sys.exit(main.main())
"""


@pytest.mark.parametrize(
    "name", ["workbench.cli.entry", "kernels.plain.tiles", "workbench.cli.commands", "numpy.linalg"]
)
def test_ctrl_c_while_the_program_imports_is_one_line(name: str) -> None:
    code = WHILE_IMPORTING.format(name=name)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "tilescope: stopped\n")
