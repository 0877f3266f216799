"""PyTorch's scaled_dot_product_attention as the baseline, with the backend that it really takes.

Our causal mask is aligned to the lower right: the last query row sees every key. SDPA's `is_causal` is aligned to the
upper left, so it is used only where M = N, and the two agree. Elsewhere `torch.nn.attention.bias.causal_lower_right`
says what is wanted: flash and efficient know it on a GPU. The other backends get a boolean mask, made once, not timed.
"""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

import torch
from torch.backends.cuda import SDPAParams, can_use_efficient_attention, can_use_flash_attention
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

from workbench.engine.failures import InvalidRequestError
from workbench.engine.inputs import Inputs
from workbench.run.request import Problem

_BACKENDS = {
    "math": SDPBackend.MATH,
    "efficient": SDPBackend.EFFICIENT_ATTENTION,
    "flash": SDPBackend.FLASH_ATTENTION,
    "cudnn": SDPBackend.CUDNN_ATTENTION,
}


# What PyTorch says of the backend is proved by its kernels' names; "unknown" where it does not say.
SDPA_BACKENDS = (*_BACKENDS, "unknown")


class Baseline(Protocol):
    """An attention to hold the kernel against. `backend` names what really runs, `note` what is to be said of it."""

    backend: str
    note: str

    def __call__(self) -> torch.Tensor:
        """Attend once: a new output, laid out as the implementation likes."""
        ...

    def ordered(self, out: torch.Tensor) -> torch.Tensor:
        """That output as [B, H, M, D]."""
        ...


def make_baseline(choice: str, problem: Problem, inputs: Inputs) -> Baseline:
    """The baseline called `choice` (one of SDPA_CHOICES, not "none") on a run's inputs.

    Raises InvalidRequestError where PyTorch refuses the backend for these inputs.
    """
    from workbench.engine.baselines.packages import PACKAGES, FlashPackage, Flex

    if choice == "flex":
        return Flex(inputs, problem.causal)
    if choice in PACKAGES:
        return FlashPackage(choice, inputs, problem.causal)
    return Sdpa(choice, problem, inputs)


class Sdpa:
    """One SDPA call on a run's inputs. `backend` is the name of the backend that the call takes.

    Grouped heads are given as they are (`enable_gqa`) where the backend takes them; else the query heads of a group
    become the heads of a batch of their own, and its K and V are expanded views, which copies nothing.
    """

    def __init__(self, choice: str, problem: Problem, inputs: Inputs) -> None:
        self.note = ""
        self._problem = problem
        self._forced = _BACKENDS.get(choice)
        self._q, self._k, self._v = inputs.q, inputs.k, inputs.v
        self._grouped = problem.heads != problem.kv_heads
        self._mask: torch.Tensor | None = None
        self._is_causal = problem.causal and problem.m == problem.n
        with warnings.catch_warnings():
            if self._grouped:  # a backend may take no groups, of which older torch warns: then it gets views
                warnings.simplefilter("ignore")
            self.backend = self._taken()
        if self._grouped and self._is_refused():
            self._expand()
            self.backend = self._taken()
            self.note = f"SDPA's backend {choice} takes no grouped heads: it gets K and V as expanded views.\n"
        if self._is_refused():
            raise InvalidRequestError(
                f"sdpa is {choice}, which PyTorch refuses for {problem.shape}, {problem.dtype}, on this device; "
                f"allowed are auto, math, none"
            )

    def __call__(self) -> torch.Tensor:
        """A new output; where K and V are expanded, [B * Hkv, H / Hkv, M, D]."""
        with self._context():
            return scaled_dot_product_attention(
                self._q,
                self._k,
                self._v,
                attn_mask=self._mask,
                is_causal=self._is_causal,
                enable_gqa=self._grouped,
            )

    def ordered(self, out: torch.Tensor) -> torch.Tensor:
        """`out` as [B, H, M, D]."""
        problem = self._problem
        return out.reshape(problem.batch, problem.heads, problem.m, problem.d)

    def _context(self) -> AbstractContextManager[Any]:
        return nullcontext() if self._forced is None else sdpa_kernel(self._forced)

    def _is_refused(self) -> bool:
        return self._forced is not None and self.backend not in ("unknown", _name_of(self._forced.value))

    def _expand(self) -> None:
        """Make batches of Hkv times as many with H / Hkv heads each, whose K and V are one and the same."""
        problem = self._problem
        group = problem.heads // problem.kv_heads
        batches = problem.batch * problem.kv_heads
        self._q = self._q.view(batches, group, problem.m, problem.d)
        self._k, self._v = (
            t.view(batches, 1, problem.n, problem.d).expand(-1, group, -1, -1) for t in (self._k, self._v)
        )
        self._grouped = False

    def _taken(self) -> str:
        """The name of the backend that a call takes, "" if it would be refused; settles the mask on the way."""
        with self._context():
            if self._problem.causal and not self._is_causal:
                if self._q.is_cuda and (fused := self._fused_lower_right()):
                    self._mask = _lower_right(self._problem)
                    return fused
                self._mask = _boolean(self._problem, self._q.device)
            return self._chosen_by_torch()

    def _fused_lower_right(self) -> str:
        """The backend to which `causal_lower_right` itself goes on a GPU, "" if it would make a mask at every call.

        Not efficient where M > N: its runs failed there (torch 2.11, H200), where a mask of its own does as well.
        """
        params = SDPAParams(self._q, self._k, self._v, None, 0.0, False, self._grouped)
        if can_use_flash_attention(params):
            return "flash"
        efficient = self._problem.m <= self._problem.n and can_use_efficient_attention(params)
        return "efficient" if efficient else ""

    def _chosen_by_torch(self) -> str:
        """Ask the function that SDPA's own dispatch asks; it is not public, so its absence is not an error."""
        choose = getattr(torch, "_fused_sdp_choice", None)
        if choose is None:
            return "unknown"
        try:
            taken = choose(
                self._q, self._k, self._v, self._mask, 0.0, self._is_causal, scale=None, enable_gqa=self._grouped
            )
        except RuntimeError:  # no backend that is allowed can take it; PyTorch's reasons are on stderr
            return ""
        return _name_of(taken)


def _name_of(value: int) -> str:
    return next((name for name, backend in _BACKENDS.items() if backend.value == value), "unknown")


def _lower_right(problem: Problem) -> torch.Tensor:
    from torch.nn.attention.bias import causal_lower_right  # imports torch's compiler, which takes seconds

    with warnings.catch_warnings():
        # That rows which see no key may be NaN is known: they are not compared.
        warnings.simplefilter("ignore")
        return causal_lower_right(problem.m, problem.n)


def _boolean(problem: Problem, device: torch.device) -> torch.Tensor:
    """[M, N], True where a row sees a key."""
    return torch.ones(problem.m, problem.n, dtype=torch.bool, device=device).tril(problem.n - problem.m)
