"""Where a cited system, rebuilt here, departs from the original: the footnotes of Tables 2 and 3."""

from __future__ import annotations

from collections.abc import Sequence

from bough.measures import SYSTEMS
from bough.reproduce.paper import Cited

TWO_CLASSES = "binary: two classes, neutral phrases without a label"
SST: dict[str, tuple[str, ...]] = {
    "rnn": (
        "the plain recursive network of that article: no autoencoder was run there",
        "words start U(-0.05, 0.05), one L2 for all weights",
        "the epoch is chosen by the accuracy of whole sentences on dev, not of all phrases",
        TWO_CLASSES,
    ),
    "rntn": ("as the RAE row",),
}


def departures(rows: Sequence[Cited]) -> list[str]:
    """One note per system that is rebuilt."""
    found = {cited.title: _of(cited.system) for cited in rows}
    return [f"{title}, rebuilt: {'; '.join(points)}." for title, points in found.items() if points]


def _of(system: str) -> tuple[str, ...]:
    return SYSTEMS[system].departures if system in SYSTEMS else SST.get(system, ())
