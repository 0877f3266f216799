"""What the command line's options become: presets, tiles left open, tolerances. No process, no engine."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import fields

import pytest

from kernels.plain.precisions import PRECISIONS
from kernels.plain.tiles import TileConfig
from workbench.analysis.presets import PRESETS
from workbench.analysis.tolerances import ARTICLE_TOLERANCE, default_tolerance
from workbench.asking.reading import request_from
from workbench.asking.usage import UsageError
from workbench.cli.entry import FUNCTIONS, run_command_line
from workbench.cli.exits import EXIT_INVALID, EXIT_PROGRAM
from workbench.cli.grammar import make_parser
from workbench.run.protocols import AUTO_PROTOCOL, PROTOCOLS
from workbench.run.request import DTYPES, INPUT_DISTRIBUTIONS, Problem, RunRequest

EVERYTHING = tuple(field.name for field in fields(TileConfig))


def request(*options: str) -> RunRequest:
    return request_from(make_parser().parse_args(["run", *options]))


def test_without_options_it_is_the_articles_case() -> None:
    assert request() == RunRequest(Problem(64, 129, 128))


def test_of_a_tile_what_is_not_given_is_left_to_the_kernel_that_is_named() -> None:
    """Whether it keeps the preset's or has its own, the engine knows."""
    assert request("--preset", "article-large").auto_tile == ()
    given = request("--kernel", "flash", "--block-n", "128", "--num-warps", "8")
    assert given.auto_tile == tuple(name for name in EVERYTHING if name not in ("block_n", "num_warps"))
    assert (given.tile.block_n, given.tile.num_warps) == (128, 8)
    assert request("--preset", "article-large", "--kernel", "flash").auto_tile == EVERYTHING


def test_splits_are_a_number_or_left_to_the_rule() -> None:
    assert request("--kernel", "split_kv", "--splits", "auto").tile.splits == 0
    assert request("--kernel", "split_kv", "--splits", "12").tile.splits == 12
    assert "splits" not in request("--kernel", "split_kv", "--splits", "auto").auto_tile


def test_the_problem_has_every_option() -> None:
    options = "-m 8 -n 9 -d 10 --batch 2 --heads 6 --kv-heads 3 --dtype bf16 --causal --seed 4 --inputs uniform"
    assert request(*options.split()).problem == Problem(8, 9, 10, 2, 6, 3, "bf16", True, 4, "uniform")
    assert request("--heads", "6").problem.kv_heads == 1


@pytest.mark.parametrize(
    ("options", "rtol", "atol"),
    [
        ((), 2e-3, 2e-3),
        (("--dtype", "bf16"), 1.6e-2, 1.6e-2),
        (("--precision", "tf32"), 4e-3, 4e-3),
        (("--precision", "tf32x3"), 2e-3, 2e-3),
        (("--dtype", "bf16", "--rtol", "1e-5"), 1e-5, 1.6e-2),
        (("--preset", "leetgpu"), 1e-4, 1e-4),
        (("--preset", "leetgpu", "--dtype", "fp16"), 2e-3, 2e-3),
        (("--preset", "leetgpu", "--precision", "tf32"), 4e-3, 4e-3),
        (("--preset", "leetgpu", "--atol", "0.5"), 1e-4, 0.5),
    ],
)
def test_tolerances_follow_dtype_and_precision_unless_they_are_given(
    options: tuple[str, ...], rtol: float, atol: float
) -> None:
    made = request(*options)
    assert (made.rtol, made.atol) == (rtol, atol)


def test_no_default_tolerance_is_below_the_articles() -> None:
    found = {(d, p): default_tolerance(d, p) for d in DTYPES for p in PRECISIONS}
    assert min(found.values()) == ARTICLE_TOLERANCE == RunRequest(Problem(1, 1, 1)).rtol
    assert found["fp16", "ieee"] < found["fp32", "tf32"] < found["bf16", "ieee"]


@pytest.mark.parametrize("preset", PRESETS, ids=lambda p: p.name)
def test_a_preset_is_what_it_says(preset: object) -> None:
    from workbench.analysis.presets import Preset

    assert isinstance(preset, Preset)
    made = request("--preset", preset.name)
    assert made == RunRequest(preset.problem, preset.tile, rtol=preset.rtol, atol=preset.atol)


def test_a_general_fault_is_said_before_anything_starts() -> None:
    with pytest.raises(UsageError, match="kv_heads is 3; allowed are the divisors of heads: 1, 2, 4"):
        request("--heads", "4", "--kv-heads", "3")


