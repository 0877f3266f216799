"""Exit statuses of the command line, and checks that end it with one line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from workbench.asking.usage import UsageError

EXIT_PASSED, EXIT_WRONG, EXIT_INVALID, EXIT_FAILED = 0, 1, 2, 3
EXIT_PROGRAM = 70  # an error of its own, which must not look like a wrong result
EXIT_INTERRUPTED = 130


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
    """Raise UsageError unless a file can be written at `path`; leaves nothing behind that was not there.

    A file with runs in it is never written over: what was measured may be nowhere else.
    """
    existed = path.exists()
    try:
        with path.open("ab"):
            pass
        if path.is_file() and _holds_runs(path):
            raise UsageError(f"{path} is a session or a recording, which is not written over; allowed is another name")
        if not existed:
            path.unlink()
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written: {error.strerror}; allowed is a file in a folder that can"
        ) from error


def _holds_runs(path: Path) -> bool:
    """Whether the file is a database, which sessions and recordings are. Raises OSError where it cannot be read."""
    with path.open("rb") as file:
        return file.read(len(_DATABASE)) == _DATABASE


_DATABASE = b"SQLite format 3\0"
