"""VARIANTS: every kernel there is, in the order in which people meet them.

A new kernel is one file or folder here and one line in VARIANTS; what can be known of it without torch is in its spec.
"""

from __future__ import annotations

from kernels.common.variant import KernelVariant
from kernels.variants.article import ARTICLE
from kernels.variants.flash import FLASH
from kernels.variants.hopper.launch import HOPPER
from kernels.variants.materialized import MATERIALIZED
from kernels.variants.split_kv.launch import SPLIT_KV

VARIANTS: tuple[KernelVariant, ...] = (ARTICLE, FLASH, SPLIT_KV, HOPPER, MATERIALIZED)