@pytest.mark.parametrize("option", ["--max-seconds", "--max-samples"])
def test_a_limit_that_the_protocol_does_not_heed_is_refused(option: str) -> None:
    with pytest.raises(UsageError) as refused:
        request(option, "3", "--protocol", "block")
    words = f"{option} is for the protocols cold, warm, graph, graph-cold, profiler; block takes a fixed number"
    assert str(refused.value).startswith(words)
    with pytest.raises(UsageError, match="block takes a fixed number"):
        request(option, "3", "--device", "interpreter")  # whose usual protocol it is
    for others in ((), ("--protocol", "warm")):
        made = request(option, "3", *others)
        assert 3 in (made.max_seconds, made.max_samples)
    with pytest.raises(UsageError, match=r"max s\w+ is -1; allowed are"):
        request(option, "-1")


def test_the_name_that_a_protocol_once_had_is_taken_for_it() -> None:
    assert request("--protocol", "article") == request("--protocol", "block")
    assert request().protocol == AUTO_PROTOCOL, "the device decides where nobody does"


def options_of(command: str) -> list[argparse.Action]:
    """Every option of a command, but for those that only say that something is wanted."""
    commands = next(a for a in make_parser()._actions if isinstance(a, argparse._SubParsersAction))
    return [action for action in commands.choices[command]._actions if action.option_strings and action.nargs != 0]


@pytest.mark.parametrize("action", options_of("run"), ids=lambda action: action.option_strings[0])
def test_every_option_of_a_run_says_what_it_is_and_its_default(action: argparse.Action) -> None:
    assert action.help is not None and re.search(r"\(default", action.help)
    plain = RunRequest(Problem(64, 129, 128))
    for part in (plain.problem, plain.tile, plain):
        value = getattr(part, action.dest, None)
        if isinstance(value, str | int) and not isinstance(value, bool) and action.dest not in ("maxnreg", "trace"):
            assert f"default {value}" in action.help


@pytest.mark.parametrize("action", [one for one in options_of("run") if callable(one.type)], ids=lambda a: a.dest)
def test_what_is_no_number_is_named_with_what_is_allowed(action: argparse.Action) -> None:
    """Whatever reads numbers says it so: the words of int() and float() name no value that is allowed."""
    assert action.type not in (int, float) and callable(action.type)
    try:
        action.type("abc")
    except argparse.ArgumentTypeError as error:
        assert "'abc' is no " in str(error) and "; allowed are " in str(error)


@pytest.mark.parametrize(("option", "names"), [("--protocol", PROTOCOLS), ("--inputs", INPUT_DISTRIBUTIONS)])
def test_choices_that_need_words_are_a_list(
    option: str, names: Iterable[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        make_parser().parse_args(["run", "--help"])
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    for name in names:
        assert sum(line.startswith(f"{name}: ") for line in lines) == 1, option


def test_help_names_the_inputs_the_panels_and_what_is_not_for_block(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        make_parser().parse_args(["screenshot", "--help"])
    assert left.value.code == 0
    said = " ".join(capsys.readouterr().out.split())
    assert said.count("not for block") == 2 and "controls (Setup)" in said and "results (Runs)" in said
    constant = said[said.index("constant: every value 0.5") :]
    assert "which flatters zeros: every value 0: as constant" in constant


def commands() -> set[str]:
    parser = make_parser()
    (subparsers,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return {parser.get_default("command"), *subparsers.choices}


def test_every_command_has_a_function() -> None:
    assert commands() == set(FUNCTIONS)


def test_an_unknown_command_and_one_without_a_function_are_told_apart(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(["nonsense"]) == EXIT_INVALID
    assert "'nonsense'" in capsys.readouterr().err
    monkeypatch.delitem(FUNCTIONS, "presets")
    assert run_command_line(["presets"]) == EXIT_PROGRAM
    out, err = capsys.readouterr()
    assert "the command presets is in the grammar and has no function" in err and not out


def test_help_names_every_panel_of_the_window(capsys: pytest.CaptureFixture[str]) -> None:
    from workbench.ui.panels import PANELS

    with pytest.raises(SystemExit):
        make_parser().parse_args(["screenshot", "--help"])
    said = " ".join(capsys.readouterr().out.split())
    named = said[said.index("only this panel: ") :].partition(" --")[0]
    assert all(panel.name in named for panel in PANELS)


def test_nobody_waits_for_the_panels_who_does_not_ask_for_their_names() -> None:
    code = "import sys; from workbench.cli.grammar import make_parser; make_parser(); print('PyQt6' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
