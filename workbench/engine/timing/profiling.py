"""What the GPU did for launches, by CUPTI through torch.profiler: how long it was busy, and with which kernels."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch.profiler import ProfilerActivity
from torch.profiler import profile as torch_profile

from workbench.engine.failures import ProfilerError
from workbench.stats.arrays import FloatArray

# What the names of SDPA's kernels hold, the most telling first: cuDNN's own name flash as well.
_MARKS = (
    ("cudnn", "cudnn"),
    ("fmha_cutlassF", "efficient"),
    ("pytorch_flash", "flash"),
    ("flash_fwd", "flash"),
    ("softmax", "math"),
)


@dataclass(frozen=True)
class Activity:
    """One kernel, copy or fill on the GPU; times in microseconds of one clock."""

    name: str
    start_us: float
    end_us: float


def profile(body: Callable[[], None]) -> list[Activity]:
    """What the GPU did for `body`, which is waited for, in the order in which it began.

    The records are of the GPU alone. CUPTI stays in the process afterwards, but launches are not dearer for it: on an
    H200 (torch 2.11) unheld blocks of a launch-bound kernel took 213 us a launch before and 214 us after.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that events are cleared after each session is what is wanted
        torch.cuda.synchronize()
        with torch_profile(activities=[ProfilerActivity.CUDA]) as session:
            body()
            torch.cuda.synchronize()
        events: Any = session.events()
    found = [
        Activity(str(event.name), float(event.time_range.start), float(event.time_range.end))
        for event in events
        if event.device_type.name == "CUDA"
    ]
    return sorted(found, key=lambda activity: activity.start_us)


@dataclass(frozen=True)
class Launches:
    """What the GPU did for each of some equal launches, by the profiler; times in us.

    `busy` is how long any of a launch's kernels ran, `spans` how long it was from the begin of its first kernel to the
    end of its last: longer by the gaps between them. `lost` sessions had to be repeated.
    """

    busy: FloatArray  # [launches]
    spans: FloatArray  # [launches]
    names: tuple[str, ...]
    lost: int = 0


def profiled_launches(take: Callable[[], Sequence[Activity]], launches: int) -> Launches:
    """`per_launch` of what `take` gives, once more if that cannot be used: CUPTI now and then loses a record.

    Raises ProfilerError where the second session cannot be used either.
    """
    try:
        return per_launch(take(), launches)
    except ProfilerError:
        return replace(per_launch(take(), launches), lost=1)


def per_launch(activities: Sequence[Activity], launches: int) -> Launches:
    """How long the GPU was busy with each of `launches` equal launches, and the names of one's kernels.

    Launches are told apart by their number of activities, and the activities of one may overlap. Raises ProfilerError
    where there are none, or their number is no multiple of the launches.
    """
    if not activities:
        raise ProfilerError("the profiler saw no kernel: CUPTI may be in use elsewhere, or not allowed here")
    size, rest = divmod(len(activities), launches)
    if rest:
        raise ProfilerError(
            f"the profiler saw {len(activities)} kernels of {launches} launches; allowed are equally many of each"
        )
    groups = [activities[start : start + size] for start in range(0, len(activities), size)]
    names = tuple(sorted(activity.name for activity in groups[0]))
    if any(tuple(sorted(activity.name for activity in group)) != names for group in groups):
        raise ProfilerError("the profiler saw other kernels in one launch than in the next; allowed are the same")
    return Launches(
        np.array([busy_us(group) for group in groups]),
        np.array([max(one.end_us for one in group) - min(one.start_us for one in group) for group in groups]),
        tuple(activity.name for activity in groups[0]),
    )


def busy_us(activities: Sequence[Activity]) -> float:
    """The length of the union of their intervals, us: dependent launches begin before what they wait for has ended."""
    total, reached = 0.0, float("-inf")
    for activity in sorted(activities, key=lambda one: one.start_us):
        total += max(0.0, activity.end_us - max(activity.start_us, reached))
        reached = max(reached, activity.end_us)
    return total


def backend_of(names: Sequence[str]) -> str:
    """SDPA's backend that the names of its kernels prove, "" if they prove none."""
    text = " ".join(names).lower()
    return next((backend for mark, backend in _MARKS if mark.lower() in text), "")
