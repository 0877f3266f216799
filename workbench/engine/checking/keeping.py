"""Which heads' maps and states are sent: those of all heads of a large problem would fill pipe and session file."""

from __future__ import annotations

from workbench.analysis.traffic import size_text
from workbench.run.request import TRACE_ROWS, RunRequest

ERROR_MAP_LIMIT_BYTES = 32 * 2**20
TRACE_LIMIT_BYTES = 192 * 2**20


def trace_bytes(request: RunRequest) -> int:
    """Bytes of the three state arrays (tile maximum, running m, running l) of one head of the traced launch.

    As many heads as fit TRACE_LIMIT_BYTES are kept; where not even one does, some rows of one.
    """
    problem = request.problem
    tiles = -(-problem.n // request.tile.block_n)
    return 3 * 4 * problem.m * tiles


def kept_heads(total: int, bytes_per_head: int, limit: int, wanted: int) -> tuple[int, ...]:
    """The heads to keep in at most `limit` bytes, the first ones and `wanted` among them; empty if all fit.

    One is kept whatever it takes.
    """
    room = max(1, limit // bytes_per_head)
    if room >= total:
        return ()
    return (*range(room - 1), max(room - 1, wanted))


def kept_row_blocks(m: int, block_m: int, bytes_per_head: int, limit: int, by: str, worst_row: int) -> tuple[int, ...]:
    """The blocks of `block_m` query rows whose states fit in `limit` bytes; empty if those of all `m` rows do.

    `by` is one of TRACE_ROWS: consecutive blocks with that of `worst_row` in their middle, as far as the edges allow,
    or blocks that are spread evenly. One is kept whatever it takes.
    """
    if bytes_per_head <= limit:
        return ()
    blocks = -(-m // block_m)
    room = min(blocks, max(1, limit * m // (bytes_per_head * block_m)))
    if by == "spread":
        return tuple(i * (blocks - 1) // max(1, room - 1) for i in range(room))
    first = min(max(0, worst_row // block_m - room // 2), blocks - room)
    return tuple(range(first, first + room))


def kept_rows_text(rows: int, request: RunRequest) -> str:
    """A line that says which rows' states are kept, and why."""
    size, most = size_text(trace_bytes(request)), size_text(TRACE_LIMIT_BYTES)
    return (
        f"softmax states: {rows:,} of {request.problem.m:,} query rows of one head are kept, "
        f"{TRACE_ROWS[request.trace_rows]}; all would take {size}, and at most {most} are.\n"
    )


def kept_text(what: str, heads: tuple[int, ...], total: int, bytes_per_head: int, limit: int) -> str:
    """A line that says that `what` is of `heads` alone, and why."""
    return (
        f"{what}: heads {_ranges(heads)} of {total} are kept; all would take {size_text(total * bytes_per_head)}, "
        f"and at most {size_text(limit)} are. What is said in numbers is of all heads.\n"
    )


def _ranges(heads: tuple[int, ...]) -> str:
    """Ascending numbers as people write them: 0 to 30, 57."""
    parts: list[list[int]] = []
    for head in heads:
        if parts and head == parts[-1][-1] + 1:
            parts[-1] = [parts[-1][0], head]
        else:
            parts.append([head])
    return ", ".join(" to ".join(map(str, part)) for part in parts)
