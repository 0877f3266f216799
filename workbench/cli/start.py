"""Where a process begins that is to be the program: `python main.py`, and the command `tilescope`.

The engine's child process imports this file again, so everything heavy is imported inside main().
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

EXIT_INTERRUPTED = 130


def main() -> int:
    """Run the command line; the exit status is described in its help."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, leave)
    from workbench.cli.entry import run_command_line

    return run_command_line(sys.argv[1:])


def leave(number: int, frame: FrameType | None) -> None:
    """Ctrl+C while there is nothing to tidy up: an exception in the middle of an import would print its traceback.

    Commands that have something to tidy up answer for themselves. The engine's processes end with this one.
    """
    os.write(2, b"tilescope: stopped\n")
    os._exit(EXIT_INTERRUPTED)
