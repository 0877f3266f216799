"""Each symptom that people meet gets its kind, one line, and what to try."""

from __future__ import annotations

import subprocess

import pytest
import torch
from triton.runtime.errors import OutOfResources, PTXASError

from workbench.engine.device.choice import DeviceUnavailableError
from workbench.engine.failures import MESSAGE_LIMIT, InvalidRequestError, describe_failure
from workbench.engine.host.stopping import StoppedError
from workbench.run.events import FailureKind


class CompilationError(Exception):
    """Named as Triton's, whose own takes a syntax tree."""


def chained(outer: Exception, inner: Exception) -> Exception:
    outer.__cause__ = inner
    return outer


@pytest.mark.parametrize(
    ("error", "kind", "words", "remedy"),
    [
        (OutOfResources(458752, 232448, "shared memory"), "resources", "458752 B of shared memory", "num_stages"),
        (PTXASError("Register allocation failed with 64 warps"), "resources", "refused", "num_warps"),
        (PTXASError("syntax error"), "compile", "refused", "num_warps"),
        (chained(CompilationError("at 3:1: the whole source"), ValueError("block 48")), "compile", "block 48", "tile"),
        (RuntimeError("PassManager::run failed"), "compile", "PassManager", "tile"),
        (RuntimeError("Failed to find C compiler. Please specify via CC"), "compile", "launcher", "apt install gcc"),
        (subprocess.CalledProcessError(1, ["/usr/bin/gcc", "main.c"]), "compile", "launcher", "python3-dev"),
        (RuntimeError("0 active drivers ([]). There should only be one."), "launch", "no GPU driver", "doctor"),
        (RuntimeError("CUDA error: an illegal memory access was encountered\nmore"), "launch", "illegal", "replaced"),
        (RuntimeError("Triton Error [CUDA]: misaligned address"), "launch", "misaligned", "replaced"),
        (RuntimeError("CUDA error: out of memory"), "memory", "out of memory", "Lower M"),
        (torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate"), "memory", "Tried", "Lower M"),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory"), "memory", "allocate", "Lower M"),
        (MemoryError(), "memory", "out of memory", "Lower M"),
        (StoppedError(), "cancelled", "stopped", ""),
        (InvalidRequestError("M is 0"), "invalid", "M is 0", ""),
        (DeviceUnavailableError("device is 'cuda'"), "invalid", "cuda", ""),
        (ValueError("q is on the CPU"), "launch", "ValueError: q is on the CPU", "next run"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_each_symptom_has_its_kind_and_a_remedy(
    error: BaseException, kind: FailureKind, words: str, remedy: str
) -> None:
    failure = describe_failure(error)
    assert failure.kind == kind
    assert words in failure.message and "\n" not in failure.message
    assert (remedy in failure.remedy) if remedy else failure.remedy == ""


@pytest.mark.parametrize(
    ("error", "resource"),
    [
        (OutOfResources(458752, 232448, "shared memory"), "shared memory"),
        (OutOfResources(1024, 512, "tensor memory"), "tensor memory"),
        (PTXASError("Register allocation failed with 64 warps"), "registers"),
        (PTXASError("uses too much shared data"), ""),
        (MemoryError(), ""),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_a_failure_names_the_resource_that_is_known_to_lack(error: BaseException, resource: str) -> None:
    assert describe_failure(error).resource == resource


def test_a_compilers_flood_is_cut_in_the_message_and_whole_in_the_traceback() -> None:
    flood = "%0 = tt.load\n" * 10_000
    failure = describe_failure(RuntimeError(flood))
    assert len(failure.message) <= MESSAGE_LIMIT
    assert flood.strip() in failure.traceback


def test_a_traceback_names_files_without_this_machines_folders() -> None:
    try:
        torch.zeros(2).view(3)
    except RuntimeError as error:
        lines = describe_failure(error).traceback
    assert 'File "tests/engine/test_failures.py"' in lines
