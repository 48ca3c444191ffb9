"""`python -m paper prepare`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from rich.console import Console

from bough.cli.bars import bars
from bough.cli.threads import use_threads


def prepare(
    what: Literal["sst", "sick"],
    /,
    *,
    parser: str = "builtin",
    only: Literal["dependency", "constituency"] | None = None,
    data: Path | None = None,
    out: Path | None = None,
) -> None:
    """Parse SST or SICK for training.

    The sentences are as published, but the parses are not the paper's: train with `--set source=own`.

    Parameters
    ----------
    what
        sst (dependency trees; its phrase trees are published) or sick (both kinds).
    parser
        builtin, spacy, stanza, corenlp, or corenlp:URL.
    only
        One kind of tree, for sick; a parser may know only one.
    data
        Folder with the published files; else BOUGH_DATA, else the user cache.
    out
        Data folder to write; the same one unless given.
    """
    from bough.text import get_parser
    from paper.prepare import Kind, prepare_sick, prepare_sst

    use_threads()
    if what == "sst" and only == "constituency":
        raise ValueError("the phrase trees of SST are published with it; --only is for sick")
    engine = get_parser(parser)
    console = Console(stderr=True)
    with bars(console) as tell:
        if what == "sst":
            files = prepare_sst(engine, data, out, tell=tell)
        else:
            kinds: list[Kind] = ["dependency", "constituency"] if only is None else [only]
            files = prepare_sick(engine, data, out, kinds=kinds, tell=tell)
    console.print(f"{what}: {len(files)} files by {engine.name}", highlight=False)
