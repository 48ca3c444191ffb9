"""Parse the examples of all splits, and prepare them for a model."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.data.examples import Example
from bough.errors import DataError
from bough.models.batching import prepare_all
from bough.models.config import Config
from bough.models.inputs import words_of
from bough.models.model import Model
from bough.pipelines.readers import AT_ONCE, Kind, as_given, groups
from bough.train.distributed import current
from bough.train.options import FitOptions
from bough.train.parse_cache import open_parse_cache
from bough.train.splits import SPLITS, Splits
from bough.train.targets import Ratings, Target
from bough.train.tasks import Indices, RatedPair
from bough.trees.tree import Tree

READY = 20_000  # a larger split is prepared batch by batch, to save memory


@dataclass(frozen=True)
class Parsed:
    """An event of a fit: `done` of `total` texts are parsed."""

    done: int
    total: int


@dataclass
class TreeSet:
    """The examples of one split: one list of trees, or two for pairs, with values and weights.

    The labels of nodes are class numbers, or tuples of numbers or of 0 and 1. `values` are those of the examples.
    """

    sides: tuple[list[Tree], ...]
    values: list[Any] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.sides[0])

    def trees(self) -> Iterator[Tree]:
        """Yield all trees; for pairs, all left ones first."""
        return (tree for side in self.sides for tree in side)

    def word_counts(self, config: Config) -> Counter[str]:
        """Count the words as a model with this configuration reads them."""
        words: Iterable[str] = (t for tree in self.trees() for t in tree.tokens or () if t is not None)
        if config.node_text:
            words = (word for text in words for word in words_of(text))
        return Counter(word.lower() if config.lowercase else word for word in words)

    def gold(self) -> NDArray[Any]:
        """Return (n,) class numbers or ratings, or (n, T) numbers or labels."""
        return np.array(self.values)


def parse_splits(
    splits: Splits,
    options: FitOptions,
    kind: Kind,
    callback: Callable[[Parsed], None],
    warn: Callable[[str], None],
) -> dict[str, TreeSet]:
    """Return the trees of every split. Texts are parsed, unless their parses are in the cache.

    With several ranks, each parses its shard of the examples and gets the trees of the others. Raise a DataError if no
    example of train or of dev has a word.
    """
    ranks, examples = current(), splits.examples
    shard = _shards(len(examples), ranks.count)[ranks.number]
    own = list[tuple[Tree, ...] | None]()
    with contextlib.ExitStack() as stack:
        parses = None
        if splits.spec.trees != "given":
            parses = stack.enter_context(open_parse_cache(options.parser, kind, splits.spec.trees))
        for group in groups(examples[shard.start : shard.stop]):
            own += parses.pairs(group) if parses is not None else [_given_trees(one, kind) for one in group]
            callback(Parsed(len(own), len(shard)))
    all_trees = [trees for part in ranks.each(own) for trees in part]
    wordless = [one.where for one, trees in zip(examples, all_trees, strict=True) if trees is None]
    if wordless:
        texts = f"{len(wordless)} texts" if len(wordless) > 1 else "a text"
        warn(f"{wordless[0]}: {texts} without a word, left out")
    found = {name: TreeSet(tuple([] for _ in examples[0].items)) for name in SPLITS}
    shared: dict[str, str] = {}  # one object for all equal tokens, to save memory
    rows = zip(examples, all_trees, splits.values.tolist(), splits.assigned.tolist(), strict=True)
    for example, trees, value, number in rows:
        if trees is None:
            continue
        split = found[SPLITS[number]]
        for side, tree in zip(split.sides, trees, strict=True):
            words = tree.tokens or (None,) * len(tree)
            tokens = [None if word is None else shared.setdefault(word, word) for word in words]
            bare = tree.replace(tokens=tokens) if example.trees else tree.replace(tokens=tokens, labels=None)
            side.append(_labelled(bare, value, splits.target))
        split.values.append(value)
        split.weights.append(example.weight)
    for name in ("train", "dev"):
        if not len(found[name]):
            raise DataError(f"no example with a word in {name}; there is nothing to learn from")
    return {name: split for name, split in found.items() if len(split)}


def _shards(examples: int, count: int) -> list[range]:
    """Return the indices of the examples that each rank parses. Texts that are parsed together stay together."""
    batches = -(-examples // AT_ONCE)
    bounds = [min(AT_ONCE * (batches * rank // count), examples) for rank in range(count + 1)]
    return [range(start, end) for start, end in pairwise(bounds)]


def _given_trees(example: Example, kind: Kind) -> tuple[Tree, ...]:
    try:
        return tuple(as_given(tree, kind) for tree in example.trees)
    except ValueError as error:
        raise ValueError(f"{example.where}: {error}") from None


def _labelled(tree: Tree, value: Any, target: Target) -> Tree:
    """Return a tree with labels as the model predicts them: those of its nodes, else `value` at its root."""
    if isinstance(target, Ratings) or target.pairs:
        return tree.replace(labels=None)
    if tree.labels is not None:
        return tree.replace(labels=[None if one is None else target.node_label(one) for one in tree.labels])
    labels: list[Any] = [None] * len(tree)
    labels[tree.root] = tuple(value) if isinstance(value, list) else value
    return tree.replace(labels=labels)


class Examples(Sequence[Any]):
    """The examples of a split as a task reads them: prepared trees, or pairs of them.

    Those of a large split are prepared each time they are read.
    """

    def __init__(self, split: TreeSet, model: Model) -> None:
        self.split, self.model = split, model
        self.sizes: Indices = np.sum([[len(tree) for tree in side] for side in split.sides], axis=0)
        self._ready = self._prepare(slice(None)) if len(split) <= READY else None

    def __len__(self) -> int:
        return len(self.split)

    def __getitem__(self, index: Any) -> Any:
        if self._ready is not None:
            return self._ready[index]
        return self._prepare(index) if isinstance(index, slice) else self._prepare(slice(index, index + 1))[0]

    def _prepare(self, part: slice) -> list[Any]:
        sides = [prepare_all(side[part], self.model) for side in self.split.sides]
        for place, weight in enumerate(self.split.weights[part]):
            if weight != 1:
                sides[0][place] = replace(sides[0][place], weight=weight)
        if len(sides) == 1:
            return list(sides[0])
        return [RatedPair(*pair) for pair in zip(*sides, self.split.values[part], strict=True)]
