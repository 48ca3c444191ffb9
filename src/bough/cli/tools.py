"""`bough parser` and `bough fetch`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter
from rich.console import Console
from rich.filesize import decimal

from bough.cli.console import plain_console
from bough.cli.options import use_threads
from bough.cli.progress import ProgressBars
from bough.cli.text import text_of

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

    folder = data or find_data()
    with ProgressBars(Console()) as bars:

        def show(name: str, done: int, total: int | None) -> None:
            size = "" if total is None else f"/{decimal(total)}"
            bars.update(name, done, total, f"{decimal(done)}{size}")

        for dataset in datasets:
            files = get(dataset, folder, source=source, progress=show)
            plain_console().print(f"{dataset.name}: {len(files)} files in {folder}")


parser = App(name="parser", help="Create silver data to train a parser on.", result_action="return_value")


@parser.command
def silver(
    texts: Path,
    /,
    *,
    out: Path,
    parser: str = "builtin",
    other: str = "spacy",
) -> None:
    """Parse text with two parsers and keep the arcs on which they agree, to train a parser on.

    Train with `python -m bundle parser train --out FOLDER --set silver=FILE`, from a checkout of bough.

    Parameters
    ----------
    texts
        UTF-8 text, one or more sentences per line.
    out
        File to write, one sentence per line as JSON: tokens, heads (null where the parsers differ) and relations.
    parser
        builtin, or the folder of a trained one.
    other
        spacy, stanza, corenlp, or corenlp:URL.
    """
    from bough.text import get_parser
    from bough.train.parser.silver import write_silver

    use_threads()
    if out.exists():
        raise ValueError(f"{out} is there already; choose another file with --out")
    given = text_of(texts).splitlines()
    console = Console(stderr=True)
    engines = get_parser(parser), get_parser(other)
    with ProgressBars(console) as bars:
        count, share = write_silver(given, *engines, out, tell=bars.update)
    message = f"{out}: {count:,} sentences; the parsers agree on {share:.1%} of the arcs"
    console.print(message, highlight=False, soft_wrap=True)
