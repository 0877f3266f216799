"""Problems and fresh random inputs for the kernels' tests, placed in memory so that stray reads and writes show."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch

from kernels.common.checks import DTYPES

NAN = float("nan")
LONGEST = 300
POWERS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
PRIMES = tuple(n for n in range(2, LONGEST) if all(n % p for p in range(2, int(n**0.5) + 1)))
HEADS = ((1, 1, 1), (1, 2, 2), (2, 3, 3), (1, 4, 2), (2, 4, 1), (1, 6, 2))
LAYOUTS = ("contiguous", "slice", "transposed", "every other")
GUARD = 64  # elements around a tensor: more than a vector store writes, and the address stays aligned
GUARD_ROWS = 16


@dataclass(frozen=True)
class Case:
    """A problem as `kernels.plain.tiles` wants it, its key heads, and how its tensors lie in memory: one of LAYOUTS."""

    m: int
    n: int
    d: int
    dtype: str = "fp32"
    causal: bool = False
    batch: int = 1
    heads: int = 1
    kv_heads: int = 1
    layout: str = "contiguous"


@dataclass(frozen=True)
class Placed:
    """A [B, H, rows, D] view and the whole storage around it, which is NaN wherever the view is not."""

    view: torch.Tensor
    storage: torch.Tensor

    def untouched_outside(self) -> bool:
        """Whether everything around the view is still NaN. Overwrites the view."""
        self.view.fill_(NAN)
        return bool(self.storage.isnan().all())


@dataclass(frozen=True)
class Inputs:
    """Q [B, H, M, D], K and V [B, Hkv, N, D]."""

    q: torch.Tensor
    k: torch.Tensor
    v: torch.Tensor


def place(shape: tuple[int, int, int, int], layout: str, dtype: torch.dtype, device: str) -> Placed:
    """A NaN-filled view of `shape` in NaN-filled storage.

    Strides over heads and batches are multiples of 16 in all layouts but the contiguous one, whatever the rows: Triton
    compiles a kernel anew for strides that are not.
    """
    batch, heads, rows, d = shape
    wide_rows = 2 * GUARD_ROWS + -(-rows // 16) * 16
    inner = slice(GUARD_ROWS, GUARD_ROWS + rows)

    def full(*sizes: int) -> torch.Tensor:
        return torch.full(sizes, NAN, dtype=dtype, device=device)

    match layout:
        case "contiguous":
            storage = full(batch * heads * rows * d + 2 * GUARD)
            return Placed(storage[GUARD:-GUARD].view(shape), storage)
        case "slice":
            storage = full(batch, heads, wide_rows, d)
            return Placed(storage[:, :, inner], storage)
        case "transposed":
            storage = full(batch, wide_rows, heads, d)
            return Placed(storage[:, inner].transpose(1, 2), storage)
        case "every other":
            storage = full(batch, heads, wide_rows, 2 * d)
            return Placed(storage[:, :, inner, ::2], storage)
    raise ValueError(f"layout is {layout!r}; expected one of {', '.join(LAYOUTS)}")


class Draw:
    """Everything random in a test, from one seed."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.random = random.Random(seed)
        self.generator = torch.Generator().manual_seed(seed)

    def length(self, longest: int = LONGEST) -> int:
        """Rows: any number, a power of two or a prime, up to `longest`."""
        kinds = ([self.random.randint(1, longest)], POWERS, PRIMES)
        return self.random.choice([n for n in self.random.choice(kinds) if n <= longest])

    def cases(self, count: int, like: Case, *, longest: int = LONGEST, one_head: bool = False) -> Iterator[Case]:
        """`count` problems with the D, dtype and mask of `like`; with a mask M < N, M = N and M > N take turns.

        One is contiguous and one in a layout drawn at random. The others are all laid out in the same way, so that they
        share one compiled kernel.
        """
        others = "contiguous" if one_head or like.d % 16 == 0 else "slice"
        layouts = ["contiguous", "contiguous" if one_head else self.random.choice(LAYOUTS[1:])]
        for i in range(count):
            m, n = self.length(longest), self.length(longest)
            if like.causal:
                m, n = ((min(m, n), max(m, n) + 1), (m, m), (max(m, n) + 1, min(m, n)))[i % 3]
            batch, heads, kv_heads = (1, 1, 1) if one_head else self.random.choice(HEADS)
            layout = layouts[i] if i < len(layouts) else others
            yield replace(like, m=m, n=n, batch=batch, heads=heads, kv_heads=kv_heads, layout=layout)

    def normal(self, shape: tuple[int, int, int, int], layout: str, dtype: torch.dtype, device: str) -> torch.Tensor:
        """Standard normal values, NaN in memory around them."""
        view = place(shape, layout, dtype, device).view
        return view.copy_(torch.randn(shape, generator=self.generator))

    def inputs(self, case: Case, device: str) -> Inputs:
        """Standard normal Q, K and V of `case`."""
        shapes = ((case.heads, case.m), (case.kv_heads, case.n), (case.kv_heads, case.n))
        q, k, v = (
            self.normal((case.batch, heads, rows, case.d), case.layout, DTYPES[case.dtype], device)
            for heads, rows in shapes
        )
        return Inputs(q, k, v)
