"""What the form holds at one moment, as something to come back to; and one step from a moment to the next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from kernels.plain.tiles import TileConfig
from workbench.run.codec import decode_request, encode_request
from workbench.run.request import Problem, RunRequest


@dataclass(frozen=True)
class FormState:
    """The request that the form says, and what a request cannot hold of it.

    `kv_heads_chosen`: they no longer follow the heads. `typed` are texts that are no numbers, by field.
    """

    request: RunRequest
    kv_heads_chosen: bool = False
    typed: tuple[tuple[str, str], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """All of it in values that JSON has."""
        typed = dict(self.typed)
        return {"request": encode_request(self.request), "kv_heads_chosen": self.kv_heads_chosen, "typed": typed}

    @classmethod
    def from_json(cls, data: object) -> FormState:
        """What `to_json` gave. Raises ValueError for anything else."""
        match data:
            case {"request": dict(request), "kv_heads_chosen": bool(chosen), "typed": dict(typed)}:
                try:
                    return cls(decode_request(request), chosen, _texts(typed))
                except (TypeError, AttributeError) as error:  # of names that are none
                    raise ValueError(f"no state of a form: {error}") from error
            case _:
                raise ValueError("no state of a form")


@dataclass(frozen=True)
class FormStep:
    """A change that somebody has made: how the form was, how it is, and in a few words what was done.

    Steps of the same `field`, which is one that is typed, may count as one while nothing comes between them; "" is for
    steps that each stand for themselves.
    """

    before: FormState
    after: FormState
    text: str
    field: str = ""


def _texts(typed: Mapping[object, object]) -> tuple[tuple[str, str], ...]:
    return tuple((str(name), str(text)) for name, text in typed.items())


def with_values(base: RunRequest, values: Mapping[str, Any]) -> RunRequest:
    """`base` with these values of its fields, wherever in it they are."""
    problem = replace(base.problem, **_of(Problem, values))
    tile = replace(base.tile, **_of(TileConfig, values))
    return replace(base, problem=problem, tile=tile, **_of(RunRequest, values))


def _of(part: type[Problem] | type[TileConfig] | type[RunRequest], values: Mapping[str, Any]) -> dict[str, Any]:
    """Those of `values` that are fields of `part`."""
    names = {f.name for f in fields(part)}
    return {name: value for name, value in values.items() if name in names}
