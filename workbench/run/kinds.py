"""Whether a value that came from a file is of the kind that its dataclass declares."""

from __future__ import annotations

import dataclasses
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints


@cache
def declared_kinds(cls: type) -> dict[str, Any]:
    """The declared kinds of the fields of a dataclass."""
    hints = get_type_hints(cls)
    return {field.name: hints[field.name] for field in dataclasses.fields(cls)}


def is_of_kind(value: Any, hint: Any) -> bool:
    """Whether `value` is of the declared kind. Of a choice of words any will do: a later version may know more."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(is_of_kind(value, part) for part in parts)
    if origin is Literal:
        return isinstance(value, str)
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        kinds = parts[:1] * len(value) if parts[-1] is Ellipsis else parts
        return len(value) == len(kinds) and all(map(is_of_kind, value, kinds))
    if hint in (int, float):
        return isinstance(value, int if hint is int else int | float) and not isinstance(value, bool)
    # NumPy 2.5 names NDArray in a `type` statement, whose name is no class: what it stands for is one.
    named = getattr(origin or hint, "__value__", origin or hint)
    kind = get_origin(named) or named
    return isinstance(value, NoneType if kind is None else kind)
