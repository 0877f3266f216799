"""What the protocols measure on a real GPU: that they agree with bare scripts and with each other, and repeat.

`pytest -m gpu -s tests/engine/test_protocols_on_gpu.py` prints the tables that the README quotes.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from statistics import median

import pytest

from workbench.engine.host import KernelHost
from workbench.model import PROTOCOLS, Failed, Problem, Role, RunRecord, RunRequest, TileConfig
from workbench.session import RunBuilder
from workbench.tolerances import default_tolerance
from workbench.validate import find_faults

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(600)]

BARE = 0.03
GRAPH_AND_PROFILER = 0.05
LONG_US = 20.0
REPEATS = 10


@dataclass(frozen=True)
class Case:
    """A problem with a kernel of one launch; its tile is the device's own where none is given."""

    kernel: str
    problem: Problem
    tile: TileConfig | None = None

    def request(self, protocol: str) -> RunRequest:
        tolerance = default_tolerance(self.problem.dtype, "ieee")
        request = RunRequest(self.problem, kernel=self.kernel, device="cuda", protocol=protocol, trace=False)
        request = replace(request, rtol=tolerance, atol=tolerance)
        if self.tile is not None:
            return replace(request, tile=self.tile)
        return replace(request, auto_tile=("block_m", "block_n", "num_warps", "num_stages", "splits"))

    @property
    def title(self) -> str:
        heads = f"{self.problem.heads} heads, " if self.problem.heads > 1 else ""
        return f"{self.kernel}, {heads}{self.problem.shape} {self.problem.dtype}"


CASES = (
    Case("article", Problem(512, 2048, 128), TileConfig(16, 16)),
    Case("hopper", Problem(2048, 2048, 128, 1, 16, 16, "bf16")),
)
Measure = Callable[[Case, str], RunRecord]


@pytest.fixture(scope="module")
def measure() -> Iterator[Measure]:
    """Runs a case under a protocol, each once; skips what cannot run on this device."""
    host = KernelHost("cuda")
    list(host.wait_ready())
    assert host.ready is not None
    ready = host.ready

    @cache
    def run(case: Case, protocol: str) -> RunRecord:
        return measured_anew(host, case.request(protocol))

    def checked(case: Case, protocol: str) -> RunRecord:
        faults = find_faults(case.request(protocol), ready.device, ready.variants, ready.baselines)
        if faults:
            pytest.skip(faults[0].message)
        return run(case, protocol)

    yield checked
    host.close()


def measured_anew(host: KernelHost, request: RunRequest) -> RunRecord:
    builder = RunBuilder(request)
    for event in host.run(request):
        builder.take(event)
    record = builder.record()
    assert not isinstance(record.end, Failed), record.end
    assert record.passed, record.rechecked
    return record


def median_of(record: RunRecord, role: Role) -> float:
    """The figure of the protocol: the article's is the average of its block."""
    found = record.measurement(role)
    assert found is not None
    return found.latency.block_average_us if found.latency.protocol == "article" else found.latency.median


@cache
def bare(case: Case, protocol: str, tile: TileConfig) -> float:
    """The median of three bare scripts, us."""
    problem = case.problem
    shape = (problem.m, problem.n, problem.d, problem.heads, problem.dtype)
    tiles = (tile.block_m, tile.block_n, tile.num_warps, tile.num_stages, tile.splits)
    words = [protocol, case.kernel, *shape, *tiles]
    command = [sys.executable, "-m", "tests.engine.bare_protocols", *map(str, words)]
    done = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(3)]
    return median(float(one.stdout.split()[-1]) for one in done)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.kernel)
