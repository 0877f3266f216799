"""The line that repeats a run, and a line read back: `python main.py run …`, by the grammar of the command line."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import PurePath
from typing import NoReturn

from kernels.plain.launch_options import AUTO, LAUNCH_OPTIONS
from kernels.plain.tiles import TileConfig
from workbench.analysis.presets import NO_PRESET
from workbench.asking.options import add_run_options, flags
from workbench.asking.reading import LIMITS, heeds_limits, read_request
from workbench.asking.rivals import rival_words
from workbench.asking.usage import UsageError
from workbench.run.request import Rival, RunRequest, look_up

PROGRAM = ("python", "main.py")
COMMAND = "run"
AUTO_WORD = "auto"
# What a run is named by, and is written also where it is the usual.
_SHAPE = ("m", "n", "d")
_NAMED = (*_SHAPE, "kernel")
_WORD_FOR_ZERO = {"splits", *(one.name for one in LAUNCH_OPTIONS if one.auto_text)}
_SHOWN = 40  # characters of what was not understood


@dataclass(frozen=True)
class Read:
    """What a line asks for, and the options in it that are of the command line alone."""

    request: RunRequest
    left_out: tuple[str, ...] = ()


def command_line(request: RunRequest) -> str:
    """The line that repeats `request`, quoted for a shell: its shape, kernel and tile, and whatever is not the usual.

    Parts of the tile that are left open stay so. Limits that the protocol does not heed are not in it.
    """
    return shlex.join([*PROGRAM, COMMAND, *_words(request)])


def read_line(text: str) -> Read:
    """What a line asks for, also if it cannot work; the program's name before the options may be missing.

    Raises UsageError, whose text names what is not understood.
    """
    parser = _Parser(prog=COMMAND, add_help=False)
    add_run_options(parser)
    parser.set_defaults(preset=None, session=None)
    options = parser.parse_args(_options(text))
    given = {"--json": options.json, "--trace": options.trace, "--session": options.session}
    return Read(read_request(options), tuple(flag for flag, value in given.items() if value))


def is_line(text: str) -> bool:
    """Whether `text` looks like such a line, and not like a value of one field."""
    return re.search(rf"(^|\s){COMMAND}\s+(\\\s+)?--?[a-z]", text) is not None


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(message)


def _words(request: RunRequest) -> Iterator[str]:
    usual = RunRequest(NO_PRESET.problem, NO_PRESET.tile)
    rtol, atol = NO_PRESET.tolerances(request.problem.dtype, request.precision)
    usual = replace(usual, rtol=rtol, atol=atol, sdpa="none" if request.rival is not None else usual.sdpa)
    always = (*_NAMED, *(field.name for field in fields(TileConfig)))
    silent = ("preset", *request.auto_tile, *(() if heeds_limits(request) else LIMITS))
    for name, flag in flags().items():
        if name in silent:
            continue
        value = look_up(request, name)
        if name in always or value != look_up(usual, name):
            yield from _option(flag, AUTO_WORD if name in _WORD_FOR_ZERO and value == AUTO else value)


def _option(flag: str, value: object) -> Sequence[str]:
    if value is True:
        return (flag,)
    text = rival_words(value) if isinstance(value, Rival) else str(value)
    is_number = re.fullmatch(r"-?\d+(\.\d*)?", text) is not None
    # A text that begins with a dash would be another option.
    return (f"{flag}={text}",) if text.startswith("-") and not is_number else (flag, text)


def _options(text: str) -> list[str]:
    """The words of a line after the command."""
    try:
        words = shlex.split(text.replace("\\\n", " ").strip().removeprefix("$ "))
    except ValueError as error:
        raise UsageError(f"{_cut(text)} is no command line: {str(error).lower()}") from None
    if words and words[0].startswith("-"):
        return words
    program = words[: words.index(COMMAND)] if COMMAND in words else words
    if COMMAND not in words or not _names_program(program):
        allowed = f"{shlex.join([*PROGRAM, COMMAND])} and options"
        raise UsageError(f"{_cut(text)} is no command line of a run; allowed is {allowed}")
    return words[len(program) + 1 :]


def _names_program(words: Sequence[str]) -> bool:
    """Whether these words start the program: nothing, its name, or a Python with its file."""
    return not words or PurePath(words[-1]).name in ("tilescope", PROGRAM[-1])


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")
