"""The command line as scripts use it: real processes, their output and their exit status."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from workbench.model import Failed
from workbench.session import Session

ROOT = Path(__file__).resolve().parents[1]
RECORDING = "assets/recordings/h200-article-shapes.tilescope"
ON_INTERPRETER = ("--device", "interpreter")


def tilescope(*arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
    """`python main.py` as a user starts it: without this process's display and interpreter settings."""
    hidden = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM", "TRITON_INTERPRET")
    environment = {key: value for key, value in os.environ.items() if key not in hidden} | variables
    command = [sys.executable, "main.py", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False)


def test_run_json_is_one_object_with_the_promised_fields() -> None:
    done = tilescope("run", "--json", "-m", 20, "-n", 40, "-d", 8, *ON_INTERPRETER)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["problem"]["m"] == 20 and result["problem"]["seed"] == 0
    assert result["environment"]["mode"] == "interpreter"
    kernel, baseline = result["results"]
    assert kernel["implementation"] == "article" and kernel["role"] == "kernel"
    assert kernel["tile"] == {"block_m": 16, "block_n": 16, "num_warps": 4, "num_stages": 3, "splits": 1}
    assert baseline["implementation"] == "sdpa" and baseline["backend"] in ("flash", "math")
    for one in result["results"]:
        assert one["status"] == "ok" and one["failure"] is None
        latency, samples = one["latency"], one["latency"]["samples"]
        assert latency["unit"] == "us" and latency["protocol"] == "article" and latency["clock"] == "host"
        assert latency["median"] == pytest.approx(np.median(samples))
        assert min(samples) <= latency["p20"] <= latency["median"] <= latency["p80"] <= max(samples)
        assert one["error"]["passed"] and one["error"]["rtol"] == 2e-3
    assert result["ratio"] is None, "on the interpreter it would say nothing"
    assert result["trace"]["bit_equal"] is True
    assert result["provenance"]["kernel_file"] == "kernels/article.py" and result["provenance"]["power_limit_w"] is None
    assert "interpreter" in result["device_state"]["missing"][0]["reason"]
    assert all(one["recheck"]["bits_equal"] and not one["recheck"]["failed"] for one in result["results"])


def test_a_protocol_in_turns_says_how_it_ended_and_how_well_the_medians_are_known() -> None:
    words = ("--protocol", "warm", "--max-samples", 200, "--max-seconds", 1.5, "--inputs", "zeros")
    done = tilescope("run", "--json", "-m", 20, "-n", 40, "-d", 8, *words, *ON_INTERPRETER)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    for one in result["results"]:
        latency = one["latency"]
        assert (latency["protocol"], latency["clock"]) == ("warm", "host")
        assert latency["ended_by"] in ("time", "samples", "precision") and len(latency["samples"]) <= 200
        assert latency["interval"]["low"] < latency["median"] < latency["interval"]["high"]
        assert latency["rounds"] == len(latency["round_starts"]) and latency["round_starts"][0] == 0
        assert latency["kernel_us"] is None and latency["kernel_names"] == [] and latency["launch_bound"] == ""
        assert one["metrics"]["half_width"] == {"value": pytest.approx(100 * latency["half_width"]), "unit": "%"}
    assert result["measuring"] == {"protocol": "warm", "max_seconds": 1.5, "max_samples": 200}
    assert kinds_of(result) == ["inputs"]
    words_ = tilescope("run", "-m", 20, "-n", 40, "-d", 8, *words, *ON_INTERPRETER).stdout
    assert "at 95%), warm protocol, host" in words_ and "rounds, ended " in words_
    assert "the same bits after timing" in words_ and "warning: inputs are zeros" in words_


def kinds_of(result: dict[str, Any]) -> list[str]:
    """Kinds of the warnings of what was printed as JSON, but for a CPU that other tests keep busy."""
    return [warning["kind"] for warning in result["device_state"]["warnings"] if warning["kind"] != "cpu"]


def test_a_check_that_zeros_would_pass_and_inputs_that_flatter_are_warned_of() -> None:
    small = ("run", "--json", "-n", 64, "-d", 16, "--sdpa", "none", *ON_INTERPRETER)
    uniform = json.loads(tilescope(*small, "-m", 16, "--inputs", "uniform", "--atol", 0.2).stdout)
    assert kinds_of(uniform) == ["tolerance"] and uniform["results"][0]["error"]["passed"]
    (text,) = (w["text"] for w in uniform["device_state"]["warnings"] if w["kind"] == "tolerance")
    assert text.startswith("zeros would pass: the tolerance, 0.2, is not below the largest value of the output, 0.0")
    constant = tilescope(*small, "-m", 16, "--inputs", "constant")
    assert kinds_of(json.loads(constant.stdout)) == ["inputs"]


