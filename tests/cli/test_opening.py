"""`main.py FILE`: a file's name in the place of a command."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from tests.samples import make_record
from workbench.asking.usage import UsageError
from workbench.cli import app
from workbench.cli.entry import FUNCTIONS, run_command_line
from workbench.cli.grammar import COMMANDS, OPEN, make_parser, with_command
from workbench.run.session import Session
from workbench.ui.sizes import LEAST_SIZE


def test_every_command_is_known_to_be_no_file() -> None:
    subparsers = next(a for a in make_parser()._actions if isinstance(a, argparse._SubParsersAction))
    assert set(COMMANDS) == set(subparsers.choices) and set(COMMANDS) < set(FUNCTIONS)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "kv-tiles.tilescope"
    Session(path).add(make_record(1))
    return path


SIZE = "x".join(map(str, LEAST_SIZE))


@pytest.mark.parametrize("before", [[], ["--theme", "light"], ["--size=" + SIZE], ["--session", "a.tilescope"]])
@pytest.mark.parametrize("after", [[], ["--theme", "dark"]])
def test_a_file_stands_where_a_command_would(file: Path, before: list[str], after: list[str]) -> None:
    arguments = with_command([*before, str(file), *after])
    assert arguments == [*before, OPEN, str(file), *after]
    options = make_parser().parse_args(arguments)
    assert options.file == file
    if after or before[:1] == ["--theme"]:
        assert options.theme == (after or before)[1]


@pytest.mark.parametrize(
    "arguments", [[], ["--help"], ["--preset", "tiny"], ["presets"], ["--theme", "dark", "run", "--json"]]
)
def test_what_names_no_file_stays_as_it_is(arguments: list[str]) -> None:
    assert with_command(arguments) == arguments


def test_a_mistyped_command_is_named_with_what_is_allowed() -> None:
    with pytest.raises(UsageError, match=r"'runn' is neither a command nor a file .* run, ") as refusal:
        with_command(["runn", "--json"])
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("how", [[], ["--session"]], ids=["positional", "--session"])
@pytest.mark.parametrize("sealed", [False, True], ids=["session", "recording"])
def test_a_window_opens_with_a_session_or_a_recording(
    qapp: object, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: list[str], sealed: bool
) -> None:
    """The file says which it is, however it is named."""
    if sealed:
        Session(file).seal()
    opened: list[tuple[Path, list[str]]] = []

    def look(window: object) -> None:
        opened.append((window.session_path(), [r.source for r in window.results.records()]))  # type: ignore[attr-defined]
        window.close()  # type: ignore[attr-defined]

    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr("PyQt6.QtWidgets.QApplication.exec", lambda *_: 0)
    monkeypatch.setattr("workbench.ui.window.main.MainWindow.start", lambda window, request: look(window))
    monkeypatch.setattr("workbench.ui.worker.RunWorker.start_ahead", lambda worker: None)
    monkeypatch.setattr("workbench.ui.collector.spare_the_collector", lambda: None)
    monkeypatch.setattr(app, "_survive_errors", lambda window: None)
    monkeypatch.setattr("signal.signal", lambda *_: None)
    assert run_command_line([*how, str(file)]) == 0
    ((session, sources),) = opened
    assert (session == file) is not sealed
    assert sources == (["kv-tiles"] if sealed else [""])


@pytest.mark.parametrize("text", [None, "no session"], ids=["missing", "prose"])
def test_a_wrong_file_is_refused_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str | None
) -> None:
    path = tmp_path / "wrong.tilescope"
    if text is not None:
        path.write_text(text * 500)
    assert run_command_line([str(path)]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert "wrong.tilescope" in line
