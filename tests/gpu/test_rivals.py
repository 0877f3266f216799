"""Two kernels in turns on a GPU: the ratio of a kernel with itself is one, and what two runs show is found again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from kernels.plain.tiles import TileConfig
from workbench.analysis.comparison import against, request_in_turns
from workbench.engine.host.process import KernelHost
from workbench.run.events import Finished
from workbench.run.protocols import PROTOCOLS
from workbench.run.record import RunBuilder, RunRecord
from workbench.run.request import Problem, Rival, RunRequest

pytestmark = [pytest.mark.gpu, pytest.mark.timed]

PROBLEM = Problem(256, 512, 64)
TILES = TileConfig(64, 32), TileConfig(16, 16)
IN_TURNS = [name for name, protocol in PROTOCOLS.items() if protocol.takes_turns]


@pytest.fixture(scope="module")
def host() -> Iterator[KernelHost]:
    made = KernelHost("cuda")
    yield made
    made.close()


def run(host: KernelHost, request: RunRequest) -> RunRecord:
    builder = RunBuilder(request)
    for event in host.run(request):
        builder.take(event)
    record = builder.record()
    assert isinstance(record.end, Finished), record.end
    assert record.passed
    return record


@pytest.mark.parametrize("protocol", IN_TURNS)
def test_a_kernel_is_as_fast_as_itself(host: KernelHost, protocol: str) -> None:
    tile = TILES[1]
    rival = Rival("article", tile)
    record = run(host, RunRequest(PROBLEM, tile, sdpa="none", device="cuda", protocol=protocol, rival=rival))
    assert record.comparison is not None
    ratio = record.comparison.ratio
    assert 0.97 < ratio.baseline_over_kernel < 1.03
    assert ratio.low - 0.02 <= 1 <= ratio.high + 0.02


def test_in_turns_says_what_the_separate_runs_did(host: KernelHost) -> None:
    usual = RunRequest(PROBLEM, device="cuda", sdpa="none", protocol="cold")
    slow, fast = (run(host, replace(usual, tile=tile)) for tile in TILES)
    separate = against(fast, slow).ratio
    request = request_in_turns(fast, slow)
    assert separate is not None and request is not None
    record = run(host, request)
    rival = record.measurement("baseline")
    assert rival is not None and rival.tile == TILES[0]
    assert rival.resources is not None and rival.resources.registers > 0
    assert rival.latency.kernel_us is not None
    assert record.comparison is not None
    ratio = record.comparison.ratio
    assert ratio.low > 1
    assert ratio.baseline_over_kernel == pytest.approx(separate.baseline_over_kernel, rel=0.05)
