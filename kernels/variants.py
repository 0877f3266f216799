"""VARIANTS: every kernel there is, in the order in which people meet them."""

from __future__ import annotations

from kernels.article import ARTICLE
from kernels.flash import FLASH
from kernels.hopper import HOPPER
from kernels.materialized import MATERIALIZED
from kernels.split_kv import SPLIT_KV
from kernels.variant import KernelVariant

VARIANTS: tuple[KernelVariant, ...] = (ARTICLE, FLASH, SPLIT_KV, HOPPER, MATERIALIZED)
