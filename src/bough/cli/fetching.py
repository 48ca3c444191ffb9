"""`bough fetch`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn, TimeRemainingColumn


def fetch(
    *what: Literal["sst", "sick", "glove", "wordnet"],
    data: Path | None = None,
    source: Annotated[Path | None, Parameter(name="--from")] = None,
    vectors: str = "840B",
) -> None:
    """Download SST, SICK, GloVe or WordNet into the data folder.

    They come from their official places, with checksums.

    Parameters
    ----------
    what
        sst, sick, glove, wordnet; the first three unless given.
    data
        Data folder; else BOUGH_DATA, else the user cache.
    source
        Take local copies from this folder instead of the network.
    vectors
        Which GloVe set: 840B, 42B or 6B.
    """
    from bough.data import find_data
    from bough.data.fetch import fetch as get

    console = Console()
    folder = data or find_data()
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bars:
        tasks: dict[str, TaskID] = {}

        def show(name: str, done: int, total: int | None) -> None:
            if name not in tasks:
                tasks[name] = bars.add_task(name, total=total)
            bars.update(tasks[name], completed=done, total=total)

        for name in what or ("sst", "sick", "glove"):
            files = get(name, folder, source=source, vectors=vectors, progress=show)
            console.print(
                f"{name}: {len(files)} files in {folder}", markup=False, emoji=False, soft_wrap=True
            )
