"""Very many trees in little memory: columns of numbers, and a tree made of them when it is asked for."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np

from bough.models.batching import Sentence, prepare, prepare_all
from bough.models.model import Model
from bough.train.tasks import Indices
from bough.trees.tree import Tree

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
