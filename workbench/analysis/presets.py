"""Problems people know, by name, for the form and for `--preset`."""

from __future__ import annotations

from dataclasses import dataclass, field

from kernels.plain.tiles import TileConfig
from workbench.analysis.tolerances import ARTICLE_TOLERANCE, default_tolerance
from workbench.run.request import Problem


@dataclass(frozen=True)
class Preset:
    """A named problem with the tile and the tolerances it is run with. `title` says where it comes from.

    The tile is for the article's kernel, the tolerances are for full-precision products.
    """

    name: str
    title: str
    problem: Problem
    tile: TileConfig = field(default_factory=TileConfig)
    rtol: float = ARTICLE_TOLERANCE
    atol: float = ARTICLE_TOLERANCE

    def tolerances(self, dtype: str, precision: str) -> tuple[float, float]:
        """rtol and atol for a run in `dtype` and `precision`: the preset's own, unless these need more."""
        needed = default_tolerance(dtype, precision)
        return (self.rtol, self.atol) if dtype == "fp32" and needed <= ARTICLE_TOLERANCE else (needed, needed)


PRESETS = (
    Preset("tiny", "small enough for the interpreter: under a second", Problem(32, 64, 16)),
    Preset("tiles", "interpreter, many key tiles to look at: some seconds", Problem(96, 256, 32)),
    Preset("case-7x13x8", "the article's first correctness case", Problem(7, 13, 8)),
    Preset("case-35x67x32", "the article's second correctness case", Problem(35, 67, 32)),
    Preset("case-64x129x128", "the article's third correctness case", Problem(64, 129, 128)),
    Preset("article-small", "the article's small shape", Problem(256, 512, 64)),
    Preset("article-middle", "the article's middle shape", Problem(512, 2048, 128)),
    Preset("article-large", "the article's largest shape", Problem(1024, 4096, 128)),
    Preset(
        "leetgpu",
        "LeetGPU's Softmax Attention, inputs uniform in [-0.1, 0.1]",
        Problem(512, 256, 128, inputs="uniform"),
        rtol=1e-4,
        atol=1e-4,
    ),
)

# What the command line's options change where no preset is named: the case that many tests of such kernels begin with.
NO_PRESET = Preset("", "", Problem(64, 129, 128))

WELCOME = {"cuda": "article-middle", "interpreter": "case-35x67x32"}


def find_preset(name: str) -> Preset:
    """The preset called `name`; KeyError if there is none."""
    return {preset.name: preset for preset in PRESETS}[name]
