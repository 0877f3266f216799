"""The article's timing without the workbench: prints the average per launch in microseconds.

python -m tests.gpu.bare_article M N D BLOCK_M BLOCK_N LAUNCHES
"""

import sys

import torch

from kernels import TileConfig
from kernels.variants.article import launch_article

m, n, d, block_m, block_n, launches = map(int, sys.argv[1:])
tile = TileConfig(block_m, block_n)
q, k, v = (torch.randn(1, 1, rows, d, device="cuda") for rows in (m, n, n))
out = torch.empty_like(q)
for _ in range(10):
    launch_article(q, k, v, out, tile=tile)
start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
start.record()
for _ in range(launches):
    launch_article(q, k, v, out, tile=tile)
end.record()
end.synchronize()
print(start.elapsed_time(end) * 1e3 / launches)
