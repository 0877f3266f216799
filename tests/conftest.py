"""What all tests share: an offscreen Qt, and GPU tests that are skipped, and counted, where there is no GPU."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
# Triton decides when it is imported whether kernels are interpreted, so this comes before any test is read. Tests of
# how the program decides start it without this variable.
if not Path("/dev/nvidiactl").exists():
    os.environ["TRITON_INTERPRET"] = "1"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what is marked `gpu` where the NVIDIA driver shows no device."""
    if Path("/dev/nvidiactl").exists():
        return
    for item in items:
        if item.get_closest_marker("gpu"):
            item.add_marker(pytest.mark.skip(reason="needs an NVIDIA GPU"))


def pytest_collection_finish() -> None:
    """Collect garbage between tests only, as the window does between events: `workbench.ui.collector` says why."""
    gc.disable()
    gc.freeze()  # what the tests import stays


def pytest_runtest_logfinish() -> None:
    """Collect what a test left, by Python's own thresholds."""
    from workbench.ui.collector import collect_what_is_due

    collect_what_is_due()
