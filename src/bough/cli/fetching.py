"""`bough fetch`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

if TYPE_CHECKING:
    from bough.data.fetch import Dataset

Source = Annotated[Path | None, Parameter(name="--from")]


def fetch(
    what: Literal["glove"],
    /,
    *,
    data: Path | None = None,
    source: Source = None,
    vectors: str = "840B",
) -> None:
    """Download word vectors into the data folder.

    They come from their official place, with a checksum.

    Parameters
    ----------
    what
        glove.
    data
        Data folder; else BOUGH_DATA, else the user cache.
    source
        Take local copies from this folder instead of the network.
    vectors
        Which GloVe set: 840B, 42B or 6B.
    """
    fetch_all([glove_set(vectors)], data, source)


def glove_set(name: str) -> Dataset:
    """Return the GloVe set of that name."""
    from bough.data.fetch import GLOVE
    from bough.data.paths import choose_from

    choose_from("vectors", name, tuple(GLOVE))
    return GLOVE[name]


def fetch_all(datasets: list[Dataset], data: Path | None, source: Path | None) -> None:
    """Fetch data sets with a bar for each file."""
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

        for dataset in datasets:
            files = get(dataset, folder, source=source, progress=show)
            line = f"{dataset.name}: {len(files)} files in {folder}"
            console.print(line, markup=False, emoji=False, soft_wrap=True)
