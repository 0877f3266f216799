"""Exit statuses of the command line, and the error that ends it with one line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

EXIT_PASSED, EXIT_WRONG, EXIT_INVALID, EXIT_FAILED = 0, 1, 2, 3
EXIT_PROGRAM = 70  # an error of its own, which must not look like a wrong result
EXIT_INTERRUPTED = 130


class UsageError(Exception):
    """The command line cannot work; the text is one line that names the value and what is allowed."""


@contextmanager
def refusing(*kinds: type[Exception]) -> Iterator[None]:
    """Let an error of these kinds, whose text is such a line, end the command line from within this block."""
    try:
        yield
    except kinds as error:
        raise UsageError(str(error)) from error


def check_not_there(path: Path, force: bool) -> None:
    """Raise UsageError if there is a file at `path` that only `force` lets be written over."""
    if path.exists() and not force:
        raise UsageError(f"{path} is there already; allowed is another name, or --force to write over it")


def check_writable(path: Path) -> None:
    """Raise UsageError unless a file can be written at `path`; leaves nothing behind that was not there."""
    existed = path.exists()
    try:
        with path.open("ab"):
            pass
        if not existed:
            path.unlink()
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written: {error.strerror}; allowed is a file in a folder that can"
        ) from error
