"""The STS benchmark (Cer et al., 2017): pairs of texts, and how alike they are, 0 to 5."""

import re
from pathlib import Path
from typing import NamedTuple

from bough.data.checksums import text_digest
from bough.data.paths import check_split, find_data, require
from bough.data.tables import rows_with
from bough.errors import FormatError
from paper.sick import TEXTS, read_texts

HELD_OUT = 10  # one pair in so many of the published train split is held out
HINT = "the STS benchmark as CSV with genre, score, a and b goes to stsb/train.csv and dev.csv"


class TextPair(NamedTuple):
    """Two texts, how alike they are from 1 to 5, and their genre: captions, news or forum."""

    a: str
    b: str
    score: float
    genre: str


def load_sts(data: Path | str | None, split: str) -> list[TextPair]:
    """Read the pairs of one split.

    The published test split is not used: `test` is the published dev split, `dev` a tenth of the
    published train split, by a hash of its words, and `train` the rest of that. From both of these
    a pair with a sentence of SICK's dev or test split is left out, so that SICK measures the model
    on texts that it has not seen.
    """
    check_split(split)
    folder = find_data(data)
    path = folder / "stsb" / ("dev.csv" if split == "test" else "train.csv")
    require([path], "stsb", HINT)
    pairs = []
    for number, row in enumerate(rows_with(path, ("genre", "score", "a", "b")), 1):
        try:
            score = float(row["score"])
        except ValueError:
            score = -1.0
        if not 0 <= score <= 5:
            reason = f"row {number}: score {row['score']!r}; a score is a number from 0 to 5"
            raise FormatError(reason, where=str(path))
        pairs.append(TextPair(row["a"], row["b"], 1 + 0.8 * score, row["genre"].removeprefix("main-")))
    if split == "test":
        return pairs
    in_sick, kept = _sick_sentences(folder), []
    for pair in pairs:
        both = sorted((bare_words(pair.a), bare_words(pair.b)))
        held_out = text_digest("\n".join(both))[0] % HELD_OUT == 0
        if in_sick.isdisjoint(both) and held_out == (split == "dev"):
            kept.append(pair)
    return kept


def _sick_sentences(data: Path) -> set[str]:
    """Return the sentences of SICK's dev and test splits by `bare_words`."""
    paths = [data / "sick" / TEXTS[split][0] for split in ("dev", "test")]
    require(paths, "sick")
    return {bare_words(text) for path in paths for fields in read_texts(path) for text in fields[1:3]}


def bare_words(text: str) -> str:
    """Return the words of a text, whatever their case and punctuation.

    >>> bare_words("It's raining, again.")
    'it s raining again'
    """
    return " ".join(re.findall(r"\w+", text.lower()))
