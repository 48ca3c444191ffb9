"""Parse the examples of all splits, and prepare them for a model."""

import contextlib
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.data import fingerprint, user_cache
from bough.data.disk_cache import DiskCache, cache_key
from bough.data.examples import Example
from bough.errors import DataError
from bough.models.batching import prepare_all
from bough.models.config import Config
from bough.models.inputs import words_of
from bough.models.model import Model, Trees
from bough.outputs import Output
from bough.pipelines.readers import AT_ONCE, Kind, WholeReader, as_given, groups
from bough.text import Parser
from bough.train.distributed import current
from bough.train.options import FitOptions
from bough.train.splits import SPLITS, Splits
from bough.train.tasks import Indices, RatedPair
from bough.trees.tree import Tree
from bough.version import __version__

READY = 20_000  # a larger split is prepared batch by batch, to save memory
Warn = Callable[[str], None]


@dataclass(frozen=True)
class Parsed:
    """An event of a fit: `done` of `total` texts are parsed."""

    done: int
    total: int


@dataclass
class TreeSet:
    """The examples of one split: one list of trees, or two for pairs, with targets and weights.

    The labels of nodes are class numbers, or tuples of numbers.
    """

    sides: tuple[list[Tree], ...]
    targets: list[Any] = field(default_factory=list)
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
        """Return (n,) or (n, T) the encoded targets of the examples."""
        return np.array(self.targets)


def parse_splits(
    splits: Splits,
    options: FitOptions,
    reads: Kind,
    trees_of: Trees,
    callback: Callable[[Parsed], None],
    warn: Warn,
) -> dict[str, TreeSet]:
    """Return the trees of every split. Texts are parsed, unless their parses are in the cache.

    With several ranks, each parses its shard of the examples and gets the trees of the others.
    Raise a DataError if no example of train or of dev has a word.
    """
    ranks, examples = current(), splits.examples
    shard = _shards(len(examples), ranks.count)[ranks.number]
    own = list[tuple[Tree, ...] | None]()
    with contextlib.ExitStack() as stack:
        parses = None
        if trees_of != "given":
            parses = stack.enter_context(open_parse_cache(options.parser, reads, trees_of))
        for group in groups(examples[shard.start : shard.stop]):
            own += parses.pairs(group) if parses is not None else [_given_trees(one, reads) for one in group]
            callback(Parsed(len(own), len(shard)))
    all_trees = [trees for part in ranks.each(own) for trees in part]
    wordless = [one.where for one, trees in zip(examples, all_trees, strict=True) if trees is None]
    if wordless:
        texts = f"{len(wordless)} texts" if len(wordless) > 1 else "a text"
        warn(f"{wordless[0]}: {texts} without a word, left out")
    found = {name: TreeSet(tuple([] for _ in examples[0].items)) for name in SPLITS}
    shared: dict[str, str] = {}  # one object for all equal tokens, to save memory
    rows = zip(examples, all_trees, splits.targets.tolist(), splits.assigned.tolist(), strict=True)
    for example, trees, value, number in rows:
        if trees is None:
            continue
        split = found[SPLITS[number]]
        for side, tree in zip(split.sides, trees, strict=True):
            words = tree.tokens or (None,) * len(tree)
            tokens = [None if word is None else shared.setdefault(word, word) for word in words]
            bare = tree.replace(tokens=tokens) if example.trees else tree.replace(tokens=tokens, labels=None)
            side.append(_labelled(bare, value, splits.output))
        split.targets.append(value)
        split.weights.append(example.weight)
    for name in ("train", "dev"):
        if not len(found[name]):
            raise DataError(f"no example with a word in {name}; there is nothing to learn from")
    return {name: split for name, split in found.items() if len(split)}


def _shards(examples: int, count: int) -> list[range]:
    """Return the indices of the examples of each rank. A batch of texts is never divided among ranks."""
    batches = -(-examples // AT_ONCE)
    bounds = [min(AT_ONCE * (batches * rank // count), examples) for rank in range(count + 1)]
    return [range(start, end) for start, end in pairwise(bounds)]


def _given_trees(example: Example, kind: Kind) -> tuple[Tree, ...]:
    try:
        return tuple(as_given(tree, kind) for tree in example.trees)
    except ValueError as error:
        raise ValueError(f"{example.where}: {error}") from None


def _labelled(tree: Tree, value: Any, output: Output) -> Tree:
    """Return a tree with the labels to predict: those of its nodes, else `value` at its root."""
    if output.pairs:
        return tree.replace(labels=None)
    if tree.labels is not None:
        return tree.replace(labels=[None if one is None else output.encode_node(one) for one in tree.labels])
    labels: list[Any] = [None] * len(tree)
    labels[tree.root] = tuple(value) if isinstance(value, list) else value
    return tree.replace(labels=labels)


class ParseCache:
    """The trees of texts, from the cache, else from the reader; these are added to the cache."""

    def __init__(self, cache: DiskCache, reader: WholeReader) -> None:
        self.cache, self.reader = cache, reader
        self.parsed = 0  # texts that were not in the cache

    def trees(self, texts: Sequence[str]) -> list[Tree | None]:
        """Return one tree per text; None for a text without a word."""
        keys = [cache_key(text.encode("utf-8", "surrogatepass")) for text in texts]
        stored = {key: self.cache.get(key) for key in keys}
        found = {key: _read(content) for key, content in stored.items() if content is not None}
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        if new:
            reads = self.reader.read(list(new.values()), allow_empty=True)
            found |= {key: read[0].tree if read else None for key, read in zip(new, reads, strict=True)}
            self.cache.add((key, _written(found[key])) for key in new)
            self.parsed += len(new)
        return [found[key] for key in keys]

    def pairs(self, examples: Sequence[Example]) -> list[tuple[Tree, ...] | None]:
        """Return the tree or the two trees of each example; None if a text has no word."""
        trees = iter(self.trees([text for example in examples for text in example.texts]))
        both = [[next(trees) for _ in example.texts] for example in examples]
        return [tuple(tree for tree in some if tree is not None) if all(some) else None for some in both]


def _written(tree: Tree | None) -> bytes:
    columns = None if tree is None else [tree.parents.tolist(), tree.tokens, tree.relations]
    return json.dumps(columns).encode()


def _read(content: bytes) -> Tree | None:
    columns = json.loads(content)
    return None if columns is None else Tree(columns[0], tokens=columns[1], relations=columns[2])


@contextlib.contextmanager
def open_parse_cache(parser: str | Parser, kind: Kind, trees: str) -> Iterator[ParseCache]:
    """Open the cache of a parser; its name depends on the parser's name and, for a folder, on its weights.

    `trees` is a value of `Model.trees`.
    """
    reader = WholeReader(parser, kind, chain=trees == "chain")
    if not isinstance(parser, str):  # an object does not identify the parser in another process
        temporary = tempfile.TemporaryDirectory(prefix="bough-parses-")
        with temporary as folder, DiskCache(Path(folder) / "parses.sqlite") as cache:
            yield ParseCache(cache, reader)
        return
    weights = sorted(fingerprint([Path(parser)]).values()) if Path(parser).is_dir() else []
    code = cache_key(json.dumps([__version__, parser, weights, trees, kind]).encode()).hex()[:16]
    name = "".join(letter if letter.isalnum() else "_" for letter in Path(parser).name)[:40]
    with DiskCache(user_cache() / "parses" / f"{name}-{code}.sqlite") as cache:
        yield ParseCache(cache, reader)


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
        return [RatedPair(*pair) for pair in zip(*sides, self.split.targets[part], strict=True)]
