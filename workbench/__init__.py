"""Tilescope's workbench: the window, the command line and the engine that measures."""

__version__ = "0.1.0"
