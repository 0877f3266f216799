"""The outputs of one run against float64 attention, before timing and after it."""

from __future__ import annotations

from collections.abc import Callable

import torch

from workbench.engine.checking.compare import MAP_ITEM_BYTES, compare
from workbench.engine.checking.keeping import ERROR_MAP_LIMIT_BYTES, kept_text
from workbench.engine.checking.recheck import recheck
from workbench.run.events import Checked, Log, Send
from workbench.run.measurement import ErrorStats, Role
from workbench.run.request import RunRequest


class Checks:
    """Compares outputs [B, H, M, D] with `expected`, the same in float64, and sends what it finds."""

    def __init__(self, request: RunRequest, expected: torch.Tensor, send: Send) -> None:
        self._request = request
        self._expected = expected
        self._send = send
        self._before: dict[Role, torch.Tensor] = {}
        self.found: dict[Role, Checked] = {}

    def check(self, role: Role, name: str, out: torch.Tensor, backend: str = "", rows_left_out: int = 0) -> None:
        """Compare the output of `role`, called `name`, before it is timed; keeps a copy for `check_again`."""
        request, problem = self._request, self._request.problem
        compared = compare(
            out,
            self._expected,
            request.rtol,
            request.atol,
            rows_left_out=rows_left_out,
            map_limit=ERROR_MAP_LIMIT_BYTES,
        )
        if compared.heads:
            size = MAP_ITEM_BYTES * problem.m * problem.d
            what = f"error map of {name}"
            self._send(Log(kept_text(what, compared.heads, problem.total_heads, size, ERROR_MAP_LIMIT_BYTES)))
        self._before[role] = out.clone()
        self.found[role] = Checked(name, role, compared.stats, compared.error_map, backend, compared.heads)
        self._send(self.found[role])

    def check_again(self, role: Role, after: torch.Tensor, again: Callable[[], torch.Tensor] | None) -> None:
        """Compare what timed launches left, and two more launches, with the output before; see `recheck`."""
        request, error = self._request, self.found[role].error

        def error_of(out: torch.Tensor) -> ErrorStats:
            limits = (request.rtol, request.atol)
            return compare(out, self._expected, *limits, rows_left_out=error.rows_left_out, map_limit=0).stats

        self._send(recheck(role, self._before.pop(role), error, after, error_of, again))
