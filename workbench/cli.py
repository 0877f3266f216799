"""The command line's words: what can be written, and how it becomes a request."""

from __future__ import annotations

import argparse
import contextlib
import re
import sys
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import NoReturn, TypeVar

from kernels.tiles import AUTO_SPLITS
from workbench import __version__, model
from workbench.exits import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_INVALID, EXIT_PASSED, UsageError
from workbench.model import Problem, RunRequest, TileConfig
from workbench.presets import PRESETS, Preset, find_preset
from workbench.validate import OF_THE_KERNEL, SPLITS_ALLOWED, Fault, find_faults

T = TypeVar("T", Problem, TileConfig, RunRequest)

# The presets' tiles are the article's, for its kernel.
TILED_BY_PRESET = RunRequest.kernel

# Options whose name is not that of the request's field.
_FLAGS = {"m": "-m", "n": "-n", "d": "-d", "time_limit_s": "--time-limit"}

_EPILOG = """\
exit status: 0 all passed; 1 a result failed its tolerance; 2 the request is invalid; 3 a run failed; 130 interrupted.
With no command the window opens; run, presets, kernels, ceilings, doctor and screenshot need no display."""


def run_command_line(arguments: Sequence[str]) -> int:
    """Parse and run; every refusal is one line on stderr and status 2."""
    try:
        options = make_parser().parse_args(arguments)
        status = _dispatch(options)
        sys.stdout.flush()
        return status
    except UsageError as error:
        print(f"tilescope: {error}", file=sys.stderr)
        return EXIT_INVALID
    except KeyboardInterrupt:
        print("tilescope: stopped", file=sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError:  # the reader of our output, such as head, has gone
        with contextlib.suppress(OSError):
            sys.stdout.close()
        return EXIT_PASSED
    except OSError as error:  # a full disk, an output that went away
        print(f"tilescope: {error.strerror}: {error.filename or 'the output'}", file=sys.stderr)
        return EXIT_FAILED


def make_parser() -> argparse.ArgumentParser:
    """The whole grammar."""
    parser = _Parser(
        prog="tilescope",
        description="A workbench for attention kernels: latency, error and the online softmax, tile by tile.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"tilescope {__version__}")
    parser.add_argument("--preset", metavar="NAME", help="the problem to open with (see: presets)")
    _add_window_options(parser, None)
    parser.set_defaults(command="window")
    commands = parser.add_subparsers(metavar="COMMAND", parser_class=_Parser)

    run = commands.add_parser("run", help="one run of the kernel and SDPA, without a window")
    _add_request_options(run)
    run.add_argument("--json", action="store_true", help="print one JSON object on stdout, and nothing else there")
    run.add_argument("--trace", type=Path, metavar="FILE.npz", help="write the softmax states and the run's tensors")
    run.add_argument(
        "--session", type=Path, metavar="FILE", default=argparse.SUPPRESS, help="keep the run in this session file"
    )
    run.set_defaults(command="run")

    shot = commands.add_parser("screenshot", help="run, then save a picture of the window or of one panel")
    shot.add_argument("output", type=Path, metavar="OUT.png")
    _add_request_options(shot)
    _add_window_options(shot, argparse.SUPPRESS)
    shot.add_argument("--run", type=int, metavar="N", help="which run of --session (default: the last finished)")
    shot.add_argument("--panel", metavar="NAME", help="only this panel")
    shot.add_argument("--scale", type=float, default=2.0, metavar="X", help="pixels per unit, 0.5 to 4 (default 2)")
    shot.set_defaults(command="screenshot")

    doctor = commands.add_parser("doctor", help="what this machine can run, what is missing and how to install it")
    doctor.add_argument("--json", action="store_true", help="print one JSON object")
    doctor.set_defaults(command="doctor")
    ceilings = commands.add_parser("ceilings", help="the rates that bound every kernel on this device, measured once")
    ceilings.add_argument("--json", action="store_true", help="print one JSON object")
    ceilings.add_argument("--again", action="store_true", help="measure also where rates are kept")
    ceilings.add_argument("--device", choices=model.DEVICE_CHOICES, default="auto")
    ceilings.set_defaults(command="ceilings")
    commands.add_parser("presets", help="the named problems").set_defaults(command="presets")
    kernels = commands.add_parser("kernels", help="the kernels and baselines, and what each takes on this machine")
    kernels.add_argument("--json", action="store_true", help="print one JSON object")
    kernels.set_defaults(command="kernels")
    return parser


def request_from(options: argparse.Namespace) -> RunRequest:
    """The request that the options describe: the preset first, then what is given beside it.

    Raises UsageError for an unknown preset or a value that cannot work on any device.
    """
    preset = preset_from(options.preset) or Preset("", "", Problem(64, 129, 128))
    problem = _override(preset.problem, options)
    tile = _override(preset.tile, options)
    request = _override(RunRequest(problem, tile), options)
    rtol, atol = preset.tolerances(problem.dtype, request.precision)
    request = _override(replace(request, rtol=rtol, atol=atol), options)
    if request.kernel != TILED_BY_PRESET:
        # What is not given is chosen for the device, once the engine knows it.
        request = replace(request, auto_tile=tuple(f.name for f in fields(tile) if getattr(options, f.name) is None))
    faults = [fault for fault in find_faults(request) if not _left_to_engine(fault, request)]
    if faults:
        raise UsageError("; ".join(fault.message for fault in faults))
    return request


def _left_to_engine(fault: Fault, request: RunRequest) -> bool:
    """Whether the kernel itself, which the engine knows, says better which sizes it takes."""
    countable = min(request.tile.block_m, request.tile.block_n) > 0
    return request.kernel != TILED_BY_PRESET and fault.field in OF_THE_KERNEL and countable


def preset_from(name: str | None) -> Preset | None:
    """The preset called `name`, None for None. Raises UsageError for a name that there is not."""
    if name is None:
        return None
    try:
        return find_preset(name)
    except KeyError:
        known = ", ".join(preset.name for preset in PRESETS)
        raise UsageError(f"preset is {name!r}; allowed are {known}") from None


class _Parser(argparse.ArgumentParser):
    """An argparse parser whose complaint is one line."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see: {self.prog} --help)")


def _dispatch(options: argparse.Namespace) -> int:
    """Imports come here, so that `--help` and `presets` are instant and the window's process stays light."""
    match options.command:
        case "window":
            from workbench.app import open_window

            preset = preset_from(options.preset)
            return open_window(preset, options.session, options.size, options.theme)
        case "screenshot":
            _check_recording_alone(options)
            request = request_from(options)
            _explain_shared_heads(request.problem, options)
            from workbench.app import take_screenshot

            return take_screenshot(request, options)
        case "run":
            request = request_from(options)
            _explain_shared_heads(request.problem, options)
            from workbench.commands import run

            return run(request, options.json, options.trace, options.session)
        case "doctor":
            from workbench.doctor import doctor

            return doctor(options.json)
        case "ceilings":
            from workbench.commands import ceilings

            return ceilings(options.device, options.json, options.again)
        case "presets":
            from workbench.commands import list_presets

            return list_presets()
        case _:
            from workbench.commands import list_kernels

            return list_kernels(options.json)


def _check_recording_alone(options: argparse.Namespace) -> None:
    """A picture is of a recorded run or of a new one. Raises UsageError for an option of the other kind."""
    if options.session is None:
        if options.run is not None:
            raise UsageError(f"--run {options.run} goes with --session, which has the runs to choose from")
        return
    asked = ("preset", *(field.name for part in (Problem, TileConfig, RunRequest) for field in fields(part)))
    for name in asked:
        if getattr(options, name, None) is not None:
            flag = _FLAGS.get(name, "--" + name.replace("_", "-"))
            raise UsageError(f"{flag} does not go with --session, which shows a recorded run; --run N chooses it")


def _explain_shared_heads(problem: Problem, options: argparse.Namespace) -> None:
    """Say on stderr that heads alone share one key head: whoever writes only --heads may not expect it."""
    heads = problem.heads
    if options.heads is not None and heads > 1 == problem.kv_heads and options.kv_heads is None:
        print(
            f"tilescope: {heads} query heads share 1 key head; --kv-heads {heads} gives each its own", file=sys.stderr
        )


def _add_window_options(parser: argparse.ArgumentParser, default: str | None) -> None:
    """`default` is SUPPRESS for a command: what is not given there stays as it was given before the command."""
    parser.add_argument("--size", type=_size, metavar="WxH", default=default, help="the window's size: 1440x900")
    parser.add_argument("--theme", choices=("dark", "light"), default=default, help="the window's colours")
    parser.add_argument(
        "--session", type=Path, metavar="FILE", default=default, help="keep runs in this session file, or open it"
    )


def _add_request_options(parser: argparse.ArgumentParser) -> None:
    problem = parser.add_argument_group("problem")
    problem.add_argument(
        "--preset", metavar="NAME", default=argparse.SUPPRESS, help="a named problem (see: presets); options change it"
    )
    problem.add_argument("-m", type=int, help="query rows")
    problem.add_argument("-n", type=int, help="keys")
    problem.add_argument("-d", type=int, help="features of a head")
    problem.add_argument("--batch", type=int, metavar="COUNT", help="batches (default 1)")
    problem.add_argument("--heads", type=int, metavar="COUNT", help="query heads of a batch (default 1)")
    problem.add_argument(
        "--kv-heads", type=int, metavar="COUNT", help="key heads of a batch, which query heads share evenly (default 1)"
    )
    problem.add_argument("--dtype", metavar="|".join(model.DTYPES))
    problem.add_argument(
        "--causal",
        action="store_true",
        default=None,
        help="mask: the last query row sees every key, the one before one fewer",
    )
    problem.add_argument("--seed", type=int)
    problem.add_argument("--inputs", metavar="|".join(model.INPUT_DISTRIBUTIONS), help="distribution of the inputs")
    tile = parser.add_argument_group(
        "tile", "what is not given is chosen for the problem and the device; for the article's kernel it is 16 x 16"
    )
    tile.add_argument("--kernel", metavar="NAME", help="see: kernels")
    for name in ("block-m", "block-n", "num-warps", "num-stages"):
        tile.add_argument(f"--{name}", type=int, metavar="COUNT")
    tile.add_argument(
        "--splits", type=_splits, metavar="auto|COUNT", help="programs that share the keys of a query block"
    )
    tile.add_argument(
        "--precision",
        metavar="|".join(model.PRECISIONS),
        help="of the fp32 dots on a GPU; the interpreter computes every dot in full precision",
    )
    measuring = parser.add_argument_group("measuring")
    protocols = "; ".join(f"{name}: {meaning}" for name, meaning in model.PROTOCOLS.items())
    measuring.add_argument("--protocol", metavar="|".join(model.PROTOCOLS), help=protocols)
    measuring.add_argument("--max-seconds", type=float, metavar="S", help="limit of timing both (default 5)")
    measuring.add_argument("--max-samples", type=int, metavar="COUNT", help="limit of samples of each (default 20000)")
    measuring.add_argument("--sdpa", metavar="|".join(model.SDPA_CHOICES))
    measuring.add_argument("--device", metavar="|".join(model.DEVICE_CHOICES))
    for name in ("rtol", "atol"):
        measuring.add_argument(f"--{name}", type=float, help="default: the preset's, or what dtype and precision need")
    measuring.add_argument(
        "--time-limit", dest="time_limit_s", type=float, metavar="S", help="longest silence of the engine, in seconds"
    )


def _splits(text: str) -> int:
    if text == "auto":
        return AUTO_SPLITS
    if not re.fullmatch(r"-?\d{1,4000}", text):  # int() takes no more digits than 4300
        raise argparse.ArgumentTypeError(f"{text!r} is no number of splits; allowed are {SPLITS_ALLOWED}")
    return int(text)


def _size(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d{3,5})x(\d{3,5})", text)
    if match is None or not (640 <= int(match[1]) <= 7680 and 480 <= int(match[2]) <= 4320):
        raise argparse.ArgumentTypeError(f"{text!r} is not a size; allowed are 640x480 to 7680x4320")
    return int(match[1]), int(match[2])


def _override(base: T, options: argparse.Namespace) -> T:
    """`base` with those of its fields that the options give."""
    names = {field.name for field in fields(base)}
    given = {name: value for name, value in vars(options).items() if name in names and value is not None}
    given.pop("trace", None)  # on the command line a file's name; every run takes a trace
    return replace(base, **given)
