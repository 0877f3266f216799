"""How NVML is asked, with its functions replaced: older drivers, devices that refuse, and which GPU is meant."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pynvml
import pytest

from workbench.engine.device.nvml import READINGS, Address, NvmlSource

UUID = "GPU-12345678-1234-1234-1234-123456789abc"
PCI = "0000:1b:00.0"


def failing(code: int) -> Any:
    """A call that NVML refuses with this error."""

    def call(*arguments: Any) -> Any:
        raise pynvml.NVMLError(code)

    return call


@pytest.fixture
def nvml(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An NVML with two GPUs, of which the second has UUID and PCI, and every reading."""

    def replace_with(**calls: Any) -> None:
        for name, call in calls.items():
            monkeypatch.setattr(pynvml, name, call)

    def look_up(known: str) -> Any:
        return lambda text: 1 if text == known else failing(pynvml.NVML_ERROR_NOT_FOUND)()

    def name_of(pid: int) -> Any:
        return b"/usr/bin/python3" if pid == 11 else failing(pynvml.NVML_ERROR_NOT_FOUND)()

    clocks = {pynvml.NVML_CLOCK_SM: 1980, pynvml.NVML_CLOCK_MEM: 3201}
    replace_with(
        nvmlInit=lambda: None,
        nvmlDeviceGetHandleByUUID=look_up(UUID),
        nvmlDeviceGetHandleByPciBusId=look_up(PCI),
        nvmlDeviceGetCount=lambda: 2,
        nvmlDeviceGetHandleByIndex=lambda index: index,
        nvmlDeviceGetName=lambda handle: b"NVIDIA H200",
        nvmlDeviceGetUUID=lambda handle: UUID,
        nvmlSystemGetDriverVersion=lambda: "580.159.04",
        nvmlDeviceGetEnforcedPowerLimit=lambda handle: 700_000,
        nvmlDeviceGetMaxClockInfo=lambda handle, clock: clocks[clock],
        nvmlDeviceGetApplicationsClock=lambda handle, clock: clocks[clock],
        nvmlDeviceGetEccMode=lambda handle: [1, 1],
        nvmlDeviceGetClockInfo=lambda handle, clock: clocks[clock] - 15,
        nvmlDeviceGetTemperature=lambda handle, sensor: 41,
        nvmlDeviceGetFieldValues=lambda handle, fields: [
            SimpleNamespace(nvmlReturn=pynvml.NVML_SUCCESS, value=SimpleNamespace(uiVal=312_500))
        ],
        nvmlDeviceGetPowerUsage=lambda handle: 250_000,
        nvmlDeviceGetCurrentClocksEventReasons=lambda handle: 0x4,
        nvmlDeviceGetUtilizationRates=lambda handle: SimpleNamespace(gpu=93, memory=10),
        nvmlDeviceGetComputeRunningProcesses=lambda handle: [
            SimpleNamespace(pid=11, usedGpuMemory=2**30),
            SimpleNamespace(pid=12, usedGpuMemory=None),
        ],
        nvmlSystemGetProcessName=name_of,
    )
    return monkeypatch


def reading(source: NvmlSource, name: str) -> float:
    return source.read()[READINGS.index(name)]


def test_every_reading_comes_in_its_unit(nvml: pytest.MonkeyPatch) -> None:
    source = NvmlSource(Address(uuid=UUID))
    assert source.read() == (1965, 3186, 41, 312.5, 4, 93)
    assert source.missing == {}


def test_the_facts_come_in_their_units(nvml: pytest.MonkeyPatch) -> None:
    facts = NvmlSource(Address(uuid=UUID)).facts()
    assert (facts.name, facts.uuid, facts.driver, facts.ecc) == ("NVIDIA H200", UUID, "580.159.04", "on")
    assert (facts.power_limit_w, facts.max_sm_mhz, facts.app_mem_mhz) == (700, 1980, 3201)


def test_processes_have_their_names_and_memory_where_these_are_known(nvml: pytest.MonkeyPatch) -> None:
    first, second = NvmlSource(Address(uuid=UUID)).tenants()
    assert (first.pid, first.name, first.memory_bytes) == (11, "python3", 2**30)
    assert (second.pid, second.name) == (12, "") and math.isnan(second.memory_bytes)


def test_older_drivers_give_the_mean_power_and_the_older_name_of_the_reasons(nvml: pytest.MonkeyPatch) -> None:
    unsupported = SimpleNamespace(nvmlReturn=pynvml.NVML_ERROR_NOT_SUPPORTED)
    nvml.setattr(pynvml, "nvmlDeviceGetFieldValues", lambda handle, fields: [unsupported])
    nvml.setattr(pynvml, "nvmlDeviceGetCurrentClocksEventReasons", failing(pynvml.NVML_ERROR_FUNCTION_NOT_FOUND))
    nvml.setattr(pynvml, "nvmlDeviceGetCurrentClocksThrottleReasons", lambda handle: 0x40)
    source = NvmlSource(Address(uuid=UUID))
    assert reading(source, "power_w") == 250
    assert reading(source, "reasons") == 0x40
    assert source.missing == {}