def test_what_was_asked_and_is_not_done_is_warned_of() -> None:
    asked = ("--kernel", "split_kv", "--block-n", 16, "--splits", 3, "--precision", "tf32", "--sdpa", "none")
    done = tilescope("run", "--json", "-m", 16, "-n", 64, "-d", 16, *asked, *ON_INTERPRETER)
    result = json.loads(done.stdout)
    assert kinds_of(result) == ["precision", "splits"]
    kernel = result["results"][0]
    assert (kernel["tile"]["splits"], kernel["tile_asked"]["splits"]) == (2, 3)
    assert (kernel["precision"], kernel["precision_computed"]) == ("tf32", "ieee")
    provenance = result["provenance"]
    assert provenance["cpu_cores"] == os.cpu_count() and provenance["torch_threads"] >= 1
    assert len(provenance["load_average"]) == 3


def test_the_interpreter_has_no_ceilings() -> None:
    done = tilescope("ceilings", "--json", "--device", "interpreter")
    assert done.returncode == 2 and done.stdout == ""
    assert "the ceilings are not measured: on the interpreter" in done.stderr


def test_the_trace_file_can_be_checked_by_anyone(tmp_path: Path) -> None:
    path = tmp_path / "states"  # no suffix: the name is taken as it is given
    done = tilescope("run", "--preset", "case-7x13x8", "--trace", path, *ON_INTERPRETER)
    assert done.returncode == 0, done.stderr
    with np.load(path) as stored:
        q, k, v, out = (stored[name][0].astype(np.float64) for name in ("q", "k", "v", "out"))
        assert stored["m_tile"].shape == stored["m_running"].shape == stored["l_running"].shape == (1, 7, 1)
        assert {stored[name].dtype for name in stored.files if name != "meta"} == {np.dtype(np.float32)}
        scores = q @ k.T / np.sqrt(8)
        weights = np.exp(scores - scores.max(1, keepdims=True))
        np.testing.assert_allclose(stored["m_running"][0, :, -1], scores.max(1), rtol=1e-5)
        np.testing.assert_allclose(stored["l_running"][0, :, -1], weights.sum(1), rtol=1e-5)
        np.testing.assert_allclose(out, weights @ v / weights.sum(1, keepdims=True), atol=1e-6)


def test_a_result_out_of_tolerance_is_status_1_and_still_printed() -> None:
    done = tilescope("run", "--json", "--preset", "tiny", "--rtol", 0, "--atol", 1e-12, *ON_INTERPRETER)
    assert done.returncode == 1
    assert json.loads(done.stdout)["results"][0]["error"]["passed"] is False


def test_a_failed_run_is_status_3_and_still_printed() -> None:
    done = tilescope("run", "--json", "-m", 512, "-n", 512, "-d", 64, "--time-limit", 0.05, *ON_INTERPRETER)
    assert done.returncode == 3
    failed = json.loads(done.stdout)["results"][0]
    assert failed["status"] == "failed" and failed["failure"]["kind"] == "timeout" and failed["failure"]["remedy"]
    assert "tilescope: Try a smaller tile" in done.stderr


def test_options_before_the_command_count() -> None:
    done = tilescope("--preset", "case-7x13x8", "run", "--json", *ON_INTERPRETER)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["problem"]["n"] == 13


def test_ctrl_c_is_one_line_and_leaves_no_child() -> None:
    command = [sys.executable, "main.py", "run", "-m", "512", "-n", "512", "-d", "64", *ON_INTERPRETER]
    run = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert run.stderr is not None
    said: list[str] = []
    for line in run.stderr:
        said.append(line)
        if "checking the kernel" in line:
            break
    assert "tilescope: this takes about 50 seconds on the interpreter; Ctrl+C stops it\n" in said[:-1]
    children = Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text(encoding="ascii").split()
    run.send_signal(signal.SIGINT)
    _, errors = run.communicate(timeout=20)
    assert run.returncode == 130 and errors.strip().splitlines()[-1] == "tilescope: stopped"
    assert "Traceback" not in errors
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline and any(map(is_alive, children)):
        time.sleep(0.05)
    assert children and not any(map(is_alive, children))


