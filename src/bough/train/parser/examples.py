"""The sentences that a parser is trained and measured on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bough.data.paths import require
from bough.errors import DataError
from bough.text.binarise import bare, binarise
from bough.text.stanford_dependencies import dependency_heads
from bough.trees.tree import Tree

Spans = tuple[tuple[int, int], ...]
UNKNOWN_HEAD = -1


@dataclass(frozen=True)
class Example:
    """One sentence with its binary bracketing, its heads, and what else its source provides.

    Args:
        source: the name of the treebank. Training treats two names specially: "gum" (brackets in another style, sampled
            by `gum_share`) and "silver" (heads that two parsers agree on, sampled by `silver_share`).
        tokens: the words.
        spans: (start, end) of every phrase of two or more words; empty for a silver sentence.
        heads: the head of each word, counted from 1; 0 is the root, `UNKNOWN_HEAD` an unknown head.
        relations: the relation of each word to its head, if the heads come from a dependency parser.
        tags: the part of speech of each word, if the source has them.
        labels: the label of each span, if the source has them.
    """

    source: str
    tokens: tuple[str, ...]
    spans: Spans
    heads: tuple[int, ...]
    relations: tuple[str, ...] | None = None
    tags: tuple[str, ...] | None = None
    labels: tuple[str, ...] | None = None


def spans_of(tree: Tree) -> Spans:
    """Return the spans of two or more words of a tree, by start, widest first; unary nodes count once."""
    found = {(start, end) for start, end in tree.spans.tolist() if end - start >= 2}
    return tuple(sorted(found, key=lambda span: (span[0], -span[1])))


def example_from_trees(source: str, phrase: Tree, arc: Tree) -> Example:
    """Return the example of a sentence that has a binary phrase tree and a dependency tree."""
    return Example(
        source=source,
        tokens=tuple(str(token) for token in arc.tokens or ()),
        spans=spans_of(phrase),
        heads=tuple((arc.parents + 1).tolist()),
        relations=tuple(str(relation) for relation in arc.relations or ()),
    )


def example_from_ptb(source: str, tree: Tree) -> Example:
    """Return the example of a labelled Penn Treebank tree: binarised by heads, which are converted by rules."""
    leaves = tree.leaves.tolist()
    tokens, labels = tree.tokens or (), tree.labels or ()
    binary = binarise(tree)
    spans = spans_of(binary)
    names = dict(zip(map(tuple, binary.spans.tolist()), map(_bare, binary.labels or ()), strict=True))
    return Example(
        source=source,
        tokens=tuple(str(tokens[leaf]) for leaf in leaves),
        spans=spans,
        heads=tuple(dependency_heads(tree)),
        tags=tuple(str(labels[leaf]) for leaf in leaves),
        labels=tuple(names[span] for span in spans),
    )


def read_silver(path: Path | str) -> list[Example]:
    """Read the sentences of a file written by `bough parser silver`; a bad line is a DataError."""
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


def _silver(stored: dict[str, list[Any]]) -> Example:
    tokens, relations = tuple(stored["tokens"]), tuple(name or "" for name in stored["relations"])
    heads = tuple(UNKNOWN_HEAD if head is None else int(head) for head in stored["heads"])
    if not len(tokens) == len(heads) == len(relations):
        raise ValueError("they differ in number")
    for head, name in zip(heads, relations, strict=True):
        if not UNKNOWN_HEAD <= head <= len(tokens) or (head == UNKNOWN_HEAD) != (name == ""):
            raise ValueError(f"head {head}, relation {name!r}")
    return Example("silver", tokens, (), heads, relations)


def _bare(label: object) -> str:
    """Return a label without its function tags; the mark of an intermediate node stays."""
    name = str(label)
    return "@" + bare(name[1:]) if name.startswith("@") else bare(name)
