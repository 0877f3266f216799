"""The form: what to run, checked on every keystroke."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import ClassVar

from PyQt6.QtCore import QSize, Qt, pyqtSignal
from PyQt6.QtWidgets import QFrame, QGridLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from workbench.analysis.presets import PRESETS, find_preset
from workbench.analysis.validate import Fault
from workbench.run.events import Failed, Ready
from workbench.run.request import RunRequest, look_up
from workbench.ui.form.estimate import EstimateLabel
from workbench.ui.form.fields import Choice, NumberField
from workbench.ui.form.offers import choice_of, show_choices, show_hints
from workbench.ui.form.rows import Row, add_rows, add_title, make_row, unreadable
from workbench.ui.form.rules import FormRules, Settled, is_preset
from workbench.ui.form.specs import (
    BEST_TILE_TIP,
    CUSTOM,
    FIELDS,
    GROUPS,
    SDPA_TIPS,
    TILE_GROUP,
    make_preset_row,
    step_text,
)
from workbench.ui.form.state import FormState, FormStep, with_values
from workbench.ui.places import Place

LEAST_WIDTH = 304  # with the scroll bar of a low window beside it, every name and number is still whole


class Controls(QWidget):
    """Edits a RunRequest. What cannot work is said under its field, before anything is started.

    `requestChanged` carries the request after every change, or None while it cannot work; `deviceChanged`
    comes first if the device has changed to one that is not known to be impossible. `stepped` carries each change that
    somebody has made as a step that can be taken back, `rested` says that a field is no longer typed in. What has no
    field here is kept from the last `set_request`.
    """

    name: ClassVar[str] = "controls"
    title: ClassVar[str] = "Setup"
    place: ClassVar[Place] = Place.LEFT

    requestChanged = pyqtSignal(object)  # RunRequest | None
    deviceChanged = pyqtSignal(str)
    stepped = pyqtSignal(object)  # FormStep
    rested = pyqtSignal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(self.name)
        self.setMinimumWidth(LEAST_WIDTH)
        self._base = self._last = RunRequest(PRESETS[0].problem)
        self._open: RunRequest | None = None  # what was asked for while its tile could not be chosen yet
        self._kv_heads_chosen = False  # else they follow the heads
        self._rules = FormRules()
        self._notes: Mapping[str, str] = {}
        self._faults: tuple[Fault, ...] = ()
        self._device = self._base.device
        self._filling = False
        self._rows = {s.name: make_row(s.make(), s.name, s.label, s.unit, s.tip) for s in FIELDS}
        self._preset = make_preset_row()
        self._best = QPushButton("Best tile")
        self._best.setObjectName("best_tile")
        self._best.setToolTip(BEST_TILE_TIP)
        self._best.clicked.connect(self.use_best_tile)
        self._general = QLabel()  # faults of what has no field here
        self._general.setObjectName("general_fault")
        self._general.setProperty("role", "fault")
        self._general.setWordWrap(True)
        self._estimate = EstimateLabel()
        self._build()
        self._fill(FormState(self._base))
        self._state = self.state()
        self._check()
        for name, row in self._rows.items():
            row.field.changed.connect(partial(self._on_changed, name))
            if isinstance(row.field, NumberField):
                row.field.editingFinished.connect(self.rested)
        self._preset.field.changed.connect(self._on_preset)

    def request(self) -> RunRequest:
        """What the form says now, also if it cannot work; a field without a number counts as 0."""
        return with_values(self._base, {name: row.field.value() for name, row in self._rows.items()})

    def faults(self) -> tuple[Fault, ...]:
        """What cannot work about it, in the order of the form."""
        return self._faults

    def set_request(self, request: RunRequest, step: str = "") -> None:
        """Show `request`; exactly one `requestChanged` follows.

        `step` says what that is for whom it was done by, who may take it back; "" is for what the program does itself.
        What its tile leaves open is chosen as the engine would, once that is known.
        """
        chosen = self._rules.with_chosen_tile(request)
        self._open = chosen if chosen.auto_tile else None
        shown = replace(chosen, auto_tile=())
        self._show(FormState(shown, shown.problem.kv_heads != shown.problem.heads), step)

    def state(self) -> FormState:
        """All that the form holds, also what is no number."""
        fields = ((name, row.field) for name, row in self._rows.items())
        typed = ((name, f.text()) for name, f in fields if isinstance(f, NumberField) and not f.is_number())
        return FormState(self.request(), self._kv_heads_chosen, tuple(typed))

    def restore(self, state: FormState) -> None:
        """Show what `state` gave; exactly one `requestChanged` follows, and no `stepped`."""
        self._open = None
        self._show(state)

    def hear_down(self, failure: Failed) -> None:
        """Learn that no engine could be started: where that is for want of a GPU, another device must be chosen."""
        if failure.kind == "invalid" and self.request().device == "cuda":  # the others are always there
            self._learn(replace(self._rules, refused={"cuda": failure.message}))

    def _show(self, state: FormState, step: str = "") -> None:
        self._base = state.request
        self._kv_heads_chosen = state.kv_heads_chosen
        self._notes = {}
        self._fill(state)
        self._announce(step)

    def set_ready(self, ready: Ready) -> None:
        """Offer the kernels and backends that the engine has announced, and check against its device.

        `requestChanged` follows only if that changes what cannot work.
        """
        choice_of(self._rows, "kernel").set_names(
            {k.name: f"{k.spec.title}: {k.spec.description}" for k in ready.kernels}
        )
        described = {b.name: b.description for b in ready.baselines if b.description}
        choice_of(self._rows, "sdpa").set_names({**SDPA_TIPS, **described})
        self._rows["device"].field.setToolTip(f"Where it runs: now {ready.device.name}, {ready.device.mode_label}.")
        self._learn(FormRules(ready))
        awaited, self._open = self._open, None
        if awaited is not None and self.request() == replace(awaited, auto_tile=()):
            self.set_request(awaited)

    def _learn(self, rules: FormRules) -> None:
        """Judge by `rules` from now on; `requestChanged` follows only if that changes what cannot work."""
        self._rules, before = rules, self._faults
        self._check()
        if self._faults != before:
            self.requestChanged.emit(None if self._faults else self.request())

    def use_best_tile(self) -> None:
        """Set the tile to the best one known for what the form says; nothing happens where none is known."""
        request = self.request()
        tile = self._rules.best_tile(request)
        if tile is not None:
            notes = {"block_m": "this is the best tile known already"} if tile == request.tile else {}
            self._take(Settled(replace(request, tile=tile), notes), f"best tile {tile.label}")

    def set_seconds_per_tile(self, seconds: float) -> None:
        """Estimate with what one tile update took on this machine's interpreter."""
        self._estimate.seconds_per_tile = seconds
        self._show_estimate()

    def sizeHint(self) -> QSize:
        """As narrow as the fields allow, and as tall as they need."""
        return QSize(LEAST_WIDTH, 640)

    def _build(self) -> None:
        form = QWidget()
        form.setObjectName("form")
        grid = QGridLayout(form)
        grid.setContentsMargins(10, 6, 10, 8)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(2)
        grid.setColumnStretch(1, 1)
        add_rows(grid, [self._preset])
        self._add_fields(grid)
        for label in (self._general, self._estimate):
            grid.addWidget(label, grid.rowCount(), 0, 1, 3)
        grid.setRowStretch(grid.rowCount(), 1)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidget(form)
        bar = scroll.verticalScrollBar()
        scroll.setMinimumWidth(form.minimumSizeHint().width() + (bar.sizeHint().width() if bar else 0))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(scroll)

    def _add_fields(self, grid: QGridLayout) -> None:
        for group, specs in GROUPS.items():
            add_title(grid, group, self._best if group == TILE_GROUP else None)
            lines: list[list[Row]] = []
            for spec in specs:
                lines += [] if spec.beside else [[]]
                lines[-1].append(self._rows[spec.name])
            for line in lines:
                add_rows(grid, line)

    def _fill(self, state: FormState) -> None:
        self._filling = True
        typed = dict(state.typed)
        for name, row in self._rows.items():
            if name in typed and isinstance(row.field, NumberField):
                row.field.set_text(typed[name])
            else:
                row.field.set_value(look_up(state.request, name))
        self._filling = False

    def _on_changed(self, name: str) -> None:
        if self._filling:
            return
        request, field = self.request(), self._rows[name].field
        match name:
            case "kernel":
                settled = self._rules.with_kernel(request, self._last)
            case "dtype" | "precision":
                settled = self._rules.with_dtype(request, self._last)
            case "heads" if not self._kv_heads_chosen:
                settled = self._rules.with_heads(request)
            case _:
                self._kv_heads_chosen = self._kv_heads_chosen or name == "kv_heads"
                settled = Settled(request)
        self._take(settled, step_text(name, request, field), name if isinstance(field, NumberField) else "")

    def _on_preset(self) -> None:
        name = str(self._preset.field.value())
        if not self._filling and name != CUSTOM:
            self._take(self._rules.with_preset(self.request(), find_preset(name)), f"preset {name}")

    def _take(self, settled: Settled, step: str, field: str = "") -> None:
        """Show what has followed a change; fields that are as they were keep their text, also one that is no number."""
        now = self.request()
        self._filling = True
        for name, row in self._rows.items():
            value = look_up(settled.request, name)
            if value != look_up(now, name):
                row.field.set_value(value)
        self._filling = False
        self._notes = settled.notes
        self._announce(step, field)

    def _announce(self, step: str, field: str = "") -> None:
        """Tell what has changed; `step` in words, and in which typed field, if it can be taken back."""
        request = self._last = self.request()
        before, self._state = self._state, self.state()
        self._check()
        if step and self._state != before:
            self.stepped.emit(FormStep(before, self._state, step, field))
        is_possible = all(fault.field != "device" for fault in self._faults)
        if request.device != self._device and is_possible:
            self._device = request.device
            self.deviceChanged.emit(request.device)
        self.requestChanged.emit(None if self._faults else request)

    def _check(self) -> None:
        """Find the faults, show each under its field, and bring what depends on the request up to date."""
        request = self.request()
        order = [spec.name for spec in FIELDS]
        found = (*unreadable(self._rows), *self._rules.faults(request))
        self._faults = tuple(sorted(found, key=lambda f: order.index(f.field) if f.field in order else len(order)))
        messages: dict[str, str] = {}
        for fault in self._faults:
            messages.setdefault(fault.field, fault.message)
        for name, row in self._rows.items():
            row.show_fault(messages.pop(name, ""))
        self._general.setText("\n".join(messages.values()))
        self._general.setVisible(bool(messages))
        self._show_preset(request)
        show_choices(self._rows, self._rules, request)
        show_hints(self._rows, self._rules, request, self._notes)
        self._best.setEnabled(self._rules.best_tile(request) is not None)
        self._show_estimate()

    def _show_preset(self, request: RunRequest) -> None:
        match = next((preset.name for preset in PRESETS if is_preset(request, preset)), CUSTOM)
        self._filling = True
        assert isinstance(self._preset.field, Choice)
        self._preset.field.set_value(match)
        self._filling = False

    def predicted_seconds(self) -> float:
        """How long a run of what the form says takes on the interpreter; 0 on a GPU."""
        return self._estimate.seconds(self.request(), self._rules.ready)

    def _show_estimate(self) -> None:
        self._estimate.show_seconds(0.0 if self._faults else self.predicted_seconds())
