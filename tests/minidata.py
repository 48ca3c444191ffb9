"""A data folder in the layout of the real one, made of the example's small treebank: enough for every recipe."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bough.formats import pointers, ptb
from bough.trees.tree import Tree

DEMO = Path(__file__).parents[1] / "examples" / "demo"
COARSE = {"0": "0|1", "1": "0|1", "2": "2", "3": "3|4", "4": "3|4"}
RELATIONS = ("det", "nsubj", "dobj", "amod")


def make(folder: Path, sentences: int = 40, dimension: int = 300) -> Path:
    """SST with both kinds of tree, SICK with both, other sources, GloVe 6B, and a WordNet that knows no word.

    Of SST and SICK there are the first so many sentences of each split.
    """
    words: set[str] = set()
    for split in ("train", "dev", "test"):
        trees = ptb.read(DEMO / f"{split}.txt")[:sentences]
        words.update(token for tree in trees for token in tree.tokens or () if token)
        _write(folder / "sst" / "trees" / f"{split}.txt", [ptb.write(tree) for tree in trees])
        _sst_dependencies(folder / "sst" / "dep" / split, trees)
        _sick(folder / "sick" / split, trees)
        for name in ("goemotions", "xed", "newsmtsc"):
            _write(folder / "extra" / name / f"{split}.txt", [ptb.write(_coarse(tree)) for tree in trees])
    rng = np.random.default_rng(0)
    rows = [
        f"{word.lower()} " + " ".join(f"{v:.4f}" for v in rng.normal(size=dimension))
        for word in sorted(words)
    ]
    _write(folder / "glove" / "glove.6B.300d.txt", list(dict.fromkeys(rows)))
    for part in ("noun", "verb", "adj", "adv"):
        for name in (f"index.{part}", f"data.{part}"):
            _write(folder / "wordnet" / name, ["  1 the licence stands here, each line behind two spaces"])
        _write(folder / "wordnet" / f"{part}.exc", [])
    _write(folder / "wordnet" / "cntlist.rev", [])
    return folder


def _coarse(tree: Tree) -> Tree:
    """The root's label, with the two of a sign as one; no other."""
    labels = ["#"] * len(tree)
    labels[tree.root] = COARSE[str((tree.labels or ())[tree.root])]
    return tree.replace(labels=labels)


def _tokens(tree: Tree) -> list[str]:
    assert tree.tokens is not None
    return [str(tree.tokens[node]) for node in tree.words]


def _heads(count: int) -> list[int]:
    """The middle word is the root, every other hangs from its neighbour towards the middle; from 1, 0 the root."""
    middle = count // 2
    return [0 if i == middle else (i + 2 if i < middle else i) for i in range(count)]


def _dependency(tree: Tree) -> Tree:
    heads = _heads(len(tree.words))
    relations = ["root" if not head else RELATIONS[i % len(RELATIONS)] for i, head in enumerate(heads)]
    return Tree([head - 1 for head in heads], tokens=_tokens(tree), relations=relations)


def _sst_dependencies(folder: Path, trees: list[Tree]) -> None:
    lines = [pointers.write(_dependency(tree)) for tree in trees]
    for name in ("parents", "tokens", "relations"):
        target = {"parents": "dparents.txt", "tokens": "sents.toks", "relations": "rels.txt"}[name]
        _write(folder / target, [str(getattr(line, name)) for line in lines])
    labels = []
    for tree in trees:
        assert tree.labels is not None
        row = ["#"] * len(tree.words)
        row[len(row) // 2] = str(int(str(tree.labels[tree.root])) - 2)
        row[0] = str(int(str(tree.labels[tree.words[0]])) - 2) if len(row) > 1 else row[0]
        labels.append(" ".join(row))
    _write(folder / "dlabels.txt", labels)


def _sick(folder: Path, trees: list[Tree]) -> None:
    left, right = trees[0::2], trees[1::2]
    count = min(len(left), len(right))
    for side, part in (("a", left[:count]), ("b", right[:count])):
        plain = [Tree(tree.parents, tokens=tree.tokens) for tree in part]
        dependency = [pointers.write(_dependency(tree)) for tree in part]
        constituency = [pointers.write(tree, kind="constituency") for tree in plain]
        _write(folder / f"{side}.toks", [str(line.tokens) for line in dependency])
        _write(folder / f"{side}.parents", [str(line.parents) for line in dependency])
        _write(folder / f"{side}.rels", [str(line.relations) for line in dependency])
        _write(folder / f"{side}.cparents", [str(line.parents) for line in constituency])
    overlap = [
        len({*_tokens(a)} & {*_tokens(b)}) / max(len(_tokens(a)), len(_tokens(b)))
        for a, b in zip(left[:count], right[:count], strict=True)
    ]
    _write(folder / "sim.txt", [f"{1 + 4 * share:.1f}" for share in overlap])
    _write(folder / "id.txt", [str(i + 1) for i in range(count)])


def _write(path: Path, lines: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
