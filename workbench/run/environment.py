"""Where the engine runs, what it can run there, and with what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from kernels.plain.spec import KernelSpec

Mode = Literal["cuda", "interpreter", "unknown"]

INTERPRETER_LABEL = "interpreter, not GPU time"


@dataclass(frozen=True)
class DeviceInfo:
    """Where the engine runs, and the versions of what it runs with.

    `memory_bytes` is what the device (or the machine, on the interpreter) holds in all;
    `shared_bytes` is the most shared memory one program may take, 0 on the interpreter.
    """

    name: str
    mode: Mode
    torch: str
    triton: str
    python: str
    memory_bytes: int
    cuda: str = ""
    driver: str = ""
    capability: str = ""
    sm_count: int = 0
    shared_bytes: int = 0

    @property
    def mode_label(self) -> str:
        """How its clock must be named beside every time; "" where no engine has said where it works."""
        return {"cuda": "GPU", "interpreter": INTERPRETER_LABEL}.get(self.mode, "")


@dataclass(frozen=True)
class KernelInfo:
    """A kernel as the engine announces it: its spec, and the dtypes that it is right in on this device.

    `unavailable` says why it cannot run on this device, "" if it can.
    """

    spec: KernelSpec
    dtypes: tuple[str, ...]
    unavailable: str = ""

    @property
    def name(self) -> str:
        """Its spec's."""
        return self.spec.name


def find_kernel(kernels: Sequence[KernelInfo], name: str) -> KernelInfo | None:
    """The kernel called `name`, or None where none is announced."""
    return next((kernel for kernel in kernels if kernel.name == name), None)


@dataclass(frozen=True)
class BaselineInfo:
    """A baseline on this device: a backend of SDPA, or another attention that PyTorch's users have.

    `dtypes` are those it takes there; D is a multiple of `d_step` from `min_d` to `max_d`. All take heads, grouped
    heads and the causal mask, in the way that `description` says. `unavailable` says why it cannot run on this device,
    "" if it can. A baseline whose package is not installed is not announced.
    """

    name: str
    dtypes: tuple[str, ...]
    description: str = ""
    unavailable: str = ""
    min_d: int = 1
    max_d: int = 256
    d_step: int = 1


@dataclass(frozen=True)
class Provenance:
    """What a run was made of, beyond what its device and its request say.

    `kernel_file` is the file of the kernel's launcher, from the project's folder on, and `revision` that of git which
    last holds it: "" outside git, with a "+" where the file differs from it. `source_sha256` is of all modules that
    the kernel is made of. `power_limit_w`, `application_clocks` ("1980 MHz, memory 2619 MHz") and `ecc` ("on", "off")
    are the GPU's, None and "" where it does not say. `load_average` is the host's when the run began, over the last
    1, 5 and 15 minutes, on `cpu_cores`; torch may use `torch_threads` of them. They are empty and 0 in older runs.
    """

    kernel_file: str = ""
    revision: str = ""
    source_sha256: str = ""
    power_limit_w: float | None = None
    application_clocks: str = ""
    ecc: str = ""
    load_average: tuple[float, ...] = ()
    cpu_cores: int = 0
    torch_threads: int = 0
