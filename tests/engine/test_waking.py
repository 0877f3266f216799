"""What is done beside a first run touches Triton only once it is imported, and fails without a word."""

from __future__ import annotations

import pytest

from workbench.engine import waking
from workbench.engine.waking import Waking


def test_it_waits_for_triton_and_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    monkeypatch.setattr(waking, "_use_gpu", lambda: done.append("gpu"))
    monkeypatch.setattr(waking, "_hash_triton", lambda: done.append("hash"))
    one = Waking()
    one.go_on()
    one.wait()
    assert done == ["gpu", "hash"]
    Waking().wait()  # nobody said that Triton is there: it ends all the same


def test_what_fails_is_left_to_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    def fail() -> None:
        done.append("failed")
        raise RuntimeError("no GPU")

    monkeypatch.setattr(waking, "_use_gpu", fail)
    monkeypatch.setattr(waking, "_hash_triton", fail)
    Waking().wait()
    assert done == ["failed", "failed"]
