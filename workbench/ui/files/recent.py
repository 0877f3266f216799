"""What was opened lately and where, kept over a restart."""

from __future__ import annotations

from enum import Enum
from pathlib import Path

from PyQt6.QtCore import QSettings

MOST = 10
FILES_KEY = "recent files"


class FileKind(Enum):
    """The kinds of files that are asked for; each has its own last folder. The value is its key in the settings."""

    SESSION = "session"
    RECORDING = "recording"
    PICTURE = "picture"
    TABLE = "table"


class Recent:
    """The files that were opened last, and the last folder of each kind of file."""

    def __init__(self, settings: QSettings) -> None:
        self._settings = settings

    def add(self, path: Path) -> None:
        """`path` is the latest."""
        path = path.resolve()
        self._keep([path, *(other for other in self._all() if other != path)][:MOST])

    def paths(self, without: Path | None = None) -> list[Path]:
        """Sessions and recordings that are still there, the latest first, `without` one."""
        left_out = without.resolve() if without is not None else None
        return [path for path in self._all() if path != left_out and path.is_file()]

    def forget_all(self) -> None:
        """Empty the list."""
        self._keep([])

    def folder(self, kind: FileKind, first: Path) -> Path:
        """Where the last dialog for that kind ended, if it is still there, else `first`."""
        kept = self._settings.value(f"folder/{kind.value}", "")
        return Path(kept) if isinstance(kept, str) and kept and Path(kept).is_dir() else first

    def keep_folder(self, kind: FileKind, path: Path) -> None:
        """A dialog for that kind has ended at the file `path`."""
        self._settings.setValue(f"folder/{kind.value}", str(path.resolve().parent))

    def _all(self) -> list[Path]:
        kept = self._settings.value(FILES_KEY, [])
        names = kept if isinstance(kept, list) else [kept]  # QSettings makes a single string of a list of one
        return [Path(name) for name in names if isinstance(name, str) and name]

    def _keep(self, paths: list[Path]) -> None:
        self._settings.setValue(FILES_KEY, [str(path) for path in paths])
