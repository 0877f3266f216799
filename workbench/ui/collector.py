"""Python's garbage collection, done where it harms no one: in the window's thread, between two events.

Left to itself, Python before 3.12 collects inside any allocation, in any thread, with two harms here:

- A collected plot is taken apart by Qt, which asks it for sizes on the way, so that Python code runs and makes Qt
  objects. Where the allocation was that of a wrapper around an object of Qt's, PyQt gives that object to the first
  wrapper made meanwhile, and the outer one gets an empty object or "not enough arguments". `model()` of a filled
  combo box was seen to be an empty model for this reason.
- In the engine's reading thread, it would destroy widgets outside their own thread, which Qt does not allow.
"""

from __future__ import annotations

import gc
from time import perf_counter

from PyQt6.QtCore import QObject, QTimer

INTERVAL_MS = 100
LONG_S = 0.015  # about a frame


class Collector(QObject):
    """Switches automatic collection off for good, and collects from a timer, by the thresholds that Python has for it.

    Source: the design of `gc` as its documentation describes it (three generations, each with its threshold).
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        gc.disable()
        timer = QTimer(self)
        timer.timeout.connect(collect_what_is_due)
        timer.start(INTERVAL_MS)


def collect_what_is_due() -> None:
    """Collect the oldest generation whose threshold was passed, and with it the younger ones; none if none was.

    What has survived a round that took longer than a frame is mostly the runs of a long session: it is left out of all
    later ones, which would take longer and longer.
    """
    due = [
        generation
        for generation, (count, threshold) in enumerate(zip(gc.get_count(), gc.get_threshold(), strict=True))
        if 0 < threshold < count
    ]
    if not due:
        return
    began = perf_counter()
    gc.collect(max(due))
    if perf_counter() - began > LONG_S:
        gc.freeze()


def spare_the_collector() -> None:
    """Take what exists now out of the collector's rounds.

    It lives as long as the window, and a full round over it takes tens of milliseconds without a frame.
    """
    gc.freeze()
