"""The problems on which the protocols are proved on a GPU. Plain Python: it imports neither torch nor Triton."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kernels.plain.tiles import TileConfig
from workbench.analysis.tolerances import default_tolerance
from workbench.run.request import Problem, RunRequest

LAUNCH_US = 150.0
"""What a launch may take of a CPU that has more to do. Launched without a pause, a kernel that the GPU ends sooner is
timed by its launches, in a bare script as in the workbench, and these differ from process to process."""

TILE_FIELDS = ("block_m", "block_n", "num_warps", "num_stages", "splits")


@dataclass(frozen=True)
class Case:
    """A problem with a kernel; its tile is the device's own where none is given. `name` is the test's id."""

    name: str
    kernel: str
    problem: Problem
    tile: TileConfig | None = None
    precision: str = "ieee"

    def request(self, protocol: str) -> RunRequest:
        """A run of it under `protocol`, at the usual limits, without a trace."""
        tolerance = default_tolerance(self.problem.dtype, self.precision)
        request = RunRequest(
            self.problem,
            kernel=self.kernel,
            precision=self.precision,
            device="cuda",
            protocol=protocol,
            rtol=tolerance,
            atol=tolerance,
            trace=False,
        )
        if self.tile is not None:
            return replace(request, tile=self.tile)
        return replace(request, auto_tile=TILE_FIELDS)

    @property
    def title(self) -> str:
        """Kernel and problem as people write them."""
        problem = self.problem
        kernel = f"`{self.kernel}`" + (f" {self.precision}" if self.precision != "ieee" else "")
        batch = f"{problem.batch} × " if problem.batch > 1 else ""
        heads = f"{batch}{problem.heads} heads, " if problem.heads > 1 else ""
        causal = ", causal" if problem.causal else ""
        return f"{kernel}, {problem.dtype} {heads}{problem.shape}{causal}"


ARTICLE_TILE = TileConfig(16, 16)
CASES = (
    Case("article-small", "article", Problem(256, 512, 64), ARTICLE_TILE),
    Case("article-middle", "article", Problem(512, 2048, 128), ARTICLE_TILE),
    Case("article-large", "article", Problem(1024, 4096, 128), ARTICLE_TILE),
    Case("bf16", "hopper", Problem(2048, 2048, 128, 1, 16, 16, "bf16")),
    Case("fp16-causal", "hopper", Problem(4096, 4096, 64, 4, 16, 16, "fp16", causal=True)),
    # Several kernels a launch, which overlap.
    Case("split-kv", "split_kv", Problem(1024, 4096, 128), precision="fp16x3"),
)
REPEATED = (CASES[1], CASES[3])
