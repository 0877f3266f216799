"""Attention kernels in Triton, with a float64 oracle. Usable alone: it knows nothing of the workbench.

    from kernels import VARIANTS

A new kernel is one file with its launcher and one line in VARIANTS.
"""

from kernels.article import ARTICLE
from kernels.variant import KernelVariant, TileTrace

VARIANTS: tuple[KernelVariant, ...] = (ARTICLE,)

__all__ = ["VARIANTS", "KernelVariant", "TileTrace"]
