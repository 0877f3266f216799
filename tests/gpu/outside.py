"""Measures a case with what is not the workbench: bare scripts, and Nsight Compute; each in processes of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kernels.plain.tiles import TileConfig
from tests.gpu.cases import Case
from tests.gpu.ncu_report import DURATION, SM_CLOCK, NcuLaunch, per_launch, read_kernels
from workbench.run.measurement import Role

ROOT = Path(__file__).resolve().parents[2]
ROLES: tuple[Role, ...] = ("kernel", "baseline")
LIMIT_S = 180
# With these ncu has seen nothing, because the machine or its owner does not let it.
NOT_ALLOWED = ("ERR_NVGPUCTRPERM", "Failed to initialize the profiler", "LibraryNotLoaded")


@dataclass(frozen=True)
class Bare:
    """What a bare script measured of one protocol: the time of each, us, and the SM clock by NVML meanwhile, MHz."""

    us: dict[Role, float]
    sm_mhz: float


Figures = dict[str, Bare]


class NotAllowedError(Exception):
    """Nsight Compute cannot read this device's counters; its words are the message."""


def words_of(case: Case, tile: TileConfig) -> list[str]:
    """What `bare_launches` takes."""
    p = case.problem
    shape = (p.m, p.n, p.d, p.batch, p.heads, p.dtype, int(p.causal))
    tiles = (tile.block_m, tile.block_n, tile.num_warps, tile.num_stages, tile.splits)
    return [str(word) for word in (case.kernel, case.precision, *shape, *tiles)]


class BareScript:
    """A script that measures each of `protocols` on a case; several that share `turn`, a file, do so in turn."""

    def __init__(self, case: Case, tile: TileConfig, protocols: Sequence[str], turn: Path) -> None:
        command = [sys.executable, "-m", "tests.gpu.bare_protocols", *words_of(case, tile), *protocols]
        self._said = " ".join(command)
        environment = {**os.environ, "TILESCOPE_TURN": str(turn)}
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, cwd=ROOT, env=environment)

    def figures(self) -> Figures:
        """What was measured of each protocol. Raises RuntimeError with its words where it fails."""
        try:
            printed, words = self._process.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            raise RuntimeError(f"{self._said} took longer than {LIMIT_S} s") from None
        if self._process.returncode:
            raise RuntimeError(f"{self._said} ended with {self._process.returncode}:\n{printed}\n{words}")
        return read_bare(printed)


def read_bare(text: str) -> Figures:
    """What one bare script printed."""
    lines = [line.split() for line in text.splitlines() if line.strip()]
    return {name: Bare(dict(zip(ROLES, map(float, times), strict=True)), float(clock)) for name, *times, clock in lines}


def ncu_launches(case: Case, tile: TileConfig, sizes: Mapping[Role, int], folder: Path) -> dict[Role, NcuLaunch]:
    """What ncu saw of a launch of each role, `sizes` kernels each; its report is written to `folder`.

    The device's clocks and caches are left as they are. Raises NotAllowedError where ncu may not look at this device.
    """
    report = folder / f"{case.name}.csv"
    ncu = ["ncu", "--clock-control", "none", "--cache-control", "none", "--profile-from-start", "off"]
    shown = ["--csv", "--page", "raw", "--print-units", "base", "--metrics", f"{DURATION},{SM_CLOCK}"]
    script = [sys.executable, "-m", "tests.gpu.ncu_launches", *words_of(case, tile)]
    try:
        output = _output([*ncu, *shown, "--log-file", str(report), *script])
    except RuntimeError as error:
        _check_allowed(f"{error}\n{_text(report)}")
        raise RuntimeError(f"{error}\n{_text(report)}") from None
    _check_allowed(f"{output}\n{_text(report)}")
    return per_launch(read_kernels(_text(report)), sizes)


def _check_allowed(text: str) -> None:
    line = next((line for line in text.splitlines() if any(mark in line for mark in NOT_ALLOWED)), None)
    if line is not None:
        raise NotAllowedError(line.strip())


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _output(command: Sequence[str]) -> str:
    """What a command printed. Raises RuntimeError with all of its words where it fails or takes too long."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, cwd=ROOT)
    except subprocess.TimeoutExpired as error:
        raise RuntimeError(f"{' '.join(command)} took longer than {LIMIT_S} s: {error.stderr!r}") from None
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done.stdout
