"""The sentences of SST, SICK, GUM and EWT that the built-in parser is trained and measured on."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from bough import Tree
from bough.data import find_data
from bough.data.paths import require
from bough.formats import ptb
from bough.train.parser.examples import Example, example_from_ptb, example_from_trees, read_silver
from paper.sick import load_sick
from paper.sst import load_sst

log = logging.getLogger(__name__)

TREEBANKS = {"ewt": "treebank/ewt-silver.txt", "gum": "treebank/gum.txt"}
HINT = "the treebanks are files of bracketed trees, one per line"
BLOCK = 50  # sentences of GUM in a row, about a document
HELD_OUT = {9: "dev", 19: "test"}  # of twenty blocks


def sst(data: Path | str | None, split: str, *, check: bool = True) -> list[Example]:
    """Read the sentences of a split of SST with both kinds of tree.

    Without `check` the data may be any in the same layout.
    """
    phrases = load_sst(data, split, parse="constituency", check=check)
    arcs = load_sst(data, split, parse="dependency", check=check)
    return [example_from_trees("sst", phrase, arc) for phrase, arc in zip(phrases, arcs, strict=True)]


def sick(data: Path | str | None, split: str, *, check: bool = True) -> list[Example]:
    """Read the distinct sentences of a split of SICK with both kinds of tree, in order of appearance."""
    phrases = load_sick(data, split, parse="constituency", check=check)
    arcs = load_sick(data, split, parse="dependency", check=check)
    found: dict[tuple[str, ...], Example] = {}
    for phrase, arc in zip(phrases, arcs, strict=True):
        for example in (
            example_from_trees("sick", phrase.left, arc.left),
            example_from_trees("sick", phrase.right, arc.right),
        ):
            found.setdefault(example.tokens, example)
    return list(found.values())


def sick_unseen(data: Path | str | None, split: str, *, check: bool = True) -> list[Example]:
    """Read the distinct sentences of a split of SICK that do not occur in its training split."""
    seen = {example.tokens for example in sick(data, "train", check=check)}
    return [example for example in sick(data, split, check=check) if example.tokens not in seen]


def treebank(data: Path | str | None, name: Literal["ewt", "gum"]) -> list[Example]:
    """Read the sentences of a labelled treebank, binarised by heads, with parts of speech and converted heads."""
    return [example_from_ptb(name, tree) for tree in _trees(data, name)]


def gum(data: Path | str | None, split: str) -> list[Example]:
    """Read a split of GUM, whose trees are annotated by people: 90% train, 5% dev, 5% test."""
    trees = enumerate(_trees(data, "gum"))
    return [
        example_from_ptb("gum", tree) for i, tree in trees if HELD_OUT.get(i // BLOCK % 20, "train") == split
    ]


def gum_unseen(data: Path | str | None, split: str) -> list[Example]:
    """Read a held-out split of GUM; return no sentences if the data folder has no GUM."""
    return gum(data, split) if (find_data(data) / TREEBANKS["gum"]).exists() else []


def training(
    data: Path | str | None, longest: int, silver_file: Path | str = "", *, check: bool = True
) -> list[Example]:
    """Read all sentences that the parser is trained on, those of 2 to `longest` words."""
    examples = sst(data, "train", check=check) + sick(data, "train", check=check)
    examples += treebank(data, "ewt") + gum(data, "train")
    examples += read_silver(silver_file) if silver_file else []
    kept = [example for example in examples if 2 <= len(example.tokens) <= longest]
    dropped = len(examples) - len(kept)
    log.info("%d sentences to train on, %d longer than %d words left out", len(kept), dropped, longest)
    return kept


def _trees(data: Path | str | None, name: Literal["ewt", "gum"]) -> Iterator[Tree]:
    path = find_data(data) / TREEBANKS[name]
    require([path], name, HINT)
    return (tree for tree in ptb.read(path) if len(tree.leaves) > 1)
