"""PANELS: the views of a run, in the order of the View menu.

A new panel is one file or folder here and one line in PANELS; its name, title, place and what it reads are its own.
"""

from workbench.ui.panels.bases.panel import Panel
from workbench.ui.panels.compare.panel import ComparePanel
from workbench.ui.panels.error.panel import ErrorPanel
from workbench.ui.panels.latency.panel import LatencyPanel
from workbench.ui.panels.log import LogPanel
from workbench.ui.panels.memory.panel import MemoryPanel
from workbench.ui.panels.roofline.panel import RooflinePanel
from workbench.ui.panels.softmax.panel import SoftmaxPanel

PANELS: tuple[type[Panel], ...] = (
    LatencyPanel,
    ComparePanel,
    SoftmaxPanel,
    ErrorPanel,
    RooflinePanel,
    MemoryPanel,
    LogPanel,
)
