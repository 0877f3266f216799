"""The highest rates that a device has shown: how fast it copies and how fast it multiplies matrices, kept on disk.

Measured once for a device, driver and version of torch, by `engine.ceilings`; another of these may give other rates.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

FILE = "ceilings.json"
NOT_MEASURED = "not measured: on the interpreter there is no GPU whose rates could be"

# Names of the matrix rates, in the order in which people list them.
RATES = ("fp32", "tf32", "fp16", "bf16")


class CeilingsError(Exception):
    """The ceilings cannot be kept; the text names the file and says why."""


@dataclass(frozen=True)
class Ceilings:
    """What a device reached, medians of repeated timings.

    `copy_bytes_per_s` counts bytes read and bytes written of a copy within the device's memory; `fp32` (in full
    precision), `tf32`, `fp16` and `bf16` are FLOP/s of one large matrix product, a multiply-add being two. `date` is
    local time in ISO 8601. A rate is 0 where it was not measured.
    """

    device: str
    driver: str
    torch: str
    date: str
    copy_bytes_per_s: float
    fp32: float = 0.0
    tf32: float = 0.0
    fp16: float = 0.0
    bf16: float = 0.0

    @property
    def key(self) -> tuple[str, str, str]:
        """What they hold for."""
        return (self.device, self.driver, self.torch)


def data_folder() -> Path:
    """Where the program keeps what outlasts a session: the user's data folder, which Qt names the same."""
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base, "tilescope")


def load_ceilings(device: str, driver: str, torch: str, folder: Path | None = None) -> Ceilings | None:
    """The ceilings kept for this device, driver and torch; None if there are none, or the file cannot be read."""
    found = (entry for entry in _read(folder or data_folder()) if entry.key == (device, driver, torch))
    return next(found, None)


def save_ceilings(ceilings: Ceilings, folder: Path | None = None) -> None:
    """Keep `ceilings` in place of older ones for the same device, driver and torch. Raises CeilingsError.

    The file is replaced as a whole, so that no other process reads half of it; one that is damaged is replaced too.
    """
    folder = folder or data_folder()
    kept = [entry for entry in _read(folder) if entry.key != ceilings.key]
    partial = folder / f"{FILE}.{os.getpid()}.part"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        partial.write_text(json.dumps([asdict(entry) for entry in (*kept, ceilings)], indent=1), encoding="utf-8")
        partial.replace(folder / FILE)
    except OSError as error:
        raise CeilingsError(f"{folder / FILE} cannot be written: {error.strerror}") from error


def _read(folder: Path) -> list[Ceilings]:
    """What the folder's file holds, without entries that this version does not understand."""
    try:
        entries = json.loads((folder / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    found = map(_entry, entries) if isinstance(entries, list) else ()
    return [entry for entry in found if entry is not None]


def _entry(data: Any) -> Ceilings | None:
    """Ceilings of what the file holds for one device; None if a field is not there, or not of its kind."""
    try:
        values = {field.name: data[field.name] for field in fields(Ceilings)}
    except (TypeError, KeyError):
        return None
    texts = {"device", "driver", "torch", "date"}
    if not all(isinstance(value, str if name in texts else int | float) for name, value in values.items()):
        return None
    return Ceilings(**values)
