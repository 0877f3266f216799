"""What all tests share: an offscreen Qt, and GPU tests that are skipped, and counted, where there is no GPU."""

from __future__ import annotations

import gc
import os
from importlib.util import find_spec
from pathlib import Path

import pytest

HAS_QT = find_spec("PyQt6") is not None  # the kernels' tests run without

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
# Triton decides when it is imported whether kernels are interpreted, so this comes before any test is read. Tests of
# how the program decides start it without this variable.
if not Path("/dev/nvidiactl").exists():
    os.environ["TRITON_INTERPRET"] = "1"


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Know the settings in pyproject of plugins that are not there: an unknown one is an error."""
    for setting, names in (("timeout", ("timeout", "pytest_timeout")), ("qt_api", ("pytest-qt", "pytestqt.plugin"))):
        if not any(map(pluginmanager.hasplugin, names)):
            parser.addini(setting, f"of {names[0]}, which is not installed")


def pytest_configure(config: pytest.Config) -> None:
    """Know the mark of pytest-timeout, installed or not."""
    config.addinivalue_line("markers", "timeout(seconds): the longest that the test may take, by pytest-timeout")


def pytest_sessionstart() -> None:
    """Let the engines of all tests in this process have their share of a busy machine."""
    from tests import evenly
    from workbench.engine.host import process

    process.serve = evenly.serve  # type: ignore[attr-defined]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what is marked `gpu` where the NVIDIA driver shows no device."""
    if Path("/dev/nvidiactl").exists():
        return
    for item in items:
        if item.get_closest_marker("gpu"):
            item.add_marker(pytest.mark.skip(reason="needs an NVIDIA GPU"))


def pytest_collection_finish() -> None:
    """Collect garbage between tests only, as the window does between events: `workbench.ui.collector` says why."""
    if not HAS_QT:
        return
    gc.disable()
    gc.freeze()  # what the tests import stays


def pytest_runtest_logfinish() -> None:
    """Collect what a test left, by Python's own thresholds."""
    if not HAS_QT:
        return
    from workbench.ui.collector import collect_what_is_due

    collect_what_is_due()


def pytest_unconfigure() -> None:
    """Let the end of the process collect what was kept from collection, or Triton's library reports it as leaked."""
    gc.unfreeze()
    gc.enable()
