"""`python -m kernels.measured.tune`: times every kernel's tiles on this GPU and writes the table of default tiles.

With `--kernel NAME` only that kernel's entries are measured anew; those of the others stay.

Compiling takes longest, so it is done in as many processes as there are cores; timing is done in one, by graph replay.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

import torch

from kernels.common.checks import device_limits
from kernels.measured.bench import Case, environment, graph_of, launch_of, replay_us, tensors_of
from kernels.plain.measured_tiles import TABLE
from kernels.plain.precisions import EXACT
from kernels.plain.tiles import TileConfig
from kernels.variants import VARIANTS
from kernels.variants.flash import FLASH
from kernels.variants.hopper.launch import HOPPER
from kernels.variants.materialized import MATERIALIZED
from kernels.variants.split_kv.launch import SPLIT_KV

GRAPH_US = 600.0
FINALISTS = 3
Trial = tuple[Case, TileConfig]

FP32_SHAPES = ((256, 512, 64), (512, 2048, 128), (1024, 4096, 64), (1024, 4096, 128), (4096, 4096, 128))
SPLIT_PRECISIONS = ("fp16x3", "bf16x3", "bf16x6", "tf32x3")


def cases() -> tuple[Case, ...]:
    """The problems of the table: few, so that the nearest is a matter of course."""
    return (
        *(
            Case(HOPPER.name, 4096, 4096, d, "bf16", batch=4, heads=16, causal=c)
            for d in (64, 128, 256)
            for c in (False, True)
        ),
        *(Case(SPLIT_KV.name, *shape, precision=p) for shape in FP32_SHAPES for p in SPLIT_PRECISIONS),
        *(
            Case(FLASH.name, 4096, 4096, d, "bf16", batch=4, heads=16, causal=c)
            for d in (64, 128, 256)
            for c in (False, True)
        ),
        *(Case(FLASH.name, 1024, 4096, d, precision=p) for d in (64, 128) for p in FLASH.spec.precisions),
        *(Case(MATERIALIZED.name, 1024, 4096, d, precision=p) for d in (64, 128) for p in (EXACT, "tf32x3")),
        *(Case(MATERIALIZED.name, 1024, 4096, d, "bf16") for d in (64, 128)),
    )


def trials(kernel: str | None = None) -> tuple[Trial, ...]:
    """Every tile of every case's space on this device, or of the cases of one kernel."""
    limits = device_limits(torch.device("cuda"))
    able = {v.name: v.spec for v in VARIANTS if kernel in (None, v.name) and not v.refusal(limits)}
    return tuple(
        (case, tile)
        for case in cases()
        if case.kernel in able
        for tile in able[case.kernel].space(case, limits, case.precision)
        if _is_worth_compiling(case, tile, able[case.kernel].splits, limits.sm_count)
    )


def compile_trial(trial: Trial) -> str:
    """Launch once, so that the compiled kernel lies in Triton's cache; "" or why it cannot run."""
    try:
        launch_of(*trial, tensors_of(trial[0]))()
        torch.cuda.synchronize()
    except Exception as error:
        return f"{type(error).__name__}: {error}".splitlines()[0]
    return ""


def best_tile(case: Case, tiles: list[TileConfig]) -> tuple[TileConfig, float]:
    """The fastest of `tiles` and its time in microseconds: all are timed once, the first few again, in turns."""
    tensors = tensors_of(case)
    graphs = {}
    for tile in tiles:
        launch = launch_of(case, tile, tensors)
        launch()
        one = graph_of(launch, 1)
        replay_us(one, 1)
        count = max(1, min(20, int(GRAPH_US / max(replay_us(one, 1), 1.0))))
        graph = graph_of(launch, count) if count > 1 else one
        graphs[tile] = (min(replay_us(graph, count) for _ in range(2)), graph, count)
    first = sorted(graphs, key=lambda tile: graphs[tile][0])[:FINALISTS]
    times: dict[TileConfig, list[float]] = {tile: [] for tile in first}
    for _ in range(9):
        for tile in first:
            times[tile].append(replay_us(*graphs[tile][1:]))
    winner = min(first, key=lambda tile: median(times[tile]))
    return winner, median(times[winner])


def tune(kernel: str | None = None) -> Iterator[dict[str, Any]]:
    """The table's entries, one a case, as they are found."""
    todo = trials(kernel)
    began = time.perf_counter()
    with multiprocessing.get_context("spawn").Pool(max(1, (os.cpu_count() or 2) - 1)) as pool:
        refused = dict(zip(todo, pool.map(compile_trial, todo, chunksize=2), strict=True))
    failed = [trial for trial in todo if refused[trial]]
    print(f"{len(todo)} tiles compiled in {time.perf_counter() - began:.0f} s, {len(failed)} refused", file=sys.stderr)
    for case, tile in failed:
        print(f"  {case.kernel} {case.title} {tile}: {refused[case, tile]}", file=sys.stderr)
    for case in cases():
        tiles = [tile for one, tile in todo if one == case and not refused[one, tile]]
        if tiles:
            tile, us = best_tile(case, tiles)
            print(f"{case.kernel} {case.precision} {case.title}: {tile} {us:.1f} us", file=sys.stderr, flush=True)
            problem = {name: value for name, value in asdict(case).items() if name != "max_error"}
            yield {**problem, **asdict(tile), "us": round(us, 2)}


def _is_worth_compiling(case: Case, tile: TileConfig, splits: bool, sm_count: int) -> bool:
    """Too few programs leave the device idle; fp32 takes four warps for small tiles and eight for large ones."""
    programs = case.batch * case.heads * -(-case.m // tile.block_m) * tile.splits
    idle = splits and case.m > 256 and programs < sm_count // 2
    return not idle and (case.dtype != "fp32" or tile.num_warps == (8 if tile.block_m >= 128 else 4))


def main() -> int:
    """Write the table; 3 where there is no GPU."""
    parser = argparse.ArgumentParser(prog="python -m kernels.measured.tune", description=__doc__)
    parser.add_argument("--output", type=Path, default=TABLE, metavar="FILE", help="default: the table in use")
    parser.add_argument("--kernel", choices=sorted({case.kernel for case in cases()}), help="only this kernel")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        print("kernels.measured.tune: no NVIDIA GPU that torch can use; these are GPU times", file=sys.stderr)
        return 3
    if not os.access(options.output.parent, os.W_OK):
        print(
            f"kernels.measured.tune: output is {options.output}; expected a file that can be written", file=sys.stderr
        )
        return 2
    measured = list(tune(options.kernel))
    if not measured:
        print("kernels.measured.tune: nothing could be measured here, nothing written", file=sys.stderr)
        return 3
    write_table(options.output, measured)
    return 0


def write_table(output: Path, measured: list[dict[str, Any]]) -> None:
    """Write to `output` the table in use with `measured` in the place of what it had of their kernels."""
    before = json.loads(TABLE.read_text(encoding="utf-8")) if TABLE.exists() else {"environments": {}, "entries": []}
    anew = {entry["kernel"] for entry in measured}
    kept = [entry for entry in before["entries"] if entry["kernel"] not in anew]
    environments = {**before["environments"], **dict.fromkeys(sorted(anew), environment())}
    lines = ",\n".join(f"  {json.dumps(entry)}" for entry in kept + measured)
    text = f'{{\n "environments": {json.dumps(environments, indent=2)},\n "entries": [\n{lines}\n ]\n}}\n'
    output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
