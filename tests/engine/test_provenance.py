"""Where a kernel comes from: git's word of its file, and a hash that changes with whatever it is made of."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from tests.patience import LIMIT_S
from workbench.engine import provenance
from workbench.engine.provenance import Sources, git_revision, source_hash
from workbench.run.device_state import DeviceFacts
from workbench.run.environment import Provenance

FILES = {
    "mine": "from kernels.shared import twice\nimport numpy\n\n\ndef launch():\n    import kernels.late\n",
    "shared": "from kernels import deep\n",
    "deep": "import kernels.mine\n",
    "late": "LATE = 1\n",
    "other": "OTHER = 1\n",
}


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Git may take as long as it needs: the product goes on without its word."""
    monkeypatch.setattr(provenance, "GIT_LIMIT_S", LIMIT_S)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "kernels"
    folder.mkdir()
    for name, text in FILES.items():
        folder.joinpath(f"{name}.py").write_text(text, encoding="utf-8")
    return tmp_path


def git(project: Path, *words: str) -> str:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    return subprocess.run(
        ["git", "-C", str(project), *identity, *words], check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.mark.parametrize("name", FILES)
def test_the_hash_is_of_everything_a_kernel_is_made_of_and_of_nothing_else(project: Path, name: str) -> None:
    before = source_hash("kernels.mine", project)
    assert source_hash("kernels.mine", project) == before
    with project.joinpath("kernels", f"{name}.py").open("a", encoding="utf-8") as file:
        file.write("# another\n")
    assert (source_hash("kernels.mine", project) == before) is (name == "other")


def test_the_revision_is_the_last_that_changed_the_file(project: Path) -> None:
    file = project / "kernels" / "mine.py"
    assert git_revision(file) == "", "outside git"
    git(project, "init", "-q")
    assert git_revision(file) == "", "not in git yet"
    git(project, "add", ".")
    git(project, "commit", "-q", "-m", "first")
    first = git(project, "rev-parse", "HEAD")
    assert git_revision(file) == first
    project.joinpath("kernels", "other.py").write_text("OTHER = 2\n", encoding="utf-8")
    git(project, "commit", "-q", "-a", "-m", "second")
    assert git_revision(file) == first
    file.write_text("changed\n", encoding="utf-8")
    assert git_revision(file) == f"{first}+"


def test_without_git_there_is_no_revision(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert git_revision(project / "kernels" / "mine.py") == ""


def test_the_hash_stays_that_of_the_sources_that_were_imported(project: Path) -> None:
    def launch() -> None: ...

    launch.__module__ = "kernels.mine"
    sources = Sources({"mine": launch}, project)
    before = source_hash("kernels.mine", project)
    project.joinpath("kernels", "mine.py").write_text("edited while the engine lives\n", encoding="utf-8")
    facts = DeviceFacts(power_limit_w=700.0, app_sm_mhz=1980.0, app_mem_mhz=3201.0, ecc="on")
    found = without_host(sources.provenance("mine", facts))
    assert found == Provenance("kernels/mine.py", "", before, 700.0, "1980 MHz, memory 3201 MHz", "on")
    assert sources.provenance("none such", facts) == Provenance()
    assert without_host(sources.provenance("mine", DeviceFacts())) == Provenance("kernels/mine.py", "", before)


def without_host(found: Provenance) -> Provenance:
    return replace(found, load_average=(), cpu_cores=0, torch_threads=0)


def test_what_the_cpu_is_busy_with_and_what_torch_takes_of_it_is_kept(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def launch() -> None: ...

    launch.__module__ = "kernels.mine"
    sources = Sources({"mine": launch}, project)
    monkeypatch.setattr(os, "getloadavg", lambda: (5.1, 2.0, 1.5))
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    found = sources.provenance("mine", DeviceFacts())
    assert (found.load_average, found.cpu_cores, found.torch_threads) == ((5.1, 2.0, 1.5), 2, 3)

    def unknown() -> tuple[float, float, float]:
        raise OSError

    monkeypatch.setattr(os, "getloadavg", unknown)
    assert sources.provenance("mine", DeviceFacts()).load_average == ()
