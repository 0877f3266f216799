"""The sizes of the window, in pixels. Without Qt: the command line refuses what is too small before Qt is there."""

from __future__ import annotations

DEFAULT_SIZE = (1440, 900)
LEAST_SIZE = (1024, 640)  # below it names in the panels would meet, and the headline would be cut
MOST_SIZE = (7680, 4320)
