"""Every contract between rooms fails when it is broken: one that names the wrong package would stay green for ever."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
CONTRACTS = [
    contract["name"]
    for contract in tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
]
# A module that breaks the contract, by what it imports where.
OFFENCES = {
    "Each room of the workbench imports only rooms below it": ("workbench/stats/offence.py", "workbench.run.record"),
    "Each room of the kernels imports only rooms below it": ("kernels/plain/offence.py", "kernels.common.checks"),
    "The command line: one way in": ("workbench/cli/output.py", "workbench.cli.app"),
    "A request in words: a line is read by the options that it is written with": (
        "workbench/asking/usage.py",
        "workbench.asking.line",
    ),
    "The window: what it shows knows nothing of where it stands": (
        "workbench/ui/panels/offence.py",
        "workbench.ui.window.stage",
    ),
    "A panel knows no other, and their bases none": (
        "workbench/ui/panels/latency/offence.py",
        "workbench.ui.panels.error.words",
    ),
    "The engine: a job is made of steps, and the host knows neither": (
        "workbench/engine/host/offence.py",
        "workbench.engine.inputs",
    ),
    "A run: its file knows what a run is": ("workbench/run/request.py", "workbench.run.session"),
    "The kernels know nothing of the workbench": ("kernels/variants/offence.py", "PyQt6.QtCore"),
    "The window's process imports neither torch nor triton": ("workbench/analysis/offence.py", "torch"),
    "Only the window and its root know Qt": ("workbench/words/offence.py", "PyQt6.QtGui"),
    "The host's side of the engine does not import the child's": (
        "workbench/engine/device/monitor.py",
        "workbench.engine.timing.clocks",
    ),
}
NEW_ROOM = ("workbench/attic/__init__.py", "PyQt6.QtGui, torch")
EXHAUSTIVE = "Each room of the workbench imports only rooms below it"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the program, to be spoiled."""
    for package in ("workbench", "kernels"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def broken(copy: Path, offence: tuple[str, str]) -> set[str]:
    """The contracts that fail once a file imports what it must not."""
    file, imports = offence
    path = copy / file
    path.parent.mkdir(exist_ok=True)
    before = path.read_text() if path.exists() else '"""An offence."""\n'
    path.write_text(f"{before}\nimport {imports}\n")
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    done = subprocess.run(command, cwd=copy, capture_output=True, text=True)
    assert done.returncode == 1, done.stdout + done.stderr
    return {line.removesuffix(" BROKEN") for line in done.stdout.splitlines() if line.endswith(" BROKEN")}


def test_every_contract_has_an_offence() -> None:
    assert set(OFFENCES) == set(CONTRACTS)


@pytest.mark.parametrize("contract", OFFENCES)
def test_a_contract_that_is_broken_says_so(copy: Path, contract: str) -> None:
    assert contract in broken(copy, OFFENCES[contract])


def test_a_new_room_must_take_its_place(copy: Path) -> None:
    assert EXHAUSTIVE in broken(copy, NEW_ROOM)