def test_a_run_that_ctrl_c_stops_is_kept_and_printed(tmp_path: Path) -> None:
    """Also in a terminal, where the engine gets the signal too."""
    path = tmp_path / "s.tilescope"
    words = ["--preset", "tiny", "--protocol", "warm", "--max-seconds", "60", "--json", "--session", str(path)]
    run = started("run", *words, *ON_INTERPRETER)
    assert run.stderr is not None
    next(line for line in run.stderr if "timing kernel and baseline" in line)
    time.sleep(2.0)
    os.killpg(run.pid, signal.SIGINT)
    printed, errors = run.communicate(timeout=20)
    assert run.returncode == 130 and errors.splitlines()[-1] == "tilescope: stopped"
    result = json.loads(printed)
    assert result["failure"]["kind"] == "cancelled" and result["results"][0]["partial"]["samples"]
    (kept,) = Session(path, read_only=True).summaries()
    assert isinstance(kept.end, Failed) and kept.partial and kept.checked


# Sends itself what Ctrl+C sends, as soon as a module is asked for.
WHILE_IMPORTING = """
import os, signal, sys

class Interrupt:
    def find_spec(self, name, path, target=None):
        if name == {name!r}:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupt())
sys.argv[1:] = ["run", "--preset", "tiny"]
import main
sys.exit(main.main())
"""


@pytest.mark.parametrize("name", ["workbench.cli", "kernels.tiles", "workbench.commands", "numpy.linalg"])
def test_ctrl_c_while_the_program_imports_is_one_line(name: str) -> None:
    code = WHILE_IMPORTING.format(name=name)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "tilescope: stopped\n")


