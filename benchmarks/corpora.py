"""Load the trees to measure on: SST and SICK, else random trees of the same shapes."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from bough import Forest, Tree
from bough.data import find_data
from bough.trees.subtree_sharing import Digests, prepared
from bough.trees.validate import Ints
from paper.sick import load_sick, sick_files
from paper.sst import load_sst, sst_files

BATCH = 25  # trees, or pairs, in a step


class Batch(NamedTuple):
    """A forest, the rows of the word table, and targets: classes of nodes or ratings of pairs."""

    forest: Forest
    ids: Tensor
    targets: Tensor


@dataclass(frozen=True)
class Corpus:
    """Trees (of pairs, left and right in turn), ids of nodes' inputs (0 for none), and classes or ratings."""

    source: str
    trees: list[Tree]
    keys: list[Ints]
    words: int
    labels: list[Ints]
    ratings: Tensor | None = None

    @cached_property
    def digests(self) -> list[Digests]:
        """Return what finds equal subtrees, for every tree; computed once, as for a data set."""
        return prepared(self.trees, self.keys)

    def batch(self, start: int, count: int = BATCH, *, shared: bool = True) -> Batch:
        """Return `count` trees, or pairs, from `start` on."""
        size = 1 if self.ratings is None else 2
        part = slice(size * start, size * (start + count))
        forest = Forest(self.trees[part])
        if shared:
            forest = Forest(self.trees[part], self.keys[part], digests=self.digests[part])
        ids = torch.from_numpy(np.concatenate(self.keys[part]))
        if self.ratings is not None:
            return Batch(forest, ids, self.ratings[start : start + count])
        return Batch(forest, ids, torch.from_numpy(np.concatenate(self.labels[part])))


def sst_shaped(data: Path | None, count: int, seed: int = 0) -> Corpus:
    """Return `count` trees like SST's: binary, a word at each leaf, a label of five at each node."""
    rng = np.random.default_rng(seed)
    folder = find_data(data)
    if data is not None or all(path.is_file() for path in sst_files(folder, "train")):
        trees = load_sst(folder, "train", check=False)
        trees = [trees[k] for k in rng.permutation(len(trees))[:count]]
        labels = [np.array([2 if label is None else label for label in tree.labels or ()]) for tree in trees]
        keys, words = _numbered(tree.tokens or () for tree in trees)
        return Corpus("sst", trees, keys, words, labels)
    trees = [_binary(rng, _length(rng, 19.1, 9.3, 2, 52)) for _ in range(count)]
    keys = [np.where(tree.degrees == 0, 1 + _words(rng, len(tree), 18_000, 1.06), 0) for tree in trees]
    labels = [rng.integers(0, 5, len(tree)) for tree in trees]
    return Corpus("random", trees, keys, 18_001, labels)


def sick_shaped(data: Path | None, count: int, seed: int = 0) -> Corpus:
    """Return `count` pairs like those of SICK, with a word at each node, and ratings."""
    rng = np.random.default_rng(seed)
    folder = find_data(data)
    if data is not None or all(path.is_file() for path in sick_files(folder, "train")):
        pairs = load_sick(folder, "train", check=False)
        pairs = [pairs[k] for k in rng.permutation(len(pairs))[:count]]
        trees = [tree for pair in pairs for tree in (pair.left, pair.right)]
        keys, known = _numbered(tree.tokens or () for tree in trees)
        return Corpus("sick", trees, keys, known, [], torch.tensor([pair.score for pair in pairs]))
    trees, keys = [], []
    for _ in range(count):
        left, words = _sentence(rng)
        right, others = left, words.copy()
        if rng.uniform() > 0.75:
            right, others = _sentence(rng)
        else:  # the second is often the first with one word changed
            others[rng.integers(len(others))] = 1 + _words(rng, 1, 2_300, 1.2)[0]
        trees += [left, right]
        keys += [words, others]
    return Corpus("random", trees, keys, 2_301, [], torch.from_numpy(rng.uniform(1, 5, count)).float())


def _numbered(sentences: Iterable[tuple[str | None, ...]]) -> tuple[list[Ints], int]:
    """Return each node's word as a number from 1, 0 for no word, and the count of numbers."""
    known: dict[str | None, int] = {None: 0}
    keys = [np.array([known.setdefault(word, len(known)) for word in words]) for words in sentences]
    return keys, len(known)


def _length(rng: np.random.Generator, mean: float, deviation: float, low: int, high: int) -> int:
    shape = (mean / deviation) ** 2
    return int(np.clip(round(rng.gamma(shape, mean / shape)), low, high))


def _words(rng: np.random.Generator, count: int, vocabulary: int, steepness: float) -> Ints:
    """Draw word ids by Zipf's law. The steepness sets how often a batch repeats words."""
    chances = np.arange(2.0, vocabulary + 2) ** -steepness
    edges = np.cumsum(chances)
    return np.searchsorted(edges, rng.uniform(0, edges[-1], count))


def _binary(rng: np.random.Generator, leaves: int) -> Tree:
    """Draw a binary tree. As in English, single words split off more often at the left."""
    stack, parents = [(-1, leaves)], list[int]()
    while stack:
        parent, size = stack.pop()
        if size > 1:
            luck, node = rng.uniform(), len(parents)
            left = 1 if luck < 0.47 else size - 1 if luck < 0.58 else int(rng.integers(1, size))
            stack += [(node, size - left), (node, left)]
        parents.append(parent)
    return Tree(parents)


def _sentence(rng: np.random.Generator) -> tuple[Tree, Ints]:
    size = _length(rng, 9.7, 3.7, 3, 36)
    parents = [-1, *(int(rng.integers(node)) for node in range(1, size))]
    return Tree(parents), 1 + _words(rng, size, 2_300, 1.2)
