"""`doctor`: what this machine can run, what is missing, and the command that installs it."""

from __future__ import annotations

import ctypes
import importlib.util
import json
import os
import platform
import shutil
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from workbench.cli.exits import EXIT_FAILED, EXIT_PASSED
from workbench.cli.output import out
from workbench.engine.host.process import KernelHost
from workbench.run.events import Failed, Ready

PYTHON_FROM, PYTHON_BELOW = (3, 11), (3, 14)
MODULES = ("PyQt6", "pyqtgraph", "numpy", "scipy", "torch", "triton", "pynvml")
# What is not needed by every run, with what lacks it.
OPTIONAL = {"pyarrow": "export writes no Parquet"}
# What Qt's window needs from the system, with the package that has it on Debian and Ubuntu.
QT_LIBRARIES = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libfontconfig.so.1": "libfontconfig1",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libdbus-1.so.3": "libdbus-1-3",
    "libglib-2.0.so.0": "libglib2.0-0",
}
X11_LIBRARIES = {
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
}

Status = Literal["ok", "note", "missing"]


@dataclass(frozen=True)
class Finding:
    """One thing looked at. `note` limits what works, `missing` prevents it; `fix` is a command or a sentence."""

    name: str
    status: Status
    detail: str
    fix: str = ""


def doctor(as_json: bool) -> int:
    """Print the findings; status 3 if something that every run needs is missing."""
    findings = list(examine())
    if as_json:
        out(json.dumps({"findings": [asdict(finding) for finding in findings]}))
    else:
        out("\n".join(_lines(findings)))
    return EXIT_FAILED if any(finding.status == "missing" for finding in findings) else EXIT_PASSED


def examine() -> Iterator[Finding]:
    """Look at Python, its packages, Qt's libraries, the display, the compiler and the engine, in that order."""
    yield _python()
    missing = [name for name in MODULES if importlib.util.find_spec(name) is None]
    for name in missing:
        yield Finding(name, "missing", "not installed", "pip install -e .")
    for name, lack in OPTIONAL.items():
        if importlib.util.find_spec(name) is None:
            yield Finding(name, "note", f"not installed: {lack}", f"pip install {name}")
    yield from _libraries("Qt libraries", QT_LIBRARIES, "missing")
    yield _display()
    yield _compiler()
    if not missing:
        yield from _engine()


def missing_libraries(libraries: dict[str, str]) -> list[str]:
    """The packages of those libraries that the loader does not find."""
    return [package for library, package in libraries.items() if not _loads(library)]


def install_text(packages: list[str]) -> str:
    """The command that installs Debian packages."""
    return f"apt install {' '.join(packages)}"


def _python() -> Finding:
    version = platform.python_version()
    if PYTHON_FROM <= sys.version_info[:2] < PYTHON_BELOW:
        return Finding("Python", "ok", version)
    return Finding("Python", "missing", f"{version}; supported are 3.11 to 3.13", "install Python 3.11, 3.12 or 3.13")


def _libraries(name: str, libraries: dict[str, str], status: Status) -> Iterator[Finding]:
    packages = missing_libraries(libraries)
    if packages:
        yield Finding(name, status, f"not found: {', '.join(packages)}", install_text(packages))
    else:
        yield Finding(name, "ok", f"{len(libraries)} found")


def _display() -> Finding:
    display = os.environ.get("WAYLAND_DISPLAY") or os.environ.get("DISPLAY")
    if not display:
        return Finding("Display", "note", "none: every command works without one")
    packages = missing_libraries(X11_LIBRARIES) if "WAYLAND_DISPLAY" not in os.environ else []
    if packages:
        return Finding("Display", "missing", f"{display}, but Qt lacks {', '.join(packages)}", install_text(packages))
    return Finding("Display", "ok", display)


def _compiler() -> Finding:
    """Triton builds its launcher with a C compiler when a kernel first runs on a GPU; the interpreter needs none."""
    compiler = os.environ.get("CC") or shutil.which("gcc") or shutil.which("clang") or shutil.which("cc")
    header = Path(sysconfig.get_paths()["include"]) / "Python.h"
    if compiler is None:
        return Finding("C compiler", "note", "none: kernels cannot run on a GPU", "apt install gcc")
    if not header.exists():
        return Finding(
            "C compiler", "note", f"{compiler}, but no Python.h: kernels cannot run on a GPU", "apt install python3-dev"
        )
    return Finding("C compiler", "ok", compiler)


def _engine() -> Iterator[Finding]:
    """Start the engine as a run would, and let it say what it found."""
    with closing(KernelHost()) as host:
        *_, last = host.wait_ready()
    if isinstance(last, Failed):
        yield Finding("Engine", "missing", last.message, last.remedy)
        return
    assert isinstance(last, Ready)
    device = last.device
    yield Finding("torch", "ok", device.torch)
    yield Finding("Triton", "ok", device.triton)
    if all(kernel.unavailable for kernel in last.kernels):
        yield Finding("Kernels", "missing", f"none can run: {last.kernels[0].unavailable}")
    if device.mode == "cuda":
        yield Finding("GPU", "ok", f"{device.name}, compute capability {device.capability}, driver {device.driver}")
        return
    fix = "with an NVIDIA GPU: install its driver"
    if Path("/dev/nvidiactl").exists():
        fix = "install a CUDA build of torch: pip install --force-reinstall torch"
    yield Finding("GPU", "note", f"none that torch {device.torch} can use: kernels run on Triton's interpreter", fix)


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def _lines(findings: list[Finding]) -> Iterator[str]:
    width = max(len(finding.name) for finding in findings)
    for finding in findings:
        yield f"{finding.status:<7}  {finding.name:<{width}}  {finding.detail}"
        if finding.fix:
            yield f"{'':<7}  {'':<{width}}  -> {finding.fix}"
