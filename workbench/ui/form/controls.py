"""The form: what to run, checked on every keystroke."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from functools import partial
from typing import Any, ClassVar

from PyQt6.QtCore import QSize, Qt, pyqtSignal
from PyQt6.QtWidgets import QFrame, QGridLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from kernels.plain.precisions import PRECISIONS
from kernels.plain.spec import LIMITED, KernelSpec
from kernels.plain.tiles import AUTO_SPLITS, TileConfig, resolved_splits
from workbench.analysis.presets import PRESETS, find_preset
from workbench.analysis.validate import Fault
from workbench.run.events import Ready
from workbench.run.protocols import PROTOCOL_CHOICES
from workbench.run.request import DTYPES, INPUT_DISTRIBUTIONS, SDPA_CHOICES, Problem, RunRequest
from workbench.ui.form.estimate import EstimateLabel
from workbench.ui.form.fields import Choice, IntField
from workbench.ui.form.rows import Row, add_rows, add_title, make_row, unreadable
from workbench.ui.form.rules import FormRules, Settled, is_exact, is_preset, look_up
from workbench.ui.form.specs import BEST_TILE_TIP, CUSTOM, FIELDS, GROUPS, SDPA_TIPS, TILE_GROUP, make_preset_row
from workbench.ui.places import Place

LEAST_WIDTH = 304  # with the scroll bar of a low window beside it, every name and number is still whole
NO_GPU = "this machine has no NVIDIA GPU that can be used; python main.py doctor says what is missing"
EXACT_TEXT = "products of 16-bit values are exact in fp32"


class Controls(QWidget):
    """Edits a RunRequest. What cannot work is said under its field, before anything is started.

    `requestChanged` carries the request after every change, or None while it cannot work; `deviceChanged`
    comes first if the device has changed. What has no field here is kept from the last `set_request`.
    """

    name: ClassVar[str] = "controls"
    title: ClassVar[str] = "Setup"
    place: ClassVar[Place] = Place.LEFT

    requestChanged = pyqtSignal(object)  # RunRequest | None
    deviceChanged = pyqtSignal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(self.name)
        self.setMinimumWidth(LEAST_WIDTH)
        self._base = self._last = RunRequest(PRESETS[0].problem)
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
        self._fill(self._base)
        self._check()
        for name, row in self._rows.items():
            row.field.changed.connect(partial(self._on_changed, name))
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
        """Show `request`, whose tile must be a chosen one; exactly one `requestChanged` follows."""
        self._base = replace(request, auto_tile=())
        self._kv_heads_chosen = request.problem.kv_heads != request.problem.heads
        self._notes = {}
        self._fill(request)
        self._announce()

    def set_ready(self, ready: Ready) -> None:
        """Offer the kernels and backends that the engine has announced, and check against its device.

        `requestChanged` follows only if that changes what cannot work.
        """
        self._rules = FormRules(ready)
        before = self._faults
        self._choice("kernel").set_names({k.name: f"{k.spec.title}: {k.spec.description}" for k in ready.kernels})
        described = {b.name: b.description for b in ready.baselines if b.description}
        self._choice("sdpa").set_names({**SDPA_TIPS, **described})
        self._rows["device"].field.setToolTip(f"Where it runs: now {ready.device.name}, {ready.device.mode_label}.")
        self._check()
        if self._faults != before:
            self.requestChanged.emit(None if self._faults else self.request())

    def use_best_tile(self) -> None:
        """Set the tile to the best one known for what the form says; nothing happens where none is known."""
        request = self.request()
        tile = self._rules.best_tile(request)
        if tile is not None:
            notes = {"block_m": "this is the best tile known already"} if tile == request.tile else {}
            self._take(Settled(replace(request, tile=tile), notes))

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

    def _fill(self, request: RunRequest) -> None:
        self._filling = True
        for name, row in self._rows.items():
            row.field.set_value(look_up(request, name))
        self._filling = False

    def _choice(self, name: str) -> Choice:
        field = self._rows[name].field
        assert isinstance(field, Choice)
        return field

    def _on_changed(self, name: str) -> None:
        if self._filling:
            return
        request = self.request()
        match name:
            case "kernel":
                self._take(self._rules.with_kernel(request, self._last))
            case "dtype" | "precision":
                self._take(self._rules.with_dtype(request, self._last))
            case "heads" if not self._kv_heads_chosen:
                self._take(self._rules.with_heads(request))
            case "kv_heads":
                self._kv_heads_chosen = True
                self._take(Settled(request))
            case _:
                self._take(Settled(request))

    def _on_preset(self) -> None:
        name = str(self._preset.field.value())
        if not self._filling and name != CUSTOM:
            self._take(self._rules.with_preset(self.request(), find_preset(name)))

    def _take(self, settled: Settled) -> None:
        """Show what has followed a change; fields that are as they were keep their text, also one that is no number."""
        now = self.request()
        self._filling = True
        for name, row in self._rows.items():
            value = look_up(settled.request, name)
            if value != look_up(now, name):
                row.field.set_value(value)
        self._filling = False
        self._notes = settled.notes
        self._announce()

    def _announce(self) -> None:
        request = self._last = self.request()
        self._check()
        if request.device != self._device:
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
        self._show_choices(request)
        self._show_hints(request)
        self._show_estimate()

    def _show_preset(self, request: RunRequest) -> None:
        match = next((preset.name for preset in PRESETS if is_preset(request, preset)), CUSTOM)
        self._filling = True
        assert isinstance(self._preset.field, Choice)
        self._preset.field.set_value(match)
        self._filling = False

    def _show_choices(self, request: RunRequest) -> None:
        """Disable what would bring a fault of its own, with its line as the reason."""
        meaning = INPUT_DISTRIBUTIONS.get(request.problem.inputs, "unknown")
        self._choice("inputs").setToolTip(f"Values of Q, K and V: {meaning}.")
        self._choice("kernel").set_reasons(self._rules.kernel_reasons(request))
        no_gpu = {} if self._rules.ready is None or self._rules.ready.has_gpu else {"cuda": NO_GPU}
        self._choice("device").set_reasons(no_gpu)
        protocol = self._rules.protocol(request)
        self._choice("protocol").setToolTip(
            f"How launches are timed, {protocol.name}: {protocol.meaning or 'unknown'}."
        )
        choices = (("sdpa", SDPA_CHOICES), ("dtype", DTYPES), ("precision", PRECISIONS), ("protocol", PROTOCOL_CHOICES))
        for name, values in choices:
            self._choice(name).set_reasons(self._rules.reasons(request, name, values))
        # A field with one value left is disabled as a whole, unless it has another: then it must be changed.
        self._rows["precision"].allow(self._rules.reason(request, "precision", "tf32") if is_exact(request) else "")
        fixed = f"protocol {protocol.name} times a fixed number of launches" if protocol.has_fixed_counts else ""
        wrong = self._rules.reason(request, "max_seconds", request.max_seconds)  # which must be mended
        self._rows["max_seconds"].allow("" if wrong else fixed)
        for name, value, always in (("causal", True, (False,)), ("splits", 2, (1, AUTO_SPLITS))):
            left = look_up(request, name) in always
            self._rows[name].allow(self._rules.reason(request, name, value) if left else "")
        kernel = self._rules.kernel(request.kernel)
        if kernel is not None:
            for name in LIMITED:
                self._show_limited(name, request, kernel.spec)
        self._best.setEnabled(self._rules.best_tile(request) is not None)

    def _show_limited(self, name: str, request: RunRequest, spec: KernelSpec) -> None:
        """Step through what the kernel takes of a tile's field; with its reason, one that it takes nothing else of."""
        row, allowed = self._rows[name], spec.allowed(name, request.problem.d)
        assert isinstance(row.field, IntField)
        row.field.set_steps(allowed)
        row.allow(spec.why(name, request.problem.d) if allowed == (look_up(request, name),) else "")

    def _show_hints(self, request: RunRequest) -> None:
        """Say what was changed together with the last change, why there is no precision to choose, what auto means."""
        hints = {
            **({"precision": EXACT_TEXT} if is_exact(request) else {}),
            **self._rules.splits_notes(request),
            **self._notes,
        }
        for name, row in self._rows.items():
            row.show_hint(hints.get(name, ""))
        ready, unit = self._rules.ready, "key splits"
        if ready is not None and request.tile.splits == AUTO_SPLITS and not self._faults:
            unit = f"here {resolved_splits(request.problem, request.tile, ready.device.sm_count)}"
        self._rows["splits"].unit.setText(unit)

    def predicted_seconds(self) -> float:
        """How long a run of what the form says takes on the interpreter; 0 on a GPU."""
        return self._estimate.seconds(self.request(), self._rules.ready)

    def _show_estimate(self) -> None:
        self._estimate.show_seconds(0.0 if self._faults else self.predicted_seconds())


def _of(part: type[Problem] | type[TileConfig] | type[RunRequest], values: Mapping[str, Any]) -> dict[str, Any]:
    """Those of `values` that are fields of `part`."""
    names = {f.name for f in fields(part)}
    return {name: value for name, value in values.items() if name in names}
