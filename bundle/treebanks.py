"""The sentences a parser learns from and is measured on."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from bough.data import find_data, load_sick, load_sst
from bough.data.location import require
from bough.errors import DataError
from bough.formats import ptb
from bough.parsing.binarise import binarise
from bough.parsing.dependencies import dependency_heads
from bough.parsing.head_rules import bare
from bough.trees.tree import Tree

log = logging.getLogger(__name__)

Spans = tuple[tuple[int, int], ...]
TREEBANKS = {"ewt": "treebank/ewt-silver.txt", "gum": "treebank/gum.txt"}
HINT = "the treebanks are files of bracketed trees, one per line"
BLOCK = 50  # sentences of GUM in a row, about a document
HELD_OUT = {9: "dev", 19: "test"}  # of twenty blocks
UNKNOWN_HEAD = -1


@dataclass(frozen=True)
class Example:
    """One sentence: its binary bracketing, and what else its source knows.

    `spans` are (start, end) of two words and more; `heads` count from 1, 0 is the root; `relations` are
    there where the heads come from a dependency parser, `tags` and `labels` (the names of the spans) where the
    source has them. A silver sentence has no spans, and `UNKNOWN_HEAD` for a word on which parsers differ.
    """

    source: Literal["sst", "sick", "ewt", "gum", "silver"]
    tokens: tuple[str, ...]
    spans: Spans
    heads: tuple[int, ...]
    relations: tuple[str, ...] | None = None
    tags: tuple[str, ...] | None = None
    labels: tuple[str, ...] | None = None


def sst(data: Path | str | None, split: str, *, check: bool = True) -> list[Example]:
    """The sentences of the sentiment treebank with both kinds of tree; not `check`ed, any in its layout."""
    phrases = load_sst(data, split, parse="constituency", check=check)
    arcs = load_sst(data, split, parse="dependency", check=check)
    return [_both("sst", phrase, arc) for phrase, arc in zip(phrases, arcs, strict=True)]


def sick(data: Path | str | None, split: str, *, check: bool = True) -> list[Example]:
    """The distinct sentences of SICK with both kinds of tree, in order of appearance."""
    phrases = load_sick(data, split, parse="constituency", check=check)
    arcs = load_sick(data, split, parse="dependency", check=check)
    found: dict[tuple[str, ...], Example] = {}
    for phrase, arc in zip(phrases, arcs, strict=True):
        for example in (_both("sick", phrase.left, arc.left), _both("sick", phrase.right, arc.right)):
            found.setdefault(example.tokens, example)
    return list(found.values())


def sick_unseen(data: Path | str | None, split: str, *, check: bool = True) -> list[Example]:
    """The distinct sentences of a split of SICK that do not occur in its training split."""
    seen = {example.tokens for example in sick(data, "train", check=check)}
    return [example for example in sick(data, split, check=check) if example.tokens not in seen]


def treebank(data: Path | str | None, name: Literal["ewt", "gum"]) -> list[Example]:
    """The sentences of a labelled treebank, binarised by heads, with parts of speech and converted heads."""
    return [_labelled(name, tree) for tree in _trees(data, name)]


def gum(data: Path | str | None, split: str) -> list[Example]:
    """GUM, text of many kinds with trees by people: nine tenths to train on, a twentieth each for dev and test."""
    trees = enumerate(_trees(data, "gum"))
    return [_labelled("gum", tree) for i, tree in trees if HELD_OUT.get(i // BLOCK % 20, "train") == split]


def gum_unseen(data: Path | str | None, split: str) -> list[Example]:
    """The held-out sentences of GUM, none where GUM is not."""
    return gum(data, split) if (find_data(data) / TREEBANKS["gum"]).exists() else []


def silver(path: Path | str) -> list[Example]:
    """The sentences of a file that `bough parser silver` wrote."""
    require([Path(path)], "silver", "`bough parser silver` writes it")
    found = []
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                found.append(_silver(json.loads(line)))
            except (ValueError, TypeError, KeyError) as error:
                raise DataError(
                    f"{path}, line {number}: no sentence with heads and relations ({error})"
                ) from error
    return found


def training(
    data: Path | str | None, longest: int, silver_file: Path | str = "", *, check: bool = True
) -> list[Example]:
    """All that the parser is trained on, sentences of 2 to `longest` words."""
    examples = sst(data, "train", check=check) + sick(data, "train", check=check)
    examples += treebank(data, "ewt") + gum(data, "train")
    examples += silver(silver_file) if silver_file else []
    kept = [example for example in examples if 2 <= len(example.tokens) <= longest]
    log.info(
        "%d sentences to train on, %d longer than %d words left out",
        len(kept),
        len(examples) - len(kept),
        longest,
    )
    return kept


def _trees(data: Path | str | None, name: Literal["ewt", "gum"]) -> Iterator[Tree]:
    path = find_data(data) / TREEBANKS[name]
    require([path], name, HINT)
    return (tree for tree in ptb.read(path) if len(tree.leaves) > 1)


def spans_of(tree: Tree) -> Spans:
    """The spans of two words and more of a tree, by start, widest first; unary nodes count once."""
    found = {(start, end) for start, end in tree.spans.tolist() if end - start >= 2}
    return tuple(sorted(found, key=lambda span: (span[0], -span[1])))


def _both(source: Literal["sst", "sick"], phrase: Tree, arc: Tree) -> Example:
    tokens = tuple(str(token) for token in arc.tokens or ())
    return Example(
        source=source,
        tokens=tokens,
        spans=spans_of(phrase),
        heads=tuple((arc.parents + 1).tolist()),
        relations=tuple(str(relation) for relation in arc.relations or ()),
    )


def _silver(stored: dict[str, list[Any]]) -> Example:
    tokens, relations = tuple(stored["tokens"]), tuple(name or "" for name in stored["relations"])
    heads = tuple(UNKNOWN_HEAD if head is None else int(head) for head in stored["heads"])
    if not len(tokens) == len(heads) == len(relations):
        raise ValueError("they differ in number")
    for head, name in zip(heads, relations, strict=True):
        if not UNKNOWN_HEAD <= head <= len(tokens) or (head == UNKNOWN_HEAD) != (name == ""):
            raise ValueError(f"head {head}, relation {name!r}")
    return Example("silver", tokens, (), heads, relations)


def _labelled(name: Literal["ewt", "gum"], tree: Tree) -> Example:
    leaves = tree.leaves.tolist()
    tokens, labels = tree.tokens or (), tree.labels or ()
    binary = binarise(tree)
    spans = spans_of(binary)
    names = dict(zip(map(tuple, binary.spans.tolist()), map(_bare, binary.labels or ()), strict=True))
    return Example(
        source=name,
        tokens=tuple(str(tokens[leaf]) for leaf in leaves),
        spans=spans,
        heads=tuple(dependency_heads(tree)),
        tags=tuple(str(labels[leaf]) for leaf in leaves),
        labels=tuple(names[span] for span in spans),
    )


def _bare(label: object) -> str:
    """A label without its function tags; the mark of a node in between stays."""
    name = str(label)
    return "@" + bare(name[1:]) if name.startswith("@") else bare(name)
