"""The rates that a device reached in one large copy and in one large matrix product of each kind, kept on disk.

Medians, and no bounds: another size or another program may reach a little more. Measured once for a device, its power
limit, driver and version of torch, by `engine.device.ceilings`; another of these may give other rates.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from math import inf
from pathlib import Path
from typing import Any

from workbench.run.kinds import declared_kinds, is_of_kind
from workbench.run.older import of_today

FILE = "ceilings.json"
NOT_WATCHED = "whether the device was throttled or shared while they were measured is not known"
NOT_MEASURED = "not measured: the interpreter has no GPU whose rates could be measured"

# Names of the matrix rates, in the order in which people list them.
RATES = ("fp32", "tf32", "fp16", "bf16")


class CeilingsError(Exception):
    """The ceilings cannot be kept; the text names the file and says why."""


@dataclass(frozen=True)
class Ceilings:
    """What a device reached, medians of repeated timings.

    `copy_bytes_per_s` counts bytes read and bytes written of a copy within the device's memory; `fp32` (in full
    precision), `tf32`, `fp16` and `bf16` are FLOP/s of one large matrix product, a multiply-add being two. `date` is
    local time in ISO 8601. A rate is 0 where it was not measured, and so is `l2_bytes` where the device does not tell
    the size of its L2. `uuid` and `power_limit_w` say which GPU it was, and what it might draw: "" and None where that
    is not known. `warnings` are what kept the device from its best while they were measured, and `labels` the same in a
    few words each; None: nobody watched.
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
    l2_bytes: int = 0
    uuid: str = ""
    power_limit_w: float | None = None
    warnings: tuple[str, ...] | None = None
    labels: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, str, str, str, float | None]:
        """What they hold for."""
        return (self.device, self.driver, self.torch, self.uuid, self.power_limit_w)

    @property
    def notes(self) -> tuple[str, ...]:
        """What must be said beside them: the warnings, or that nobody watched."""
        return (NOT_WATCHED,) if self.warnings is None else self.warnings

    @property
    def brief_notes(self) -> tuple[str, ...]:
        """The same in a few words each."""
        return ("device not watched",) if self.warnings is None else self.labels


def data_folder() -> Path:
    """Where the program keeps what outlasts a session: the user's data folder, which Qt names the same."""
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base, "tilescope")


def kept_ceilings(device: str, driver: str, torch: str, folder: Path | None = None) -> tuple[Ceilings, ...]:
    """All that are kept for GPUs of this name, with this driver and torch, whatever their UUIDs and power limits.

    None where the file cannot be read.
    """
    found = _read(folder or data_folder())
    return tuple(entry for entry in found if (entry.device, entry.driver, entry.torch) == (device, driver, torch))


def best_fit(known: Iterable[Ceilings], uuid: str = "", power_limit_w: float | None = None) -> Ceilings | None:
    """Of ceilings for one name, driver and torch those that fit best: nothing contradicts, most agrees, the latest.

    Those that do not say their UUID or limit, as files of earlier versions have them, count as long as none are better.
    """

    def agreeing(entry: Ceilings) -> int:
        return (entry.uuid == uuid != "") + (entry.power_limit_w == power_limit_w is not None)

    fitting = [entry for entry in known if _may_be(entry, uuid, power_limit_w)]
    return max(fitting, key=lambda entry: (agreeing(entry), entry.date), default=None)


def save_ceilings(ceilings: Ceilings, folder: Path | None = None) -> None:
    """Keep `ceilings` in place of older ones for the same, and of those that do not say what for. Raises CeilingsError.

    The file is replaced as a whole, so that no other process reads half of it; one that is damaged is replaced too.
    """
    folder = folder or data_folder()
    kept = [entry for entry in _read(folder) if not _is_replaced(entry, ceilings)]
    partial = folder / f"{FILE}.{os.getpid()}.part"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        partial.write_text(json.dumps([asdict(entry) for entry in (*kept, ceilings)], indent=1), encoding="utf-8")
        partial.replace(folder / FILE)
    except OSError as error:
        raise CeilingsError(f"{folder / FILE} cannot be written: {error.strerror}") from error


def _may_be(entry: Ceilings, uuid: str, power_limit_w: float | None) -> bool:
    """Whether nothing says that `entry` is of another GPU or of another limit."""
    other_gpu = uuid and entry.uuid and entry.uuid != uuid
    other_limit = power_limit_w is not None and entry.power_limit_w not in (None, power_limit_w)
    return not (other_gpu or other_limit)


def _is_replaced(entry: Ceilings, by: Ceilings) -> bool:
    """Whether `entry` is for what `by` is for, or does not say that it is for something else."""
    if entry.key[:3] != by.key[:3]:
        return False
    says_less = (not entry.uuid and by.uuid) or (entry.power_limit_w is None and by.power_limit_w is not None)
    return entry.key == by.key or bool(says_less and _may_be(entry, by.uuid, by.power_limit_w))


def _read(folder: Path) -> list[Ceilings]:
    """What the folder's file holds, without entries that this version does not understand."""
    try:
        entries = json.loads((folder / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    found = map(_entry, entries) if isinstance(entries, list) else ()
    return [entry for entry in found if entry is not None]


def _entry(data: Any) -> Ceilings | None:
    """Ceilings of what the file holds for one device; None if a field is not of its kind, or one without default lacks.

    Earlier versions did not keep the fields that have one beyond the rates.
    """
    try:
        known = of_today({"$type": Ceilings.__name__, **data})
        values = {field.name: known[field.name] for field in fields(Ceilings) if field.name in known}
        lists = {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
        entry = Ceilings(**{**values, **lists})
    except (TypeError, AttributeError):
        return None
    return entry if is_sound(entry) else None


def is_sound(ceilings: Ceilings) -> bool:
    """Whether its values can be what a device reached: numbers finite and not below 0, a rate of copying, a limit."""
    values = vars(ceilings)
    if not all(is_of_kind(values[name], kind) for name, kind in declared_kinds(Ceilings).items()):
        return False
    # The other numbers may be 0, which stands for not known.
    is_known = ceilings.copy_bytes_per_s > 0 and ceilings.power_limit_w != 0
    return is_known and all(0 <= value < inf for value in values.values() if isinstance(value, int | float))
