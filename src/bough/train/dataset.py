"""The examples of one split as trees, parsed where they are texts, a group at a time."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, overload

import numpy as np

from bough.data.labelled import Example
from bough.models.batching import Sentence, prepare, prepare_all
from bough.models.model import Model
from bough.pipelines.readers import Kind, as_given, groups
from bough.train.parse_cache import Parses
from bough.train.source import Source
from bough.train.tasks import Indices
from bough.train.tasks.pairs import Rated
from bough.trees.tree import Tree

Told = Callable[[int], None]  # examples done


@dataclass
class Gathered:
    """One side per text of an example, and the ratings where there are two sides."""

    sides: tuple[PackedTrees, ...]
    ratings: array[float] = field(default_factory=lambda: array("d"))
    wordless: list[int] = field(default_factory=list)  # lines of examples whose text has no word

    def __len__(self) -> int:
        return len(self.sides[0])

    def extend(self, other: Gathered) -> None:
        """Those of another after these."""
        for side, more in zip(self.sides, other.sides, strict=True):
            side.extend(more)
        self.ratings.extend(other.ratings)
        self.wordless.extend(other.wordless)

    def examples(self, model: Model) -> Sequence[Any]:
        """What the task of the model takes."""
        ready = [Sentences(side, model) for side in self.sides]
        return ready[0] if len(ready) == 1 else RatedPairs(ready[0], ready[1], self.ratings)


class RatedPairs(Sequence[Rated]):
    """Two sequences of sentences and their ratings as one of pairs."""

    def __init__(self, left: Sentences, right: Sentences, ratings: Sequence[float]) -> None:
        self.left, self.right, self.ratings = left, right, ratings

    def __len__(self) -> int:
        return len(self.left)

    @property
    def sizes(self) -> Indices:
        """(n,) nodes of each, both sides together."""
        return self.left.sizes + self.right.sizes

    @overload
    def __getitem__(self, index: int) -> Rated: ...
    @overload
    def __getitem__(self, index: slice) -> list[Rated]: ...
    def __getitem__(self, index: int | slice) -> Rated | list[Rated]:
        if isinstance(index, slice):
            columns = zip(self.left[index], self.right[index], self.ratings[index], strict=True)
            return [Rated(*column) for column in columns]
        return Rated(self.left[index], self.right[index], self.ratings[index])


class Gatherer:
    """Examples to trees: texts by a parser with a memory, trees as they are."""

    def __init__(self, numbers: dict[str, int], kind: Kind, *, pairs: bool) -> None:
        self.numbers, self.kind, self.pairs = numbers, kind, pairs

    def split(
        self,
        source: Source,
        examples: Iterable[Example],
        parts: Sequence[int],
        count: int,
        parses: Parses | None,
        tell: Told,
    ) -> list[Gathered]:
        """Examples of a source in `count` parts: `parts[i]` says which part the i-th one goes to."""
        found = [Gathered(tuple(PackedTrees() for _ in range(1 + self.pairs))) for _ in range(count)]
        done = 0
        for group in groups(examples):
            trees = self._trees(group, source, parses)
            for example, part in zip(group, parts[done : done + len(group)], strict=True):
                self._add(found[part], example, [next(trees) for _ in found[part].sides])
            done += len(group)
            tell(done)
        return found

    def _trees(self, group: list[Example], source: Source, parses: Parses | None) -> Iterator[Tree | None]:
        if parses is not None:
            return iter(parses.trees([*chain.from_iterable(example.texts for example in group)]))
        return (self._given(example, source) for example in group)

    def _given(self, example: Example, source: Source) -> Tree:
        assert example.tree is not None
        try:
            return as_given(example.tree, self.kind)
        except ValueError as error:
            raise ValueError(f"{source.place(example.line)}: {error}") from None

    def _add(self, part: Gathered, example: Example, trees: Sequence[Tree | None]) -> None:
        if any(tree is None for tree in trees):
            part.wordless.append(example.line)
            return
        for side, tree in zip(part.sides, trees, strict=True):
            assert tree is not None
            side.append(tree, self._labels(tree, example))
        if self.pairs:
            part.ratings.append(float(example.label))

    def _labels(self, tree: Tree, example: Example) -> list[int | None]:
        if example.tree is not None and example.tree.labels is not None and tree.labels is not None:
            return [None if label is None else self.numbers[str(label)] for label in tree.labels]
        labels: list[int | None] = [None] * len(tree)
        labels[tree.root] = None if self.pairs else self.numbers[example.label]
        return labels


HELD = 20_000  # sentences that are kept ready; of more, each is made again when it is its turn
_NONE = -1


class PackedTrees(Sequence[Tree]):
    """Trees as columns: parents, names of tokens and relations, labels; about twenty bytes per node."""

    def __init__(self) -> None:
        self._ends = array("q", [0])
        self._columns = {name: array("i") for name in ("parents", "tokens", "relations", "labels")}
        self._names: dict[str, int] = {}
        self._listed: list[str] = []

    def append(self, tree: Tree, labels: Sequence[int | None]) -> None:
        """One more tree, with a class number, or None, for each of its nodes."""
        none = (None,) * len(tree)
        self._columns["parents"].extend(tree.parents.tolist())
        self._columns["tokens"].extend(map(self._number, tree.tokens or none))
        self._columns["relations"].extend(map(self._number, tree.relations or none))
        self._columns["labels"].extend(_NONE if label is None else label for label in labels)
        self._ends.append(len(self._columns["parents"]))

    def extend(self, other: PackedTrees) -> None:
        """The trees of another after these."""
        numbers = np.array([self._number(name) for name in other._listed], dtype=np.int32)
        before = self._ends[-1]
        self._ends.extend(before + end for end in other._ends[1:])
        for name, column in other._columns.items():
            own = np.array(column, dtype=np.int32)
            if name in ("tokens", "relations") and len(numbers):
                own = np.where(own < 0, _NONE, numbers[own])
            self._columns[name].frombytes(own.astype(np.int32).tobytes())

    @property
    def sizes(self) -> Indices:
        """(n,) nodes of each tree."""
        ends: Indices = np.array(self._ends, dtype=np.int64)
        return ends[1:] - ends[:-1]

    def _number(self, name: Any) -> int:
        if name is None:
            return _NONE
        name = str(name)
        if name not in self._names:
            self._names[name] = len(self._listed)
            self._listed.append(name)
        return self._names[name]

    def __len__(self) -> int:
        return len(self._ends) - 1

    @overload
    def __getitem__(self, index: int) -> Tree: ...
    @overload
    def __getitem__(self, index: slice) -> list[Tree]: ...
    def __getitem__(self, index: int | slice) -> Tree | list[Tree]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        start, end = self._ends[index], self._ends[index + 1]
        cut = {name: column[start:end] for name, column in self._columns.items()}
        relations = [None if number < 0 else self._listed[number] for number in cut["relations"]]
        return Tree(
            np.array(cut["parents"], dtype=np.int64),
            tokens=[None if number < 0 else self._listed[number] for number in cut["tokens"]],
            relations=relations if max(cut["relations"]) >= 0 else None,  # a tree without any has none here
            labels=[None if number < 0 else number for number in cut["labels"]],
        )

    def words(self) -> Iterator[tuple[str, int]]:
        """Every token and how often it occurs."""
        numbers = np.array(self._columns["tokens"])
        counts = np.bincount(numbers[numbers >= 0], minlength=len(self._listed))
        return ((self._listed[i], int(count)) for i, count in enumerate(counts.tolist()) if count)

    def relations(self) -> set[str]:
        """Every relation there is."""
        return {self._listed[number] for number in {*self._columns["relations"]} if number >= 0}


class Sentences(Sequence[Sentence]):
    """Packed trees as a model reads them: kept ready where they are few, else made when it is their turn."""

    def __init__(self, trees: PackedTrees, model: Model) -> None:
        self._trees, self._model = trees, model
        self._ready = prepare_all(list(trees), model) if len(trees) <= HELD else None

    def __len__(self) -> int:
        return len(self._trees)

    @property
    def sizes(self) -> Indices:
        """(n,) nodes of each."""
        return self._trees.sizes

    @overload
    def __getitem__(self, index: int) -> Sentence: ...
    @overload
    def __getitem__(self, index: slice) -> list[Sentence]: ...
    def __getitem__(self, index: int | slice) -> Sentence | list[Sentence]:
        if self._ready is not None:
            return self._ready[index]
        if isinstance(index, slice):
            return [prepare(tree, self._model) for tree in self._trees[index]]
        return prepare(self._trees[index], self._model)
