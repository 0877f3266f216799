"""What Nsight Compute is to look at: LAUNCHES of a kernel, then as many of SDPA, after both have warmed up.

python -m tests.gpu.ncu_launches, with the words of `bare_launches`, under ncu --profile-from-start off
"""

import sys

import torch

from tests.gpu.bare_launches import launch_for, launches_from
from tests.gpu.ncu_report import LAUNCHES

if __name__ == "__main__":
    both = launches_from(sys.argv[1:])
    for launch in both:
        launch_for(launch, 0.3)
    torch.cuda.profiler.start()  # type: ignore[no-untyped-call]
    for launch in both:
        for _ in range(LAUNCHES):
            launch()
    torch.cuda.synchronize()
    torch.cuda.profiler.stop()  # type: ignore[no-untyped-call]
