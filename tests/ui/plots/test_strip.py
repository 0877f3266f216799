"""The strip of the device's state: its ranges, what held the clocks back, and what is under the mouse."""

from __future__ import annotations

import numpy as np
import pytest
from PyQt6.QtGui import QPaintDevice
from pytestqt.qtbot import QtBot

from tests.samples import recorded_state
from workbench.run.device_state import SW_POWER_CAP, DeviceReadings
from workbench.run.events import DeviceState
from workbench.ui.files.pictures import take_picture
from workbench.ui.plots import kept_picture
from workbench.ui.plots.kept_picture import FinePainter
from workbench.ui.plots.strip import LANE, DeviceStrip, held_spans
from workbench.ui.theme import load_theme

DARK = load_theme("dark")


@pytest.fixture
def strip(qtbot: QtBot) -> DeviceStrip:
    strip = DeviceStrip(DARK)
    qtbot.addWidget(strip)
    strip.resize(600, strip.sizeHint().height())
    return strip


def test_lanes_have_units_and_ranges(strip: DeviceStrip) -> None:
    strip.show_state(recorded_state("unsteady"))
    assert [(lane.title, lane.range_text) for lane in strip.lanes] == [
        ("SM clock", "345–1,980 MHz"),
        ("power", "123–183 W"),
    ]
    strip.show_state(recorded_state("steady"))
    assert strip.lanes[0].range_text == "1,980 MHz"


def test_what_held_the_clocks_back_is_shaded_where_it_was(strip: DeviceStrip) -> None:
    state = recorded_state("throttled")
    strip.show_state(state)
    bits = np.array([bool(state.readings.sample(i).throttles) for i in range(len(state.readings.t))])
    shaded = np.zeros(len(bits), dtype=bool)
    for begin, end, names in strip.held:
        assert names
        shaded |= (state.readings.t >= begin) & (state.readings.t < end)
    assert bits.any() and not bits.all()
    assert (shaded == bits).all()
    assert "SwPowerCap" in strip.summary()
    # The shade is seen.
    shade = take_picture(strip, 1.0).pixelColor(int(strip._plot().center().x()), int(strip._plot().top()) + 3)
    strip.show_state(recorded_state("steady"))
    plain = take_picture(strip, 1.0).pixelColor(int(strip._plot().center().x()), int(strip._plot().top()) + 3)
    assert shade != plain


def test_a_span_lasts_until_the_next_reading() -> None:
    rows = np.array([[0.02 * i, 1980, 3201, 40, 300, SW_POWER_CAP if i in (1, 2, 5) else 0, 90] for i in range(6)])
    spans = held_spans(DeviceReadings.of_rows(rows))
    assert [(round(a, 3), round(b, 3)) for a, b, _ in spans] == [(0.02, 0.06), (0.1, 0.12)]
    assert held_spans(DeviceReadings.without("nothing")) == []


def test_the_reading_under_the_mouse(strip: DeviceStrip) -> None:
    strip.show_state(recorded_state("throttled"))
    plot = strip._plot()
    text = strip.at(plot.center().x())
    assert "MHz" in text and " W" in text and "SwPowerCap" in text and text.endswith(", timed")
    assert strip.at(plot.left() + 1).endswith("not timed")
    assert strip.at(2) == ""


def test_nothing_to_read_hides_it(strip: DeviceStrip) -> None:
    strip.show_state(recorded_state("steady"))
    assert not strip.isHidden()
    strip.show_state(DeviceState(DeviceReadings.without("no NVML")))
    assert strip.isHidden()
    strip.show_state(recorded_state("steady"))
    strip.show_state(None)
    assert strip.isHidden()


def test_missing_readings_leave_a_lane_without_a_trace(strip: DeviceStrip) -> None:
    rows = np.array([[0.02 * i, 1980, 3201, 40, np.nan, np.nan, 90] for i in range(6)])
    strip.show_state(DeviceState(DeviceReadings.of_rows(rows, timed=((0.0, 0.1),))))
    assert strip.lanes[1].range_text == "not known"
    assert strip.held == []
    assert not take_picture(strip, 1.0).isNull()


@pytest.mark.parametrize("screen", [1.0, 2.0])
def test_a_repaint_of_any_screen_is_not_drawn_as_a_picture_for_a_report(
    strip: DeviceStrip, monkeypatch: pytest.MonkeyPatch, screen: float
) -> None:
    made: list[float] = []

    class Counted(FinePainter):
        def __init__(self, device: QPaintDevice, finer: float) -> None:
            super().__init__(device, finer)
            made.append(finer)

    monkeypatch.setattr(kept_picture, "FinePainter", Counted)
    monkeypatch.setattr(strip, "devicePixelRatioF", lambda: screen)
    strip.show_state(recorded_state("steady"))
    take_picture(strip, screen)
    assert strip._kept.paints == 1 and made == []
    take_picture(strip, 4.0)
    assert made == [4.0 / screen]


def test_the_traces_of_a_small_picture_are_a_pixel_wide(strip: DeviceStrip) -> None:
    strip.show_state(recorded_state("steady"))
    image, color = take_picture(strip, 0.5), DARK.color("accent")
    x = round(0.5 * strip._plot().center().x())
    lane = [image.pixelColor(x, y) for y in range(round(0.5 * LANE))]
    ground = lane[1].blue()
    ink = sum((pixel.blue() - ground) / (color.blue() - ground) for pixel in lane[1:])
    assert ink == pytest.approx(1.0, abs=0.1)
