"""The precisions in which products of fp32 inputs can be made, each with everything that is known of it."""

from __future__ import annotations

from dataclasses import dataclass

EXACT = "ieee"  # the one that 16-bit inputs take, whose products are exact in fp32


@dataclass(frozen=True)
class Precision:
    """How a product of fp32 inputs is made: of `products` products on the matrix rate called `rate`.

    `exactness` orders precisions: the greater, the more exact. A kernel that splits values itself makes `parts` 16-bit
    values of each (0: it multiplies them as they are), first `scaled` by a power of two a tile, whose exponent it
    keeps. `of_triton` says whether Triton's own dot knows it, in one version or another.
    """

    rate: str
    products: int
    exactness: int
    tip: str
    parts: int = 0
    scaled: bool = False
    of_triton: bool = True

    @property
    def on_interpreter(self) -> bool:
        """Whether Triton's interpreter makes it so: it has no tf32 and multiplies bf16 wrongly; it is exact then."""
        return self.parts > 0 and self.rate != "bf16"


_PARTS = "parts, three products on the tensor cores"
PRECISIONS = {
    "ieee": Precision("fp32", 1, 5, "every product in fp32, on the CUDA cores"),
    "tf32": Precision("tf32", 1, 0, "inputs cut to 10 bits of fraction, one product on the tensor cores"),
    "tf32x3": Precision("tf32", 3, 2, f"inputs in two tf32 {_PARTS}: nearly fp32"),
    "bf16x3": Precision("bf16", 3, 1, f"inputs in two bf16 {_PARTS}", parts=2),
    "bf16x6": Precision(
        "bf16", 6, 4, "inputs in three bf16 parts, six products on the tensor cores: as good as fp32", parts=3
    ),
    "fp16x3": Precision("fp16", 3, 3, f"inputs in two fp16 {_PARTS}", parts=2, scaled=True, of_triton=False),
}


def parts_made(dtype: str, precision: str, interpreted: bool) -> int:
    """Into how many 16-bit parts a kernel splits an fp32 value; 0 where it multiplies values as they are."""
    known = PRECISIONS.get(precision)
    if known is None or dtype != "fp32" or (interpreted and not known.on_interpreter):
        return 0
    return known.parts