@pytest.mark.parametrize("code", [pynvml.NVML_ERROR_FUNCTION_NOT_FOUND, pynvml.NVML_ERROR_UNKNOWN])
def test_a_driver_that_refuses_the_field_gives_the_mean_power(nvml: pytest.MonkeyPatch, code: int) -> None:
    nvml.setattr(pynvml, "nvmlDeviceGetFieldValues", failing(code))
    source = NvmlSource(Address(uuid=UUID))
    assert [reading(source, "power_w") for _ in range(2)] == [250, 250] and source.missing == {}


def test_a_library_without_the_field_gives_the_mean_power(nvml: pytest.MonkeyPatch) -> None:
    nvml.delattr(pynvml, "NVML_FI_DEV_POWER_INSTANT")
    source = NvmlSource(Address(uuid=UUID))
    assert reading(source, "power_w") == 250 and source.missing == {}


def test_a_gpu_that_is_found_by_its_bus_lacks_no_address(nvml: pytest.MonkeyPatch) -> None:
    assert NvmlSource(Address("GPU-of-another-kind", PCI)).missing == {}


def test_what_is_not_supported_is_nan_named_and_not_asked_for_again(nvml: pytest.MonkeyPatch) -> None:
    asked = []

    def refuse(handle: Any) -> Any:
        asked.append(handle)
        raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)

    nvml.setattr(pynvml, "nvmlDeviceGetUtilizationRates", refuse)
    source = NvmlSource(Address(uuid=UUID))
    assert math.isnan(reading(source, "utilisation")) and math.isnan(reading(source, "utilisation"))
    assert asked == [1]
    assert source.missing == {"utilisation": "Not Supported"}
    assert reading(source, "sm_mhz") == 1965


def test_a_passing_error_costs_one_reading(nvml: pytest.MonkeyPatch) -> None:
    answers = iter([failing(pynvml.NVML_ERROR_UNKNOWN), lambda: 42])
    nvml.setattr(pynvml, "nvmlDeviceGetTemperature", lambda handle, sensor: next(answers)())
    source = NvmlSource(Address(uuid=UUID))
    assert math.isnan(reading(source, "temperature_c"))
    assert source.missing == {"temperature_c": "Unknown Error"}
    assert reading(source, "temperature_c") == 42
    assert source.missing == {}, "it was missing, and is not now"


def test_a_library_without_a_call_lacks_that_fact_alone(nvml: pytest.MonkeyPatch) -> None:
    nvml.delattr(pynvml, "nvmlDeviceGetApplicationsClock")
    source = NvmlSource(Address(uuid=UUID))
    facts = source.facts()
    assert math.isnan(facts.app_sm_mhz) and facts.max_sm_mhz == 1980
    assert set(source.missing) == {"application SM clock", "application memory clock"}


@pytest.mark.parametrize(
    "address", [Address(uuid=UUID), Address(pci=PCI), Address(UUID, PCI), Address("GPU-of-another-kind", PCI)]
)
def test_the_gpu_is_found_by_uuid_or_by_bus(nvml: pytest.MonkeyPatch, address: Address) -> None:
    nvml.setattr(pynvml, "nvmlDeviceGetTemperature", lambda handle, sensor: 40 + handle)
    assert reading(NvmlSource(address), "temperature_c") == 41


@pytest.mark.parametrize("address", [Address(), Address("GPU-unknown", "0000:ff:00.0")])
def test_of_several_gpus_none_is_guessed(nvml: pytest.MonkeyPatch, address: Address) -> None:
    with pytest.raises(pynvml.NVMLError):
        NvmlSource(address)


def test_the_only_gpu_needs_no_address(nvml: pytest.MonkeyPatch) -> None:
    nvml.setattr(pynvml, "nvmlDeviceGetCount", lambda: 1)
    assert reading(NvmlSource(Address()), "sm_mhz") == 1965


@pytest.mark.parametrize(
    ("properties", "address"),
    [
        ({}, Address()),
        ({"uuid": UUID.removeprefix("GPU-")}, Address(UUID)),
        ({"uuid": UUID, "pci_bus_id": 0x1B, "pci_device_id": 0}, Address(UUID, PCI)),
        ({"pci_domain_id": 1, "pci_bus_id": 0xA0, "pci_device_id": 3}, Address("", "0001:a0:03.0")),
    ],
)
def test_the_address_is_what_torch_knows_of_it(properties: dict[str, Any], address: Address) -> None:
    assert Address.of(SimpleNamespace(**properties)) == address
