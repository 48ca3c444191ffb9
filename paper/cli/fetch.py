"""`python -m paper fetch`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from bough.cli.fetching import Source, fetch_all, glove_set


def fetch(
    *what: Literal["sst", "sick", "glove", "wordnet"],
    data: Path | None = None,
    source: Source = None,
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
    from paper.fetch import SICK, SST, WORDNET

    sets = {"sst": SST, "sick": SICK, "glove": glove_set(vectors), "wordnet": WORDNET}
    fetch_all([sets[name] for name in what or ("sst", "sick", "glove")], data, source)
