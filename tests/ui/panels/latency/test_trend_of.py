"""The trend is of whatever metric is asked for: each entry of METRICS is in its list, with its own unit and scale."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PyQt6.QtWidgets import QApplication, QStyle, QStyleOptionComboBox
from pytestqt.qtbot import QtBot

from kernels.plain.tiles import TileConfig
from tests.samples import GPU, make_record
from tests.ui.panels.on_ceilings import CEILINGS
from workbench.analysis.metrics import METRICS, Metric
from workbench.run.record import RunRecord
from workbench.run.request import Problem
from workbench.ui.panels.latency.panel import LatencyPanel
from workbench.ui.panels.latency.trend.card import card_lines
from workbench.ui.theme import load_theme

PROBLEM = Problem(32, 64, 16)


def record_of(number: int) -> RunRecord:
    record = make_record(number, PROBLEM, TileConfig(16 * number, 16), kernel_us=100.0 * number, protocol="cold")
    return replace(record, started=replace(record.started, device=GPU, ceilings=CEILINGS))


@pytest.fixture
def panel(qtbot: QtBot) -> LatencyPanel:
    panel = LatencyPanel(load_theme("dark"))
    qtbot.addWidget(panel)
    panel.resize(900, 500)
    panel.show()
    records = [record_of(number) for number in (1, 2, 3)]
    panel.set_history(records)
    panel.show_run(records[2])
    panel.tick()
    return panel


def ask_for(panel: LatencyPanel, metric: Metric) -> None:
    panel.metric_box.setCurrentIndex(METRICS.index(metric))
    panel.tick()


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_every_metric_can_be_the_trend(panel: LatencyPanel, metric: Metric) -> None:
    assert metric.title in panel.metric_box.itemText(METRICS.index(metric))
    ask_for(panel, metric)
    plot, records = panel.trend_plot, [record_of(number) for number in (1, 2, 3)]
    kernels = [record.measurement("kernel") for record in records]
    values = [metric.value(kernel, CEILINGS) for kernel in kernels if kernel is not None]
    known = [value for value in values if value is not None]
    assert plot.y.tolist() == pytest.approx(plot.scale.to_axis(known).tolist())
    assert plot.plot.getAxis("left").style["showValues"] is bool(known)
    assert ("not known" in plot.plot.getAxis("left").labelText) is not bool(known)
    if known:
        assert plot.trend is not None
        lines = card_lines(plot.runs[-1:], plot.trend, plot.looks, panel.theme)
        assert any(metric.text(known[-1]) in line for line in lines)
        assert metric.unit in ("µs", "") or plot.scale.unit.startswith(metric.unit)


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_the_box_has_room_for_the_metric_it_names(panel: LatencyPanel, metric: Metric) -> None:
    ask_for(panel, metric)
    QApplication.processEvents()
    box = panel.metric_box
    option = QStyleOptionComboBox()
    box.initStyleOption(option)
    style = box.style()
    assert style is not None
    field = style.subControlRect(QStyle.ComplexControl.CC_ComboBox, option, QStyle.SubControl.SC_ComboBoxEditField, box)
    assert box.fontMetrics().horizontalAdvance(box.currentText()) <= field.width()
    assert panel.trend_row.rect().contains(box.geometry())


def test_small_numbers_stand_on_the_axis_with_a_power_of_ten(panel: LatencyPanel) -> None:
    ask_for(panel, next(metric for metric in METRICS if metric.name == "max_abs_error"))
    assert panel.trend_plot.scale.unit.startswith("×1e-")
    assert np.all(panel.trend_plot.y >= 0.1)


def test_the_axis_below_the_trend_has_room_for_its_labels_whatever_the_width(panel: LatencyPanel) -> None:
    """How high it must be follows from how wide the layout makes the plot, which is known after a draw alone."""
    plot = panel.trend_plot
    for width in (900, 480, 560, 1200, 400):
        panel.resize(width, 500)
        for _ in range(4):
            QApplication.processEvents()
            panel.tick()
        assert plot.axis.height() == pytest.approx(plot.axis.needed_height(plot.plot.vb.width()), abs=1)
