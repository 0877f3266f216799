"""Readings of one GPU from NVML, NVIDIA's management library. What cannot be read is NaN, with the reason kept."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from workbench.run.device_state import COLUMNS, DeviceFacts

READINGS = COLUMNS[1:]  # all but the time
NAN = float("nan")


@dataclass(frozen=True)
class Address:
    """A GPU's UUID ("GPU-...") and PCI bus id ("0000:1b:00.0"), "" where unknown.

    Its number is no address: CUDA_VISIBLE_DEVICES gives CUDA other numbers than NVML has.
    """

    uuid: str = ""
    pci: str = ""

    @classmethod
    def of(cls, properties: Any) -> Address:
        """The address in what `torch.cuda.get_device_properties` returns; older versions know less of it."""
        uuid = str(getattr(properties, "uuid", ""))
        if uuid and not uuid.startswith(("GPU-", "MIG-")):
            uuid = f"GPU-{uuid}"
        if not hasattr(properties, "pci_bus_id"):
            return cls(uuid)
        domain = int(getattr(properties, "pci_domain_id", 0))
        return cls(uuid, f"{domain:04x}:{properties.pci_bus_id:02x}:{properties.pci_device_id:02x}.0")


@dataclass(frozen=True)
class Tenant:
    """A process with a compute context on the device; its memory in bytes, NaN if unknown."""

    pid: int
    name: str
    memory_bytes: float


class NvmlSource:
    """NVML's readings of the GPU at `address`. `missing` gains the reason, by reading, where one is not to be had.

    Raises ImportError or pynvml.NVMLError if NVML or the GPU is not there; later nothing here raises.
    """

    def __init__(self, address: Address) -> None:
        import pynvml

        self.missing: dict[str, str] = {}
        self._nvml: Any = pynvml
        self._lasting = (
            pynvml.NVML_ERROR_NOT_SUPPORTED,
            pynvml.NVML_ERROR_FUNCTION_NOT_FOUND,
            pynvml.NVML_ERROR_NO_PERMISSION,
        )
        pynvml.nvmlInit()
        self._handle = self._find(address)
        self._calls: dict[str, Callable[[], float]] = {
            "sm_mhz": lambda: pynvml.nvmlDeviceGetClockInfo(self._handle, pynvml.NVML_CLOCK_SM),
            "mem_mhz": lambda: pynvml.nvmlDeviceGetClockInfo(self._handle, pynvml.NVML_CLOCK_MEM),
            "temperature_c": lambda: pynvml.nvmlDeviceGetTemperature(self._handle, pynvml.NVML_TEMPERATURE_GPU),
            "power_w": self._power_w,
            "reasons": self._reasons,
            "utilisation": lambda: pynvml.nvmlDeviceGetUtilizationRates(self._handle).gpu,
        }

    def facts(self) -> DeviceFacts:
        """What does not change while a run goes on."""
        nvml, handle = self._nvml, self._handle
        ecc = self._ask("ECC", lambda: nvml.nvmlDeviceGetEccMode(handle)[0])
        sm, mem = nvml.NVML_CLOCK_SM, nvml.NVML_CLOCK_MEM
        return DeviceFacts(
            name=_text(self._ask("name", lambda: nvml.nvmlDeviceGetName(handle))),
            uuid=_text(self._ask("UUID", lambda: nvml.nvmlDeviceGetUUID(handle))),
            driver=_text(self._ask("driver", nvml.nvmlSystemGetDriverVersion)),
            power_limit_w=self._number("power limit", lambda: nvml.nvmlDeviceGetEnforcedPowerLimit(handle) / 1e3),
            max_sm_mhz=self._number("greatest SM clock", lambda: nvml.nvmlDeviceGetMaxClockInfo(handle, sm)),
            max_mem_mhz=self._number("greatest memory clock", lambda: nvml.nvmlDeviceGetMaxClockInfo(handle, mem)),
            app_sm_mhz=self._number("application SM clock", lambda: nvml.nvmlDeviceGetApplicationsClock(handle, sm)),
            app_mem_mhz=self._number(
                "application memory clock", lambda: nvml.nvmlDeviceGetApplicationsClock(handle, mem)
            ),
            ecc={None: "", 0: "off"}.get(ecc, "on"),
        )

    def read(self) -> tuple[float, ...]:
        """One value for each of READINGS, NaN where there is none."""
        return tuple(self._number(name, self._calls[name]) if name in self._calls else NAN for name in READINGS)

    def tenants(self) -> tuple[Tenant, ...]:
        """The processes with a compute context. Those that only draw are no tenants: a desktop always does."""
        found = self._ask("processes", lambda: self._nvml.nvmlDeviceGetComputeRunningProcesses(self._handle)) or ()
        return tuple(Tenant(int(p.pid), self._process_name(p.pid), _or_nan(p.usedGpuMemory)) for p in found)

    def _find(self, address: Address) -> Any:
        nvml = self._nvml
        for text, look_up in (
            (address.uuid, nvml.nvmlDeviceGetHandleByUUID),
            (address.pci, nvml.nvmlDeviceGetHandleByPciBusId),
        ):
            if text:
                try:
                    found = look_up(text)
                except nvml.NVMLError as error:
                    self.missing["address"] = f"NVML knows no GPU {text}: {error}"
                else:
                    self.missing.pop("address", None)
                    return found
        if nvml.nvmlDeviceGetCount() != 1:
            raise nvml.NVMLError(nvml.NVML_ERROR_NOT_FOUND)
        return nvml.nvmlDeviceGetHandleByIndex(0)

    def _power_w(self) -> float:
        """Power now. The plain call averages over a second on recent GPUs, which is longer than a run."""
        nvml = self._nvml
        with suppress(nvml.NVMLError, AttributeError):  # older drivers and older pynvml have no such field
            field = nvml.nvmlDeviceGetFieldValues(self._handle, [nvml.NVML_FI_DEV_POWER_INSTANT])[0]
            if field.nvmlReturn == nvml.NVML_SUCCESS:
                return float(field.value.uiVal) / 1e3
        return float(nvml.nvmlDeviceGetPowerUsage(self._handle)) / 1e3

    def _reasons(self) -> float:
        """The clock event reasons; older drivers know them by their older name."""
        try:
            return float(self._nvml.nvmlDeviceGetCurrentClocksEventReasons(self._handle))
        except self._nvml.NVMLError_FunctionNotFound:
            return float(self._nvml.nvmlDeviceGetCurrentClocksThrottleReasons(self._handle))

    def _process_name(self, pid: int) -> str:
        try:
            return PurePath(_text(self._nvml.nvmlSystemGetProcessName(pid))).name
        except self._nvml.NVMLError:
            return ""

    def _number(self, reading: str, call: Callable[[], float]) -> float:
        return _or_nan(self._ask(reading, call))

    def _ask(self, reading: str, call: Callable[[], Any]) -> Any:
        """What `call` returns; None if NVML refuses, which is noted until it gives it after all.

        What it never gives is not asked for again.
        """
        try:
            value = call()
        except (self._nvml.NVMLError, AttributeError) as error:  # an older pynvml may lack the call
            self.missing[reading] = str(error)
            if not isinstance(error, self._nvml.NVMLError) or error.value in self._lasting:
                self._calls.pop(reading, None)
            return None
        self.missing.pop(reading, None)
        return value


def _text(value: Any) -> str:
    """pynvml gives bytes in its older versions."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value or "")


def _or_nan(value: Any) -> float:
    return NAN if value is None else float(value)
