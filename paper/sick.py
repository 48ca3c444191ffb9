"""Read SICK (SemEval-2014 Task 1): pairs of sentences with ratings of their relatedness, 1 to 5."""

import logging
import math
from dataclasses import dataclass
from pathlib import Path

from bough import Tree
from bough.data.checksums import sha256
from bough.data.paths import SPLITS, check_count, check_split, choose_from, find_data, require
from bough.errors import DataError, FormatError
from bough.formats import pointers
from bough.formats.lines import numbered
from bough.text.join_sentences import chain_of_words
from bough.text.tokenise import tokenise
from paper.parses import NONE, PAPER, PARSES, Parse, check_trees, trees_folder

log = logging.getLogger(__name__)

KNOWN = {"train": 4_500, "dev": 500, "test": 4_927}
TEXTS = {  # the official files and their hashes
    "train": ("SICK_train.txt", "266cf8047149bd1d68138dd30439f3122bff30069740ac6705bb6197d9f1b48e"),
    "dev": ("SICK_trial.txt", "5a88cfb62f8c6bd2a3cce0f2421ba2cb8c2be5ab4a800f6f01e2c64aafb7db56"),
    "test": ("SICK_test_annotated.txt", "2b8aa806658d6fc23c6824c83776c2d4fee7556000817b5ec0f982861413b7d0"),
}
HINT = "the official archives have no parses, `python -m paper fetch sick --from DIR` takes copies that have"
HINT += ", `python -m paper prepare sick` parses the sentences"


@dataclass(frozen=True)
class Pair:
    """Two sentences as trees, and the `score` of their relatedness, between 1 and 5 in SICK.

    Examples:
        >>> import bough
        >>> from paper.sick import Pair
        >>> tree = bough.Tree(parents=[1, -1], tokens=["dogs", "sleep"])
        >>> Pair(tree, tree, score=5.0, id="1").score
        5.0
    """

    left: Tree
    right: Tree
    score: float
    id: str


def load_sick(
    data: Path | str | None,
    split: str,
    *,
    parse: Parse = "dependency",
    trees: str = PAPER,
    check: bool = True,
    scale: int = 5,
) -> list[Pair]:
    """Read one split of SICK.

    The authors' dependency trees have a relation at every node; constituency trees are binary, with
    a token at every leaf. With `trees="none"` a sentence is a chain of words.

    Args:
        data: the data folder; None looks where `find_data` does.
        split: "train", "dev" or "test".
        parse: "dependency" or "constituency".
        trees: whose trees: "paper", the name of a parser, or "none"; see `paper.parses`.
        check: False skips the count of pairs, for your own data in the same layout.
        scale: the largest score; the smallest is 1.

    Examples:
        >>> from paper.sick import load_sick
        >>> len(load_sick(None, "train"))  # doctest: +SKIP
        4500
    """
    check_split(split)
    choose_from("parse", parse, PARSES)
    folder = find_data(data)
    *sides, ids_file, scores_file = files = sick_files(folder, split, parse, trees)
    if trees == PAPER:
        require(files, "sick", HINT)
        ids = [line for _, line in numbered(ids_file, str(ids_file))]
        scores = [_score(line, scores_file, i, scale) for i, line in numbered(scores_file, str(scores_file))]
    else:
        check_trees(sides, folder, "sick", trees)
        pairs = read_texts(ids_file)
        ids, scores = [pair[0] for pair in pairs], [float(pair[3]) for pair in pairs]
    if trees == NONE:
        left, right = ([chain_of_words(words_in(pair[column])) for pair in pairs] for column in (1, 2))
    else:
        half = len(sides) // 2
        left, right = (pointers.read(*side, kind=parse) for side in (sides[:half], sides[half:]))
        for path, lines in ((sides[half], len(right)), (ids_file, len(ids)), (scores_file, len(scores))):
            if lines != len(left):
                counts = f"{path}: {lines:,} lines, {sides[0]} has {len(left):,}"
                raise DataError(f"{counts}; give one per pair in each")
    if check:
        check_count(ids_file.parent, len(ids), KNOWN[split], "pairs")
    return [Pair(*columns) for columns in zip(left, right, scores, ids, strict=True)]


def sick_files(data: Path, split: str, parse: Parse = "dependency", trees: str = PAPER) -> list[Path]:
    """Return the files that `load_sick` reads.

    Args:
        data: the data folder.
        split: "train", "dev" or "test".
        parse: "dependency" or "constituency".
        trees: whose trees, "paper", the name of a parser, or "none".

    Examples:
        >>> import pathlib
        >>> from paper.sick import sick_files
        >>> [file.name for file in sick_files(pathlib.Path("data"), "dev")][:3]
        ['a.parents', 'a.toks', 'a.rels']
    """
    endings = ("parents", "toks", "rels") if parse == "dependency" else ("cparents", "toks")
    folder = trees_folder(data, "sick", trees) / split
    sides = [folder / f"{side}.{ending}" for side in "ab" for ending in endings]
    if trees == PAPER:
        return [*sides, folder / "id.txt", folder / "sim.txt"]
    text = data / "sick" / TEXTS[split][0]  # with the ids and the scores
    return [text, text] if trees == NONE else [*sides, text, text]


def words_in(text: str) -> tuple[str, ...]:
    """Return the words of a sentence of the official files."""
    return tuple(token.text for token in tokenise(text))


def check_folder(data: Path, *, counts: bool) -> None:
    """Read all of SICK, with parses if there are any. Raise an error if it is incomplete."""
    for split, (name, digest) in TEXTS.items():
        text = data / "sick" / name
        pairs = read_texts(text)
        if counts:
            check_count(text, len(pairs), KNOWN[split], "pairs")
            if sha256(text) != digest:
                # only a warning, because this is a local copy; `fetch` refuses a download with another hash
                log.warning("%s: not byte for byte the known file (sha256 %s), but complete", name, digest)
    if any((data / "sick" / split).is_dir() for split in SPLITS):
        for split in SPLITS:
            for parse in PARSES:
                load_sick(data, split, parse=parse, check=counts)


def _score(text: str, path: Path, number: int, scale: int = 5) -> float:
    try:
        score = float(text)
    except ValueError:
        score = math.nan
    if not 1 <= score <= scale:
        reason = f"score {text!r}; a score is a number from 1 to {scale}"
        raise FormatError(reason, where=str(path), line=number)
    return score


def read_texts(path: Path) -> list[list[str]]:
    """Read an official file: the id, two sentences, score and entailment label of every pair."""
    pairs = []
    for number, line in numbered(path, str(path)):
        fields = line.split("\t")
        if len(fields) != 5:
            raise FormatError(f"{len(fields)} fields; a pair has 5", where=str(path), line=number)
        if number > 1:  # after the heading
            _score(fields[3], path, number)
            pairs.append(fields)
    return pairs
