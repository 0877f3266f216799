"""The command line's grammar: every command and option, with what --help says of it."""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from workbench import __version__
from workbench.asking.options import add_json, add_request_options, add_run_options
from workbench.asking.usage import UsageError
from workbench.cli.output import out
from workbench.export.files import WRITERS
from workbench.run.request import DEVICE_CHOICES
from workbench.run.session import SUFFIX
from workbench.ui.places import Docked
from workbench.ui.sizes import LEAST_SIZE, MOST_SIZE

OPEN = "open"
COMMANDS = (OPEN, "run", "screenshot", "export", "doctor", "ceilings", "presets", "kernels")
_WITHOUT_VALUE = ("--help", "--version")
_EPILOG = """\
exit status: 0 all passed; 1 a result failed its tolerance; 2 the request is invalid; 3 a run failed;
70 an error of the program itself; 130 interrupted.
With no command the window opens; the commands need no display."""


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
    parser.set_defaults(command="window", file=None)
    commands = parser.add_subparsers(metavar="COMMAND", parser_class=_Parser)

    def command(name: str, text: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=text, formatter_class=_Lines)
        added.set_defaults(command=name)
        return added

    opening = command(OPEN, "open the window with a session or a recording; the word itself may be left out")
    opening.add_argument("file", type=Path, metavar="FILE", help="gone on with if it is a session, else shown")
    opening.add_argument("--preset", metavar="NAME", default=argparse.SUPPRESS, help="the problem to open with")
    _add_window_options(opening, argparse.SUPPRESS)
    add_run_options(command("run", "one run of the kernel and SDPA, without a window"))
    _add_screenshot_options(command("screenshot", "run, then save a picture of the window or of one panel"))
    _add_export_options(command("export", "write recorded runs as a table for other programs"))
    add_json(command("doctor", "what this machine can run, what is missing and how to install it"))
    ceilings = command("ceilings", "the rates that this device reaches, measured once")
    add_json(ceilings)
    ceilings.add_argument("--again", action="store_true", help="measure also where rates are kept")
    ceilings.add_argument("--device", choices=DEVICE_CHOICES, default="auto", help="which device (default auto)")
    add_json(command("presets", "the named problems"))
    add_json(command("kernels", "the kernels and baselines, and what each takes on this machine"))
    return parser


def with_command(arguments: Sequence[str]) -> list[str]:
    """`arguments` with the word that opens a file, where a file's name stands in its place.

    Raises UsageError for what is neither a command nor a file. All options before a command but a few take a value.
    """
    previous = ""
    for place, argument in enumerate(arguments):
        is_value = previous.startswith("--") and "=" not in previous and previous not in _WITHOUT_VALUE
        if not argument.startswith("-") and not is_value:
            if argument in COMMANDS:
                break
            if not Path(argument).exists() and Path(argument).suffix != SUFFIX:
                known = ", ".join(COMMANDS)
                raise UsageError(f"{argument!r} is neither a command nor a file that is there; commands are {known}")
            return [*arguments[:place], OPEN, *arguments[place:]]
        previous = argument
    return list(arguments)


class _Lines(argparse.HelpFormatter):
    """Help that keeps its own lines: a list has a line for each of its entries."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        entries = text.split("\n")
        wrapped = (textwrap.wrap(entry, width, subsequent_indent="  " * (len(entries) > 1)) for entry in entries)
        return [line for lines in wrapped for line in lines]


class _Parser(argparse.ArgumentParser):
    """An argparse parser whose complaint is one line."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see: {self.prog} --help)")

    def _print_message(self, message: str, file: object = None) -> None:
        """Help and version are results like any other, and their reader may have gone."""
        out(message.rstrip("\n"))


def _add_window_options(parser: argparse.ArgumentParser, default: str | None) -> None:
    """`default` is SUPPRESS for a command: what is not given there stays as it was given before the command."""
    parser.add_argument("--size", type=_size, metavar="WxH", default=default, help="the window's size: 1440x900")
    parser.add_argument("--theme", choices=("dark", "light"), default=default, help="the window's colours")
    parser.add_argument(
        "--session", type=Path, metavar="FILE", default=default, help="keep runs in this session file, or open it"
    )


def _add_screenshot_options(shot: argparse.ArgumentParser) -> None:
    shot.add_argument("output", type=Path, metavar="OUT.png", help="the picture; it is written over one that is there")
    add_request_options(shot)
    _add_window_options(shot, argparse.SUPPRESS)
    shot.add_argument("--run", type=int, metavar="N", help="which run of --session (default: the last finished)")
    shot.add_argument("--panel", metavar="NAME", help=_PanelNames("only this panel: %(names)s"))
    shot.add_argument("--scale", type=float, default=2.0, metavar="X", help="pixels per unit, 0.5 to 4 (default 2)")


def _add_export_options(export: argparse.ArgumentParser) -> None:
    export.add_argument(
        "output", type=Path, metavar="OUT", help=f"the table, of the kind that its name ends in: {', '.join(WRITERS)}"
    )
    export.add_argument(
        "--session", type=Path, metavar="FILE", default=argparse.SUPPRESS, help="the session or recording with the runs"
    )
    export.add_argument("--runs", type=_run_numbers, metavar="IDS", help="which: 1,3,5-9 (default: all)")
    export.add_argument("--force", action="store_true", help="write over a file that is there")


class _PanelNames(str):
    """The help of --panel. The panels state their names themselves, and bring Qt: nobody waits for it before."""

    def __mod__(self, values: object) -> str:
        from workbench.ui.form.controls import Controls
        from workbench.ui.panels import PANELS
        from workbench.ui.runs.table import ResultsTable

        contents: tuple[type[Docked], ...] = (Controls, *PANELS, ResultsTable)
        # The title where nobody would find the name in it.
        named = (one.name if one.name in one.title.lower() else f"{one.name} ({one.title})" for one in contents)
        return str(self).replace("%(names)s", ", ".join(named))


def _run_numbers(text: str) -> tuple[tuple[int, int], ...]:
    """Numbers and ranges of runs, each as its first and its last."""
    spans = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,9})(?:-(\d{1,9}))?\s*", part)
        if match is None or int(match[2] or match[1]) < int(match[1]):
            raise argparse.ArgumentTypeError(f"{part!r} is no run; allowed are numbers and ranges such as 1,3,5-9")
        spans.append((int(match[1]), int(match[2] or match[1])))
    return tuple(spans)


def _size(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d{3,5})x(\d{3,5})", text)
    sides = zip(LEAST_SIZE, map(int, match.groups()), MOST_SIZE, strict=True) if match is not None else ()
    if match is None or not all(least <= side <= most for least, side, most in sides):
        allowed = " to ".join(f"{width}x{height}" for width, height in (LEAST_SIZE, MOST_SIZE))
        raise argparse.ArgumentTypeError(f"{text!r} is not a size; allowed are {allowed}")
    return int(match[1]), int(match[2])
