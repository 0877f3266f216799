"""The first run: the one that the window was asked for, or one that suits the device once it is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from workbench.analysis.presets import WELCOME, find_preset
from workbench.run.events import Ready
from workbench.run.library import Library
from workbench.run.request import RunRequest
from workbench.ui.form.controls import Controls
from workbench.ui.window.control import RunControl
from workbench.ui.window.sessions.resume import Resume
from workbench.ui.window.voice import Voice

DRIVER = Path("/dev/nvidiactl")  # of NVIDIA's driver; whether its GPU can be used, the engine says


class FirstRun:
    """Puts the first run into the form and starts it. What suits the device waits for it, and gives way to the user."""

    def __init__(self, controls: Controls, runs: RunControl, library: Library) -> None:
        self._controls = controls
        self._runs = runs
        self._library = library
        self._untouched = controls.request()
        self.waits_for_device = False  # to run what suits it, once it is known
        self._tile_open = False  # whether the engine is to choose its tile

    def go_on(self, resume: Resume, open_session: Callable[[Path], object], voice: Voice) -> None:
        """Begin where the last time ended: the form as it was, and the offer of that session.

        On the very first start it is what suits the device, which is in the form from the first frame on as far as it
        can be told without the engine.
        """
        kept = resume.form()
        if kept is not None:
            self._controls.set_request(kept)
        if self._library.records():  # of a recording that was asked for
            return
        offer = resume.offer(open_session)
        if kept is None and resume.is_first_start:
            self._controls.set_request(self._welcome("cuda" if DRIVER.exists() else "interpreter"))
            self._untouched = self._controls.request()
            self.waits_for_device = True
        if offer is not None:
            voice.tell(offer)

    def _welcome(self, mode: str) -> RunRequest:
        """What suits a device of that mode, on the device that the form has."""
        preset, device = find_preset(WELCOME[mode]), self._controls.request().device
        return RunRequest(preset.problem, preset.tile, device=device, rtol=preset.rtol, atol=preset.atol)

    def start(self, request: RunRequest) -> None:
        """Run `request` as soon as the engine is there."""
        self._controls.set_request(request)
        self._tile_open = bool(request.auto_tile)
        self._runs.submit(request)

    def on_request_changed(self, request: RunRequest | None) -> None:
        """A form that somebody has changed is theirs."""
        self.waits_for_device = self.waits_for_device and request is not None and request == self._untouched

    def on_ready(self, ready: Ready) -> None:
        """Run what suits the device, if that is awaited and there is no run yet that can be looked at."""
        if self.waits_for_device and not self._library.records():
            self._controls.set_request(self._welcome(ready.device.mode))
            self._runs.run()

    def on_started(self, request: RunRequest) -> None:
        """Put the tile that the engine has chosen into the form, unless something else was entered meanwhile."""
        asked = self._controls.request()
        settled = replace(request, protocol=asked.protocol)  # which the device chooses anew for each run
        if self._tile_open and replace(asked, tile=request.tile) == settled:
            self._controls.set_request(settled)
        self._tile_open = False
