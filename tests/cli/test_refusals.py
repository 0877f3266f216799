"""What cannot work is refused in one line that names the value and what is allowed, with status 2."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from tests.cli.command_line import ON_INTERPRETER, RECORDING, ROOT, CommandLine, complaint_of, tilescope
from workbench.cli.entry import FUNCTIONS


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
            "protocol is 'fast'; allowed are auto, block, cold, warm, graph",
        ),
        (("run", "--protocol", "cold", *ON_INTERPRETER), "protocol is cold, which flushes the L2 cache of a GPU"),
        (
            ("run", "--max-samples", "5", "--protocol", "block"),
            "--max-samples is for the protocols cold, warm, graph, graph-cold, profiler; ",
        ),
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
        (("screenshot", "p.png", "--compare", "1,2"), "--compare goes with --session"),
        (
            ("screenshot", "p.png", "--session", RECORDING, "--compare", "1"),
            "--compare names 1 runs; allowed are 2 to 6",
        ),
        (("screenshot", "p.png", "--session", RECORDING, "--compare", "1,99"), "run is 99; h200-article-shapes"),
        (("screenshot", "p.png", "--panel", "nope"), "panel is 'nope'; allowed are controls, latency"),
        (("run", "--time-limit", "nan"), "time limit is nan s"),
        (("run", "--preset", "tiny", "--session", RECORDING), "is a recording"),
        (("frobnicate",), "frobnicate"),
        (("--preset", "nope"), "preset is 'nope'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_cannot_work_is_one_line_and_status_2(here: CommandLine, arguments: tuple[str, ...], words: str) -> None:
    assert words in complaint_of(here(*arguments))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "-m", "0"), "M is 0; allowed are 1 to 16777216"),
        (("run", "--causal", *ON_INTERPRETER), "causal is on; kernel article has no causal mask"),
        (("ceilings", "--json", *ON_INTERPRETER), "the ceilings are not measured: the interpreter"),
        (("screenshot", "picture.doc"), "picture.doc is no picture's name"),
        (
            ("screenshot", "p.png", "--session", RECORDING, "--run", "99"),
            "run is 99; h200-article-shapes.tilescope has 1",
        ),
        (("frobnicate",), "frobnicate"),
        (("--preset", "nope"), "preset is 'nope'"),
        ((), "there is no display"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_so_it_is_in_a_process_of_its_own(arguments: tuple[str, ...], words: str) -> None:
    """By the arguments alone, by the engine, by the window, and where there is no display, whose line names what works.

    Nothing else is printed there, and Python ends without a word.
    """
    complaint = complaint_of(tilescope(*arguments))
    assert words in complaint
    if not arguments:
        assert all(command in complaint for command in FUNCTIONS if command != "window")


def test_a_picture_of_a_damaged_recording_is_refused(here: CommandLine, tmp_path: Path) -> None:
    damaged = tmp_path / "r.tilescope"
    damaged.write_bytes((ROOT / RECORDING).read_bytes())
    with sqlite3.connect(damaged) as db:
        db.execute("update runs set arrays = x'0011'")
    db.close()
    done = here("screenshot", tmp_path / "p.png", "--session", damaged)
    assert done.returncode == 2 and not (tmp_path / "p.png").exists()
    assert done.stderr == "tilescope: the maps of run 13 in r.tilescope are damaged\n"


@pytest.mark.parametrize(
    "command",
    [
        ("run", "--trace", "{}", "--session", "new.tilescope"),
        ("run", "--trace", "{}", "--session", "{}"),
        ("screenshot", "{}.png"),
        ("export", "{}.csv", "--session", RECORDING, "--force"),
    ],
    ids=" ".join,
)
def test_a_file_with_runs_in_it_is_never_written_over(
    here: CommandLine, tmp_path: Path, command: tuple[str, ...]
) -> None:
    """Whatever its name is: what was measured may be nowhere else."""
    kept = (ROOT / RECORDING).read_bytes()
    words = [word.replace("{}", str(tmp_path / "kept")).replace("new", str(tmp_path / "new")) for word in command]
    path = Path(words[words.index("--trace") + 1] if "--trace" in words else words[1])
    path.write_bytes(kept)
    complaint = complaint_of(here(*words, *(ON_INTERPRETER if command[0] != "export" else ())))
    if "--session" not in words or words[-1] != str(path):
        assert "is a session or a recording, which is not written over; allowed is another name" in complaint
    assert path.read_bytes() == kept
