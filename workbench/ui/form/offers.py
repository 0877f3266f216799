"""What the form offers at the moment: choices that cannot work are greyed out with their reason, hints say the rest."""

from __future__ import annotations

from collections.abc import Mapping

from kernels.plain.precisions import PRECISIONS
from kernels.plain.spec import LIMITED, KernelSpec
from kernels.plain.tiles import AUTO_SPLITS, resolved_splits
from workbench.run.protocols import PROTOCOL_CHOICES
from workbench.run.request import DEVICE_CHOICES, DTYPES, INPUT_DISTRIBUTIONS, SDPA_CHOICES, RunRequest, look_up
from workbench.ui.form.fields import Choice, IntField
from workbench.ui.form.rows import Row
from workbench.ui.form.rules import FormRules, is_exact

EXACT_TEXT = "products of 16-bit values are exact in fp32"
# The lists whose entries are greyed out one by one; that of kernels has reasons of its own.
_LISTS = {
    "sdpa": SDPA_CHOICES,
    "dtype": DTYPES,
    "precision": PRECISIONS,
    "protocol": PROTOCOL_CHOICES,
    "device": DEVICE_CHOICES,
}


def choice_of(rows: Mapping[str, Row], name: str) -> Choice:
    """The list called `name`."""
    field = rows[name].field
    assert isinstance(field, Choice)
    return field


def show_choices(rows: Mapping[str, Row], rules: FormRules, request: RunRequest) -> None:
    """Disable what would bring a fault of its own, with its line as the reason."""
    meaning = INPUT_DISTRIBUTIONS.get(request.problem.inputs, "unknown")
    choice_of(rows, "inputs").setToolTip(f"Values of Q, K and V: {meaning}.")
    choice_of(rows, "kernel").set_reasons(rules.kernel_reasons(request))
    protocol = rules.protocol(request)
    choice_of(rows, "protocol").setToolTip(f"How launches are timed, {protocol.name}: {protocol.meaning or 'unknown'}.")
    for name, values in _LISTS.items():
        choice_of(rows, name).set_reasons(rules.reasons(request, name, values))
    # A field with one value left is disabled as a whole, unless it has another: then it must be changed.
    rows["precision"].allow(rules.limit(request, "precision", "tf32") if is_exact(request) else "")
    fixed = f"protocol {protocol.name} times a fixed number of launches" if protocol.has_fixed_counts else ""
    wrong = rules.reason(request, "max_seconds", request.max_seconds)  # which must be mended
    rows["max_seconds"].allow("" if wrong else fixed)
    for name, value, always in (("causal", True, (False,)), ("splits", 2, (1, AUTO_SPLITS))):
        left = look_up(request, name) in always
        rows[name].allow(rules.limit(request, name, value) if left else "")
    kernel = rules.kernel(request.kernel)
    if kernel is not None:
        for name in LIMITED:
            _show_limited(rows[name], name, request, kernel.spec)


def _show_limited(row: Row, name: str, request: RunRequest, spec: KernelSpec) -> None:
    """Step through what the kernel takes of a tile's field; with its reason, one that it takes nothing else of."""
    allowed = spec.allowed(name, request.problem.d)
    assert isinstance(row.field, IntField)
    row.field.set_steps(allowed)
    row.allow(spec.why(name, request.problem.d) if allowed == (look_up(request, name),) else "")


def show_hints(rows: Mapping[str, Row], rules: FormRules, request: RunRequest, notes: Mapping[str, str]) -> None:
    """Say what was changed together with the last change, why there is no precision to choose, what auto means."""
    hints = {
        **({"precision": EXACT_TEXT} if is_exact(request) else {}),
        **rules.splits_notes(request),
        **notes,
    }
    for name, row in rows.items():
        row.show_hint(hints.get(name, ""))
    ready, unit = rules.ready, "key splits"
    if ready is not None and request.tile.splits == AUTO_SPLITS and not rules.faults(request):
        unit = f"here {resolved_splits(request.problem, request.tile, ready.device.sm_count)}"
    rows["splits"].unit.setText(unit)
