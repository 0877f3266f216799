"""What files of earlier versions name otherwise, or lack: found in one place, as they are read.

A file's own names are mapped to today's, and fields that came later are made of the sentences that a file does have.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from workbench.run.protocols import BLOCK, name_of_today, protocol_of

# How warnings are labelled whose sentence does not begin with it.
_LABELS = {"inputs are zeros": "zeros flatter", "inputs are one constant": "constant inputs flatter"}
_RESOURCES = ("shared memory", "registers", "tensor memory")


def of_today(data: dict[str, Any]) -> dict[str, Any]:
    """A dataclass as a file has it, `$type` and fields, with the names and the fields of this version."""
    match data:
        case {"$type": "DeviceTrace"}:
            return {**data, "$type": "DeviceReadings"}
        case {"$type": "DeviceState", "trace": trace}:
            return {"readings": trace, **data}
        case {"$type": "DeviceWarning", "text": text} if "label" not in data:
            begin = text.partition(":")[0]
            return {**data, "label": _LABELS.get(begin, begin)}
        case {"$type": "Ceilings", "warnings": [*texts]} if "labels" not in data:
            return {**data, "labels": labels_of(texts)}
        case {"$type": "Failed", "kind": "resources", "message": message} if "resource" not in data:
            return {**data, "resource": _resource(message)}
        case {"$type": "RunRequest"}:
            return {**data, "protocol": name_of_today(data.get("protocol", BLOCK.name))}  # once there was that alone
        case {"$type": "Latency", "protocol": str(protocol)}:
            # The mean of the samples was kept as the block's, where there was no block.
            block = {} if _may_have_block(data) else {"block_average_us": None}
            return {**data, "protocol": name_of_today(protocol), **block}
        case _:
            return data


def labels_of(warnings: Iterable[str]) -> list[str]:
    """Warnings about ceilings without their figures, which follow a last colon."""
    return [text.rpartition(": ")[0] or text for text in warnings]


def _resource(message: str) -> str:
    """What a kernel had too little of, where the message names it."""
    found = (resource for resource in _RESOURCES if resource.removesuffix("s") in message.lower())
    return next(found, "")


def _may_have_block(latency: dict[str, Any]) -> bool:
    return protocol_of(name_of_today(latency["protocol"])).figure == "average" and latency.get("clock") != "host"
