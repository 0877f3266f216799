"""`run --trace`: the softmax states and the tensors of a run in a NumPy file that anyone can check."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.cli.output import OutputError, note
from workbench.run import codec
from workbench.run.events import Tensors, TileStates
from workbench.run.record import RunRecord
from workbench.run.request import TRACE_ROWS


def trace_meta(record: RunRecord, states: TileStates) -> dict[str, Any]:
    """What the arrays of a trace are of: the request as it was launched, and the order of the heads."""
    request = record.started.request
    problem = request.problem
    return {
        "problem": codec.plain(problem),
        "kernel": request.kernel,
        "tile": codec.plain(record.launched_tile),
        "precision": request.precision,
        "scale": problem.d**-0.5,
        "split_tiles": states.split_tiles,
        "heads": "number of head = batch * heads + head",
        "heads_kept": list(states.heads or range(problem.total_heads)),
        "rows_kept": "all" if not states.row_blocks else TRACE_ROWS.get(states.rows_by, "some"),
    }


def write_trace(path: Path, states: TileStates, tensors: Tensors, meta: dict[str, Any]) -> None:
    """Write q, k, v, out, the states where there are, and `meta`. Raises OutputError where the file cannot be."""
    arrays: dict[str, npt.NDArray[Any]] = {"q": tensors.q, "k": tensors.k, "v": tensors.v, "out": tensors.out}
    arrays["meta"] = np.array(json.dumps(meta))
    if states.skipped or states.m_tile is None or states.m_running is None or states.l_running is None:
        note(f"no states in {path}: {states.skipped}")
    else:
        arrays |= {"m_tile": states.m_tile, "m_running": states.m_running, "l_running": states.l_running}
        if states.heads:  # q, k, v and out are of all heads, the states of these
            arrays["heads"] = np.array(states.heads)
        if states.row_blocks:
            arrays["rows"] = states.row_numbers(tensors.q.shape[1])
    try:
        # As np.savez does; before NumPy 2 that leaves an archive open which cannot be written.
        with path.open("wb") as file, zipfile.ZipFile(file, "w") as archive:
            for name, array in arrays.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)
    except OSError as error:
        if path.is_file():  # half a file would look like a trace
            path.unlink(missing_ok=True)
        raise OutputError(f"{path} cannot be written: {error.strerror}") from error
