"""What the form consists of: its fields with their labels, units and tooltips."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from kernels.plain.launch_options import LAUNCH_OPTIONS, LaunchOption
from kernels.plain.precisions import PRECISIONS
from kernels.plain.tiles import BLOCKS
from workbench.analysis.presets import PRESETS, Preset
from workbench.run.protocols import PROTOCOL_CHOICES, protocol_of
from workbench.run.request import INPUT_DISTRIBUTIONS, TRACE_ROWS, RunRequest, look_up
from workbench.ui.form.details import Details
from workbench.ui.form.fields import AutoField, Choice, Field, Flag, FloatField, IntField, NumberField, SecondsField
from workbench.ui.form.rows import Row, make_row
from workbench.words.names import heads_text, inputs_text

CUSTOM = "Custom"
TILE_GROUP = "Kernel"
POWERS = tuple(2**power for power in range(11))

DTYPE_TIPS = {
    "fp32": "32-bit floats: an 8-bit exponent, 23 bits of fraction",
    "fp16": "16-bit floats: a 5-bit exponent, 10 bits of fraction",
    "bf16": "16-bit floats with the range of fp32: an 8-bit exponent, 7 bits of fraction",
}
PRECISION_TIPS = {name: one.tip for name, one in PRECISIONS.items()}
SDPA_TIPS = {
    "auto": "the backend PyTorch chooses; the result says which one it took",
    "math": "matrix products and softmax as separate kernels",
    "efficient": "memory-efficient attention",
    "flash": "FlashAttention 2 as PyTorch builds it in",
    "cudnn": "cuDNN's attention",
    "flex": "PyTorch's FlexAttention, compiled",
    "flash_attn": "FlashAttention 2 of the package flash_attn",
    "flash_attn_3": "FlashAttention 3 of the package flash_attn_interface, for Hopper",
    "none": "run the kernel alone",
}
PROTOCOL_TIPS = {name: protocol_of(name).meaning for name in PROTOCOL_CHOICES}
DEVICE_TIPS = {
    "auto": "the GPU if there is one, else Triton's interpreter",
    "cuda": "the NVIDIA GPU",
    "interpreter": "Triton's interpreter on the CPU: the same tiles and values, but no GPU time",
}
BEST_TILE_TIP = (
    "The tile measured to be fastest on an H200 for the nearest problem (kernels/measured/tiles.json); "
    "64 × 64 where nothing was measured for this kernel, and a large one on the interpreter. (Ctrl+B)"
)
SDPA_TIP = "What the kernel is held against: a backend of PyTorch's scaled_dot_product_attention, or another attention."
PROTOCOL_TIP = "How launches are timed; every figure names it."
MAX_SECONDS_TIP = (
    "The longest that timing kernel and SDPA may take, in seconds. It ends earlier once the 95% interval of both "
    "medians is within 1%. Protocol block has a fixed number of launches instead."
)
TRACE_TIP = "Which query rows' softmax states are kept, where those of all rows of one head would be too large."
TOLERANCE_TIP = "The output passes if |out − float64| ≤ atol + rtol · |float64| everywhere. Up and Down: powers of ten."


@dataclass(frozen=True)
class FieldSpec:
    """One field of the form. `name` is the request's field and the widget's objectName.

    `beside` puts it in the line of the field before it; such a line has no units.
    """

    name: str
    label: str
    unit: str
    tip: str
    make: Callable[[], Field]
    beside: bool = False


_powers, _blocks = partial(IntField, POWERS), partial(IntField, BLOCKS)


def _option_field(option: LaunchOption) -> IntField:
    return AutoField(option.allowed) if option.auto_text else IntField(option.allowed)


_PROBLEM = (
    FieldSpec("m", "M", "query rows", "Rows of Q and of the output. Page Up and Page Down: ± 10.", IntField),
    FieldSpec("n", "N", "key rows", "Rows of K and V. Page Up and Page Down: ± 10.", IntField),
    FieldSpec("d", "D", "features", "Columns of Q, K, V and of the output: the head's width.", IntField),
    FieldSpec("batch", "Batch", "sequences",
              "Sequences computed at once. Up and Down: powers of two.", _powers),
    FieldSpec("heads", "Heads", "", "Query heads of each sequence. Up and Down: powers of two.", _powers),
    FieldSpec("kv_heads", "KV", "",
              "Key and value heads of each sequence, a divisor of the query heads: fewer of them are grouped-query "
              "attention, one is multi-query attention. Up and Down: powers of two.", _powers, beside=True),
    FieldSpec("dtype", "dtype", "",
              "Number format of Q, K, V and of the output. Sums are kept in fp32.", partial(Choice, DTYPE_TIPS)),
    FieldSpec("causal", "causal", "",
              "Causal mask, aligned to the lower right: query row i sees the keys up to i + N - M, the last row sees "
              "all.", partial(Flag, "causal"), beside=True),
    FieldSpec("inputs", "Inputs", "",
              "How the values of Q, K and V are distributed.", partial(Choice, INPUT_DISTRIBUTIONS)),
    FieldSpec("seed", "Seed", "",
              "Seed of the inputs: the same gives the same values.", partial(IntField, (), 0), beside=True),
)  # fmt: skip

_TILE = (
    FieldSpec("kernel", "Kernel", "",
              "The Triton kernel to measure.", partial(Choice, {RunRequest.kernel: ""})),
    FieldSpec("precision", "Precision", "",
              "How products of fp32 inputs are made. The interpreter makes all of them in fp32, whatever is chosen.",
              partial(Choice, PRECISION_TIPS)),
    FieldSpec("block_m", "BLOCK_M", "query rows",
              "Query rows of one program: a head has M / BLOCK_M programs, rounded up. Up and Down: what the kernel "
              "takes.", _blocks),
    FieldSpec("block_n", "BLOCK_N", "key rows",
              "Key rows that a program takes in at once: one update of m and l each. Up and Down: what the kernel "
              "takes.", _blocks),
    FieldSpec("splits", "splits", "key splits",
              "Programs that share the keys of one block of query rows; their partial results are combined afterwards. "
              "auto or 0: as many as fill the device. Up and Down: powers of two.",
              partial(AutoField, (0, *POWERS))),
    *(FieldSpec(one.name, one.label, one.unit, one.tip, partial(_option_field, one), beside=i % 2 == 1)
      for i, one in enumerate(LAUNCH_OPTIONS)),  # two in a line, the last alone where they are odd
)  # fmt: skip

_MEASURING = (
    FieldSpec("sdpa", "SDPA", "", SDPA_TIP, partial(Choice, SDPA_TIPS)),
    FieldSpec("protocol", "Protocol", "", PROTOCOL_TIP, partial(Choice, PROTOCOL_TIPS)),
    FieldSpec("max_seconds", "at most", "seconds", MAX_SECONDS_TIP, SecondsField),
    FieldSpec("device", "Device", "", "Where it runs.", partial(Choice, DEVICE_TIPS)),
    FieldSpec("trace_rows", "Traced", "", TRACE_TIP, partial(Choice, TRACE_ROWS)),
    FieldSpec("rtol", "rtol", "× value", f"Tolerance relative to the float64 value. {TOLERANCE_TIP}", FloatField),
    FieldSpec(
        "atol", "atol", "", f"Tolerance beside that, for values near 0. {TOLERANCE_TIP}", FloatField, beside=True
    ),
)

GROUPS = {"Problem": _PROBLEM, TILE_GROUP: _TILE, "Measuring": _MEASURING}
FIELDS = (*_PROBLEM, *_TILE, *_MEASURING)


def preset_text(preset: Preset) -> str:
    """The problem of a preset in a line, with its dtype also where that is the usual."""
    problem = preset.problem
    parts = (problem.shape, heads_text(problem), problem.dtype, "causal" * problem.causal, inputs_text(problem))
    return ", ".join(filter(None, parts))


def make_preset_row() -> Row:
    """The list of presets. "Custom" cannot be chosen: it says that the form matches none of them."""
    choice = Choice({CUSTOM: "", **{preset.name: preset.title for preset in PRESETS}})
    choice.set_reasons({CUSTOM: "shown when the form matches no preset"})
    choice.setItemDelegate(Details({preset.name: preset_text(preset) for preset in PRESETS}, choice))
    return make_row(choice, "preset", "Preset", "", "Problems people know: shape, tile and tolerances at once.")


def step_text(name: str, request: RunRequest, field: Field) -> str:
    """What a change of the field `name` was, in a few words: "M 128", "tile 64×32", "causal off"."""
    if name in ("block_m", "block_n"):
        return f"tile {request.tile.label}"
    label = next(spec.label for spec in FIELDS if spec.name == name)
    match field:
        case Flag():
            return f"{label} {'on' if field.value() else 'off'}"
        case NumberField():
            return f"{label} {field.text()}".rstrip()
        case _:
            return f"{label} {field.value()}"


def differing_fields(one: RunRequest, other: RunRequest) -> tuple[str, ...]:
    """The labels of the fields that differ. A device that is left open ("auto") agrees with any."""
    open_device = "auto" in (one.device, other.device)
    names = (spec for spec in FIELDS if not (spec.name == "device" and open_device))
    return tuple(spec.label for spec in names if look_up(one, spec.name) != look_up(other, spec.name))
