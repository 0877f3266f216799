"""The command line: what is written becomes a request, and runs."""

from __future__ import annotations

import argparse
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from typing import TypeVar

from kernels.plain.spec import LIMITED
from kernels.plain.tiles import TileConfig
from workbench.analysis.presets import NO_PRESET, PRESETS, Preset, find_preset
from workbench.analysis.validate import Fault, find_faults
from workbench.cli.exits import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_INVALID, EXIT_PROGRAM, UsageError
from workbench.cli.grammar import make_parser, with_command
from workbench.cli.output import OutputError, hold_streams, note, pass_on
from workbench.run.protocols import PROTOCOLS, protocol_on
from workbench.run.request import Problem, RunRequest

T = TypeVar("T", Problem, TileConfig, RunRequest)

# Options whose name is not that of the request's field.
_FLAGS = {"m": "-m", "n": "-n", "d": "-d", "time_limit_s": "--time-limit"}


def run_command_line(arguments: Sequence[str]) -> int:
    """Parse and run; every refusal is one line on stderr and status 2, an error of the program's own is status 70."""
    hold_streams()
    try:
        options = make_parser().parse_args(with_command(arguments))
        if options.command not in FUNCTIONS:
            raise NotImplementedError(f"the command {options.command} is in the grammar and has no function")
        return FUNCTIONS[options.command](options)
    except UsageError as error:
        note(str(error))
        return EXIT_INVALID
    except OutputError as error:
        note(str(error))
        return EXIT_FAILED
    except KeyboardInterrupt:
        note("stopped")
        return EXIT_INTERRUPTED
    except Exception as error:
        pass_on(traceback.format_exc())
        note(f"an error of the program itself: {type(error).__name__}: {error}")
        return EXIT_PROGRAM


def request_from(options: argparse.Namespace) -> RunRequest:
    """The request that the options describe: the preset first, then what is given beside it.

    Raises UsageError for an unknown preset or a value that cannot work on any device.
    """
    preset = preset_from(options.preset) or NO_PRESET
    problem = _override(preset.problem, options)
    tile = _override(preset.tile, options)
    request = _override(RunRequest(problem, tile), options)
    rtol, atol = preset.tolerances(problem.dtype, request.precision)
    request = _override(replace(request, rtol=rtol, atol=atol), options)
    if options.kernel is not None:
        # What is not given is chosen for the device, once the engine knows it, unless that kernel keeps the preset's.
        request = replace(request, auto_tile=tuple(f.name for f in fields(tile) if getattr(options, f.name) is None))
    faults = [fault for fault in find_faults(request) if options.kernel is None or not _left_to_engine(fault, tile)]
    if faults:
        raise UsageError("; ".join(fault.message for fault in faults))
    _check_limits_count(request, options)
    return request


def _check_limits_count(request: RunRequest, options: argparse.Namespace) -> None:
    """Raise UsageError for a limit that the protocol does not heed, whoever gave it expects it to count."""
    protocol = protocol_on(request.protocol, request.device != "interpreter")
    if not protocol.has_fixed_counts:
        return
    for name in ("max_seconds", "max_samples"):
        if getattr(options, name) is not None:
            others = ", ".join(name for name, protocol in PROTOCOLS.items() if not protocol.has_fixed_counts)
            raise UsageError(
                f"--{name.replace('_', '-')} is for the protocols {others}; "
                f"{protocol.name} takes a fixed number of launches"
            )


def _left_to_engine(fault: Fault, tile: TileConfig) -> bool:
    """Whether the kernel that was named, which the engine knows, says better which sizes it takes."""
    return fault.field in LIMITED and min(tile.block_m, tile.block_n) > 0


def preset_from(name: str | None) -> Preset | None:
    """The preset called `name`, None for None. Raises UsageError for a name that there is not."""
    if name is None:
        return None
    try:
        return find_preset(name)
    except KeyError:
        known = ", ".join(preset.name for preset in PRESETS)
        raise UsageError(f"preset is {name!r}; allowed are {known}") from None


# Imports come in the functions, so that `--help` and `presets` are instant and the window's process stays light.


def _window(options: argparse.Namespace) -> int:
    from workbench.cli.app import open_window

    return open_window(preset_from(options.preset), options.session, options.size, options.theme, options.file)


def _screenshot(options: argparse.Namespace) -> int:
    _check_recording_alone(options)
    request = request_from(options)
    from workbench.cli.app import take_screenshot

    return take_screenshot(request, options, tuple(_hints(request, options)))


def _run(options: argparse.Namespace) -> int:
    request = request_from(options)
    from workbench.cli.running import run

    return run(request, options.json, options.trace, options.session, tuple(_hints(request, options)))


def _export(options: argparse.Namespace) -> int:
    from workbench.cli.exporting import export

    return export(options.output, options.session, options.runs, options.force)


def _doctor(options: argparse.Namespace) -> int:
    from workbench.cli.doctor import doctor

    return doctor(options.json)


def _listing(options: argparse.Namespace) -> int:
    from workbench.cli.commands import ceilings, list_kernels, list_presets

    if options.command == "ceilings":
        return ceilings(options.device, options.json, options.again)
    return list_presets(options.json) if options.command == "presets" else list_kernels(options.json)


FUNCTIONS: dict[str, Callable[[argparse.Namespace], int]] = {
    "window": _window,
    "open": _window,
    "screenshot": _screenshot,
    "run": _run,
    "export": _export,
    "doctor": _doctor,
    **dict.fromkeys(("ceilings", "presets", "kernels"), _listing),
}


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


def _hints(request: RunRequest, options: argparse.Namespace) -> Iterator[str]:
    """What whoever has written only a part of the problem may not expect of the others."""
    problem = request.problem
    sides = ("m", "n", "d")
    missing = [name for name in sides if getattr(options, name) is None]
    if options.preset is None and 0 < len(missing) < len(sides):
        yield f"not given: {', '.join(f'{name.upper()} is {getattr(problem, name)}' for name in missing)}"
    heads = problem.heads
    if options.heads is not None and heads > 1 == problem.kv_heads and options.kv_heads is None:
        yield f"{heads} query heads share 1 key head; --kv-heads {heads} gives each its own"


def _override(base: T, options: argparse.Namespace) -> T:
    """`base` with those of its fields that the options give."""
    names = {field.name for field in fields(base)}
    given = {name: value for name, value in vars(options).items() if name in names and value is not None}
    given.pop("trace", None)  # on the command line a file's name; every run takes a trace
    return replace(base, **given)
