"""Each warning about the device appears where it should, and nowhere else. The traces are recordings of NVML."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.engine.device.recorded_nvml import OWN, columns_of, facts_of, load
from tests.yardstick import cost_ms
from workbench.run import device_state as ds
from workbench.run.device_state import COLUMNS, DeviceReadings, DeviceSample, Process, find_warnings, judged

LIMIT_W = 700
# NVML's bits of an idle device, and of clocks set on purpose: for applications, for the display.
GPU_IDLE, APPLICATIONS_CLOCKS_SETTING, DISPLAY_CLOCK_SETTING = 0x1, 0x2, 0x100


def recorded(name: str) -> DeviceReadings:
    """The trace that a run would have kept."""
    data = load(name)
    columns = columns_of(data)
    others = [p for p in data["processes"] if p["pid"] != OWN]
    last = columns["t"][-1]
    return DeviceReadings.of_rows(
        np.array([columns[column] for column in COLUMNS]).T,
        processes=tuple(Process(p["pid"], p["name"], p["used_bytes"], 0.0, last) for p in others),
        timed=tuple((begin, end) for begin, end in data["timed"]),
        facts=facts_of(data),
    )


def constant(count: int, **values: float) -> DeviceReadings:
    """`count` readings of a calm device, all of them timed, with other values for some columns."""
    calm = {"sm_mhz": 1980, "mem_mhz": 3201, "temperature_c": 40, "power_w": 300, "reasons": 0, "utilisation": 90}
    rows = np.array([[0.02 * i, *(calm | values).values()] for i in range(count)])
    return DeviceReadings.of_rows(rows, timed=((0.0, 0.02 * count),), facts=ds.DeviceFacts(power_limit_w=LIMIT_W))


def with_reasons(count: int, total: int, bits: int) -> DeviceReadings:
    """`count` of `total` timed readings with these bits."""
    reasons = np.zeros(total)
    reasons[:count] = bits
    return replace(constant(total), reasons=reasons)


def kinds(trace: DeviceReadings) -> list[str]:
    return [warning.kind for warning in find_warnings(trace)]


def test_a_steady_gpu_gives_no_warning() -> None:
    trace = recorded("steady")
    assert np.count_nonzero(trace.is_timed) > 10
    assert find_warnings(trace) == ()


def test_an_unsteady_gpu_is_named_with_its_clocks() -> None:
    (warning,) = find_warnings(recorded("unsteady"))
    assert (warning.kind, warning.text) == ("clocks", "clocks not steady: from 1200 to 1980 MHz while timed")


def test_a_throttled_gpu_is_named_with_its_cause_and_its_clocks() -> None:
    clocks, power = find_warnings(recorded("throttled"))
    assert clocks.kind == "clocks" and clocks.text.startswith("clocks not steady: from ")
    assert power.kind == "power"
    assert power.text == "throttled by power: SwPowerCap in 93% of the timed readings, up to 779 W of 700 W"


def test_a_shared_gpu_is_named_with_the_other_process() -> None:
    (warning,) = find_warnings(recorded("shared"))
    assert (warning.kind, warning.text) == ("shared", "another process uses this GPU: python3 (pid 483, 746 MiB)")


@pytest.mark.parametrize("name", ["throttled", "shared", "unsteady"])
def test_what_lies_outside_of_the_timed_spans_does_not_count(name: str) -> None:
    trace = recorded(name)
    assert find_warnings(replace(trace, timed=())) == ()
    assert find_warnings(replace(trace, timed=((100.0, 200.0),))) == ()


def test_a_reading_stands_for_the_time_since_the_one_before() -> None:
    trace = replace(constant(10), timed=((0.03, 0.05), (0.105, 0.106), (0.2, 0.3)))
    assert trace.t[trace.is_timed] == pytest.approx([0.04, 0.06, 0.12])
    assert not replace(constant(10), timed=((0.19, 0.3),)).is_timed.any(), "nothing was read after it"


def test_readings_are_timed_by_any_of_many_spans_in_any_order() -> None:
    """Against the question asked of every reading and every span."""
    rng = np.random.default_rng(7)
    begins = rng.uniform(0, 20, 60)
    spans = tuple(zip(begins.tolist(), (begins + rng.uniform(0, 0.3, 60)).tolist(), strict=True))
    trace = replace(constant(1000), timed=spans)
    since = [0.0, *trace.t[:-1]]
    asked = [any(begin <= t and s < end for begin, end in spans) for s, t in zip(since, trace.t, strict=True)]
    assert trace.is_timed.tolist() == asked and 0 < sum(asked) < 1000


def test_ten_minutes_are_judged_in_little_time() -> None:
    """30,000 readings and 12,000 timed spans, as in a run of that length: it took 2.7 s when each span was asked."""
    trace = replace(
        constant(30_000),
        timed=tuple((i * 0.05, i * 0.05 + 0.02) for i in range(12_000)),
        processes=(Process(7, "train", float("nan"), 700.0, 701.0),),
    )
    assert find_warnings(trace) == ()
    assert cost_ms(lambda: find_warnings(trace)) < 250


@pytest.mark.parametrize(("end", "count"), [(-1.0, "no reading"), (0.0, "1 reading"), (0.01, "2 readings")])
def test_hardly_a_reading_while_timed_is_said_and_not_silence(end: float, count: str) -> None:
    trace = replace(constant(50), timed=((-2.0, end),))
    kept, (warning,) = judged(trace)
    assert warning.kind == "unread"
    assert warning.text.startswith(f"device state not known: {count} while launches were timed")
    assert [missing.reading for missing in kept.missing] == ["device state while timed"]
    assert find_warnings(trace) == (), "while a run goes on, more readings are yet to come"


def test_without_any_reading_while_timed_the_reason_is_said() -> None:
    why = DeviceReadings.without("NVML Shared Library Not Found")
    kept, (warning,) = judged(replace(why, timed=((0.0, 0.5),)))
    assert "no reading while launches were timed" in warning.text
    assert warning.text.endswith("NVML Shared Library Not Found")
    assert [missing.reading for missing in kept.missing] == ["device state", "device state while timed"]


def test_what_was_read_often_enough_or_not_timed_at_all_is_left_as_it_is() -> None:
    three = replace(constant(50), timed=((0.0, 0.025),))
    assert judged(three) == (three, ())
    untimed = DeviceReadings.without("the interpreter runs on the CPU")
    assert judged(untimed) == (untimed, ())
    throttled = recorded("throttled")
    assert judged(throttled) == (throttled, find_warnings(throttled))


@pytest.mark.parametrize(
    ("bits", "kind", "words"),
    [
        (
            ds.SW_POWER_CAP,
            "power",
            "throttled by power: SwPowerCap in 100% of the timed readings, up to 300 W of 700 W",
        ),
        (ds.HW_POWER_BRAKE_SLOWDOWN | ds.HW_SLOWDOWN, "power", "throttled by power: HwPowerBrakeSlowdown in 100%"),
        (
            ds.SW_THERMAL_SLOWDOWN,
            "heat",
            "throttled by heat: SwThermalSlowdown in 100% of the timed readings, up to 40",
        ),
        (ds.HW_THERMAL_SLOWDOWN | ds.HW_SLOWDOWN, "heat", "throttled by heat: HwThermalSlowdown in 100%"),
        (ds.HW_SLOWDOWN, "hardware", "throttled by the hardware: HwSlowdown in 100% of the timed readings"),
        (ds.SYNC_BOOST, "sync", "throttled by the clocks of other GPUs: SyncBoost in 100%"),
    ],
)
def test_each_reason_has_its_cause_and_name(bits: int, kind: str, words: str) -> None:
    (warning,) = find_warnings(constant(50, reasons=bits))
    assert warning.kind == kind
    assert warning.text.startswith(words)


def test_several_reasons_are_all_named() -> None:
    bits = ds.SW_POWER_CAP | ds.HW_POWER_BRAKE_SLOWDOWN | ds.SW_THERMAL_SLOWDOWN
    power, heat = find_warnings(constant(50, reasons=bits))
    assert "SwPowerCap in 100%, HwPowerBrakeSlowdown in 100%" in power.text
    assert heat.kind == "heat"


@pytest.mark.parametrize("bits", [0, GPU_IDLE, APPLICATIONS_CLOCKS_SETTING, DISPLAY_CLOCK_SETTING, 0x4000])
def test_idle_and_clocks_set_on_purpose_are_no_throttling(bits: int) -> None:
    assert find_warnings(constant(50, reasons=bits)) == ()


@pytest.mark.parametrize(
    ("bits", "count", "warned"),
    [
        (ds.SW_POWER_CAP, 2, False),
        (ds.SW_POWER_CAP, 3, True),
        (ds.SYNC_BOOST, 2, False),
        (ds.HW_THERMAL_SLOWDOWN, 1, True),
        (ds.SW_THERMAL_SLOWDOWN, 1, True),
        (ds.HW_SLOWDOWN, 1, True),
    ],
)
def test_a_passing_power_cap_is_let_through_and_nothing_else(bits: int, count: int, warned: bool) -> None:
    """Of 50 readings a twentieth are two and a half."""
    assert bool(find_warnings(with_reasons(count, 50, bits))) is warned


def test_a_share_under_one_percent_is_not_called_none() -> None:
    (warning,) = find_warnings(with_reasons(1, 500, ds.HW_SLOWDOWN))
    assert "HwSlowdown in under 1% of" in warning.text


@pytest.mark.parametrize(("low", "warned"), [(1980 - 15, False), (1980 - 30, False), (1980 - 45, True)])
def test_clocks_may_move_by_two_steps(low: float, warned: bool) -> None:
    trace = constant(50)
    trace.sm_mhz[::2] = low
    assert (kinds(trace) == ["clocks"]) is warned


def test_a_single_low_reading_of_many_does_not_make_clocks_unsteady() -> None:
    trace = constant(100)
    trace.sm_mhz[0] = 345
    assert find_warnings(trace) == ()
    trace.sm_mhz[:10] = 345
    assert kinds(trace) == ["clocks"]


def test_the_memorys_clock_is_watched_too() -> None:
    trace = constant(50)
    trace.mem_mhz[25:] = 1593
    (warning,) = find_warnings(trace)
    assert warning.text == "memory clocks not steady: from 1593 to 3201 MHz while timed"


def test_a_steady_clock_below_the_greatest_is_steady() -> None:
    assert find_warnings(constant(50, sm_mhz=1200, reasons=APPLICATIONS_CLOCKS_SETTING)) == ()


def test_a_process_counts_while_launches_are_timed_and_not_before_or_after() -> None:
    def shared(first: float, last: float) -> list[str]:
        trace = replace(constant(50), timed=((0.3, 0.5), (0.7, 0.9)))
        return kinds(replace(trace, processes=(Process(7, "train", float("nan"), first, last),)))

    assert shared(0.0, 0.2) == []
    assert shared(0.55, 0.65) == []
    assert shared(0.95, 1.0) == []
    assert shared(0.0, 0.3) == shared(0.0, 2.0) == shared(0.4, 0.4) == ["shared"]


def test_several_processes_are_one_warning() -> None:
    processes = (Process(7, "train", 2**30, 0, 1), Process(8, "", float("nan"), 0, 1))
    (warning,) = find_warnings(replace(constant(50), processes=processes))
    assert warning.text == "other processes use this GPU: train (pid 7, 1024 MiB), unnamed (pid 8)"


@pytest.mark.parametrize("column", COLUMNS[1:])
def test_a_missing_column_costs_only_what_it_would_have_said(column: str) -> None:
    whole = recorded("throttled")
    trace = replace(whole, **{column: np.full(len(whole.t), np.nan)})  # type: ignore[arg-type]
    lost = {"sm_mhz": ["power"], "reasons": ["clocks"]}
    assert kinds(trace) == lost.get(column, ["clocks", "power"])
    assert all("nan" not in warning.text for warning in find_warnings(trace))


def test_readings_that_are_missing_in_between_are_left_out() -> None:
    trace = recorded("throttled")
    trace.sm_mhz[::3] = trace.reasons[1::3] = np.nan
    assert kinds(trace) == ["clocks", "power"]


def test_without_any_reading_there_is_nothing_to_warn_of_and_the_reason_is_kept() -> None:
    trace = DeviceReadings.without("NVML Shared Library Not Found")
    assert find_warnings(trace) == ()
    assert len(trace.t) == len(trace.is_timed) == 0
    assert [(m.reading, m.reason) for m in trace.missing] == [("device state", "NVML Shared Library Not Found")]


def test_a_single_reading_can_be_taken_out() -> None:
    trace = recorded("throttled")
    at = int(np.flatnonzero(trace.reasons)[0])
    sample = trace.sample(at)
    assert sample.sm_mhz == trace.sm_mhz[at] < 1980
    assert sample.throttles == ("SwPowerCap",)
    assert trace.sample(0).throttles == ()
    assert DeviceSample(0, *[float("nan")] * 6).throttles == ()
