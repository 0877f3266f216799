"""What a first run would wait for, done beside it: libraries that the GPU loads, a hash of all of Triton, an import."""

from __future__ import annotations

import importlib
import threading
from contextlib import suppress

import torch


class Waking:
    """A thread that does it. `go_on` lets it touch Triton, which must have been imported; `wait` ends with it.

    Whatever fails here is left to the run, which says why.
    """

    def __init__(self) -> None:
        self._may_go_on = threading.Event()
        self._thread = threading.Thread(target=self._work, name="waking", daemon=True)
        self._thread.start()

    def go_on(self) -> None:
        """Triton has been imported."""
        self._may_go_on.set()

    def wait(self) -> None:
        """Wait for its end: what is timed has the process to itself."""
        self._may_go_on.set()
        self._thread.join()

    def _work(self) -> None:
        with suppress(Exception):
            _use_gpu()
        self._may_go_on.wait()
        with suppress(Exception):
            _hash_triton()
        with suppress(ImportError):
            importlib.import_module("scipy.special")  # which judges the first samples


def _use_gpu() -> None:
    """Draw, convert, exponentiate and multiply as inputs and reference do: each loads a library at its first use."""
    scores = torch.randn(1, 1, 16, 16, device="cuda").double()
    (scores.softmax(dim=-1) @ scores.amax(dim=-1, keepdim=True).exp()).float().cpu()


def _hash_triton() -> None:
    """The key of Triton's cache: it reads and hashes all of Triton once, without the interpreter's lock."""
    for module in ("triton.runtime.cache", "triton.compiler.compiler"):  # where it is in newer and in older versions
        key = getattr(importlib.import_module(module), "triton_key", None)
        if key is not None:
            key()
            return
