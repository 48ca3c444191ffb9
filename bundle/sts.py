"""Pairs for relatedness beside SICK's: the STS benchmark (Cer et al., 2017), and bough's own contrast pairs.

The benchmark has pairs of captions, news and forums, and how alike they are, 0 to 5. In a contrast pair one change
turns the meaning, or leaves it: roles, numbers, names, negation, wording.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bough.data.checksums import text_digest
from bough.data.paths import SPLITS, find_data, require
from bough.data.tables import rows_with
from bough.errors import DataError, FormatError
from bough.formats.lines import numbered
from bough.text import Parser
from paper.prepare import Tell, unused, write_pairs
from paper.sick import TEXTS

SOURCES = {"captions": "main-captions", "news": "main-news", "forums": "main-forum"}  # how their genres begin
HELD = 10  # one pair in so many of the published train split is held out
HINT = "the STS benchmark as CSV with genre, score, a and b goes to stsb/train.csv and dev.csv"
CONTRAST_PAIRS = Path(__file__).with_name("contrast_pairs.txt")
MOST = 24  # contrast pairs of one template


class TextPair(NamedTuple):
    """Two texts and how alike they are on SICK's scale, 1 to 5."""

    id: str
    a: str
    b: str
    score: float


def load_sts(data: Path | str | None, source: str, split: str) -> list[TextPair]:
    """Read the pairs of one genre in one split.

    The published test split is not used: `test` is the published dev split, `dev` a tenth of the published train split,
    by a hash of its words, and `train` the rest of that. From both of these a pair with a sentence of SICK's dev or
    test split is left out.
    """
    if source not in SOURCES:
        raise DataError(f"source {source!r}: one of {', '.join(map(repr, SOURCES))}")
    if split not in SPLITS:
        raise DataError(f"split {split!r}: one of {', '.join(map(repr, SPLITS))}")
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
        if row["genre"].startswith(SOURCES[source]):
            pairs.append(TextPair(str(number), row["a"], row["b"], 1 + 0.8 * score))
    if split == "test":
        return pairs
    in_sick = sick_sentences(folder)
    apart = [pair for pair in pairs if in_sick.isdisjoint((bare_words(pair.a), bare_words(pair.b)))]
    return [pair for pair in apart if _is_held_out(pair) == (split == "dev")]


def sick_sentences(data: Path) -> set[str]:
    """Return the sentences of SICK's dev and test splits by `bare_words`."""
    paths = [data / "sick" / TEXTS[split][0] for split in ("dev", "test")]
    require(paths, "sick")
    lines = [line.split("\t") for path in paths for number, line in numbered(path, str(path)) if number > 1]
    return {bare_words(text) for fields in lines for text in fields[1:3]}


def bare_words(text: str) -> str:
    """Return the words of a text, whatever their case and punctuation.

    >>> bare_words("It's raining, again.")
    'it s raining again'
    """
    return " ".join(re.findall(r"\w+", text.lower()))


def _is_held_out(pair: TextPair) -> bool:
    both = "\n".join(sorted((bare_words(pair.a), bare_words(pair.b))))
    return text_digest(both)[0] % HELD == 0


def load_contrast_pairs(split: str) -> list[TextPair]:
    """Return the contrast pairs, all of them for training: nothing is measured on them."""
    pairs: list[TextPair] = []
    lines = CONTRAST_PAIRS.read_text(encoding="utf-8").splitlines() if split == "train" else []
    for number, line in enumerate(lines, 1):
        if not line.startswith("#"):
            rating, a, b = line.split("\t")
            texts = sorted(_fill_template(a, b), key=lambda pair: text_digest("\n".join(pair)))[:MOST]
            pairs += [TextPair(f"{number}-{i}", *both, float(rating)) for i, both in enumerate(texts)]
    return pairs


def _fill_template(a: str, b: str) -> Iterator[tuple[str, str]]:
    """Yield every choice of the template's [x|y]; `{1}` in the second text is the first choice of the first text."""
    template = f"{a}\t{b}"
    choices = [choice.split("|") for choice in re.findall(r"\[([^\]]*)\]", template)]
    for chosen in itertools.product(*choices):
        if len({*chosen}) < len(chosen):
            continue
        text = template
        for word in chosen:
            text = re.sub(r"\[[^\]]*\]", word, text, count=1)
        for index, word in enumerate(chosen, 1):
            text = text.replace(f"{{{index}}}", word)
        left, right = text.split("\t")
        yield left, right


def prepare_sts(
    parser: Parser, data: Path | str | None = None, out: Path | None = None, *, tell: Tell | None = None
) -> list[Path]:
    """Parse all pairs and write `extra/SOURCE/SPLIT/` below `out`, else the data folder, in the layout of SICK."""
    source_folder = find_data(data)
    target = (out or source_folder) / "extra"
    folders = {(s, split): target / s / split for s in (*SOURCES, "turns") for split in SPLITS}
    unused([folder / "id.txt" for folder in folders.values()])
    written: list[Path] = []
    for (source, split), folder in folders.items():
        found = load_contrast_pairs(split) if source == "turns" else load_sts(source_folder, source, split)
        pairs = [(pair.id, pair.a, pair.b, f"{pair.score:.4f}") for pair in found]
        written += write_pairs(parser, folder, pairs, f"{source} {split}", ["dependency"], tell)
    return written
