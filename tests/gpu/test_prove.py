"""The command that runs the GPU proof, on small tests of its own that pass, fail, crash, hang or cannot be read."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.gpu import prove
from tests.gpu.prove import OUT_OF_TIME, Proof

CONFTEST = "from tests.conftest import pytest_addoption, pytest_configure\n"
SETTINGS = "[pytest]\naddopts = --strict-markers --strict-config\nmarkers =\n    gpu\n    timed\ntimeout = 180\n"
HEAD = "import os, threading, pytest\npytestmark = pytest.mark.gpu\n"
LONG = 10_000.0


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with the settings of this project, for the tests of a test."""
    folder = tmp_path / "root"
    folder.mkdir()
    (folder / "conftest.py").write_text(CONFTEST, encoding="utf-8")
    (folder / "pytest.ini").write_text(SETTINGS, encoding="utf-8")
    return folder


def prove_in(root: Path, workers: int = 1, clock: Callable[[], float] = time.monotonic) -> tuple[bool, dict[str, str]]:
    """Whether all is well, and each test's outcome and reason, as the summary has them."""
    output = root.parent / "output"
    output.mkdir()
    well = Proof(root, ["."], output, LONG, workers, clock).run()
    summary = json.loads((output / "summary.json").read_text(encoding="utf-8"))
    found = {test["id"].partition("::")[2] or test["id"]: test for test in summary["tests"]}
    assert len(found) == len(summary["tests"]) == sum(summary["counts"].values())
    return well, {name: f"{test['outcome']}: {test['reason']}".removesuffix(": ") for name, test in found.items()}


def test_a_crash_and_a_hang_are_failures_and_what_stands_behind_them_runs(root: Path) -> None:
    (root / "test_ends.py").write_text(
        f"""{HEAD}
def test_passes(): pass
def test_fails(): assert 1 == 2
def test_breaks(): raise ValueError("no such\\ndevice")
def test_skips(): pytest.skip("another device")
def test_crashes(): os._exit(7)
@pytest.mark.timeout(1)
def test_hangs(): threading.Event().wait()
@pytest.fixture
def broken(): raise OSError("gone")
def test_has_a_broken_fixture(broken): pass
def test_behind_them(): pass
""",
        encoding="utf-8",
    )
    well, found = prove_in(root)
    assert not well
    assert found == {
        "test_passes": "passed",
        "test_fails": "failed: assert 1 == 2",
        "test_breaks": "failed: ValueError: no such device",
        "test_skips": "skipped: another device",
        "test_crashes": "failed: the process ended with 7",
        "test_hangs": "failed: no end after 1 s",
        "test_has_a_broken_fixture": "failed: OSError: gone",
        "test_behind_them": "passed",
    }
    output = root.parent / "output"
    assert sorted(path.name for path in output.iterdir()) == ["log.txt", "summary.json", "summary.md"]
    readable = (output / "summary.md").read_text(encoding="utf-8")
    assert readable.startswith("2 passed, 5 failed, 1 skipped, 0 not reached in ")
    assert "- test_ends.py::test_fails: assert 1 == 2\n" in readable
    assert "> " in readable and "raise ValueError" in readable


def test_timed_tests_follow_the_others_and_run_alone_the_shortest_limits_first(root: Path) -> None:
    log = root / "log"
    note = f"""{HEAD}
@pytest.fixture(autouse=True)
def noted(request):
    with open({str(log)!r}, "a", buffering=1) as log:
        log.write(f"+{{request.node.name}} ")
        yield
        log.write(f"-{{request.node.name}} ")
"""
    timed = "@pytest.mark.timed\n"
    (root / "test_a.py").write_text(f"{note}{timed}@pytest.mark.timeout(600)\ndef test_long(): pass\n")
    (root / "test_b.py").write_text(
        f"{note}def test_one(): pass\n{timed}def test_quick(): pass\ndef test_two(): pass\n"
    )
    (root / "test_none.py").write_text("def test_that_needs_no_gpu(): pass\n")
    well, found = prove_in(root, workers=2)
    assert well
    assert found == dict.fromkeys(("test_one", "test_two", "test_quick", "test_long"), "passed")
    assert log.read_text().split()[4:] == ["+test_quick", "-test_quick", "+test_long", "-test_long"]


def test_what_cannot_be_read_is_not_reached_and_says_why(root: Path) -> None:
    (root / "test_window.py").write_text("import PyQt6.not_there\npytest.mark.gpu\n")
    (root / "test_other.py").write_text("import PyQt6.not_there\n")  # has no GPU tests, by its text
    (root / "test_good.py").write_text(f"{HEAD}def test_good(): pass\n")
    well, found = prove_in(root)
    reason = found.pop("test_window.py")
    assert reason.startswith("not reached: ModuleNotFoundError: No module named 'PyQt6") and not well
    assert found == {"test_good": "passed"}


def test_at_the_end_of_the_time_the_rest_is_not_reached(root: Path) -> None:
    begun = root / "begun"
    (root / "test_slow.py").write_text(
        f"""{HEAD}
def test_quick(): pass
@pytest.mark.timeout(1e12)
def test_slow():
    open({str(begun)!r}, "w").close()
    threading.Event().wait()
def test_behind_it(): pass
@pytest.mark.timed
def test_timed(): pass
""",
        encoding="utf-8",
    )
    well, found = prove_in(root, clock=lambda: LONG if begun.exists() else 0.0)
    assert not well
    late = f"not reached: {OUT_OF_TIME}"
    assert found == {"test_quick": "passed", "test_slow": late, "test_behind_it": late, "test_timed": late}


def test_a_plugin_that_happens_to_be_installed_does_not_stop_it(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = root.parent / "installed"
    entry = installed / "stops_all-1.0.dist-info"
    entry.mkdir(parents=True)
    (installed / "stops_all.py").write_text("raise RuntimeError('stop')\n")
    (entry / "METADATA").write_text("Metadata-Version: 2.1\nName: stops-all\nVersion: 1.0\n")
    (entry / "entry_points.txt").write_text("[pytest11]\nstops_all = stops_all\n")
    monkeypatch.setenv("PYTHONPATH", str(installed))
    monkeypatch.setenv("PYTEST_ADDOPTS", "--no-such-option")
    (root / "test_good.py").write_text(f"{HEAD}def test_good(): pass\n")
    assert prove_in(root) == (True, {"test_good": "passed"})


@pytest.mark.parametrize("tests", ["", "def test_skips(): pytest.skip('no device')\n"])
def test_without_a_test_that_passed_there_is_no_proof(root: Path, tests: str) -> None:
    (root / "test_empty.py").write_text(f"{HEAD}{tests}")
    assert prove_in(root)[0] is False


@pytest.mark.parametrize("well", [True, False])
def test_the_exit_status_says_whether_all_is_well(well: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Proof, "run", lambda proof: well)
    monkeypatch.setattr(prove.signal, "signal", lambda *how: None)  # type: ignore[attr-defined]
    assert prove.main(["--output", str(tmp_path / "new"), "--minutes", "1"]) == (0 if well else 1)
    assert (tmp_path / "new").is_dir()
