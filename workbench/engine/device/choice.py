"""Decides between GPU and interpreter, and describes the device. Runs in the child, before Triton is imported."""

from __future__ import annotations

import os
import platform
from functools import partial
from pathlib import Path

import torch

from workbench.run.environment import DeviceInfo, Mode


class DeviceUnavailableError(Exception):
    """The device asked for is not there."""


def choose_mode(wanted: str) -> Mode:
    """The mode for `wanted` ("auto", "cuda", "interpreter"); prepares the environment for Triton's import.

    Raises DeviceUnavailableError if a GPU is asked for and none can be used.
    """
    if wanted == "cuda" and not has_gpu():
        raise DeviceUnavailableError(
            "device is 'cuda', but no NVIDIA GPU can be used here; allowed are interpreter, auto"
        )
    if wanted == "interpreter" or not has_gpu():
        os.environ["TRITON_INTERPRET"] = "1"
        return "interpreter"
    os.environ.pop("TRITON_INTERPRET", None)
    return "cuda"


def has_gpu() -> bool:
    """Whether there is a GPU that torch can use."""
    return torch.cuda.is_available()


def describe(mode: Mode) -> DeviceInfo:
    """The device of `mode`, with the versions of what it runs with. Imports Triton."""
    import triton

    made = partial(
        DeviceInfo,
        mode=mode,
        # A plain str: torch's version is a class of its own, and unpickling it would import torch in the window.
        torch=str(torch.__version__),
        triton=triton.__version__,
        python=platform.python_version(),
    )
    if mode == "interpreter":
        return made(name=cpu_name(), memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    properties = torch.cuda.get_device_properties(0)
    return made(
        name=properties.name,
        memory_bytes=properties.total_memory,
        cuda=torch.version.cuda or "",
        driver=driver_version(),
        capability=f"{properties.major}.{properties.minor}",
        sm_count=properties.multi_processor_count,
        shared_bytes=int(getattr(properties, "shared_memory_per_block_optin", 0)),
    )


def cpu_name() -> str:
    """The processor's name as Linux gives it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())


def driver_version() -> str:
    """The NVIDIA driver's version, "" where NVML cannot be asked."""
    import pynvml

    try:
        pynvml.nvmlInit()
        version = pynvml.nvmlSystemGetDriverVersion()
        pynvml.nvmlShutdown()
    except pynvml.NVMLError:
        return ""
    return str(version)
