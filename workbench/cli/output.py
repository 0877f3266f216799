"""What the command line says on stdout and stderr, also where nobody reads them, and how it answers Ctrl+C."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import TextIO

CLOSED = "stdout is closed: what would be printed is lost"


class OutputError(Exception):
    """What was to be printed or written is not; the text is one line that says where to and why."""


def hold_streams() -> None:
    """Let the null device stand in for standard streams that are closed.

    Else the next file to be opened, such as the engine's pipe, would take the number of one, and print() without a
    stderr would write to stdout.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            null = os.open(os.devnull, os.O_RDWR)
            os.dup2(null, number)
            if null != number:
                os.close(null)
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115


def out(text: str) -> None:
    """Print a result on stdout; nothing happens where its reader has gone, as head does.

    Raises OutputError where it cannot be written, such as on a full disk.
    """
    if sys.stdout is None:
        note(CLOSED)
        return
    try:
        print(text, flush=True)
    except BrokenPipeError:
        _give_up(sys.stdout)
    except OSError as error:
        _give_up(sys.stdout)
        raise OutputError(f"{error.strerror}: the output") from error


def note(text: str) -> None:
    """Say a line of the program's own on stderr."""
    pass_on(f"tilescope: {text}\n")


def pass_on(text: str) -> None:
    """Write to stderr as it is; nothing ends because nobody reads that."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        _give_up(sys.stderr)


@contextmanager
def on_interrupt(handler: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    """Answer Ctrl+C by `handler` in this block; not where whoever started the program has it ignored."""
    before = signal.getsignal(signal.SIGINT)
    if before in (signal.SIG_IGN, None) or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _give_up(stream: TextIO) -> None:
    """Send what is left in the buffer of `stream` nowhere: Python would try again at its end, and exit with 120."""
    with suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
