"""PANELS: the views of a run, in the order of the View menu."""

from workbench.ui.panels.error import ErrorPanel
from workbench.ui.panels.latency import LatencyPanel
from workbench.ui.panels.log import LogPanel
from workbench.ui.panels.memory import MemoryPanel
from workbench.ui.panels.panel import Panel
from workbench.ui.panels.roofline import RooflinePanel
from workbench.ui.panels.softmax import SoftmaxPanel

PANELS: tuple[type[Panel], ...] = (LatencyPanel, SoftmaxPanel, ErrorPanel, RooflinePanel, MemoryPanel, LogPanel)
