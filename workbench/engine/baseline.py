"""PyTorch's scaled_dot_product_attention as the baseline, with the backend that it really takes."""

from __future__ import annotations

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

from workbench.engine.inputs import Inputs

_BACKENDS = {
    "math": SDPBackend.MATH,
    "efficient": SDPBackend.EFFICIENT_ATTENTION,
    "flash": SDPBackend.FLASH_ATTENTION,
    "cudnn": SDPBackend.CUDNN_ATTENTION,
}


class Sdpa:
    """One SDPA call on a run's inputs. `backend` is the name of the backend that the call takes."""

    def __init__(self, choice: str, inputs: Inputs) -> None:
        # SDPA wants [batch, heads, rows, D]; these are views of the run's own tensors.
        self._q, self._k, self._v = (t[None, None] for t in (inputs.q, inputs.k, inputs.v))
        self._forced = _BACKENDS.get(choice)
        self.backend = choice if self._forced is not None else self._chosen_by_torch()

    def __call__(self) -> torch.Tensor:
        """A new [M, D] output."""
        if self._forced is None:
            return self._attend()
        with sdpa_kernel(self._forced):
            return self._attend()

    def _attend(self) -> torch.Tensor:
        return scaled_dot_product_attention(self._q, self._k, self._v)[0, 0]

    def _chosen_by_torch(self) -> str:
        """Ask the function that SDPA's own dispatch asks; it is not public, so its absence is not an error."""
        choose = getattr(torch, "_fused_sdp_choice", None)
        if choose is None:
            return "unknown"
        taken = choose(self._q, self._k, self._v)
        return next((name for name, backend in _BACKENDS.items() if backend.value == taken), "unknown")
