"""How the output of bare scripts and of Nsight Compute is read, on texts as they write them."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from kernels.plain.tiles import TileConfig
from tests.gpu.bare_protocols import await_turn
from tests.gpu.cases import CASES
from tests.gpu.ncu_report import per_launch, read_kernels
from tests.gpu.outside import Bare, BareScript, NotAllowedError, ncu_launches, read_bare, words_of

REPORT = """==PROF== Connected to process 4242 (/usr/bin/python3.12)
==PROF== Profiling "split_kv_kernel": 0%....50%....100% - 1 pass
==PROF== Disconnected from process 4242
"ID","Process ID","Process Name","Kernel Name","Context","gpu__time_duration.sum","gpc__cycles_elapsed.max.per_second"
"","","","","","ns","cycle/second"
"0","4242","python3.12","split","1","4,000","1,980,000,000.00"
"1","4242","python3.12","split_kv_kernel","1","21,500","1,978,000,000.00"
"2","4242","python3.12","split","1","5,000","1,980,000,000.00"
"3","4242","python3.12","split_kv_kernel","1","21,600","1,979,000,000.00"
"4","4242","python3.12","fmha_cutlassF<float, true>(Params)","1","384,250","1,800,000,000.00"
"5","4242","python3.12","fmha_cutlassF<float, true>(Params)","1","384,750","1,801,000,000.00"
"""


def test_a_report_is_read_and_summed_over_the_kernels_of_a_launch() -> None:
    kernels = read_kernels(REPORT)
    assert [kernel.name for kernel in kernels[:2]] == ["split", "split_kv_kernel"]
    assert kernels[1].us == pytest.approx(21.5) and kernels[1].sm_mhz == pytest.approx(1978)
    found = per_launch(kernels, {"kernel": 2, "baseline": 1}, launches=2)
    assert found["kernel"].us == pytest.approx((25.5 + 26.6) / 2)
    assert found["kernel"].names == ("split", "split_kv_kernel")
    assert found["kernel"].sm_mhz == pytest.approx(1979.5)
    assert found["baseline"].us == pytest.approx(384.5) and found["baseline"].sm_mhz == pytest.approx(1800.5)


@pytest.mark.parametrize(("time_unit", "clock_unit"), [("nsecond", "hz"), ("ns", "Hz")])
def test_other_versions_spell_units_otherwise(time_unit: str, clock_unit: str) -> None:
    report = REPORT.replace('"ns","cycle/second"', f'"{time_unit}","{clock_unit}"')
    kernel = read_kernels(report)[0]
    assert kernel.us == pytest.approx(4) and kernel.sm_mhz == pytest.approx(1980)


@pytest.mark.parametrize(
    ("report", "words"),
    [
        ("==ERROR== no kernels were profiled\n", "no table: '==ERROR== no kernels"),
        (REPORT.replace("gpu__time_duration.sum", "gpu__time.sum"), "no column gpu__time_duration.sum"),
        (REPORT.replace('"ns"', '"fortnight"'), "unit is 'fortnight'"),
    ],
)
def test_a_report_that_cannot_be_read_says_why(report: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read_kernels(report)


def test_launches_that_are_not_what_was_expected_are_not_summed() -> None:
    kernels = read_kernels(REPORT)
    with pytest.raises(ValueError, match=r"ncu saw 6 kernels; 2 launches of .* are 4"):
        per_launch(kernels, {"kernel": 1, "baseline": 1}, launches=2)
    with pytest.raises(ValueError, match="other kernels in one launch of the kernel"):
        per_launch(kernels, {"kernel": 1, "baseline": 2}, launches=2)


def test_what_a_bare_script_prints_is_read() -> None:
    found = read_bare("warm 10.0 30.0 1980.0\ncold 12 33 1965\n\n")
    warm, cold = Bare({"kernel": 10.0, "baseline": 30.0}, 1980.0), Bare({"kernel": 12.0, "baseline": 33.0}, 1965.0)
    assert found == {"warm": warm, "cold": cold}


def test_whose_turn_it_is_has_it_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    turn = tmp_path / "turn"
    await_turn()  # alone, there is nobody to wait for
    monkeypatch.setenv("TILESCOPE_TURN", str(turn))
    await_turn()
    with turn.open() as other, pytest.raises(BlockingIOError):
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_words_say_everything_of_a_case() -> None:
    case = next(case for case in CASES if case.name == "fp16-causal")
    words = words_of(case, TileConfig(128, 64, 8, 2))
    assert " ".join(words) == "hopper ieee 4096 4096 64 4 16 fp16 1 128 64 8 2 1"


def fake_command(folder: Path, name: str, script: str) -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def test_a_bare_script_that_fails_shows_what_it_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", str(fake_command(tmp_path, "python", "echo out of memory >&2; exit 3")))
    with pytest.raises(RuntimeError, match=r"(?s)bare_protocols article .* ended with 3:.*out of memory"):
        BareScript(CASES[0], TileConfig(), ["warm"], tmp_path / "turn").figures()


@pytest.mark.parametrize(
    ("said", "error", "words"),
    [
        ("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission", NotAllowedError, "permission"),
        ("==ERROR== The application returned an error code (1).", RuntimeError, r"error code \(1\)"),
    ],
)
def test_what_ncu_is_not_allowed_is_told_from_what_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, error: type[Exception], words: str
) -> None:
    log = 'while [ "$1" != --log-file ]; do shift; done'
    fake_command(tmp_path, "ncu", f'{log}\necho "{said}" > "$2"\nexit 1')
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    with pytest.raises(error, match=words):
        ncu_launches(CASES[0], TileConfig(), {"kernel": 1, "baseline": 1}, tmp_path)


def test_ncu_is_asked_for_the_words_of_the_case_with_clocks_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = "".join(f'"{i}","{"mine" if i < 30 else "theirs"}","{54 if i < 30 else 56},000","1980"\n' for i in range(60))
    names = '"ID","Kernel Name","gpu__time_duration.sum","gpc__cycles_elapsed.max.per_second"'
    (tmp_path / "table").write_text(f'{names}\n"","","ns","MHz"\n{rows}', encoding="utf-8")
    keep = f'echo "$@" > {tmp_path}/asked'
    log = 'while [ "$1" != --log-file ]; do shift; done'
    fake_command(tmp_path, "ncu", f'{keep}\n{log}\ncat {tmp_path}/table > "$2"')
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    found = ncu_launches(CASES[0], TileConfig(16, 16), {"kernel": 1, "baseline": 1}, tmp_path)
    assert found["kernel"].us == pytest.approx(54) and found["baseline"].us == pytest.approx(56)
    asked = (tmp_path / "asked").read_text(encoding="utf-8")
    assert "--clock-control none --cache-control none --profile-from-start off" in asked
    assert asked.strip().endswith("-m tests.gpu.ncu_launches article ieee 256 512 64 1 1 fp32 0 16 16 4 3 1")
