"""`python -m bundle prepare`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from rich.console import Console

from bough.cli.bars import bars
from bough.cli.threads import use_threads


def prepare(
    what: Literal["opinions", "stsb"],
    /,
    *,
    parser: str = "builtin",
    data: Path | None = None,
    out: Path | None = None,
) -> None:
    """Parse the sources that the bundled models learn from beside SST and SICK.

    Parameters
    ----------
    what
        opinions (comments, titles and first sentences of reviews), or stsb (pairs by genre).
    parser
        builtin, spacy, stanza, corenlp, or corenlp:URL.
    data
        Folder with the published files; else BOUGH_DATA, else the user cache.
    out
        Data folder to write; the same one unless given.
    """
    from bough.text import get_parser
    from bundle.prepare_opinions import prepare_opinions
    from bundle.prepare_sts import prepare_sts

    use_threads()
    engine = get_parser(parser)
    console = Console(stderr=True)
    make = prepare_opinions if what == "opinions" else prepare_sts
    with bars(console) as tell:
        files = make(engine, data, out, tell=tell)
    console.print(f"{what}: {len(files)} files by {engine.name}", highlight=False)
