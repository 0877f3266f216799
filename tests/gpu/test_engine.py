"""What only a GPU can show: real failures, real times, and that they are those of the kernel."""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Iterator

import pytest

from kernels import VARIANTS, KernelVariant
from kernels.plain.tiles import TileConfig
from tests.gpu.cases import LAUNCH_US
from workbench.analysis.presets import PRESETS
from workbench.analysis.tolerances import default_tolerance
from workbench.analysis.validate import find_faults
from workbench.engine.host.process import KernelHost
from workbench.run.events import Checked, Failed, Finished, Log, Measured, Rechecked, RunEvent, Started, TileStates
from workbench.run.protocols import AUTO_PROTOCOL, BLOCK
from workbench.run.request import SDPA_CHOICES, Problem, RunRequest

EVERY_TILE_FIELD = ("block_m", "block_n", "num_warps", "num_stages", "splits")

pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module")
def host() -> Iterator[KernelHost]:
    made = KernelHost("cuda", job="tests.gpu.jobs")
    yield made
    made.close()


def run(
    host: KernelHost,
    problem: Problem,
    tile: TileConfig | None = None,
    kernel: str = "article",
    protocol: str = AUTO_PROTOCOL,
) -> list[RunEvent]:
    return list(host.run(RunRequest(problem, tile or TileConfig(), kernel=kernel, device="cuda", protocol=protocol)))


@pytest.mark.parametrize("name", [p.name for p in PRESETS])
def test_every_preset_runs_right(host: KernelHost, name: str) -> None:
    preset = next(p for p in PRESETS if p.name == name)
    events = run(host, preset.problem, preset.tile)
    assert isinstance(events[-1], Finished), events[-1]
    checks = [e for e in events if isinstance(e, Checked)]
    assert len(checks) == 2 and all(c.error.passed for c in checks)
    assert all(c.error.max_abs < 2e-6 for c in checks)
    states = next(e for e in events if isinstance(e, TileStates))
    assert states.bit_equal
    assert states.m_error is not None and states.m_error < 1e-5
    assert states.l_error is not None and states.l_error < 1e-5
    measured = next(e.measurement for e in events if isinstance(e, Measured))
    assert measured.latency.clock == "cuda events"
    assert measured.resources is not None and measured.resources.registers > 0


@pytest.mark.parametrize(
    ("kernel", "tile", "kind", "words"),
    [
        ("article", TileConfig(128, 128, 4, 3), "resources", "shared memory"),
        ("illegal access", TileConfig(), "launch", "illegal memory access"),
        ("out of memory", TileConfig(), "memory", "out of memory"),
    ],
)
def test_each_failure_is_clear_and_the_next_run_works(
    host: KernelHost, kernel: str, tile: TileConfig, kind: str, words: str
) -> None:
    end = run(host, Problem(256, 256, 128), tile, kernel)[-1]
    assert isinstance(end, Failed)
    assert end.kind == kind and words in end.message and end.remedy
    assert isinstance(run(host, Problem(64, 64, 32))[-1], Finished)


def right(host: KernelHost, request: RunRequest) -> list[RunEvent]:
    """The events of a run that must finish with every check passed; skips what cannot run on this device."""
    list(host.wait_ready())
    assert host.ready is not None
    faults = find_faults(request, host.ready.device, host.ready.kernels, host.ready.baselines)
    if faults:
        pytest.skip(faults[0].message)
    events = list(host.run(request))
    assert isinstance(events[-1], Finished), events[-1]
    checks = [e for e in events if isinstance(e, Checked)]
    assert checks and all(c.error.passed for c in checks), [(c.role, c.error) for c in checks]
    return events


@pytest.mark.parametrize("dtype", ["fp32", "fp16", "bf16"])
@pytest.mark.parametrize("causal", [False, True], ids=["all keys", "causal"])
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda v: v.name)
def test_every_variant_runs_right_with_its_own_tile(
    host: KernelHost, variant: KernelVariant, causal: bool, dtype: str
) -> None:
    heads = (2, 8, 2) if variant.spec.heads else (1, 1, 1)
    problem = Problem(300, 1000, 64, *heads, dtype=dtype, causal=causal)
    tolerance = default_tolerance(dtype, "ieee")
    request = RunRequest(
        problem, kernel=variant.name, device="cuda", rtol=tolerance, atol=tolerance, auto_tile=EVERY_TILE_FIELD
    )
    events = right(host, request)
    started = next(e for e in events if isinstance(e, Started))
    measured = next(e.measurement for e in events if isinstance(e, Measured))
    assert started.request.auto_tile == () and measured.tile is not None and measured.tile.splits >= 1
    again = next(e for e in events if isinstance(e, Rechecked) and e.role == "kernel")
    assert again.bits_equal and again.deterministic, "no kernel adds by atomics"
    states = next(e for e in events if isinstance(e, TileStates))
    assert states.bit_equal, states.skipped
    assert states.m_error is not None and states.m_error < 1e-5
    assert states.l_error is not None and states.l_error < 1e-5


