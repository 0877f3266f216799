"""How launches can be timed: each protocol with its traits, by its name.

Requests and files keep the name alone; `protocol_of` gives what is known of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

FigureKind = Literal["average", "median"]


@dataclass(frozen=True)
class Protocol:
    """One way to time launches; `meaning` says how.

    `on_host` is its meaning by the host's clock, where there is no event, no cache to flush and no unbroken block; ""
    where it has none there, and `needs_gpu` then says what it does that takes a GPU. `least_torch` is the first version
    that can do it. `figure` is what its own figure is: the average of an unbroken block, which holds launch cost, or
    the median of its samples.

    `has_fixed_counts`: it takes its own number of launches and heeds no limit. `takes_turns`: kernel and baseline are
    launched in rounds, else one after the other, so that only one of them can fail. `flushes`: nothing of the last
    launch is left in the L2 cache. `replays`: a sample is the replay of a graph, and stands for several launches.
    `is_profiled`: its samples are the profiler's, so that the GPU's own time needs no second look.
    """

    name: str
    meaning: str
    on_host: str = ""
    needs_gpu: str = ""
    least_torch: tuple[int, int] = (0, 0)
    figure: FigureKind = "median"
    has_fixed_counts: bool = False
    takes_turns: bool = True
    flushes: bool = False
    replays: bool = False
    is_profiled: bool = False


BLOCK = Protocol(
    "block",
    "the average of a fixed number of launches in one unbroken block, then single ones, caches as they are",
    on_host="a fixed number of launches, each timed by the host's clock",
    figure="average",
    has_fixed_counts=True,
    takes_turns=False,
)
COLD = Protocol(
    "cold",
    "CUDA events around each launch, the L2 cache flushed before it: the usual choice to compare kernels",
    needs_gpu="flushes the L2 cache of a GPU",
    flushes=True,
)
_ALL = (
    BLOCK,
    COLD,
    Protocol(
        "warm",
        "CUDA events around each launch, caches as the last launch left them",
        on_host="launches of kernel and baseline in turns, each timed by the host's clock",
    ),
    Protocol(
        "graph",
        "launches replayed as a CUDA graph, so that what a launch costs the CPU is out; caches warm",
        needs_gpu="needs CUDA graphs",
        replays=True,
    ),
    Protocol(
        "graph-cold",
        "a CUDA graph that flushes the L2 cache before each launch, timed by events within the graph",
        needs_gpu="needs CUDA graphs",
        least_torch=(2, 8),  # the first whose torch.cuda.Event takes external=True: an event that a graph records
        flushes=True,
    ),
    Protocol(
        "profiler",
        "time on the GPU alone, by CUPTI through torch.profiler; caches warm",
        needs_gpu="reads the times that a GPU records",
        is_profiled=True,
    ),
)
PROTOCOLS = {protocol.name: protocol for protocol in _ALL}
# What a request names that leaves the protocol to the device: `protocol_on` is the one it then has.
AUTO_PROTOCOL = "auto"
AUTO_MEANING = f"{COLD.name} on a GPU, {BLOCK.name} on the interpreter, where there is no cache to flush"
PROTOCOL_CHOICES = (AUTO_PROTOCOL, *PROTOCOLS)
_EARLIER_NAMES = {"article": BLOCK.name}


def protocol_of(name: str) -> Protocol:
    """The protocol called `name`; of a later version's, which is not known here, the name and the usual traits."""
    return PROTOCOLS.get(name) or Protocol(name, AUTO_MEANING if name == AUTO_PROTOCOL else "")


def protocol_on(name: str, is_gpu: bool) -> Protocol:
    """The protocol that a request for `name` has on a GPU or on the interpreter: of AUTO_PROTOCOL the usual one."""
    if name != AUTO_PROTOCOL:
        return protocol_of(name)
    return COLD if is_gpu else BLOCK


def name_of_today(name: str) -> str:
    """A protocol's name; of one that an earlier version called otherwise, the one it has now."""
    return _EARLIER_NAMES.get(name, name)
