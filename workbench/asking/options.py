"""The options that a request is made of: each with what it is, what is allowed, and its default."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

from kernels.plain.launch_options import AUTO, LAUNCH_OPTIONS, listed
from kernels.plain.precisions import EXACT, PRECISIONS
from kernels.plain.tiles import BLOCKS
from workbench.analysis.presets import NO_PRESET
from workbench.analysis.validate import MAX_SAMPLES, MAX_SECONDS, SPLITS_ALLOWED
from workbench.asking.rivals import read_rival
from workbench.run.protocols import AUTO_MEANING, AUTO_PROTOCOL, PROTOCOLS, name_of_today
from workbench.run.request import DEVICE_CHOICES, DTYPES, INPUT_DISTRIBUTIONS, SDPA_CHOICES, TRACE_ROWS, RunRequest

_CHOSEN = "; chosen where --kernel is given"  # of a tile


@cache
def flags() -> Mapping[str, str]:
    """The option of each part of a request, by the name of its field; and that of the preset."""
    parser = argparse.ArgumentParser(add_help=False)
    add_request_options(parser)
    return {action.dest: action.option_strings[-1] for action in parser._actions}


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add the option to print JSON."""
    parser.add_argument("--json", action="store_true", help="print one JSON object on stdout, and nothing else there")


def add_run_options(run: argparse.ArgumentParser) -> None:
    """Add every option of the command that makes one run."""
    add_request_options(run)
    add_json(run)
    run.add_argument(
        "--trace",
        type=Path,
        metavar="FILE.npz",
        help="write the softmax states and the run's tensors, also over a file that is there (default: none)",
    )
    run.add_argument(
        "--session",
        type=Path,
        metavar="FILE",
        default=argparse.SUPPRESS,
        help="keep the run in this session file, beside those in it (default: none)",
    )


def add_request_options(parser: argparse.ArgumentParser) -> None:
    """Add every option that a request is made of: of its problem, its tile and its measuring."""
    _add_problem(parser.add_argument_group("problem"))
    _add_tile(
        parser.add_argument_group(
            "tile",
            "with --kernel, what is not given is chosen for the problem and the device; "
            "a kernel that keeps its tile has the preset's",
        )
    )
    _add_measuring(parser.add_argument_group("measuring"))


def _add_problem(problem: argparse._ArgumentGroup) -> None:
    problem.add_argument(
        "--preset",
        metavar="NAME",
        default=argparse.SUPPRESS,
        help="a named problem (see: presets), which options change (default: none)",
    )
    usual = NO_PRESET.problem
    for name, what in (("m", "query rows"), ("n", "keys"), ("d", "features of a head")):
        kind = _number(f"of {what}", "whole numbers from 1")
        problem.add_argument(f"-{name}", type=kind, help=f"{what} (default {getattr(usual, name)})")
    for name, what in (
        ("batch", "batches"),
        ("heads", "query heads of a batch"),
        ("kv-heads", "key heads of a batch, which query heads share evenly"),
    ):
        kind, value = _number(f"of {what}", "whole numbers from 1"), getattr(usual, name.replace("-", "_"))
        problem.add_argument(f"--{name}", type=kind, metavar="COUNT", help=f"{what} (default {value})")
    dtype = f"of Q, K, V and the output (default {usual.dtype})"
    problem.add_argument("--dtype", metavar="|".join(DTYPES), help=dtype)
    problem.add_argument(
        "--causal",
        action="store_true",
        default=None,
        help="mask: the last query row sees every key, the one before one fewer (default: no mask)",
    )
    seed = f"of the values of Q, K and V (default {usual.seed})"
    problem.add_argument("--seed", type=_number("as a seed", "whole numbers from 0"), help=seed)
    inputs = _list(f"what Q, K and V hold (default {usual.inputs}):", INPUT_DISTRIBUTIONS)
    problem.add_argument("--inputs", metavar="NAME", help=inputs)


