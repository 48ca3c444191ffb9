"""Trees to measure on: the paper's, where they are found, else random ones of the same shapes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from bough import Forest, Tree
from bough.data import find_data
from bough.trees.subtree_sharing import Words, prepared
from bough.trees.validate import Ints
from paper.sick import load_sick, sick_files
from paper.sst import load_sst, sst_files

BATCH = 25  # trees, or pairs, in a step


@dataclass(frozen=True)
class Corpus:
    """Trees, the id of each node's input (0 for none), and a label: a node's class, or a pair's rating."""

    source: str
    trees: list[Tree]
    keys: list[Ints]
    labels: list[Ints]
    words: int

    @cached_property
    def digests(self) -> list[Words]:
        """Of every tree, prepared once as a data set's are."""
        return prepared(self.trees, self.keys)

    def forest(self, start: int, count: int, *, shared: bool) -> Forest:
        """Trees start to start + count as one forest."""
        part = slice(start, start + count)
        if not shared:
            return Forest(self.trees[part])
        return Forest(self.trees[part], self.keys[part], digests=self.digests[part])

    def ids(self, start: int, count: int) -> Tensor:
        """(N,) the rows of the table that these trees' nodes read."""
        return torch.from_numpy(np.concatenate(self.keys[start : start + count]))

    def classes(self, start: int, count: int) -> Tensor:
        """(N,) the labels of these trees' nodes."""
        return torch.from_numpy(np.concatenate(self.labels[start : start + count]))


def sst_shaped(data: Path | None, count: int, seed: int = 0) -> Corpus:
    """`count` trees as in SST: binary, a word at each leaf, one of five labels at each node."""
    rng = np.random.default_rng(seed)
    folder = find_data(data)
    if data is not None or all(path.is_file() for path in sst_files(folder, "train")):
        trees = load_sst(folder, "train", check=False)
        trees = [trees[k] for k in rng.permutation(len(trees))[:count]]
        labels = [np.array([2 if label is None else label for label in tree.labels or ()]) for tree in trees]
        keys, words = _numbered(tree.tokens or () for tree in trees)
        return Corpus("sst", trees, keys, labels, words)
    trees = [_binary(rng, _length(rng, 19.1, 9.3, 2, 52)) for _ in range(count)]
    keys = [np.where(tree.degrees == 0, 1 + _words(rng, len(tree), 18_000, 1.06), 0) for tree in trees]
    labels = [rng.integers(0, 5, len(tree)) for tree in trees]
    return Corpus("random", trees, keys, labels, 18_001)


def sick_shaped(data: Path | None, count: int, seed: int = 0) -> tuple[Corpus, Tensor]:
    """`count` pairs as in SICK, one tree after the other, a word at each node; and their ratings."""
    rng = np.random.default_rng(seed)
    folder = find_data(data)
    if data is not None or all(path.is_file() for path in sick_files(folder, "train")):
        pairs = load_sick(folder, "train", check=False)
        pairs = [pairs[k] for k in rng.permutation(len(pairs))[:count]]
        trees = [tree for pair in pairs for tree in (pair.left, pair.right)]
        keys, words = _numbered(tree.tokens or () for tree in trees)
        return Corpus("sick", trees, keys, [], words), torch.tensor([pair.score for pair in pairs])
    trees, keys = [], []
    for left, right in (_pair(rng) for _ in range(count)):
        trees += [left[0], right[0]]
        keys += [left[1], right[1]]
    return Corpus("random", trees, keys, [], 2_301), torch.from_numpy(rng.uniform(1, 5, count)).float()


def combs(trees: int, leaves: int) -> list[Tree]:
    """Binary trees as deep as they can be: every inner node has a leaf and the rest."""
    inner = np.arange(leaves - 1)
    parents = np.concatenate([inner - 1, inner, [leaves - 2]])
    return [Tree(parents)] * trees


def _numbered(sentences: Iterable[tuple[str | None, ...]]) -> tuple[list[Ints], int]:
    """Each node's word as a number from 1, in the order met, 0 for no word; and how many numbers there are."""
    known: dict[str | None, int] = {None: 0}
    keys = [np.array([known.setdefault(word, len(known)) for word in words]) for words in sentences]
    return keys, len(known)


def _length(rng: np.random.Generator, mean: float, deviation: float, low: int, high: int) -> int:
    shape = (mean / deviation) ** 2
    return int(np.clip(round(rng.gamma(shape, mean / shape)), low, high))


def _words(rng: np.random.Generator, count: int, vocabulary: int, steepness: float) -> Ints:
    """Word ids by Zipf's law, steep enough that a batch repeats itself as much as the real ones do."""
    chances = np.arange(2.0, vocabulary + 2) ** -steepness
    edges = np.cumsum(chances)
    return np.searchsorted(edges, rng.uniform(0, edges[-1], count))


def _binary(rng: np.random.Generator, leaves: int) -> Tree:
    """A binary tree that, as English, peels off single words at the left more than at the right."""
    return Tree(list(_splits(rng, leaves)))


def _splits(rng: np.random.Generator, leaves: int) -> Iterator[int]:
    stack, node = [(-1, leaves)], 0
    while stack:
        parent, size = stack.pop()
        yield parent
        if size > 1:
            luck = rng.uniform()
            left = 1 if luck < 0.47 else size - 1 if luck < 0.58 else int(rng.integers(1, size))
            stack += [(node, size - left), (node, left)]
        node += 1


def _pair(rng: np.random.Generator) -> tuple[tuple[Tree, Ints], tuple[Tree, Ints]]:
    """Two sentences as dependency trees; often the second is the first with one word changed."""
    left = _sentence(rng)
    if rng.uniform() > 0.75:
        return left, _sentence(rng)
    keys = left[1].copy()
    keys[rng.integers(len(keys))] = 1 + _words(rng, 1, 2_300, 1.2)[0]
    return left, (left[0], keys)


def _sentence(rng: np.random.Generator) -> tuple[Tree, Ints]:
    size = _length(rng, 9.7, 3.7, 3, 36)
    parents = [-1, *(int(rng.integers(node)) for node in range(1, size))]
    return Tree(parents), 1 + _words(rng, size, 2_300, 1.2)
