"""`bough bench`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from rich.console import Console
from rich.table import Table

RATIOS = {
    "floor_ratio": "SST step, over its bare matmuls",
    "floor_ratio_torch": "the same, swept by torch",
    "train_floor_ratio": "the whole step of `bough train`, over the same matmuls",
    "done_ratio": "SST step, over the matmuls that sharing leaves",
    "floor_ratio_unshared": "the same without sharing equal words",
    "recursion_speedup": "node-at-a-time recursion, over the SST step",
    "shared_floor_ratio": "SICK step, over its bare matmuls without sharing",
    "shared_floor_ratio_torch": "the same, swept by torch",
    "shared_train_floor_ratio": "the whole step of `bough train`, over the same matmuls",
    "shared_done_ratio": "SICK step, over the matmuls that sharing leaves",
    "unshared_floor_ratio": "SICK step without sharing, over its bare matmuls",
    "equations_ratio": "SICK step by the layers' equations, over the fastest way",
    "equations_ratio_torch": "the same, over the way by torch",
    "recursion_speedup_equations": "node-at-a-time recursion, over the SST step by the equations",
    "build_share": "building a forest, over the SST step",
    "growth_ratio": "time per node in the largest batch, over the smallest",
    "trees_per_second": "SST trees per second, forests built",
    "pairs_per_second": "SICK pairs per second",
}


def bench(
    *, data: Path | None = None, as_json: Annotated[bool, Parameter(name="--json", negative="")] = False
) -> None:
    """Measure the speed of the layers, as ratios in one run.

    A training step against its bare matmuls, and against node-at-a-time recursion.

    Parameters
    ----------
    data
        Data folder; else BOUGH_DATA, else the user cache. Without data, random trees of the same shapes.
    as_json
        Print the figures as JSON.
    """
    from bough.bench import run_bench

    with Console(stderr=True).status("starting") as status:
        result = run_bench(data, tell=status.update)
    if as_json:
        print(json.dumps(result, indent=2))  # noqa: T201
        return
    console = Console()
    title = f"one thread, {result['data']} and {result['pairs_data']} trees, torch {result['torch']}"
    title += f"\nsweeps by {result['sweeps']}"
    table = Table("what", "figure", title=title, title_justify="left")
    for key, meaning in RATIOS.items():
        table.add_row(meaning, f"{result[key]:,.0f}" if "per_second" in key else f"{result[key]:.2f}")
    for peer, speed in result["peers"].items():
        table.add_row(f"SICK trees per second, Child-Sum: {peer}", f"{speed:,.0f}")
    console.print(table)
    for key, name in (("growth_trees", "trees"), ("growth_depth", "depth"), ("growth_d", "d")):
        console.print(_growth(f"growth with {name}", result[key]))


def _growth(title: str, lines: list[dict[str, Any]]) -> Table:
    table = Table(*(name.replace("_", " ") for name in lines[0]), title=title, title_justify="left")
    for line in lines:
        table.add_row(*(f"{cell:,.1f}" if isinstance(cell, float) else f"{cell:,}" for cell in line.values()))
    return table
