"""Several processes that train one model: all that knows about ranks. One process is the rank of a run of one.

Every rank draws the whole of what is drawn, computes its share of each batch, and takes the same step.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import torch
import torch.distributed as dist
from numpy.typing import NDArray
from torch import Tensor

from bough.models.model import Model
from bough.train.tasks import Chosen, Floats, Indices, Learnable, Share

T = TypeVar("T")


@dataclass(frozen=True)
class Ranks:
    """This process among `count`: its number, and the one that it has on its own machine."""

    number: int = 0
    count: int = 1
    local: int = 0

    @property
    def first(self) -> bool:
        """Whether this is the one that writes files and shows progress."""
        return self.number == 0

    # ------------------------------------------------------------------ shares

    def share(self, examples: Sequence[T], chosen: Indices, sizes: Indices) -> Sequence[T] | Share[T]:
        """What this rank computes of a batch: a run of it with about as many nodes as any other rank's."""
        if self.count == 1:
            return [examples[i] for i in chosen]
        return Share(Chosen(examples, chosen), *self.cut(sizes[chosen]))

    def cut(self, sizes: NDArray[Any]) -> tuple[int, int]:
        """Where this rank's run begins and ends among things of these sizes, by the sum of the sizes before each."""
        after = np.cumsum(sizes)
        total = int(after[-1]) if len(after) else 0
        middles = after - sizes / 2
        bounds = [
            int(np.searchsorted(middles, total * r / self.count)) for r in (self.number, self.number + 1)
        ]
        return bounds[0], len(sizes) if self.number == self.count - 1 else bounds[1]

    # ------------------------------------------------------------ what is joined

    def reduce(self, model: Model, loss: Tensor) -> float:
        """Make this rank's loss and gradients those of the whole batch, which is the sum of the shares."""
        if self.count == 1:
            return loss.item()
        weights = [p for p in model.parameters() if p.requires_grad]
        rows = model.table.grad.coalesce() if model.table.grad is not None else None
        facts = loss.new_zeros(
            1 + self.count + len(weights)
        )  # the loss, rows of each rank, which weights have one
        facts[0] = loss.detach()
        facts[1 + self.number] = 0 if rows is None else rows.indices().shape[1]
        for place, p in enumerate(weights):
            facts[1 + self.count + place] = p.grad is not None
        with torch.no_grad():
            parts = [torch.zeros_like(p) if p.grad is None else p.grad for p in weights]
            flat = torch.cat([facts, *(part.reshape(-1) for part in parts)])
            with talking():
                dist.all_reduce(flat)
            facts, *summed = flat.split([len(facts), *(p.numel() for p in weights)])
            told = facts.tolist()
            for p, gradient, learning in zip(weights, summed, told[1 + self.count :], strict=True):
                p.grad = gradient.view_as(p) if learning else None
            if rows is not None:
                model.table.grad = self._gathered(rows, [int(n) for n in told[1 : 1 + self.count]])
        return float(told[0])

    def _gathered(self, rows: Tensor, counts: Sequence[int]) -> Tensor:
        """The rows of the word table that any rank has a gradient of; a row may come from several."""
        most = max(counts)
        places = rows.indices().new_zeros(most)
        values = rows.values().new_zeros(most, rows.shape[1])
        own = counts[self.number]
        places[:own], values[:own] = rows.indices()[0], rows.values()
        found = []
        for part in (places, values):
            parts = [torch.empty_like(part) for _ in counts]
            with talking():
                dist.all_gather(parts, part)
            found.append(torch.cat([one[:count] for one, count in zip(parts, counts, strict=True)]))
        return torch.sparse_coo_tensor(
            found[0].unsqueeze(0), found[1], rows.shape, check_invariants=False, is_coalesced=False
        )

    def predict(self, task: Learnable, model: Model, examples: Sequence[Any]) -> Floats:
        """The task's predictions, each rank's share of them computed there."""
        if self.count == 1:
            return task.predict(model, examples)
        start, end = self.cut(task.sizes(examples))
        own = task.predict(model, examples[start:end] or examples[:1])[: end - start]
        return np.concatenate(list(self.each(own)))

    def each(self, value: T) -> Iterator[T]:
        """Every rank's value, by their numbers, one at a time."""
        if self.count == 1:
            yield value
            return
        for number in range(self.count):
            sent: list[Any] = [value if number == self.number else None]
            with talking():
                dist.broadcast_object_list(sent, src=number)
            yield value if number == self.number else sent[0]

    # -------------------------------------------------------------- who goes first

    def from_first(self, work: Callable[[], T]) -> T:
        """What the first rank makes of it; the others wait. What it raises is raised by it alone, and ends all."""
        if self.count == 1:
            return work()
        found: list[Any] = [work() if self.first else None]
        with talking():
            dist.broadcast_object_list(found, src=0)
        value: T = found[0]
        return value

    def in_turn(self, work: Callable[[], T]) -> T:
        """The same work by all, on each machine by one before the others: they find what it has left in the cache."""
        if self.count == 1:
            return work()
        found = work() if self.local == 0 else None
        self.wait()
        return work() if found is None else found

    def wait(self) -> None:
        """Until all have come here."""
        if self.count > 1:
            with talking():
                dist.barrier()


_here: ContextVar[Ranks] = ContextVar("ranks", default=Ranks())  # noqa: B039


def here() -> Ranks:
    """The rank that this process is; of a run of one, unless it is within `joined`."""
    return _here.get()


@contextlib.contextmanager
def being(ranks: Ranks) -> Iterator[None]:
    """Within it this process is that rank."""
    token = _here.set(ranks)
    try:
        yield
    finally:
        _here.reset(token)


class Lost(Exception):
    """The others cannot be reached."""


@contextlib.contextmanager
def talking() -> Iterator[None]:
    """What goes wrong between ranks is that one of them is lost."""
    try:
        yield
    except RuntimeError as error:
        raise Lost(str(error).splitlines()[0]) from None
