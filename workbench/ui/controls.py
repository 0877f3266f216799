"""The form: what to run, checked on every keystroke."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from PyQt6.QtCore import QSize, Qt, pyqtSignal
from PyQt6.QtWidgets import QFrame, QGridLayout, QLabel, QScrollArea, QVBoxLayout, QWidget

from workbench.estimate import ASK_ABOVE_SECONDS, SECONDS_PER_TILE, run_seconds
from workbench.model import INPUT_DISTRIBUTIONS, SDPA_CHOICES, Problem, Ready, RunRequest, TileConfig
from workbench.presets import PRESETS, Preset, find_preset
from workbench.ui.fields import Choice, NumberField, set_property, show_value
from workbench.ui.form import CUSTOM, FIELDS, add_row, make_preset_row, make_row
from workbench.ui.words import duration_text
from workbench.validate import Fault, find_faults

LEAST_WIDTH = 286  # with the scroll bar of a low window beside it, 0.002 is still whole


class Controls(QWidget):
    """Edits a RunRequest. What cannot work is said under its field, before anything is started.

    `requestChanged` carries the request after every change, or None while it cannot work; `deviceChanged`
    comes first if the device has changed. What has no field here is kept from the last `set_request`.
    """

    requestChanged = pyqtSignal(object)  # RunRequest | None
    deviceChanged = pyqtSignal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("controls")
        self.setMinimumWidth(LEAST_WIDTH)
        self._base = RunRequest(PRESETS[0].problem)
        self._ready: Ready | None = None
        self._seconds_per_tile = SECONDS_PER_TILE
        self._faults: tuple[Fault, ...] = ()
        self._device = self._base.device
        self._filling = False
        self._rows = {s.name: make_row(s.make(), s.name, s.label, s.unit, s.tip) for s in FIELDS}
        self._preset = make_preset_row()
        self._general = QLabel()  # faults of what has no field here
        self._general.setObjectName("general_fault")
        self._general.setProperty("role", "fault")
        self._estimate = QLabel()
        self._estimate.setObjectName("estimate")
        for label in (self._general, self._estimate):
            label.setWordWrap(True)
        self._build()
        self._fill(self._base)
        self._check()
        for row in self._rows.values():
            row.field.changed.connect(self._on_changed)
        self._preset.field.changed.connect(self._on_preset)

    def request(self) -> RunRequest:
        """What the form says now, also if it cannot work; a field without a number counts as 0."""
        values = {name: row.field.value() for name, row in self._rows.items()}
        problem = replace(self._base.problem, **_of(Problem, values))
        tile = replace(self._base.tile, **_of(TileConfig, values))
        return replace(self._base, problem=problem, tile=tile, **_of(RunRequest, values))

    def faults(self) -> tuple[Fault, ...]:
        """What cannot work about it, in the order of the form."""
        return self._faults

    def set_request(self, request: RunRequest) -> None:
        """Show `request`; exactly one `requestChanged` follows."""
        self._base = request
        self._fill(request)
        self._announce()

    def set_ready(self, ready: Ready) -> None:
        """Offer the kernels and backends that the engine has announced, and check against its device.

        `requestChanged` follows only if that changes what cannot work.
        """
        self._ready = ready
        before = self._faults
        titles = {v.name: f"{v.title}: {v.description}" for v in ready.variants}
        self._choice("kernel").set_names(titles)
        self._choice("device").setToolTip(f"Where it runs: now {ready.device.name}, {ready.device.mode_label}.")
        self._check()
        if self._faults != before:
            self.requestChanged.emit(None if self._faults else self.request())

    def set_seconds_per_tile(self, seconds: float) -> None:
        """Estimate with what one tile update took on this machine's interpreter."""
        self._seconds_per_tile = seconds
        self._show_estimate()

    def sizeHint(self) -> QSize:
        """As narrow as the fields allow, and as tall as they need."""
        return QSize(290, 640)

    def _build(self) -> None:
        form = QWidget()
        form.setObjectName("form")
        grid = QGridLayout(form)
        grid.setContentsMargins(10, 6, 10, 8)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(4)
        grid.setColumnStretch(1, 1)
        add_row(grid, self._preset)
        group = ""
        for spec in FIELDS:
            if spec.group != group:
                group = spec.group
                title = QLabel(group)
                title.setProperty("role", "group")
                grid.addWidget(title, grid.rowCount(), 0, 1, 3)
            add_row(grid, self._rows[spec.name])
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

    def _fill(self, request: RunRequest) -> None:
        self._filling = True
        for name, row in self._rows.items():
            show_value(row.field, _look_up(request, name))
        self._filling = False

    def _choice(self, name: str) -> Choice:
        field = self._rows[name].field
        assert isinstance(field, Choice)
        return field

    def _on_changed(self) -> None:
        if not self._filling:
            self._announce()

    def _on_preset(self) -> None:
        name = str(self._preset.field.value())
        if self._filling or name == CUSTOM:
            return
        preset = find_preset(name)
        self.set_request(
            replace(self.request(), problem=preset.problem, tile=preset.tile, rtol=preset.rtol, atol=preset.atol)
        )

    def _announce(self) -> None:
        request = self.request()
        self._check()
        if request.device != self._device:
            self._device = request.device
            self.deviceChanged.emit(request.device)
        self.requestChanged.emit(None if self._faults else request)

    def _check(self) -> None:
        """Find the faults, show each under its field, and bring what depends on the request up to date."""
        request = self.request()
        order = [spec.name for spec in FIELDS]
        found = (*self._unreadable(), *self._find(request))
        self._faults = tuple(sorted(found, key=lambda f: order.index(f.field) if f.field in order else len(order)))
        messages: dict[str, str] = {}
        for fault in self._faults:
            messages.setdefault(fault.field, fault.message)
        for name, row in self._rows.items():
            row.show_fault(messages.pop(name, ""))
        self._general.setText("\n".join(messages.values()))
        self._general.setVisible(bool(messages))
        self._show_preset(request)
        self._show_choices(request)
        self._show_estimate()

    def _unreadable(self) -> tuple[Fault, ...]:
        """Fields whose text is no number; without them 0 would pass for a seed or a tolerance."""
        numbers = ((name, row.field) for name, row in self._rows.items() if isinstance(row.field, NumberField))
        return tuple(
            Fault(name, f"{self._rows[name].label.text()} is {field.text() or 'empty'}; allowed are {field.allowed}")
            for name, field in numbers
            if not field.is_number()
        )

    def _find(self, request: RunRequest) -> tuple[Fault, ...]:
        if self._ready is None:
            return find_faults(request)
        return find_faults(request, self._ready.device, self._ready.variants, self._ready.baselines)

    def _show_preset(self, request: RunRequest) -> None:
        match = next((preset.name for preset in PRESETS if _is_preset(request, preset)), CUSTOM)
        self._filling = True
        show_value(self._preset.field, match)
        self._filling = False

    def _show_choices(self, request: RunRequest) -> None:
        """Disable the kernels and backends that would bring a fault of their own, with its line as the reason."""
        meaning = INPUT_DISTRIBUTIONS.get(request.problem.inputs, "unknown")
        self._choice("inputs").setToolTip(f"Values of Q, K and V: {meaning}.")
        if self._ready is None:
            return
        faults = ((name, fault) for name in SDPA_CHOICES for fault in self._find(replace(request, sdpa=name)))
        self._choice("sdpa").set_reasons({name: fault.message for name, fault in faults if fault.field == "sdpa"})
        anyway = find_faults(request)
        variants = self._ready.variants
        reasons: dict[str, str] = {}
        for variant in variants:
            own = set(find_faults(replace(request, kernel=variant.name), variants=variants)).difference(anyway)
            if own:
                reasons[variant.name] = "; ".join(sorted(fault.message for fault in own))
        self._choice("kernel").set_reasons(reasons)

    def predicted_seconds(self) -> float:
        """How long a run of what the form says takes on the interpreter; 0 on a GPU."""
        request = self.request()
        return run_seconds(request, self._seconds_per_tile) if self._is_interpreted(request) else 0.0

    def _is_interpreted(self, request: RunRequest) -> bool:
        if request.device == "auto":
            return self._ready is not None and self._ready.device.mode == "interpreter"
        return request.device == "interpreter"

    def _show_estimate(self) -> None:
        seconds = 0.0 if self._faults else self.predicted_seconds()
        if seconds:
            self._estimate.setText(f"about {duration_text(seconds)} on the interpreter")
            set_property(self._estimate, "level", "warn" if seconds > ASK_ABOVE_SECONDS else "")
        self._estimate.setVisible(seconds > 0)


def _is_preset(request: RunRequest, preset: Preset) -> bool:
    return (request.problem, request.tile, request.rtol, request.atol) == (
        preset.problem,
        preset.tile,
        preset.rtol,
        preset.atol,
    )


def _of(part: type[Problem] | type[TileConfig] | type[RunRequest], values: Mapping[str, Any]) -> dict[str, Any]:
    """Those of `values` that are fields of `part`."""
    names = {f.name for f in fields(part)}
    return {name: value for name, value in values.items() if name in names}


def _look_up(request: RunRequest, name: str) -> object:
    """The value of the field `name`, wherever in the request it is."""
    owner = next(part for part in (request, request.problem, request.tile) if hasattr(part, name))
    return getattr(owner, name)
