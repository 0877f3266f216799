"""The command line: what is written becomes a request, and runs."""

from __future__ import annotations

import argparse
import traceback
from collections.abc import Callable, Iterator, Sequence

from workbench.asking.options import flags
from workbench.asking.reading import preset_from, request_from
from workbench.asking.usage import UsageError
from workbench.cli.exits import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_INVALID, EXIT_PROGRAM
from workbench.cli.grammar import make_parser, with_command
from workbench.cli.output import OutputError, hold_streams, note, pass_on
from workbench.run.request import RunRequest


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
    for name, flag in flags().items():
        if getattr(options, name, None) is not None:
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
