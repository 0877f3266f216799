"""Where a kernel comes from: its file, git's revision of it, the hash of its sources; and what state the host is in."""

from __future__ import annotations

import ast
import hashlib
import os
import subprocess
from collections.abc import Callable, Iterable
from math import isfinite
from pathlib import Path
from typing import Any

import torch

from workbench.run.device_state import DeviceFacts
from workbench.run.environment import Provenance

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "kernels"
GIT_LIMIT_S = 5.0


def source_of(module: str, root: Path = ROOT) -> Path:
    """The file of a module of the kernels."""
    return root.joinpath(*module.split(".")).with_suffix(".py")


def source_hash(module: str, root: Path = ROOT) -> str:
    """The SHA-256 of a kernel's module and all modules of its package that they import, by name and content."""
    digest = hashlib.sha256()
    for name in sorted(_closure(module, root)):
        content = source_of(name, root).read_bytes()
        digest.update(f"{name} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


def git_revision(file: Path) -> str:
    """The last revision that changed `file`, with a "+" where the file differs from it; "" outside git."""
    revision = _git(file, "log", "-1", "--format=%H", "--", file.name)
    if not revision:
        return ""
    return revision + ("+" if _git(file, "status", "--porcelain", "--", file.name) else "")


class Sources:
    """The hashes of the kernels' sources as they are now: to be made when they have just been imported."""

    def __init__(self, launchers: dict[str, Callable[..., Any]], root: Path = ROOT) -> None:
        self._root = root
        self._modules = {name: launch.__module__ for name, launch in launchers.items()}
        self._hashes = {name: source_hash(module, root) for name, module in self._modules.items()}

    def provenance(self, kernel: str, facts: DeviceFacts) -> Provenance:
        """That of a run of `kernel` on the device of `facts`; empty for a kernel that there is not."""
        if kernel not in self._modules:
            return Provenance()
        file = source_of(self._modules[kernel], self._root)
        return Provenance(
            kernel_file=file.relative_to(self._root).as_posix(),
            revision=git_revision(file),
            source_sha256=self._hashes[kernel],
            power_limit_w=facts.power_limit_w if isfinite(facts.power_limit_w) else None,
            application_clocks=_clocks_text(facts),
            ecc=facts.ecc,
            load_average=_load_average(),
            cpu_cores=os.cpu_count() or 0,
            torch_threads=torch.get_num_threads(),
        )


def _load_average() -> tuple[float, ...]:
    """How many processes wanted to run, on average over the last 1, 5 and 15 minutes; empty where that is not known."""
    try:
        return os.getloadavg()
    except OSError:
        return ()


def _clocks_text(facts: DeviceFacts) -> str:
    sm, memory = facts.app_sm_mhz, facts.app_mem_mhz
    return f"{sm:.0f} MHz, memory {memory:.0f} MHz" if isfinite(sm) and isfinite(memory) else ""


def _closure(module: str, root: Path) -> set[str]:
    """`module` and what it imports of the package, at whatever depth, as far as it has a file."""
    found, waiting = set[str](), [module]
    while waiting:
        name = waiting.pop()
        if name in found or not source_of(name, root).is_file():
            continue
        found.add(name)
        tree = ast.parse(source_of(name, root).read_text(encoding="utf-8"))
        waiting += [other for other in _imported(tree) if other.split(".")[0] == PACKAGE]
    return found


def _imported(tree: ast.AST) -> Iterable[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _git(file: Path, *words: str) -> str:
    """What git says in the folder of `file`, "" where it says nothing or is not there."""
    try:
        done = subprocess.run(
            ["git", "-C", str(file.parent), *words],
            capture_output=True,
            text=True,
            check=True,
            timeout=GIT_LIMIT_S,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()
