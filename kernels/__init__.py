"""Attention kernels in Triton, with a float64 oracle. Usable alone: it knows nothing of the workbench.

    from kernels import flash_attention

    out = flash_attention(q, k, v, causal=True)

A new kernel is one file with its launcher and one line in `kernels.variants`. torch and Triton are imported with the
first name that needs them, so that `kernels.plain.tiles` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from kernels.plain.tiles import TileConfig

if TYPE_CHECKING:
    from kernels.attention import flash_attention
    from kernels.common.variant import KernelVariant, TileTrace
    from kernels.variants import VARIANTS

_HOMES = {
    "flash_attention": "kernels.attention",
    "VARIANTS": "kernels.variants",
    "KernelVariant": "kernels.common.variant",
    "TileTrace": "kernels.common.variant",
}

__all__ = ["VARIANTS", "KernelVariant", "TileConfig", "TileTrace", "flash_attention"]


def __getattr__(name: str) -> Any:
    """Import the module that defines `name` when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
