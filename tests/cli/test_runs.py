"""What `run` prints, writes and keeps, for every option that it has."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cli.command_line import HARDLY_TIMED, ON_INTERPRETER, CommandLine
from workbench.run.session import Session

WRONG = ("run", "--preset", "case-7x13x8", "--sdpa", "none", *ON_INTERPRETER, "--rtol", "0", "--atol", "0")


def test_a_protocol_in_turns_says_how_it_ended_and_how_well_the_medians_are_known(here: CommandLine) -> None:
    words = ("--protocol", "warm", "--max-samples", 60, "--max-seconds", 600, "--inputs", "zeros")
    done = here("run", "--json", "-m", 7, "-n", 13, "-d", 8, *words, *ON_INTERPRETER)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    for one in result["results"]:
        latency = one["latency"]
        assert (latency["protocol"], latency["clock"]) == ("warm", "host")
        assert latency["ended_by"] in ("samples", "precision") and len(latency["samples"]) <= 60
        assert latency["interval"]["low"] < latency["median"] < latency["interval"]["high"]
        assert latency["rounds"] == len(latency["round_starts"]) and latency["round_starts"][0] == 0
        assert latency["kernel_us"] is None and latency["kernel_names"] == [] and latency["launch_bound"] == ""
        assert one["metrics"]["half_width"] == {"value": pytest.approx(100 * latency["half_width"]), "unit": "%"}
    assert result["measuring"] == {"protocol": "warm", "max_seconds": 600.0, "max_samples": 60}
    assert kinds_of(result) == ["inputs"]
    words_ = here("run", "-m", 7, "-n", 13, "-d", 8, *words, *ON_INTERPRETER).stdout
    assert "at 95%), warm protocol, host" in words_ and "rounds, ended " in words_
    assert "the same bits after timing" in words_ and "warning: inputs are zeros" in words_


def kinds_of(result: dict[str, Any]) -> list[str]:
    """Kinds of the warnings of what was printed as JSON, but for a CPU that other tests keep busy."""
    return [warning["kind"] for warning in result["device_state"]["warnings"] if warning["kind"] != "cpu"]


def test_a_check_that_zeros_would_pass_and_inputs_that_flatter_are_warned_of(here: CommandLine) -> None:
    small = ("run", "--json", "-n", 64, "-d", 16, "--sdpa", "none", *ON_INTERPRETER)
    uniform = json.loads(here(*small, "-m", 16, "--inputs", "uniform", "--atol", 0.2).stdout)
    assert kinds_of(uniform) == ["tolerance"] and uniform["results"][0]["error"]["passed"]
    (text,) = (w["text"] for w in uniform["device_state"]["warnings"] if w["kind"] == "tolerance")
    assert text.startswith("zeros would pass: the tolerance, 0.2, is not below the largest value of the output, 0.0")
    constant = here(*small, "-m", 16, "--inputs", "constant")
    assert kinds_of(json.loads(constant.stdout)) == ["inputs"]


def test_what_was_asked_and_is_not_done_is_warned_of(here: CommandLine) -> None:
    asked = ("--kernel", "split_kv", "--block-n", 16, "--splits", 3, "--precision", "tf32", "--sdpa", "none")
    done = here("run", "--json", "-m", 16, "-n", 64, "-d", 16, *asked, *ON_INTERPRETER)
    result = json.loads(done.stdout)
    assert kinds_of(result) == ["precision", "splits"]
    kernel = result["results"][0]
    assert (kernel["tile"]["splits"], kernel["tile_asked"]["splits"]) == (2, 3)
    assert (kernel["precision"], kernel["precision_computed"]) == ("tf32", "ieee")
    provenance = result["provenance"]
    assert provenance["cpu_cores"] == os.cpu_count() and provenance["torch_threads"] >= 1
    assert len(provenance["load_average"]) == 3


def test_the_trace_file_can_be_checked_by_anyone(here: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "states"  # no suffix: the name is taken as it is given
    done = here("run", "--preset", "case-7x13x8", "--trace", path, *ON_INTERPRETER)
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


def test_a_result_out_of_tolerance_is_status_1_and_still_printed(here: CommandLine) -> None:
    done = here("run", "--json", "--preset", "case-7x13x8", "--rtol", 0, "--atol", 1e-12, *ON_INTERPRETER)
    assert done.returncode == 1
    assert json.loads(done.stdout)["results"][0]["error"]["passed"] is False


def test_options_before_the_command_count(here: CommandLine) -> None:
    done = here("--preset", "case-7x13x8", "run", "--json", *ON_INTERPRETER)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["problem"]["n"] == 13


def test_a_trace_that_cannot_be_written_costs_no_result(here: CommandLine) -> None:
    done = here(*WRONG, "--json", "--trace", "/dev/full")
    assert done.returncode == 1 and json.loads(done.stdout)["results"]
    assert done.stderr.splitlines()[-1] == "tilescope: /dev/full cannot be written: No space left on device"


def test_a_session_keeps_what_was_run(here: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "runs.tilescope"
    for block in (16, 32):
        done = here("run", "--preset", "case-7x13x8", "--block-m", block, "--session", path, *ON_INTERPRETER)
        assert done.returncode == 0, done.stderr
    kept = Session(path, read_only=True).summaries()
    assert [(r.run_id, r.started.request.tile.block_m) for r in kept] == [(1, 16), (2, 32)]


def test_every_option_of_the_problem_and_the_tile_counts(here: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "states.npz"
    shape = ("-m", 20, "-n", 70, "-d", 8, "--batch", 2, "--heads", 4, "--kv-heads", 2, "--causal", "--dtype", "fp16")
    tile = ("--kernel", "split_kv", "--block-m", 16, "--block-n", 16, "--splits", 2, "--sdpa", "math")
    done = here("run", "--json", "--trace", path, *shape, *tile, *HARDLY_TIMED, *ON_INTERPRETER)
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


def test_a_tile_that_is_not_given_is_chosen_and_reported(here: CommandLine) -> None:
    done = here("run", "--json", "-m", 20, "-n", 70, "-d", 8, "--kernel", "split_kv", *HARDLY_TIMED, *ON_INTERPRETER)
    assert done.returncode == 0, done.stderr
    tile = json.loads(done.stdout)["results"][0]["tile"]
    assert tile["splits"] >= 1, "the number really made, also where the rule chose it"
    assert (tile["block_m"], tile["block_n"]) != (16, 16)


def test_heads_alone_share_one_key_head_and_are_told_so(here: CommandLine) -> None:
    shape = ("run", "-m", 16, "-n", 16, "-d", 8, "--heads", 4, "--kernel", "flash", *HARDLY_TIMED, *ON_INTERPRETER)
    line = "tilescope: 4 query heads share 1 key head; --kv-heads 4 gives each its own"
    assert here(*shape).stderr.count(line) == 1
    assert "share 1 key head" not in here(*shape, "--kv-heads", 1).stderr


def test_sides_that_were_not_given_are_named(here: CommandLine) -> None:
    sides = {"-m": 16, "-n": 12, "-d": 8}
    for flag in sides:
        given = [word for pair in sides.items() if pair[0] != flag for word in pair]
        said = here("run", *given, *HARDLY_TIMED, *ON_INTERPRETER).stderr
        assert f"tilescope: not given: {flag[1].upper()} is " in said
    whole = [word for pair in sides.items() for word in pair]
    assert "not given" not in here("run", *whole, *HARDLY_TIMED, *ON_INTERPRETER).stderr


def test_a_run_that_is_refused_says_nothing_but_that(here: CommandLine) -> None:
    done = here("run", "-n", 16, "--heads", 2, *ON_INTERPRETER)
    assert done.returncode == 2 and done.stderr.splitlines() == ["tilescope: heads is 2; kernel article takes 1"]


def test_limits_that_the_device_s_protocol_does_not_heed_are_not_passed_over(here: CommandLine) -> None:
    words = "the limits of timing do not count here: protocol block takes a fixed number of launches"
    assert words in here("run", "--preset", "case-7x13x8", "--max-samples", 5).stderr
    assert words not in here("run", "--preset", "case-7x13x8").stderr
