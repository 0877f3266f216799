"""The window's process stays free of torch and triton, and appears fast."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# One room of the kernels' package is plain Python; whatever else of it comes in brings torch and Triton.
FOUND = """
heavy = [name for name in sys.modules if name in ("torch", "triton")]
rooms = [name for name in sys.modules if name.startswith("kernels.") and name.split(".")[1] != "plain"]
print(heavy + rooms)
"""

FIRST_FRAME = 3.5
BARE = "import PyQt6.QtWidgets, pyqtgraph"
COST = """
import os
print(sum(os.times()[:2]))
"""
# Ends when the first frame has been shown.
WINDOW = """
import sys, time, tempfile
from pathlib import Path
from PyQt6.QtCore import QEvent, QObject, QSettings
from workbench.cli.app import make_application, make_window
from workbench.run.session import Session

folder = Path(tempfile.mkdtemp())
app = make_application()
settings = QSettings(str(folder / "s.ini"), QSettings.Format.IniFormat)
window = make_window(Session(folder / "s.tilescope"), settings, "dark")

class Painted(QObject):
    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Paint:
            app.quit()
        return False

painted = Painted()
window.headline.installEventFilter(painted)
window.show()
app.exec()
"""


RUN = """
import sys
from workbench.engine.host.process import KernelHost
from workbench.run.events import Finished
from workbench.run.request import Problem, RunRequest

REQUEST = RunRequest(
    Problem(7, 13, 8, heads=2, dtype="fp16", causal=True), kernel="flash", device="interpreter", keep_tensors=True
)

if __name__ == "__main__":
    host = KernelHost("interpreter")
    events = list(host.run(REQUEST))
    host.close()
    assert isinstance(events[-1], Finished), events[-1]
"""


def run(code: str, **variables: str) -> str:
    """What a fresh Python that runs `code` with these `variables` set prints."""
    hidden = ("TRITON_INTERPRET", *(("PYTHONDONTWRITEBYTECODE",) if "PYTHONPYCACHEPREFIX" in variables else ()))
    environment = {k: v for k, v in os.environ.items() if k not in hidden} | {"QT_QPA_PLATFORM": "offscreen"}
    environment |= variables
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_importing_the_app_leaves_torch_and_triton_out() -> None:
    code = "import sys, workbench.cli.app, workbench.ui.window.main, workbench.cli.commands, workbench.cli.doctor\n"
    assert run(code + FOUND) == "[]"


def test_the_tiles_can_be_had_without_torch() -> None:
    code = "import sys, kernels\nkernels.TileConfig(16, 32)\n"
    assert run(code + FOUND) == "[]"
    found = run(f"{code}kernels.VARIANTS\n{FOUND}")
    assert "'torch'" in found and "'triton'" in found, "the check itself would not see them"


def test_no_event_of_a_run_brings_them_in() -> None:
    """Unpickling imports the classes of what it reads: nothing that crosses may be of a class of torch's."""
    assert run(RUN + textwrap.indent(FOUND, "    ")) == "[]"


def test_a_window_is_shown_without_them() -> None:
    """Nor with scipy, which what is said of samples needs, and a first frame does not."""
    assert run(WINDOW + FOUND) == "[]"
    assert run(WINDOW + "print('scipy' in sys.modules)") == "False"


@pytest.mark.speed
def test_the_window_appears_fast(tmp_path: Path) -> None:
    """By the CPU time until its first frame: within so many times what importing Qt and pyqtgraph alone takes.

    They take turns, the best of three each, so that a slow machine, or another process's load, counts for both.

    With bytecode, as Python keeps it after the first start: where the tests run without, compiling the window's modules
    anew would be most of their time, while the libraries' have theirs.
    """
    compiled = {"PYTHONPYCACHEPREFIX": str(tmp_path)}
    bare, window = [], []
    for _ in range(3):
        bare.append(float(run(BARE + COST, **compiled)))
        window.append(float(run(WINDOW + COST, **compiled)))
    print(f"CPU time of bare imports {min(bare):.2f} s, of a window {min(window):.2f} s")
    assert min(window) < FIRST_FRAME * min(bare)
