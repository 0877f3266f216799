"""What the proof found, for people (`summary.md`) and for programs (`summary.json`)."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from tests.gpu.proving.portion import Result

OUTCOMES = ("passed", "failed", "skipped", "not reached")
PACKAGES = ("torch", "triton", "numpy", "PyQt6", "pytest")
SLOWEST = 10


def counts_of(results: Sequence[Result]) -> dict[str, int]:
    """How many tests ended in each way."""
    found = Counter(result.outcome for result in results)
    return {outcome: found[outcome] for outcome in OUTCOMES}


def write_summary(folder: Path, results: Sequence[Result], seconds: float) -> str:
    """Write both files and return the first line of the readable one. `seconds` is what the whole proof took."""
    counts, where = counts_of(results), machine()
    tests = [asdict(result) for result in results]
    found = {"machine": where, "seconds": round(seconds, 1), "counts": counts, "tests": tests}
    (folder / "summary.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    head = f"{', '.join(f'{number} {outcome}' for outcome, number in counts.items())} in {seconds:.0f} s"
    lines = [head, "", ", ".join(f"{name} {value}" for name, value in where.items()), ""]
    for outcome in ("failed", "not reached", "skipped"):
        lines += _section(outcome, [result for result in results if result.outcome == outcome])
    slowest = sorted(results, key=lambda result: -result.seconds)[:SLOWEST]
    lines += ["## slowest", "", *(f"- {result.seconds:.1f} s: {result.id}" for result in slowest)]
    for result in results:
        if result.text:
            lines += ["", f"## {result.id}", "", "```", result.text, "```"]
    (folder / "summary.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return head


def machine() -> dict[str, str]:
    """The device with its driver, as nvidia-smi has them, and the versions of what matters."""
    found = {"device": "none that nvidia-smi names"}
    if shutil.which("nvidia-smi"):
        query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
        said = subprocess.run(query, capture_output=True, text=True).stdout.strip()
        found["device"] = "; ".join(said.splitlines()) or found["device"]
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def _section(outcome: str, results: Sequence[Result]) -> list[str]:
    """A line a reason, and below it each function of tests, with its number, where several have it in common."""
    if not results:
        return []
    by_reason: dict[str, list[str]] = {}
    for result in results:
        by_reason.setdefault(result.reason, []).append(result.id)
    lines = [f"## {outcome}: {len(results)}", ""]
    for reason, ids in by_reason.items():
        if len(ids) == 1:
            lines.append(f"- {ids[0]}: {reason}")
            continue
        functions = Counter(test.partition("[")[0] for test in ids)
        lines += [f"- {len(ids)} tests: {reason}", *(f"  - {number} of {name}" for name, number in functions.items())]
    return [*lines, ""]
