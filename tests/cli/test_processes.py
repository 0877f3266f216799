"""The command line as scripts use it: real processes, their output and their exit status."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PyQt6.QtGui import QImage

from kernels.plain.launch_options import LAUNCH_OPTIONS
from tests.cli.command_line import HARDLY_TIMED, ON_INTERPRETER, RECORDING, ROOT, CommandLine, Done, tilescope
from tests.patience import LIMIT_S
from workbench.analysis.presets import PRESETS
from workbench.cli.start import main
from workbench.run.request import Problem
from workbench.ui.window.main import MainWindow

Processes = Mapping[str, Future[Done]]

RIGHT = ("run", "--preset", "case-7x13x8", "--sdpa", "none", *HARDLY_TIMED, *ON_INTERPRETER)
WRONG = (*RIGHT, "--rtol", "0", "--atol", "0")
# For a run's own streams a script with "$@" for the command, its words, and its status.
STREAMS = {
    "stdout's reader gone": ('{ "$@"; echo "rc $?" >&3; } 3>&2 | true', WRONG, 1),
    "stderr's reader gone": ('{ "$@" 2>&1 >/dev/null; echo "rc $?" >&3; } 3>&2 | true', RIGHT, 0),
    "closed": ('"$@" >&- <&-; echo "rc $?" >&2', RIGHT, 0),
    "stderr closed": ('"$@" 2>&-; echo "rc $?" >&2', RIGHT, 0),
    "disk full, wrong": ('"$@" >/dev/full; echo "rc $?" >&2', WRONG, 1),
    "disk full": ('"$@" >/dev/full; echo "rc $?" >&2', RIGHT, 3),
}


def shell(script: str, *words: str) -> Done:
    """`script` with "$@" for the command with these words."""
    command = ["bash", "-c", script, "bash", sys.executable, "main.py", *words]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}  # of two at a time the threads would wait for each other
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )


# In the order of the tests.
STARTS: dict[str, Callable[[], Done]] = {
    "run": partial(tilescope, "run", "--json", "-m", 20, "-n", 13, "-d", 8, *ON_INTERPRETER),
    "failed": partial(
        tilescope, "run", "--json", "-m", 512, "-n", 512, "-d", 64, "--time-limit", 0.05, *ON_INTERPRETER
    ),
    **{name: partial(shell, script, *words) for name, (script, words, _) in STREAMS.items()},
    "closed presets": partial(shell, '"$@" >&-; echo "rc $?" >&2', "presets"),
    "stderr closed, --json": partial(shell, '"$@" 2>&-; echo "rc $?"', *WRONG, "--json"),
    "presets": partial(tilescope, "presets"),
    "kernels": partial(tilescope, "kernels"),
    "kernels --json": partial(tilescope, "kernels", "--json", TRITON_INTERPRET="1"),
    "doctor": partial(tilescope, "doctor", "--json"),
}


@pytest.fixture(scope="module")
def processes() -> Iterator[Processes]:
    """These processes, two at a time: most take seconds to start, one after the other."""
    two = ThreadPoolExecutor(2)
    yield {name: two.submit(start) for name, start in STARTS.items()}
    two.shutdown(cancel_futures=True)


def test_run_json_is_one_object_with_the_promised_fields(processes: Processes) -> None:
    done = processes["run"].result()
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["problem"]["m"] == 20 and result["problem"]["seed"] == 0
    assert result["environment"]["mode"] == "interpreter"
    kernel, baseline = result["results"]
    assert kernel["implementation"] == "article" and kernel["role"] == "kernel"
    assert kernel["tile"] == {"block_m": 16, "block_n": 16, "splits": 1, **{o.name: o.default for o in LAUNCH_OPTIONS}}
    assert baseline["implementation"] == "sdpa" and baseline["backend"] in ("flash", "math")
    for one in result["results"]:
        assert one["status"] == "ok" and one["failure"] is None
        latency, samples = one["latency"], one["latency"]["samples"]
        assert latency["unit"] == "us" and latency["protocol"] == "block" and latency["clock"] == "host"
        assert latency["median"] == pytest.approx(np.median(samples))
        assert min(samples) <= latency["p20"] <= latency["median"] <= latency["p80"] <= max(samples)
        assert one["error"]["passed"] and one["error"]["rtol"] == 2e-3
    assert result["ratio"] is None, "on the interpreter it would say nothing"
    assert result["trace"]["bit_equal"] is True
    assert (
        result["provenance"]["kernel_file"] == "kernels/variants/article.py"
        and result["provenance"]["power_limit_w"] is None
    )
    assert "interpreter" in result["device_state"]["missing"][0]["reason"]
    assert all(one["recheck"]["bits_equal"] and not one["recheck"]["failed"] for one in result["results"])


def test_a_failed_run_is_status_3_and_still_printed(processes: Processes) -> None:
    done = processes["failed"].result()
    assert done.returncode == 3
    failed = json.loads(done.stdout)["results"][0]
    assert failed["status"] == "failed" and failed["failure"]["kind"] == "timeout" and failed["failure"]["remedy"]
    assert "tilescope: Try a smaller tile" in done.stderr


def test_an_output_that_cannot_be_written_is_one_line() -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "main.py", "presets"],
            cwd=ROOT,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 3 and done.stderr.startswith("tilescope: No space left")


@pytest.mark.parametrize("name", STREAMS)
def test_the_status_is_the_runs_own_whoever_reads_what_it_prints(processes: Processes, name: str) -> None:
    done, (*_, status) = processes[name].result(), STREAMS[name]
    assert done.stderr.splitlines()[-1] == f"rc {status}"
    assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr


def test_a_closed_stdout_is_said_in_one_line(processes: Processes) -> None:
    done = processes["closed presets"].result()
    assert done.stderr.splitlines() == ["tilescope: stdout is closed: what would be printed is lost", "rc 0"]
    done = processes["stderr closed, --json"].result()
    assert json.loads(done.stdout.splitlines()[0]) and done.stdout.splitlines()[1] == "rc 1", "nothing else is there"


def test_presets_and_kernels_list_what_there_is(processes: Processes) -> None:
    presets, kernels = processes["presets"].result(), processes["kernels"].result()
    assert presets.returncode == 0 and "1024 × 4096 × 128" in presets.stdout
    assert kernels.returncode == 0, kernels.stderr
    assert "article" in kernels.stdout and "sdpa efficient" in kernels.stdout


def test_kernels_json_says_what_each_takes_and_where_it_runs(processes: Processes) -> None:
    done = processes["kernels --json"].result()
    assert done.returncode == 0, done.stderr
    listed = json.loads(done.stdout)
    article = next(kernel for kernel in listed["kernels"] if kernel["name"] == "article")
    assert article["runs_here"] and article["dtypes"] == ["fp32"] and article["block_ms"] == [16, 32, 64, 128, 256]
    assert (article["heads"], article["causal"], article["splits"], article["max_d"]) == (False, False, False, 256)
    for one in (*listed["kernels"], *listed["baselines"]):
        assert one["runs_here"] is (one["unavailable"] == ""), one
    flash = next(kernel for kernel in listed["kernels"] if kernel["name"] == "flash")
    assert flash["dtypes"] == ["fp32", "fp16"], "the interpreter multiplies bf16 wrongly"
    assert {"auto", "math", "efficient", "flash", "cudnn", "flex"} <= {b["name"] for b in listed["baselines"]}
    words = processes["kernels"].result().stdout
    assert all(f"{kernel['name']}: {kernel['description']}" in words for kernel in listed["kernels"])


def test_doctor_says_what_it_found(processes: Processes) -> None:
    done = processes["doctor"].result()
    findings = {f["name"]: f for f in json.loads(done.stdout)["findings"]}
    assert findings["Python"]["status"] == "ok"
    assert findings["Display"]["status"] == "note"
    assert findings["Triton"]["status"] == "ok"
    assert all(f["fix"] for f in findings.values() if f["status"] == "missing")
    assert done.returncode == (3 if any(f["status"] == "missing" for f in findings.values()) else 0)


def test_a_screenshot_of_the_window_and_of_a_panel(here: CommandLine, tmp_path: Path) -> None:
    from PyQt6.QtGui import QImage

    whole, panel, session = tmp_path / "whole.png", tmp_path / "panel.png", tmp_path / "s.tilescope"
    done = tilescope("screenshot", whole, "--preset", "case-7x13x8", "--size", "1200x800", *ON_INTERPRETER)
    assert done.returncode == 0, done.stderr
    image = QImage(str(whole))
    assert (image.width(), image.height()) == (2400, 1600)
    colors = {image.pixel(x, y) for x in range(0, 2400, 7) for y in range(0, 1600, 7)}
    assert len(colors) > 100, "a picture of a finished run has plots and maps in it"

    assert here("run", "-m", 20, "-n", 13, "-d", 8, "--session", session, *ON_INTERPRETER).returncode == 0
    done = tilescope("screenshot", panel, "--session", session, "--panel", "softmax", "--scale", 1)
    assert done.returncode == 0, done.stderr
    image = QImage(str(panel))
    assert 200 < image.width() < 1440 and 200 < image.height() < 900

    last, first = tmp_path / "last.png", tmp_path / "first.png"
    assert here("run", "--preset", "case-7x13x8", "--session", session, *ON_INTERPRETER).returncode == 0
    for picture, choice in ((last, ()), (first, ("--run", 1))):
        done = tilescope("screenshot", picture, "--session", session, "--panel", "softmax", "--scale", 1, *choice)
        assert done.returncode == 0, done.stderr
    assert QImage(str(first)) == QImage(str(panel)) != QImage(str(last))


def test_the_installed_command_is_this_one() -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    module, _, function = scripts["tilescope"].partition(":")
    assert getattr(importlib.import_module(module), function) is main


def test_a_picture_of_a_recording_says_nothing_of_the_engine_here(
    here: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[bool] = []
    picture_of = MainWindow.picture_of

    def picture(window: MainWindow, *arguments: Any) -> QImage:
        shown.append(window.status.isVisible())
        return picture_of(window, *arguments)

    monkeypatch.setattr(MainWindow, "picture_of", picture)
    for name, words in (("new", RIGHT[1:]), ("recorded", ("--session", RECORDING))):
        done = here("screenshot", tmp_path / f"{name}.png", *words)
        assert done.returncode == 0, done.stderr
    assert shown == [True, False]


def test_presets_are_listed_for_scripts(here: CommandLine) -> None:
    listed = json.loads(here("presets", "--json").stdout)["presets"]
    assert [one["name"] for one in listed] == [preset.name for preset in PRESETS]
    assert [Problem(**one["problem"]) for one in listed] == [preset.problem for preset in PRESETS]
