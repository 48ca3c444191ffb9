"""Trees beside a treebank, from other sources, whose labels may be coarser: `3|4` is one of the classes 3 and 4.

They lie below the data folder, one file per source and split: `extra/NAME/SPLIT.txt`, a tree in brackets per line,
`#` at the nodes without a label. Pairs of sentences have a folder per split, `extra/NAME/SPLIT/`, in SICK's layout.
"""

from __future__ import annotations

from pathlib import Path

from bough import Tree
from bough.data.paths import find_data, require
from bough.errors import FormatError
from bough.formats import ptb
from paper.sick import Pair, load_pairs

UNLABELLED = "#"
Classes = tuple[int, ...]  # the one or more that a label stands for


def load_extra(data: Path | str | None, name: str, split: str, classes: int) -> list[Tree]:
    """The trees of one source; a label is a tuple of class numbers below `classes`, or None."""
    path = extra_file(find_data(data), name, split)
    require([path], "extra", hint="`python -m bundle prepare opinions` makes goemotions, titles and reviews")
    trees = []
    for number, tree in enumerate(ptb.iterate(path), 1):
        where = f"{path}: tree {number}"
        found = [_classes(label, classes, where) for label in tree.labels or ()]
        if not found or found[tree.root] is None:
            raise FormatError("no label at the root; a text has one", where=where)
        trees.append(tree.replace(labels=found))
    return trees


def extra_file(data: Path, name: str, split: str) -> Path:
    """Where the trees of a source lie."""
    return data / "extra" / name / f"{split}.txt"


def load_extra_pairs(data: Path | str | None, name: str, split: str, scale: int) -> list[Pair]:
    """The pairs of one source, as dependency trees."""
    hint = "`python -m bundle prepare stsb` makes captions, news, forums and turns"
    return load_pairs(extra_pairs(find_data(data), name, split), "dependency", scale, hint=hint)


def extra_pairs(data: Path, name: str, split: str) -> Path:
    """The folder of the pairs of a source."""
    return data / "extra" / name / split


def shares(mix: str) -> dict[str, int]:
    """`goemotions:16 titles:3`: the sources and how many of each go into a step.

    >>> shares("goemotions:16 titles:3")
    {'goemotions': 16, 'titles': 3}
    """
    found: dict[str, int] = {}
    for part in mix.split():
        name, colon, count = part.partition(":")
        if not (name and colon and count.isdecimal() and int(count)) or name in found:
            raise ValueError(f"mix = {mix!r}: {part!r} is not NAME:COUNT, each name once")
        found[name] = int(count)
    return found


def _classes(label: object, classes: int, where: str) -> Classes | None:
    if label is None or label == UNLABELLED:
        return None
    parts = str(label).split("|")
    if not all(part.isdecimal() and int(part) < classes for part in parts):
        raise FormatError(
            f"the label {label!r}; a class is 0 to {classes - 1}, several go as 3|4", where=where
        )
    return tuple(sorted({int(part) for part in parts}))
