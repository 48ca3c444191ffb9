"""The part of a batch that one rank computes, among examples that all of them draw for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from bough.nn.dropout import Drawn

T = TypeVar("T")
U = TypeVar("U")


class Share(Generic[T]):
    """The examples from `start` to `end` of a batch; `weight` is their part in its mean.

    What chance decides, spans and dropout, is drawn for the whole batch, so that each example has what it would have
    if nothing were shared out. A rank for which none is left computes the first example, which then counts for nothing:
    it has drawn what the others draw.
    """

    def __init__(self, whole: Sequence[T], start: int, end: int) -> None:
        self.whole = whole
        self.weight = (end - start) / len(whole)
        self.start, self.end = (start, end) if end > start else (0, 1)
        self.own: Sequence[T] = whole[self.start : self.end]

    @classmethod
    def of(cls, batch: Sequence[T] | Share[T]) -> Share[T]:
        """A batch that is not shared out is all one share."""
        return batch if isinstance(batch, Share) else cls(batch, 0, len(batch))

    @property
    def all(self) -> bool:
        """Whether it is the whole batch."""
        return self.weight == 1

    @property
    def within(self) -> tuple[Sequence[T], range] | None:
        """The whole batch and the places of these in it; None for the whole batch."""
        return None if self.all else (self.whole, range(self.start, self.end))

    def part(self, mean: Tensor) -> Tensor:
        """What the mean over this share adds to that over the whole batch."""
        return mean if self.all else mean * self.weight

    def expanded(self, parts: Sequence[Sequence[U]]) -> Share[U]:
        """Each example of the whole replaced by some others."""
        before = [0, *np.cumsum([len(part) for part in parts]).tolist()]
        share = Share([one for part in parts for one in part], before[self.start], before[self.end])
        share.weight = share.weight if self.weight else 0.0
        return share

    def drawn(self, rows: Callable[[T], int]) -> Drawn | None:
        """Where this share's rows of a mask lie, if an example has so many; None for the whole batch."""
        if self.all:
            return None
        ends = np.cumsum([0, *(rows(example) for example in self.whole)]).tolist()
        return Drawn(slice(ends[self.start], ends[self.end]), ends[-1])


class Chosen(Sequence[T]):
    """Some examples in an order of their own, each made when it is asked for."""

    def __init__(self, examples: Sequence[T], places: NDArray[np.int64]) -> None:
        self.examples, self.places = examples, places

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self.examples[place] for place in self.places[index]]
        return self.examples[self.places[index]]

    def __iter__(self) -> Iterator[T]:
        return (self.examples[place] for place in self.places)