def test_every_protocol_agrees_with_a_bare_script_of_it(measure: Measure, case: Case, protocol: str) -> None:
    record = measure(case, protocol)
    assert median_of(record, "kernel") == pytest.approx(bare(case, protocol, record.started.request.tile), rel=BARE)
    kernel, baseline = record.measurement("kernel"), record.measurement("baseline")
    assert kernel is not None and baseline is not None
    latency = kernel.latency
    assert latency.protocol == protocol and latency.interval is not None
    assert (latency.flush_bytes > 0) is (protocol in ("cold", "graph-cold"))
    assert (record.comparison is None) is (protocol == "article")
    assert record.device_state is not None and len(record.device_state.trace.t) > 0, record.device_state
    assert record.started.provenance.power_limit_w
    if protocol == "article":
        assert latency.kernel_us is None and latency.ended_by == "fixed"
    else:
        assert latency.ended_by in ("precision", "time") and latency.kernel_us and latency.kernel_names
        assert baseline.backend in ("efficient", "flash", "cudnn")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.kernel)
@pytest.mark.parametrize("role", ["kernel", "baseline"])
def test_graph_and_profiler_agree_on_long_kernels(measure: Measure, case: Case, role: Role) -> None:
    graph, profiler = (median_of(measure(case, protocol), role) for protocol in ("graph", "profiler"))
    if profiler < LONG_US:
        pytest.skip(f"{profiler:.1f} us is too short for the gaps between kernels not to count")
    assert graph == pytest.approx(profiler, rel=GRAPH_AND_PROFILER)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.kernel)
@pytest.mark.parametrize("role", ["kernel", "baseline"])
def test_cold_is_not_faster_than_warm(measure: Measure, case: Case, role: Role) -> None:
    assert median_of(measure(case, "cold"), role) >= 0.98 * median_of(measure(case, "warm"), role)


@pytest.mark.parametrize("protocol", ["cold", "graph"])
def test_repeats_lie_within_the_stated_intervals(protocol: str) -> None:
    """Each repeat in an engine of its own, whose tensors lie elsewhere in memory; their common median is the truth."""
    found = []
    for _ in range(REPEATS):
        host = KernelHost("cuda")
        kernel = measured_anew(host, CASES[0].request(protocol)).measurement("kernel")
        host.close()
        assert kernel is not None and kernel.latency.interval is not None
        found.append(kernel.latency)
    common = median(latency.median for latency in found)
    inside = sum(
        latency.interval.low <= common <= latency.interval.high for latency in found if latency.interval is not None
    )
    medians = ", ".join(f"{latency.median:.2f}" for latency in found)
    print(f"\n{CASES[0].title}, {protocol}: medians {medians} us; {inside} of {REPEATS} intervals hold {common:.2f} us")
    assert inside >= REPEATS - 1


def test_the_table_of_what_was_measured(measure: Measure) -> None:
    rows = []
    for case in CASES:
        for protocol in PROTOCOLS:
            try:
                record = measure(case, protocol)
            except pytest.skip.Exception:
                continue
            rows.append((case, protocol, record))
    assert rows
    device = rows[0][2].started.device
    print(
        f"\n{device.name}, driver {device.driver}, CUDA {device.cuda}, torch {device.torch}, triton {device.triton}, "
        f"{date.today().isoformat()}\n\n"
        "| problem | protocol | kernel µs | interval ± % | bare script µs | difference % | SDPA µs | SDPA / kernel |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- |"
    )
    for case, protocol, record in rows:
        print(table_line(case, protocol, record))


def table_line(case: Case, protocol: str, record: RunRecord) -> str:
    """One run as a line of the Markdown table."""
    ours, theirs = median_of(record, "kernel"), median_of(record, "baseline")
    alone = bare(case, protocol, record.started.request.tile)
    kernel = record.measurement("kernel")
    width = kernel.latency.half_width if kernel is not None else None
    ratio = record.comparison.ratio if record.comparison is not None else None
    cells = (
        case.title,
        protocol,
        f"{ours:.1f}",
        "none" if width is None else f"{100 * width:.2f}",
        f"{alone:.1f}",
        f"{100 * (ours / alone - 1):+.1f}",
        f"{theirs:.1f}",
        "not paired" if ratio is None else f"{ratio.baseline_over_kernel:.3f} ({ratio.low:.3f} to {ratio.high:.3f})",
    )
    return f"| {' | '.join(cells)} |"
