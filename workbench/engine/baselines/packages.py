"""Baselines besides SDPA: PyTorch's FlexAttention, and the FlashAttention packages where they are installed."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import torch

from workbench.engine.inputs import Inputs

# The baseline's name and the package that has its flash_attn_func.
PACKAGES = {"flash_attn": "flash_attn", "flash_attn_3": "flash_attn_interface"}


def is_installed(choice: str) -> bool:
    """Whether the package of a baseline in PACKAGES can be found; it is not imported."""
    return find_spec(PACKAGES[choice]) is not None


class Flex:
    """FlexAttention, compiled with torch.compile for this problem alone; its first call compiles.

    The causal mask, aligned to the lower right, is a block mask: key blocks that no row sees are not read.
    """

    backend = "flex"
    note = ""

    def __init__(self, inputs: Inputs, causal: bool) -> None:
        from torch.nn.attention.flex_attention import create_block_mask, flex_attention

        # After some shapes torch.compile gives up on compiling a function anew, and runs it uncompiled.
        torch.compiler.reset()
        self._attend: Any = torch.compile(flex_attention, dynamic=False, fullgraph=True)
        self._q, self._k, self._v = inputs.q, inputs.k, inputs.v
        self._grouped = inputs.q.shape[1] != inputs.k.shape[1]
        m, n = inputs.q.shape[2], inputs.k.shape[2]

        def sees(b: Any, h: Any, row: Any, key: Any) -> Any:
            return row + (n - m) >= key

        self._mask = create_block_mask(sees, None, None, m, n, device=inputs.q.device) if causal else None

    def __call__(self) -> torch.Tensor:
        """A new [B, H, M, D] output."""
        out: torch.Tensor = self._attend(self._q, self._k, self._v, block_mask=self._mask, enable_gqa=self._grouped)
        return out

    def ordered(self, out: torch.Tensor) -> torch.Tensor:
        """`out` itself."""
        return out


class FlashPackage:
    """`flash_attn_func` of an installed package: grouped heads as they are, its causal mask to the lower right."""

    note = ""

    def __init__(self, choice: str, inputs: Inputs, causal: bool) -> None:
        self.backend = choice
        self._attend: Any = import_module(PACKAGES[choice]).flash_attn_func
        # It wants [B, rows, heads, D]; only the last axis must be contiguous, so these are views.
        self._q, self._k, self._v = (t.transpose(1, 2) for t in (inputs.q, inputs.k, inputs.v))
        self._causal = causal

    def __call__(self) -> torch.Tensor:
        """A new [B, M, H, D] output."""
        out = self._attend(self._q, self._k, self._v, causal=self._causal)
        # Some versions give the log-sum-exp with it.
        attended: torch.Tensor = out[0] if isinstance(out, tuple) else out
        return attended

    def ordered(self, out: torch.Tensor) -> torch.Tensor:
        """`out` as [B, H, M, D]."""
        return out.transpose(1, 2)
