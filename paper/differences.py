"""Where a cited system, rebuilt here, departs from the original: the footnotes of Tables 2 and 3."""

from __future__ import annotations

from collections.abc import Sequence

from paper.published import Cited
from paper.systems import PARAGRAPH_VEC, SYSTEMS

SST: dict[str, tuple[str, ...]] = {
    "rnn": (
        "the plain recursive network of that article: no autoencoder was run there",
        "words start U(-0.05, 0.05), one L2 for all weights",
        "the epoch is chosen by the accuracy of whole sentences on dev, not of all phrases",
        "binary: neutral phrases are a third class while training; the authors cut every phrase at the middle "
        "of a scale that the trees do not have",
    ),
    "mv-rnn": (
        "as the RAE row",
        "words have full matrices, drawn as I + U(-0.05, 0.05), whose L2 pulls them to I",
    ),
    "rntn": ("as the RAE row", "words learn at a higher rate than the tensor"),
    "dcnn": (
        "batches of phrases of one length",
        "one L2 for all weights, the bias after folding",
        "binary: trained on phrases that are not neutral, in two classes; the authors' file also has neutral ones, cut "
        "at the middle of a scale that the trees do not have",
    ),
    PARAGRAPH_VEC.name: PARAGRAPH_VEC.departures,
    "cnn-non-static": (
        "GloVe instead of word2vec",
        "batches of phrases of one length, punctuation kept",
        "binary: trained on phrases that are not neutral, in two classes",
    ),
    "cnn-multichannel": ("as CNN-non-static", "the results of both channels are averaged, not added"),
    "drnn": (
        "GloVe instead of word2vec",
        "no L2 on activations",
        "dropout is drawn for every node, as in the authors' program, not for every sentence",
        "binary: read off the five-class model, as the authors did",
    ),
}


def departures(rows: Sequence[Cited]) -> list[str]:
    """One note per system that is rebuilt."""
    found = {cited.title: _of(cited.system) for cited in rows}
    return [f"{title}, rebuilt: {'; '.join(points)}." for title, points in found.items() if points]


def _of(system: str) -> tuple[str, ...]:
    return SYSTEMS[system].departures if system in SYSTEMS else SST.get(system, ())
