"""What the trend's x axis can be: the order of the runs, or a field in which they differ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from kernels.plain.launch_options import LAUNCH_OPTIONS, LaunchOption
from kernels.plain.tiles import AUTO_SPLITS
from workbench.run.record import RunRecord
from workbench.run.request import Problem
from workbench.words.names import baseline_text


@dataclass(frozen=True)
class Kind:
    """What runs must share for their figures to be compared: problem, device with the clock's meaning, protocol.

    Another seed gives other values of the same kind, and so the same work. Kernels, precisions and tiles are what is
    compared.
    """

    problem: Problem
    device: str
    mode: str
    protocol: str

    @classmethod
    def of(cls, record: RunRecord) -> Kind:
        """The kind of `record`."""
        started = record.started
        problem = replace(started.request.problem, seed=0)
        return cls(problem, started.device.name, started.device.mode, started.request.protocol)


def _same(kind: Kind) -> Kind:
    return kind


@dataclass(frozen=True)
class Along:
    """An x axis: `of` gives where a run stands, a number or a word; None for every axis but that of their order.

    `frees` is a kind without what the runs on this axis differ in. `auto` is a number that stands for "auto", and
    `unit` what the numbers count.
    """

    name: str
    title: str
    of: Callable[[RunRecord], Any] | None
    unit: str = ""
    frees: Callable[[Kind], Kind] = _same
    auto: int | None = None

    @property
    def label(self) -> str:
        """The title with its unit."""
        return f"{self.title}, {self.unit}" if self.unit else self.title

    @property
    def keeps_kind(self) -> bool:
        """Whether all runs on it are of one kind, so that one can be the best of all."""
        return self.frees is _same


NOTHING: dict[str, Any] = {name: type(value)() for name, value in vars(Problem(0, 0, 0)).items()}


def _of_problem(name: str, title: str, unit: str = "") -> Along:
    def frees(kind: Kind) -> Kind:
        return replace(kind, problem=replace(kind.problem, **{name: NOTHING[name]}))

    return Along(name, title, lambda record: getattr(record.started.request.problem, name), unit, frees)


def _of_heads() -> Along:
    """KV heads go along with the heads: as many share one."""

    def frees(kind: Kind) -> Kind:
        problem = kind.problem
        return replace(kind, problem=replace(problem, heads=0, kv_heads=problem.heads // max(1, problem.kv_heads)))

    return Along("heads", "heads", lambda record: record.started.request.problem.heads, "", frees)


def _of_tile(name: str, title: str, unit: str = "", auto: int | None = None) -> Along:
    return Along(name, title, lambda record: getattr(record.launched_tile, name), unit, auto=auto)


def _of_option(option: LaunchOption) -> Along:
    return _of_tile(option.name, option.label, option.unit, 0 if option.auto_text else None)


def _of_request(name: str, title: str, unit: str = "") -> Along:
    return Along(name, title, lambda record: getattr(record.started.request, name), unit)


def _backend(record: RunRecord) -> str:
    chosen = record.backend or record.started.request.sdpa
    return f"{baseline_text(chosen)} {chosen}" if baseline_text(chosen) == "SDPA" else baseline_text(chosen)


ORDER = Along("order", "run order", None)
ALONG = (
    ORDER,
    _of_tile("block_m", "BLOCK_M", "query rows"),
    _of_tile("block_n", "BLOCK_N", "key rows"),
    *map(_of_option, LAUNCH_OPTIONS),
    _of_tile("splits", "key splits", auto=AUTO_SPLITS),
    _of_request("kernel", "kernel"),
    _of_request("precision", "precision"),
    _of_problem("m", "M", "query rows"),
    _of_problem("n", "N", "key rows"),
    _of_problem("d", "D", "features"),
    _of_problem("batch", "batch", "sequences"),
    _of_heads(),
    _of_problem("kv_heads", "KV heads"),
    _of_problem("dtype", "dtype"),
    _of_problem("causal", "causal mask"),
    _of_problem("inputs", "inputs"),
    Along("seed", "seed", lambda record: record.started.request.problem.seed),
    Along("sdpa", "SDPA backend", _backend),
    Along(
        "protocol",
        "protocol",
        lambda record: record.started.request.protocol,
        frees=lambda kind: replace(kind, protocol=""),
    ),
    Along(
        "device",
        "device",
        lambda record: record.started.device.name,
        frees=lambda kind: replace(kind, device="", mode=""),
    ),
    _of_request("rtol", "rtol"),
    _of_request("atol", "atol"),
    _of_request("max_seconds", "at most", "s"),
)