def started(*words: str) -> subprocess.Popen[str]:
    """`python main.py` at the head of a group of processes, as a terminal starts it."""
    command = [sys.executable, "main.py", *words]
    return subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def is_alive(pid: str) -> bool:
    """Whether the process runs; one that is dead and not yet reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


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


RIGHT = ("run", "--preset", "tiny", "--sdpa", "none", *ON_INTERPRETER)
WRONG = (*RIGHT, "--rtol", "0", "--atol", "0")


def shell(script: str, *words: str) -> subprocess.CompletedProcess[str]:
    """`script` with "$@" for the command with these words."""
    command = ["bash", "-c", script, "bash", sys.executable, "main.py", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize(
    ("script", "words", "status"),
    [
        ('{ "$@"; echo "rc $?" >&3; } 3>&2 | true', WRONG, 1),
        ('{ "$@" 2>&1 >/dev/null; echo "rc $?" >&3; } 3>&2 | true', RIGHT, 0),
        ('"$@" >&- <&-; echo "rc $?" >&2', RIGHT, 0),
        ('"$@" 2>&-; echo "rc $?" >&2', RIGHT, 0),
        ('"$@" >/dev/full; echo "rc $?" >&2', WRONG, 1),
        ('"$@" >/dev/full; echo "rc $?" >&2', RIGHT, 3),
    ],
    ids=["stdout's reader gone", "stderr's reader gone", "closed", "stderr closed", "disk full, wrong", "disk full"],
)
def test_the_status_is_the_runs_own_whoever_reads_what_it_prints(
    script: str, words: tuple[str, ...], status: int
) -> None:
    done = shell(script, *words)
    assert done.stderr.splitlines()[-1] == f"rc {status}"
    assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr


def test_a_closed_stdout_is_said_in_one_line() -> None:
    done = shell('"$@" >&-; echo "rc $?" >&2', "presets")
    assert done.stderr.splitlines() == ["tilescope: stdout is closed: what would be printed is lost", "rc 0"]
    done = shell('"$@" 2>&-; echo "rc $?"', *WRONG, "--json")
    assert json.loads(done.stdout.splitlines()[0]) and done.stdout.splitlines()[1] == "rc 1", "nothing else is there"


def test_a_trace_that_cannot_be_written_costs_no_result() -> None:
    done = tilescope(*WRONG, "--json", "--trace", "/dev/full")
    assert done.returncode == 1 and json.loads(done.stdout)["results"]
    assert done.stderr.splitlines()[-1] == "tilescope: /dev/full cannot be written: No space left on device"


def test_a_session_keeps_what_was_run(tmp_path: Path) -> None:
    path = tmp_path / "runs.tilescope"
    for block in (16, 32):
        done = tilescope("run", "--preset", "tiny", "--block-m", block, "--session", path, *ON_INTERPRETER)
        assert done.returncode == 0, done.stderr
    kept = Session(path, read_only=True).summaries()
    assert [(r.run_id, r.started.request.tile.block_m) for r in kept] == [(1, 16), (2, 32)]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "-m", "0"), "M is 0; allowed are 1 to 16777216"),
        (("run", "-n", "-3"), "N is -3"),
        (("run", "-d", "257"), "D is 257; allowed are 1 to 256"),
        (("run", "-m", "many"), "many"),
        (("run", "--block-m", "48"), "BLOCK_M is 48; allowed are the powers of two from 16 to 256"),
        (("run", "--block-n", "8"), "BLOCK_N is 8"),
        (("run", "--num-warps", "3"), "num_warps is 3; allowed are 1, 2, 4, 8, 16, 32"),
        (("run", "--preset", "nope"), "preset is 'nope'; allowed are tiny"),
        (("run", "--sdpa", "fast"), "sdpa is 'fast'"),
        (("run", "--kernel", "nope", *ON_INTERPRETER), "kernel is 'nope'; allowed are article"),
        (("run", "--sdpa", "cudnn", *ON_INTERPRETER), "sdpa is cudnn, which cannot run on"),
        (("run", "--sdpa", "flash_attn_3", *ON_INTERPRETER), "sdpa is flash_attn_3, which is not installed here"),
        (("run", "--dtype", "fp16", *ON_INTERPRETER), "dtype is fp16; kernel article takes fp32"),
        (("run", "--causal", *ON_INTERPRETER), "causal is on; kernel article has no causal mask"),
        (("run", "--heads", "2", *ON_INTERPRETER), "heads is 2; kernel article takes 1"),
        (("run", "--heads", "8", "--kv-heads", "3"), "kv_heads is 3; allowed are the divisors of heads: 1, 2, 4, 8"),
        (("run", "--batch", "0"), "batch is 0; allowed are 1 to 65536"),
        (("run", "--splits", "-1"), "splits is -1; allowed are auto, or 1 to 16777216"),
        (("run", "--splits", "some"), "'some' is no number of splits; allowed are auto, or 1 to 16777216"),
        (("run", "--splits", "9" * 23), f"splits is {'9' * 23}; allowed are auto, or 1 to 16777216"),
        (("run", "--splits", "9" * 5000), "is no number of splits"),
        (("run", "--splits", "2", *ON_INTERPRETER), "splits is 2; kernel article takes 1"),
        (
            ("run", "--protocol", "fast"),
            "protocol is 'fast'; allowed are article, cold, warm, graph",
        ),
        (("run", "--protocol", "cold", *ON_INTERPRETER), "protocol is cold, which flushes the L2 cache of a GPU"),
        (("run", "--max-samples", "5"), "--max-samples is for the protocols cold, warm, graph, graph-cold, profiler; "),
        (("run", "--max-seconds", "0"), "max seconds is 0; allowed are above 0 to 600"),
        (("run", "--max-samples", "-1"), "max samples is -1; allowed are 1 to 1000000"),
        (("run", "--precision", "fp8"), "precision is 'fp8'; allowed are ieee, tf32"),
        (("run", "--precision", "tf32", *ON_INTERPRETER), "precision is tf32; kernel article takes ieee"),
        (
            ("run", "--kernel", "flash", "--dtype", "bf16", *ON_INTERPRETER),
            "dtype is bf16, which Triton's interpreter multiplies wrongly; allowed are fp32, fp16",
        ),
        (
            ("run", "--kernel", "flash", "--dtype", "fp16", "--precision", "tf32", *ON_INTERPRETER),
            "precision is tf32; fp16 takes ieee alone",
        ),
        (
            ("run", "--kernel", "hopper", "--dtype", "fp16", *ON_INTERPRETER),
            "kernel hopper needs a GPU of compute capability 9.0",
        ),
        (
            ("run", "--kernel", "hopper", "--dtype", "fp16", "--block-m", "20", *ON_INTERPRETER),
            "BLOCK_M is 20; kernel hopper takes 128, 192",
        ),
        (("run", "--kernel", "flash", "--block-m", "0"), "BLOCK_M is 0; allowed are the powers of two"),
        (
            ("run", "-m", "1000000", "-n", "1000000", "-d", "64", *ON_INTERPRETER),
            "on the interpreter; allowed is up to 1 day",
        ),
        (("run", "-m", "16000000", "-n", "16000000", "-d", "256", *ON_INTERPRETER), "which needs"),
        (("run", "--trace", "/no/such/folder/t.npz"), "/no/such/folder/t.npz cannot be written"),
        (("run", "--session", "/no/such/folder/s"), "/no/such/folder/s"),
        (("screenshot", "/no/such/folder/p.png"), "/no/such/folder/p.png cannot be written"),
        (("screenshot", "picture.doc"), "picture.doc is no picture's name"),
        (("screenshot", "p.png", "--size", "10x10"), "10x10"),
        (("screenshot", "p.png", "--session", "assets/icons/app.svg"), "app.svg"),
        (
            ("screenshot", "p.png", "--session", RECORDING, "--kernel", "nosuch"),
            "--kernel does not go with --session, which shows a recorded run; --run N chooses it",
        ),
        (("screenshot", "p.png", "--session", RECORDING, "-m", "8"), "-m does not go with --session"),
        (
            ("screenshot", "p.png", "--session", RECORDING, "--run", "99"),
            "run is 99; h200-article-shapes.tilescope has 1",
        ),
        (("screenshot", "p.png", "--run", "1"), "--run 1 goes with --session"),
        (("screenshot", "p.png", "--panel", "nope"), "panel is 'nope'; allowed are controls, latency"),
        (("run", "--time-limit", "nan"), "time limit is nan s"),
        (("run", "--preset", "tiny", "--session", RECORDING), "is a recording"),
        (("frobnicate",), "frobnicate"),
        ((), "there is no display"),
        (("--preset", "nope"), "preset is 'nope'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_cannot_work_is_one_line_and_status_2(arguments: tuple[str, ...], words: str) -> None:
    done = tilescope(*arguments)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    complaint = [line for line in done.stderr.splitlines() if line.startswith("tilescope: ")][-1]
    assert words in complaint
    assert "Traceback" not in done.stderr


def test_without_a_display_the_commands_that_need_none_are_named() -> None:
    done = tilescope()
    for command in ("run", "screenshot", "presets", "kernels", "doctor"):
        assert command in done.stderr


def test_presets_and_kernels_list_what_there_is() -> None:
    presets = tilescope("presets")
    assert presets.returncode == 0 and "1024 × 4096 × 128" in presets.stdout
    kernels = tilescope("kernels")
    assert kernels.returncode == 0, kernels.stderr
    assert "article" in kernels.stdout and "sdpa efficient" in kernels.stdout


def test_kernels_json_says_what_each_takes_and_where_it_runs() -> None:
    done = tilescope("kernels", "--json", TRITON_INTERPRET="1")
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
    words = tilescope("kernels").stdout
    assert all(f"{kernel['name']}: {kernel['description']}" in words for kernel in listed["kernels"])


def test_every_option_of_the_problem_and_the_tile_counts(tmp_path: Path) -> None:
    path = tmp_path / "states.npz"
    shape = ("-m", 20, "-n", 70, "-d", 8, "--batch", 2, "--heads", 4, "--kv-heads", 2, "--causal", "--dtype", "fp16")
    tile = ("--kernel", "split_kv", "--block-m", 16, "--block-n", 16, "--splits", 2, "--sdpa", "math")
    done = tilescope("run", "--json", "--trace", path, *shape, *tile, *ON_INTERPRETER)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    problem = result["problem"]
    assert [problem[name] for name in ("batch", "heads", "kv_heads", "dtype", "causal")] == [2, 4, 2, "fp16", True]
    kernel, baseline = result["results"]
    assert kernel["tile"]["block_n"] == 16 and kernel["tile"]["splits"] == 2 and kernel["precision"] == "ieee"
    assert kernel["error"]["passed"] and baseline["backend"] == "math"
    assert result["trace"]["split_tiles"] == 3 and result["trace"]["bit_equal"] is True
    assert result["trace"]["heads"] == [] and result["trace"]["m_error"] < 1e-5 > result["trace"]["l_error"]
    with np.load(path) as stored:
        assert stored["m_tile"].shape == stored["m_running"].shape == stored["l_running"].shape == (8, 20, 5)
        assert stored["q"].shape == stored["out"].shape == (8, 20, 8) and stored["k"].shape == (4, 70, 8)
        assert {stored[name].dtype for name in stored.files if name != "meta"} == {np.dtype(np.float32)}
        meta = json.loads(str(stored["meta"]))
    assert meta["problem"] == problem and meta["tile"] == kernel["tile"]
    assert (meta["kernel"], meta["precision"], meta["split_tiles"]) == ("split_kv", "ieee", 3)
    assert meta["scale"] == pytest.approx(8**-0.5) and meta["heads"] == "number of head = batch * heads + head"
    assert meta["heads_kept"] == list(range(8))


def test_a_tile_that_is_not_given_is_chosen_and_reported() -> None:
    done = tilescope("run", "--json", "-m", 20, "-n", 70, "-d", 8, "--kernel", "split_kv", *ON_INTERPRETER)
    assert done.returncode == 0, done.stderr
    tile = json.loads(done.stdout)["results"][0]["tile"]
    assert tile["splits"] >= 1, "the number really made, also where the rule chose it"
    assert (tile["block_m"], tile["block_n"]) != (16, 16)


def test_heads_alone_share_one_key_head_and_are_told_so() -> None:
    shape = ("run", "-m", 16, "-n", 16, "-d", 8, "--heads", 4, "--kernel", "flash", *ON_INTERPRETER)
    line = "tilescope: 4 query heads share 1 key head; --kv-heads 4 gives each its own"
    assert tilescope(*shape).stderr.count(line) == 1
    assert "share 1 key head" not in tilescope(*shape, "--kv-heads", 1).stderr


def test_doctor_says_what_it_found() -> None:
    done = tilescope("doctor", "--json")
    findings = {f["name"]: f for f in json.loads(done.stdout)["findings"]}
    assert findings["Python"]["status"] == "ok"
    assert findings["Display"]["status"] == "note"
    assert findings["Triton"]["status"] == "ok"
    assert all(f["fix"] for f in findings.values() if f["status"] == "missing")
    assert done.returncode == (3 if any(f["status"] == "missing" for f in findings.values()) else 0)


def test_a_picture_of_a_damaged_recording_is_refused(tmp_path: Path) -> None:
    damaged = tmp_path / "r.tilescope"
    damaged.write_bytes((ROOT / RECORDING).read_bytes())
    with sqlite3.connect(damaged) as db:
        db.execute("update runs set arrays = x'0011'")
    db.close()
    done = tilescope("screenshot", tmp_path / "p.png", "--session", damaged)
    assert done.returncode == 2 and not (tmp_path / "p.png").exists()
    assert done.stderr == "tilescope: the maps of run 13 in r.tilescope are damaged\n"


def test_a_screenshot_of_the_window_and_of_a_panel(tmp_path: Path) -> None:
    from PyQt6.QtGui import QImage

    whole, panel, session = tmp_path / "whole.png", tmp_path / "panel.png", tmp_path / "s.tilescope"
    done = tilescope("screenshot", whole, "--preset", "case-7x13x8", "--size", "1200x800", *ON_INTERPRETER)
    assert done.returncode == 0, done.stderr
    image = QImage(str(whole))
    assert (image.width(), image.height()) == (2400, 1600)
    colors = {image.pixel(x, y) for x in range(0, 2400, 7) for y in range(0, 1600, 7)}
    assert len(colors) > 100, "a picture of a finished run has plots and maps in it"

    assert tilescope("run", "--preset", "tiny", "--session", session, *ON_INTERPRETER).returncode == 0
    done = tilescope("screenshot", panel, "--session", session, "--panel", "softmax", "--scale", 1)
    assert done.returncode == 0, done.stderr
    image = QImage(str(panel))
    assert 200 < image.width() < 1440 and 200 < image.height() < 900

    last, first = tmp_path / "last.png", tmp_path / "first.png"
    assert tilescope("run", "--preset", "case-7x13x8", "--session", session, *ON_INTERPRETER).returncode == 0
    for picture, choice in ((last, ()), (first, ("--run", 1))):
        done = tilescope("screenshot", picture, "--session", session, "--panel", "softmax", "--scale", 1, *choice)
        assert done.returncode == 0, done.stderr
    assert QImage(str(first)) == QImage(str(panel)) != QImage(str(last))