def _add_tile(tile: argparse._ArgumentGroup) -> None:
    made = " and ".join(name for name, one in PRECISIONS.items() if one.on_interpreter)
    usual, sizes = NO_PRESET.tile, f"powers of two from {BLOCKS[0]} to {BLOCKS[-1]}, and what a kernel says it takes"
    kernel = "which kernel (default article, with the preset's tile); see: kernels"
    tile.add_argument("--kernel", metavar="NAME", help=kernel)
    for name, rows in (("block_m", "query rows"), ("block_n", "keys")):
        kind = _number(f"of {rows} of a tile", sizes)
        text = f"{rows} of a tile: {sizes} (default {getattr(usual, name)}{_CHOSEN})"
        tile.add_argument(f"--{name.replace('_', '-')}", type=kind, metavar="COUNT", help=text)
    for option in LAUNCH_OPTIONS:
        flag, allowed = f"--{option.name.replace('_', '-')}", listed(option.allowed)
        text = f"{option.tip} Allowed are {allowed} (default {option.shown(option.default)}{_CHOSEN})"
        if option.auto_text:
            tile.add_argument(flag, type=_count(option.unit, allowed), metavar="auto|COUNT", help=text)
        else:
            tile.add_argument(flag, type=_number(f"for {option.name}", allowed), metavar="COUNT", help=text)
    tile.add_argument(
        "--splits",
        type=_count("splits", SPLITS_ALLOWED),
        metavar="auto|COUNT",
        help="programs that share the keys of a query block, with as many key tiles each: fewer where fewer do "
        f"(default {usual.splits}{_CHOSEN})",
    )
    tile.add_argument(
        "--precision",
        metavar="|".join(PRECISIONS),
        help=f"of the fp32 dots on a GPU; the interpreter computes all but {made} in full precision (default {EXACT})",
    )


def _add_measuring(measuring: argparse._ArgumentGroup) -> None:
    usual = RunRequest(NO_PRESET.problem)
    meanings = {AUTO_PROTOCOL: AUTO_MEANING, **{name: one.meaning for name, one in PROTOCOLS.items()}}
    measuring.add_argument(
        "--protocol",
        type=name_of_today,
        metavar="NAME",
        help=_list(f"how launches are timed (default {usual.protocol}):", meanings),
    )
    _add_limits(measuring, usual)
    sdpa = f"what the kernel is held against: {_or(SDPA_CHOICES)}; see: kernels (default {usual.sdpa})"
    measuring.add_argument("--sdpa", metavar="NAME", help=sdpa)
    measuring.add_argument(
        "--rival",
        type=read_rival,
        metavar="kernel=NAME,block_m=COUNT,...",
        help="hold the kernel against another one, timed in turns, in place of SDPA; what is not given of its tile has "
        "its default (default: none)",
    )
    device = f"a GPU, or Triton's interpreter on the CPU; auto is the GPU where there is one (default {usual.device})"
    measuring.add_argument("--device", metavar="|".join(DEVICE_CHOICES), help=device)
    for name, what in (("rtol", "relative to the expected value"), ("atol", "beside that")):
        text = f"largest error that passes, {what} (default: the preset's, or what dtype and precision need)"
        measuring.add_argument(
            f"--{name}", type=_real("as a tolerance", "finite numbers from 0"), metavar="X", help=text
        )
    measuring.add_argument(
        "--trace-rows",
        metavar="|".join(TRACE_ROWS),
        help=_list(
            f"which query rows' states are kept where not all of a head fit (default {usual.trace_rows}):", TRACE_ROWS
        ),
    )
    measuring.add_argument(
        "--time-limit",
        dest="time_limit_s",
        type=_real("seconds", "finite numbers above 0"),
        metavar="S",
        help="longest silence of the engine, in seconds (default: by the problem's size)",
    )


def _add_limits(measuring: argparse._ArgumentGroup, usual: RunRequest) -> None:
    other = f"not for {', '.join(name for name, protocol in PROTOCOLS.items() if protocol.has_fixed_counts)}"
    measuring.add_argument(
        "--max-seconds",
        type=_real("seconds", f"above 0 to {MAX_SECONDS}"),
        metavar="S",
        help=f"limit of timing both, in seconds (default {usual.max_seconds:g}; {other})",
    )
    measuring.add_argument(
        "--max-samples",
        type=_number("of samples", f"1 to {MAX_SAMPLES}"),
        metavar="COUNT",
        help=f"limit of samples of each (default {usual.max_samples}; {other})",
    )


def _list(title: str, meanings: Mapping[str, str]) -> str:
    """A line for each name, with what it means."""
    return "\n".join((title, *(f"{name}: {meaning}" for name, meaning in meanings.items())))


def _or(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"


def _number(what: str, allowed: str) -> Callable[[str], int]:
    """Reads a whole number; whether it is one of those `allowed` is said when the request is checked."""

    def read(text: str) -> int:
        if not re.fullmatch(r"[-+]?\d{1,4000}", text):  # int() takes no more digits than 4300
            raise argparse.ArgumentTypeError(f"{text!r} is no number {what}; allowed are {allowed}")
        return int(text)

    return read


def _real(what: str, allowed: str) -> Callable[[str], float]:
    """Reads a number with a fraction, in the same way."""

    def read(text: str) -> float:
        try:
            return float(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is no number {what}; allowed are {allowed}") from None

    return read


def _count(what: str, allowed: str) -> Callable[[str], int]:
    """Reads a number of `what`, or "auto"; whether it is one of those `allowed` is said when the request is checked."""

    number = _number(f"of {what}", allowed)

    def read(text: str) -> int:
        return AUTO if text == "auto" else number(text)

    return read
