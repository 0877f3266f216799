"""Names of files and of windows: what is in them is told by the name."""

from __future__ import annotations

import re
from pathlib import Path

from workbench.run.record import RunRecord

PROGRAM = "Tilescope"


def run_name(run: RunRecord | None) -> str:
    """A file's name for something of `run`, without its ending: kernel, tile and M x N x D; the program's for none."""
    if run is None:
        return PROGRAM.lower()
    request = run.started.request
    problem, tile = request.problem, request.tile
    heads = [f"{problem.batch}x{problem.heads}heads"] if problem.batch * problem.heads > 1 else []
    shape = f"{problem.m}x{problem.n}x{problem.d}"
    kind = [] if problem.dtype == "fp32" else [problem.dtype]
    parts = [request.kernel, f"{tile.block_m}x{tile.block_n}", *heads, shape, *kind, *["causal"] * problem.causal]
    return re.sub(r"[^\w.-]", "_", "-".join(parts))


def picture_name(run: RunRecord | None, panel: str = "") -> str:
    """The name of a picture of `run`, of one panel or of the window."""
    return f"{run_name(run)}{f'-{panel}' if panel else ''}.png"


def window_title(session: Path, run: RunRecord | None) -> str:
    """What the window is called: its session's file, and where the run shown is from if it is a recording's."""
    shown = f" – showing {run.source}, run {run.run_id}" if run is not None and run.source else ""
    return f"{session.name}{shown} – {PROGRAM}"
