"""`bough bench`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.console import Console
from rich.table import Table


def bench(
    *, data: Path | None = None, as_json: Annotated[bool, Parameter(name="--json", negative="")] = False
) -> None:
    """Measure the layers against the bare matmuls and against recursion, as ratios in one run.

    Parameters
    ----------
    data
        Data folder; else BOUGH_DATA, else the user cache. Without data, random trees of the same shapes.
    as_json
        Print the figures as JSON.
    """
    from bough.bench import run_bench

    result = run_bench(data)
    if as_json:
        print(json.dumps(result, indent=2))  # noqa: T201
        return
    console = Console()
    table = Table("what", "figure", title=f"one thread, trees from {result['data']}", title_justify="left")
    for key, value in result.items():
        if isinstance(value, float | int):
            table.add_row(key.replace("_", " "), f"{value:,.2f}")
    console.print(table)
    for key, value in result.items():
        if isinstance(value, list) and value:
            table = Table(*value[0], title=key.replace("_", " "), title_justify="left")
            for line in value:
                table.add_row(
                    *(f"{cell:,.2f}" if isinstance(cell, float) else str(cell) for cell in line.values())
                )
            console.print(table)
