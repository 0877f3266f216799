"""Run records to JSON and back, with the large arrays beside it.

Samples are one-dimensional and stay in the JSON, so that a list of runs can be shown without reading the maps.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, cast, get_args, get_type_hints

import numpy as np

from workbench.run.environment import DeviceInfo
from workbench.run.kinds import declared_kinds, is_of_kind
from workbench.run.older import of_today
from workbench.run.record import RunRecord
from workbench.run.request import RunRequest
from workbench.stats.arrays import FloatArray

Arrays = dict[str, FloatArray]


def _parts(hint: Any) -> Iterator[type]:
    """The dataclasses that a value of the declared kind is made of, at whatever depth."""
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        yield hint
        for inner in get_type_hints(hint).values():
            yield from _parts(inner)
    for argument in get_args(hint):
        yield from _parts(argument)


# A file names only the class, not where it lives.
_CLASSES = {part.__name__: part for part in _parts(RunRecord)}


def encode(record: RunRecord) -> tuple[dict[str, Any], Arrays]:
    """JSON-ready data for `record`, and its arrays of two and more dimensions by the names used there."""
    arrays: Arrays = {}
    return cast(dict[str, Any], _encode(record, arrays)), arrays


def decode(data: dict[str, Any], arrays: Arrays) -> RunRecord:
    """The record that `encode` took; arrays that are not in `arrays` become None.

    Raises ValueError if `data` is not a record. Fields that this version does not know are left out.
    """
    record = _decode(data, arrays)
    if not isinstance(record, RunRecord):
        raise ValueError("not a run record")
    return record


def encode_request(request: RunRequest) -> dict[str, Any]:
    """JSON-ready data for a request alone."""
    return cast(dict[str, Any], _encode(request, {}))


def decode_request(data: dict[str, Any]) -> RunRequest:
    """The request that `encode_request` took. Raises ValueError if `data` is none, or holds values of other kinds."""
    request = _decode(data, {})
    if not isinstance(request, RunRequest):
        raise ValueError("not a request")
    for part in (request, request.problem, request.tile):
        kinds: type = type(part)
        for name, kind in declared_kinds(kinds).items():
            if not is_of_kind(getattr(part, name), kind):
                raise ValueError(f"{name} of a request is {getattr(part, name)!r}")
    return request


def _encode(value: Any, arrays: Arrays) -> Any:
    if isinstance(value, np.ndarray):
        if value.ndim == 1 and np.issubdtype(value.dtype, np.integer):
            return {"$ints": [int(x) for x in value]}
        if value.ndim == 1:
            return {"$samples": [float(x) for x in value]}
        name = f"a{len(arrays)}"
        arrays[name] = value
        return {"$array": name}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {f.name: _encode(getattr(value, f.name), arrays) for f in dataclasses.fields(value)}
        return {"$type": type(value).__name__, **fields}
    if isinstance(value, tuple | list):
        return [_encode(item, arrays) for item in value]
    return value


def _decode(data: Any, arrays: Arrays) -> Any:
    if isinstance(data, list):
        return tuple(_decode(item, arrays) for item in data)
    if not isinstance(data, dict):
        return data
    if "$samples" in data:
        return np.array(data["$samples"], dtype=np.float64)
    if "$ints" in data:
        return np.array(data["$ints"], dtype=np.int64)
    if "$array" in data:
        return arrays.get(data["$array"])
    data = of_today(data)
    cls = _CLASSES.get(data.get("$type", ""))
    if cls is None:
        raise ValueError(f"unknown kind of record: {data.get('$type')!r}")
    known = {f.name for f in dataclasses.fields(cls)}
    values = {key: _decode(item, arrays) for key, item in data.items() if key in known}
    try:
        return cls(**values)
    except TypeError as error:
        raise ValueError(f"{cls.__name__} is not complete: {error}") from error


def environment(device: DeviceInfo) -> dict[str, Any]:
    """A device's fields as the command line prints them."""
    named = dataclasses.asdict(device)
    return {"device": named.pop("name"), **named}


def plain(value: Any) -> Any:
    """Dataclasses as nested dicts of JSON values, tuples and samples as lists; None for infinities and NaN.

    JSON has no word for those, and a reader of numbers would stumble over text.
    """
    if isinstance(value, np.ndarray):
        return [plain(x) for x in value.tolist()]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value
