"""The line below a panel's picture: what a reader of a report must know of the run, and the picture does not say."""

from __future__ import annotations

from workbench.run.events import Started
from workbench.words.names import heads_text, inputs_text, kernel_text, splits_text


def caption_parts(started: Started) -> tuple[str, ...]:
    """Kernel, tile, problem with its inputs, protocol, device, versions and date of a run, as far as they are known."""
    request, device, problem = started.request, started.device, started.request.problem
    tile = request.tile
    splits = f"{splits_text(tile)} splits" if tile.splits != 1 else ""
    launch = (f"{tile.label} tiles", splits, *tile.option_words)
    kind = (problem.shape, heads_text(problem), problem.dtype, "causal" * problem.causal, inputs_text(problem))
    versions = (("torch", device.torch), ("triton", device.triton), ("driver", device.driver))
    parts = (
        ", ".join(filter(None, (kernel_text(request.kernel, request.precision), *launch))),
        f"M × N × D {', '.join(filter(None, kind))}",
        f"{request.protocol} protocol",
        device.name if device.mode == "cuda" else f"{device.name}, {device.mode_label}",
        ", ".join(f"{name} {version}" for name, version in versions if version),
        f"source {started.provenance.source_sha256[:8]}" * bool(started.provenance.source_sha256),
        started.started_at[:10],
    )
    return tuple(filter(None, parts))
