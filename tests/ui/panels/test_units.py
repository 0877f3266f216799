"""Times that stand beside each other have one unit, in every panel and in the headline."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from PyQt6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from tests.samples import make_record
from tests.ui.panels.on_ceilings import CEILINGS
from workbench.run.ceilings import save_ceilings
from workbench.run.request import Problem
from workbench.ui.headline.strip import Headline
from workbench.ui.panels import PANELS
from workbench.ui.panels.bases.panel import Panel
from workbench.ui.panels.latency.panel import LatencyPanel
from workbench.ui.theme import load_theme

PROBLEM = Problem(32, 64, 16)
UNIT = re.compile(r"\d[\d.,]* (µs|ms)\b|, (µs|ms)\b")
SHOWS = [panel for panel in PANELS if panel.shows_run]


def texts_of(view: QWidget) -> list[str]:
    """What is read in `view`: labels, and the names of axes."""
    if isinstance(view, Headline):
        return [view.text()]
    texts = [label.text() for label in view.findChildren(QLabel) if label.isVisibleTo(view)]
    plots = [getattr(view, name).plot for name in ("samples_plot", "trend_plot") if hasattr(view, name)]
    return [*texts, *(plot.getAxis("left").labelText for plot in plots)]


@pytest.mark.parametrize(("kernel_us", "baseline_us"), [(1200.0, 900.0), (900.0, 1200.0), (700.0, 1900.0)])
@pytest.mark.parametrize("protocol", ["block", "cold"])
@pytest.mark.parametrize("kind", [*SHOWS, Headline], ids=lambda kind: kind.__name__)
def test_times_beside_each_other_have_one_unit(
    qtbot: QtBot,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: type[Panel] | type[Headline],
    protocol: str,
    kernel_us: float,
    baseline_us: float,
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    save_ceilings(CEILINGS)
    view = kind(load_theme("dark"))
    qtbot.addWidget(view)
    view.resize(1600, 500)
    view.show()
    shown = make_record(1, PROBLEM, kernel_us=kernel_us, baseline_us=baseline_us, protocol=protocol)
    if isinstance(view, Panel):
        view.set_history([shown, make_record(2, PROBLEM, kernel_us=3 * kernel_us, protocol=protocol)])
    view.show_run(shown)
    view.tick()
    QApplication.processEvents()
    units = [unit for text in texts_of(view) for unit in UNIT.findall(re.sub("<[^>]*>", "", text))]
    found = {one for pair in units for one in pair if one}
    assert len(found) <= 1, texts_of(view)
    assert found or kind not in (Headline, LatencyPanel)
