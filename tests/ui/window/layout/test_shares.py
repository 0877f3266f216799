"""Docks keep their shares of the window, whatever sizes it takes, and over a restart."""

from __future__ import annotations

import pytest
from PyQt6.QtCore import QPoint, QRect
from PyQt6.QtWidgets import QApplication

from tests.ui.conftest import MakeWindow
from tests.ui.hands import drag
from workbench.ui.sizes import LEAST_SIZE
from workbench.ui.window.layout.shares import scaled
from workbench.ui.window.layout.workspaces import WORKSPACES, Workspace
from workbench.ui.window.main import MainWindow

SIZE, LARGE = (1440, 900), (2560, 1440)
EACH_WORKSPACE = pytest.mark.parametrize("workspace", WORKSPACES, ids=lambda workspace: workspace.name)


def tiles(window: MainWindow, *size: int) -> dict[str, tuple[int, int]]:
    """Width and height of each dock that is seen, in a window of `size`."""
    if size:
        window.resize(*size)
    for _ in range(4):
        QApplication.processEvents()
    docks = {name: dock for name, dock in window.docks.named().items() if dock.isVisible()}
    return {name: (d.width(), d.height()) for name, d in docks.items() if d.geometry().right() >= 0}


@EACH_WORKSPACE
@pytest.mark.parametrize("steps", [1, 25], ids=["in one", "in steps"])
def test_shares_come_back_with_the_size(make_test_window: MakeWindow, workspace: Workspace, steps: int) -> None:
    window = make_test_window()
    window.docks.enter(workspace)
    before, at = tiles(window, *SIZE), SIZE
    for goal in (LARGE, LEAST_SIZE, LARGE, SIZE):  # in the least of them some docks are forced wider than their share
        for step in range(1, steps + 1):
            tiles(window, *(a + (b - a) * step // steps for a, b in zip(at, goal, strict=True)))
        at = goal
    assert tiles(window) == before


@EACH_WORKSPACE
def test_a_large_window_has_the_same_shares(make_test_window: MakeWindow, workspace: Workspace) -> None:
    window = make_test_window()
    window.docks.enter(workspace)
    small, large = tiles(window, *SIZE), tiles(window, *LARGE)
    form = small.pop("controls", (0, 0))[0]
    assert large.pop("controls", (0, 0))[0] == form
    for side in (0, 1):
        first = next(iter(small))
        grown = large[first][side] / small[first][side]
        for name in small:  # the borders between docks, and tabs below them, do not grow
            assert large[name][side] == pytest.approx(grown * small[name][side], abs=30)


@EACH_WORKSPACE
def test_shares_come_back_after_a_restart(make_test_window: MakeWindow, workspace: Workspace) -> None:
    window = make_test_window()
    window.docks.enter(workspace)
    tiles(window, *SIZE)
    docks = [dock for dock in window.docks.all() if dock.isVisible() and dock.geometry().right() >= 0]
    with_border = sorted(docks, key=lambda dock: dock.x())
    drag_border(window, with_border[0].geometry(), 40)
    before = tiles(window)
    window.close()
    again = make_test_window("again.tilescope")
    assert again.docks.workspace is workspace
    found = tiles(again, *SIZE)
    assert set(found) == set(before)
    for name, size in found.items():
        assert size == pytest.approx(before[name], abs=2)


def test_what_a_hand_has_dragged_is_what_is_kept(make_test_window: MakeWindow) -> None:
    window = make_test_window()
    before = tiles(window, *SIZE)
    drag_border(window, window.docks.dock("latency").geometry(), -120)
    dragged = tiles(window)
    assert dragged["latency"][0] == pytest.approx(before["latency"][0] - 120, abs=6)
    tiles(window, *LARGE)
    assert tiles(window, *SIZE) == dragged


def test_another_tab_in_front_leaves_the_shares(make_test_window: MakeWindow) -> None:
    window = make_test_window()
    before = tiles(window, *SIZE)
    window.widget("roofline")
    tiles(window, *LARGE)
    window.widget("results")
    assert tiles(window, *SIZE) == before


def test_tiles_that_met_meet_in_any_area() -> None:
    noted = {"form": QRect(0, 0, 280, 600), "a": QRect(285, 0, 400, 300), "b": QRect(285, 305, 400, 295)}
    noted["c"] = QRect(690, 0, 310, 600)
    for width in range(700, 3000, 97):
        moved = scaled(noted, QRect(0, 90, width, width // 2), "form")
        assert moved["form"].width() == 280
        assert moved["a"].width() == moved["b"].width()
        assert moved["c"].right() == width - 1
        assert moved["b"].bottom() == moved["c"].bottom()


def drag_border(window: MainWindow, left: QRect, by: int) -> None:
    """Drag the border right of `left` by so many pixels."""
    drag(window, QPoint(left.right() + 3, left.center().y()), QPoint(by, 0))
