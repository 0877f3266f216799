"""What the form consists of: its fields with their labels, units and tooltips, and how a row is laid out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PyQt6.QtWidgets import QGridLayout, QLabel

from workbench.model import INPUT_DISTRIBUTIONS
from workbench.presets import PRESETS
from workbench.ui.fields import Choice, Field, FloatField, IntField, set_property
from workbench.validate import BLOCK_RANGE, STAGES, WARPS

CUSTOM = "Custom"
BLOCKS = tuple(2**power for power in range(32) if BLOCK_RANGE[0] <= 2**power <= BLOCK_RANGE[1])

SDPA_TIPS = {
    "auto": "the backend PyTorch chooses; the result says which one it took",
    "math": "matrix products and softmax as separate kernels",
    "efficient": "memory-efficient attention",
    "flash": "FlashAttention",
    "cudnn": "cuDNN's attention",
    "none": "run the kernel alone",
}
DEVICE_TIPS = {
    "auto": "the GPU if there is one, else Triton's interpreter",
    "cuda": "the NVIDIA GPU",
    "interpreter": "Triton's interpreter on the CPU: the same tiles and values, but no GPU time",
}


@dataclass(frozen=True)
class FieldSpec:
    """One field of the form. `name` is the request's field and the widget's objectName."""

    group: str
    name: str
    label: str
    unit: str
    tip: str
    make: Callable[[], Field]


FIELDS = (
    FieldSpec("Problem", "m", "M", "query rows", "Rows of Q and of the output. Page Up and Page Down: ± 10.", IntField),
    FieldSpec("Problem", "n", "N", "key rows", "Rows of K and V. Page Up and Page Down: ± 10.", IntField),
    FieldSpec("Problem", "d", "D", "features", "Columns of Q, K, V and of the output: the head's width.", IntField),
    FieldSpec(
        "Problem",
        "inputs",
        "Inputs",
        "",
        "How the values of Q, K and V are distributed.",
        lambda: Choice(INPUT_DISTRIBUTIONS),
    ),
    FieldSpec(
        "Problem", "seed", "Seed", "", "Seed of the inputs: the same gives the same values.", lambda: IntField((), 0)
    ),
    FieldSpec("Tile", "kernel", "Kernel", "", "The Triton kernel to measure.", lambda: Choice({"article": ""})),
    FieldSpec(
        "Tile",
        "block_m",
        "BLOCK_M",
        "query rows",
        "Query rows of one program: the grid has M / BLOCK_M programs, rounded up. Up and Down: powers of two.",
        lambda: IntField(BLOCKS),
    ),
    FieldSpec(
        "Tile",
        "block_n",
        "BLOCK_N",
        "key rows",
        "Key rows that a program takes in at once: one update of m and l each. Up and Down: powers of two.",
        lambda: IntField(BLOCKS),
    ),
    FieldSpec(
        "Tile",
        "num_warps",
        "num_warps",
        "warps",
        "Warps of 32 threads that share one program. More warps: fewer registers needed in each thread.",
        lambda: IntField(WARPS),
    ),
    FieldSpec(
        "Tile",
        "num_stages",
        "num_stages",
        "stages",
        "How many key tiles the compiler keeps in flight (software pipelining). Each stage takes shared memory anew.",
        lambda: IntField(tuple(STAGES)),
    ),
    FieldSpec(
        "Measuring",
        "sdpa",
        "SDPA",
        "",
        "The backend of PyTorch's scaled_dot_product_attention that the kernel is held against.",
        lambda: Choice(SDPA_TIPS),
    ),
    FieldSpec("Measuring", "device", "Device", "", "Where it runs.", lambda: Choice(DEVICE_TIPS)),
    FieldSpec(
        "Measuring",
        "rtol",
        "rtol",
        "relative",
        "The output passes if |out - float64| <= atol + rtol |float64| everywhere. Up and Down: powers of ten.",
        FloatField,
    ),
    FieldSpec(
        "Measuring",
        "atol",
        "atol",
        "absolute",
        "The output passes if |out - float64| <= atol + rtol |float64| everywhere. Up and Down: powers of ten.",
        FloatField,
    ),
)


@dataclass(frozen=True)
class Row:
    """A field of the form with its label, its unit and the line that says what is wrong with it."""

    field: Field
    label: QLabel
    unit: QLabel
    fault: QLabel

    def show_fault(self, message: str) -> None:
        """Mark the field and say why, or clear the mark with an empty `message`."""
        self.fault.setText(message)
        self.fault.setVisible(bool(message))
        self.field.setAccessibleDescription(message)
        set_property(self.field, "invalid", bool(message))


def make_row(field: Field, name: str, label: str, unit: str, tip: str) -> Row:
    """A row for the request's field `name`, the label being the field's buddy."""
    field.setObjectName(name)
    field.setAccessibleName(f"{label}, {unit}" if unit else label)
    caption = QLabel(label)
    caption.setBuddy(field)
    suffix = QLabel(unit)
    suffix.setProperty("role", "unit")
    fault = QLabel()
    fault.setObjectName(f"{name}_fault")
    fault.setProperty("role", "fault")
    fault.setWordWrap(True)
    fault.hide()
    for widget in (field, caption, suffix):
        widget.setToolTip(tip)
    return Row(field, caption, suffix, fault)


def add_row(grid: QGridLayout, row: Row) -> None:
    """Label, field and unit, and below them the line for a fault, which takes no room while hidden."""
    line = grid.rowCount()
    grid.addWidget(row.label, line, 0)
    if row.unit.text():
        grid.addWidget(row.field, line, 1)
        grid.addWidget(row.unit, line, 2)
    else:
        grid.addWidget(row.field, line, 1, 1, 2)
    grid.addWidget(row.fault, line + 1, 0, 1, 3)


def make_preset_row() -> Row:
    """The list of presets. "Custom" cannot be chosen: it says that the form matches none of them."""
    choice = Choice({CUSTOM: "", **{preset.name: preset.title for preset in PRESETS}})
    choice.set_reasons({CUSTOM: "shown when the form matches no preset"})
    return make_row(choice, "preset", "Preset", "", "Problems people know: shape, tile and tolerances at once.")
