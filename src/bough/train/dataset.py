"""The examples of one split as trees, parsed where they are texts, a group at a time."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, overload

from bough.data.labelled import Example
from bough.models.model import Model
from bough.pipelines.readers import as_given
from bough.pipelines.reading import Kind, groups
from bough.train.packed_trees import PackedTrees, Sentences
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
