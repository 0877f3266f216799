"""The line below a panel's picture: what a reader of a report must know of the run, and the picture does not say."""

from __future__ import annotations

from workbench.model import Started
from workbench.ui.words import heads_text, kernel_text, tile_text


def caption_text(started: Started) -> str:
    """Kernel and tile, problem, protocol, device, versions and date of a run; what is not known is left out."""
    request, device, problem = started.request, started.device, started.request.problem
    tile = request.tile
    launch = f"{tile_text(tile)} tiles, {tile.num_warps} warps, {tile.num_stages} stages"
    kind = ", ".join(filter(None, (problem.shape, heads_text(problem), problem.dtype, "causal" * problem.causal)))
    versions = (("torch", device.torch), ("triton", device.triton), ("driver", device.driver))
    parts = (
        f"{kernel_text(request.kernel, request.precision)}, {launch}",
        f"M × N × D {kind}",
        f"{request.protocol} protocol",
        device.name if device.mode == "cuda" else f"{device.name}, {device.mode_label}",
        ", ".join(f"{name} {version}" for name, version in versions if version),
        f"source {started.provenance.source_sha256[:8]}" * bool(started.provenance.source_sha256),
        started.started_at[:10],
    )
    return " · ".join(filter(None, parts))
