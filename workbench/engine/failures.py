"""Turns what went wrong in the child into one Failed: its kind, what happened, and what to try."""

from __future__ import annotations

import re
import sysconfig
import traceback as tb
from dataclasses import replace
from pathlib import Path

import torch

from workbench.engine.device.choice import DeviceUnavailableError
from workbench.engine.host.stopping import StoppedError
from workbench.run.events import Failed

ROOT = Path(__file__).resolve().parents[2]
MESSAGE_LIMIT = 600

TRY_SMALLER_TILE = "Lower num_stages first (shared memory grows with it), then BLOCK_N or BLOCK_M."
TRY_FEWER_REGISTERS = (
    "Lower num_warps or the tile size: all warps of a program share one register file. Raise maxnreg if set."
)
TRY_LESS_MEMORY = "Lower M, N or D, or free memory that other processes hold on this device."
TRY_OTHER_TILE = "Try another tile size or fewer stages; the log has the compiler's own words."
TRY_REPORT = "The next run works. The log has the traceback."
TRY_AGAIN = "The engine is replaced, and the next run works. The log has the traceback."
TRY_OTHER_PROTOCOL = "Choose protocol cold or warm: they time any launch."
NEEDS_DRIVER = "Choose device interpreter, or install the NVIDIA driver; python main.py doctor says what is missing."
NEEDS_COMPILER = "Install a C compiler, for example: apt install gcc python3-dev"


class InvalidRequestError(Exception):
    """The request cannot work; the text names the value and what is allowed."""


class CaptureError(Exception):
    """A launch cannot be captured in a CUDA graph; the text says which, and why."""


class ProfilerError(Exception):
    """The profiler's records cannot be used; the text says why."""


def describe_failure(error: BaseException) -> Failed:
    """The Failed that belongs to `error`. Matches by class name where Triton's classes moved between versions."""
    failed = _classify(error)
    # A request refused or stopped is no fault of the program: where it happened interests nobody.
    lines = "" if failed.kind in ("invalid", "cancelled") else "".join(tb.format_exception(error))
    return replace(failed, message=_shorten(failed.message), traceback=_without_folders(lines))


def _classify(error: BaseException) -> Failed:
    text = str(error)
    name = type(error).__name__
    if isinstance(error, StoppedError):
        return Failed("cancelled", "stopped on request")
    if isinstance(error, (InvalidRequestError, DeviceUnavailableError)):
        return Failed("invalid", text)
    if isinstance(error, (CaptureError, ProfilerError)):
        return Failed("launch", text, TRY_OTHER_PROTOCOL)
    if isinstance(error, (MemoryError, torch.cuda.OutOfMemoryError)) or "DefaultCPUAllocator" in text:
        return Failed("memory", text or "out of memory", TRY_LESS_MEMORY)
    if isinstance(error, (KeyboardInterrupt, SystemExit)):
        return Failed("cancelled", f"the engine was interrupted ({name})")
    chain = _chain_text(error)
    if name == "OutOfResources":
        return _out_of_resources(error)
    if name == "PTXASError" or "ptxas" in chain:
        message = f"the PTX assembler refused the kernel: {text}"
        if not re.search(r"regist|too much|too many", chain, re.I):
            return Failed("compile", message, TRY_FEWER_REGISTERS)
        resource = "registers" if re.search("register", text, re.I) else ""
        return Failed("resources", message, TRY_FEWER_REGISTERS, resource=resource)
    if "Python.h" in chain or "C compiler" in chain or _is_failed_compiler(error):
        return Failed("compile", f"Triton could not build its launcher: {text}", NEEDS_COMPILER)
    if name in ("CompilationError", "CompileTimeAssertionFailure", "UnsupportedLanguageConstruct"):
        # The outer errors quote the kernel's source; the innermost says what is wrong with it.
        return Failed("compile", f"Triton could not compile the kernel: {_root(error)}", TRY_OTHER_TILE)
    if "PassManager" in text or "MLIR" in text:
        return Failed("compile", f"the compiler failed: {text}", TRY_OTHER_TILE)
    if "0 active drivers" in text:
        return Failed("launch", f"Triton sees no GPU driver: {text}", NEEDS_DRIVER)
    if "CUDA error" in text or "Triton Error [CUDA]" in text:
        return _cuda_error(text)
    return Failed("launch", f"{name}: {text}" if text else name, TRY_REPORT)


def _out_of_resources(error: BaseException) -> Failed:
    required, limit = getattr(error, "required", "?"), getattr(error, "limit", "?")
    what = str(getattr(error, "name", ""))
    unit = " B" if what == "shared memory" else ""
    message = f"the tile needs {required}{unit} of {what or 'resource'}; this device allows {limit}{unit}"
    return Failed("resources", message, TRY_SMALLER_TILE, resource=what)


def _cuda_error(text: str) -> Failed:
    first = text.strip().splitlines()[0]
    if "out of memory" in text:
        return Failed("memory", first, TRY_LESS_MEMORY)
    if "out of resources" in text or "invalid configuration" in text:
        return Failed("resources", first, TRY_FEWER_REGISTERS)
    return Failed("launch", first, TRY_AGAIN)


def _chain_text(error: BaseException | None) -> str:
    """The texts of an error and of what caused it."""
    texts = []
    while error is not None:
        texts += [str(error), str(getattr(error, "stderr", "") or "")]
        error = error.__cause__ or error.__context__
    return "\n".join(texts)


def _root(error: BaseException) -> str:
    while (cause := error.__cause__ or error.__context__) is not None:
        error = cause
    return str(error)


def _is_failed_compiler(error: BaseException) -> bool:
    return type(error).__name__ == "CalledProcessError" and re.search(r"\b(cc|gcc|clang)\b", str(error)) is not None


def _without_folders(text: str) -> str:
    """A traceback whose files are named from the project or the package on: it may end up in a report."""
    folders = {str(ROOT), sysconfig.get_paths()["purelib"], sysconfig.get_paths()["stdlib"]}
    for folder in sorted(folders, key=len, reverse=True):
        text = text.replace(f"{folder}/", "")
    return text


def _shorten(message: str) -> str:
    """One line of bounded length: a compiler's 100 KB of IR belongs in the log."""
    line = " ".join(message.split())
    return line if len(line) <= MESSAGE_LIMIT else line[: MESSAGE_LIMIT - 1] + "…"