@pytest.mark.parametrize(("m", "n"), [(512, 512), (200, 700), (700, 200)], ids=["M = N", "M < N", "M > N"])
@pytest.mark.parametrize("sdpa", [name for name in SDPA_CHOICES if name != "none"])
@pytest.mark.parametrize("dtype", ["fp32", "bf16"])
def test_every_baseline_has_our_mask_and_our_groups(host: KernelHost, dtype: str, sdpa: str, m: int, n: int) -> None:
    problem = Problem(m, n, 64, 2, 6, 2, dtype, causal=True)
    tolerance = default_tolerance(dtype, "ieee")
    events = right(
        host,
        RunRequest(
            problem,
            TileConfig(64, 64),
            kernel="flash",
            sdpa=sdpa,
            device="cuda",
            rtol=tolerance,
            atol=tolerance,
            trace=False,
        ),
    )
    baseline = next(e for e in events if isinstance(e, Checked) and e.role == "baseline")
    assert baseline.error.rows_left_out == max(0, m - n)
    assert baseline.backend == sdpa or sdpa == "auto"
    logs = "".join(e.text for e in events if isinstance(e, Log))
    assert ("see no key" in logs) is (m > n)


@pytest.mark.timed
@pytest.mark.parametrize("name", ["article-small", "article-middle", "article-large"])
def test_latency_agrees_with_a_bare_script(host: KernelHost, name: str) -> None:
    """Three of each in turn; the medians differ by less than 5%, unless the launches take longer than the kernel."""
    preset = next(p for p in PRESETS if p.name == name)
    problem, tile = preset.problem, preset.tile
    ours, bare = [], []
    for _ in range(3):
        events = run(host, problem, tile, protocol=BLOCK.name)
        latency = next(e.measurement.latency for e in events if isinstance(e, Measured))
        if latency.kernel_us is not None and latency.kernel_us < LAUNCH_US:
            pytest.skip(f"launch-bound: {latency.kernel_us:.1f} of {latency.figure_us:.1f} us is the kernel")
        ours.append(latency.figure_us)
        words = [problem.m, problem.n, problem.d, tile.block_m, tile.block_n, latency.launches]
        command = [sys.executable, "-m", "tests.gpu.bare_article", *map(str, words)]
        bare.append(float(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
    print(f"{name}: workbench {ours} us, bare {bare} us, last median of single launches {latency.median:.1f} us")
    assert statistics.median(ours) == pytest.approx(statistics.median(bare), rel=0.05)
    assert latency.median == pytest.approx(statistics.median(bare), rel=0.05)


@pytest.mark.filterwarnings("ignore:.*Profiler clears events:UserWarning")
@pytest.mark.parametrize(
    ("shape", "heads", "dtype", "causal"),
    [
        ((256, 512, 64), (1, 1, 1), "fp32", False),
        ((512, 512, 64), (2, 8, 2), "bf16", True),
        ((256, 512, 64), (2, 8, 8), "bf16", True),
        ((256, 512, 64), (2, 8, 2), "fp32", True),
    ],
)
def test_the_recorded_backend_is_the_one_whose_kernel_ran(
    host: KernelHost, shape: tuple[int, int, int], heads: tuple[int, int, int], dtype: str, causal: bool
) -> None:
    import torch
    from torch.profiler import ProfilerActivity, profile

    from workbench.engine.baselines.sdpa import Sdpa
    from workbench.engine.inputs import make_inputs

    problem = Problem(*shape, *heads, dtype, causal=causal)
    sdpa = Sdpa("auto", problem, make_inputs(problem, torch.device("cuda")))
    with profile(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as profiled:
        sdpa()
        torch.cuda.synchronize()
    names = " ".join(event.key for event in profiled.key_averages())
    marks = {
        "efficient": "_efficient_attention",
        "flash": "_flash_attention",
        "cudnn": "_cudnn_attention",
        "math": "_math",
    }
    assert marks[sdpa.backend] in names, (sdpa.backend, names)
