"""Several processes that train one model, started by torchrun; one process is a run of one rank.

Every rank holds all examples, draws the same batches, and computes its share of each. The gradients are summed, so that
all ranks take the same step. The first rank alone writes files and shows progress.
"""

from __future__ import annotations

import contextlib
import os
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import timedelta
from hashlib import blake2b
from typing import Any, TypeVar

import numpy as np
import torch
import torch.distributed as dist
from numpy.typing import NDArray
from torch import Tensor
from torch._C._distributed_c10d import PrefixStore, Store
from torch.distributed.rendezvous import rendezvous

from bough.errors import TrainingError
from bough.models.model import Model
from bough.train.tasks import Floats, Indices, Learnable

T = TypeVar("T")
_PATIENCE = timedelta(minutes=30)  # for ranks that have not come yet
_FAILED = "failed"  # in the store that all ranks see: the first one that failed


class Lost(Exception):
    """Another rank cannot be reached."""


@dataclass(frozen=True)
class Ranks:
    """This process among `count`: its number, and its number on its own machine."""

    number: int = 0
    count: int = 1
    local: int = 0

    @property
    def first(self) -> bool:
        """Whether this is the rank that writes files and shows progress."""
        return self.number == 0

    def share(self, sizes: NDArray[Any]) -> slice:
        """Return the part of things of these sizes that is this rank's: about as much work as any other rank's."""
        after = np.cumsum(sizes)
        total = int(after[-1]) if len(after) else 0
        edges = [total * rank / self.count for rank in (self.number, self.number + 1)]
        start, end = np.searchsorted(after - sizes / 2, edges).tolist()
        return slice(start, len(sizes) if self.number == self.count - 1 else end)

    def loss(
        self,
        task: Learnable,
        model: Model,
        examples: Sequence[Any],
        chosen: Indices,
        sizes: Indices,
        rng: Any,
    ) -> float:
        """Compute the loss of a batch and its gradients, which are the sum over all ranks."""
        whole = [examples[i] for i in chosen]
        if self.count == 1:
            loss = task.loss(model, whole, rng)
            loss.backward()
            return loss.item()
        own = whole[self.share(sizes[chosen])]
        loss = task.loss(model, own, rng, whole) if own else model.table.new_zeros(())
        if own:
            loss.backward()
        with torch.no_grad(), _talking():
            weights = [p for p in model.parameters() if p.requires_grad]
            parts = [torch.zeros_like(p) if p.grad is None else p.grad for p in weights]
            flat = torch.cat([loss.detach().view(1), *(part.reshape(-1) for part in parts)])
            dist.all_reduce(flat)
            total, *summed = flat.split([1, *(p.numel() for p in weights)])
            for p, gradient in zip(weights, summed, strict=True):
                p.grad = gradient.view_as(p)
            if model.table.requires_grad:
                model.table.grad = self._sum_rows(model.table)
        return float(total)

    def _sum_rows(self, table: Tensor) -> Tensor:
        """Return the sparse gradient of the word table with the rows of all ranks; a row may come from several."""
        rows, values = (
            torch.zeros(0, dtype=torch.int64, device=table.device),
            table.new_zeros(0, table.shape[1]),
        )
        if table.grad is not None:
            gradient = table.grad.coalesce()
            rows, values = gradient.indices()[0], gradient.values()
        counts = self.each(len(rows))
        found = []
        for part in (rows, values):
            padded = part.new_zeros(max(counts), *part.shape[1:])  # all ranks send as much as the longest
            padded[: len(part)] = part
            parts = [torch.empty_like(padded) for _ in counts]
            dist.all_gather(parts, padded)
            found.append(torch.cat([one[:count] for one, count in zip(parts, counts, strict=True)]))
        return torch.sparse_coo_tensor(found[0].unsqueeze(0), found[1], table.shape, check_invariants=False)

    def predict(self, task: Learnable, model: Model, examples: Sequence[Any]) -> Floats:
        """Return the task's predictions, each rank's share of them computed there."""
        if self.count == 1:
            return task.predict(model, examples)
        own = examples[self.share(task.sizes(examples))]
        found = self.each(task.predict(model, own) if len(own) else None)
        return np.concatenate([part for part in found if part is not None])

    def each(self, value: T) -> list[T]:
        """Return every rank's value, by their numbers."""
        if self.count == 1:
            return [value]
        found: list[Any] = [None] * self.count
        with _talking():
            dist.all_gather_object(found, value)
        return found

    def from_first(self, work: Callable[[], T]) -> T:
        """Return what the first rank makes of it; the others wait. What it raises ends all ranks."""
        if self.count == 1:
            return work()
        found: list[Any] = [work() if self.first else None]
        with _talking():
            dist.broadcast_object_list(found, src=0)
        value: T = found[0]
        return value

    def in_turn(self, work: Callable[[], T]) -> T:
        """Do the same work on all ranks, one on each machine before the others, which then find its cache."""
        if self.count == 1:
            return work()
        found = work() if self.local == 0 else None
        with _talking():
            dist.barrier()
        return work() if found is None else found


_current: ContextVar[Ranks] = ContextVar("ranks", default=Ranks())  # noqa: B039


def current() -> Ranks:
    """Return the rank that this process is."""
    return _current.get()


def restarts() -> bool:
    """Return whether torchrun starts the run again when a rank is lost: then an unfinished run is continued."""
    return "RANK" in os.environ and int(os.environ.get("TORCHELASTIC_MAX_RESTARTS", "0")) > 0


@contextlib.contextmanager
def joined(device: str = "cpu") -> Iterator[Ranks]:
    """Join the processes that torchrun started, if it did: gloo on CPUs, nccl on GPUs.

    The first rank that fails raises its error. The others end with it, without a message of their own.
    """
    if "RANK" not in os.environ or "WORLD_SIZE" not in os.environ:
        yield current()
        return
    ranks = Ranks(*(int(os.environ.get(name, "0")) for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK")))
    cuda = device.startswith("cuda") and torch.cuda.is_available()
    if cuda and ranks.local >= torch.cuda.device_count():
        raise TrainingError(
            f"rank {ranks.number}: {torch.cuda.device_count()} GPUs on its machine; start no more ranks than that there"
        )
    if cuda:
        torch.cuda.set_device(ranks.local)
    found: Store = next(iter(rendezvous("env://")))[0]
    store = PrefixStore(f"bough/{_start(found, ranks)}", found)
    dist.init_process_group(
        "nccl" if cuda else "gloo", store=store, rank=ranks.number, world_size=ranks.count
    )
    token = _current.set(ranks)
    try:
        yield ranks
    except Lost as lost:
        if _failed_first(store, ranks, patience=2.0):
            raise TrainingError(f"rank {ranks.number} lost another rank ({lost})") from None
        raise SystemExit(2) from None
    except Exception:
        if _failed_first(store, ranks):
            raise
        raise SystemExit(2) from None
    else:
        dist.destroy_process_group()
    finally:
        _current.reset(token)


def _start(store: Store, ranks: Ranks) -> str:
    """Return a name for this start of the ranks, on which they agree.

    torchrun keeps its store when it restarts the ranks, and entries that the former ranks left there must not be
    taken for those of the new ones. So each rank announces itself under a name never used before. The first rank
    publishes the names that it finds, until every rank has found its own among them.
    """
    own = uuid.uuid4().hex
    store.set(f"bough/here/{ranks.number}", own)
    names = [f"bough/here/{number}" for number in range(ranks.count)]
    store.wait(names, _PATIENCE)
    deadline = time.monotonic() + _PATIENCE.total_seconds()
    while time.monotonic() < deadline:
        if ranks.first:
            store.set("bough/start", ",".join(store.get(name).decode() for name in names))
        store.wait(["bough/start"], _PATIENCE)
        present = store.get("bough/start").decode()
        if own in present:
            start = blake2b(present.encode(), digest_size=8).hexdigest()
            store.set(f"bough/{start}/seen/{ranks.number}", "")
            if ranks.first and store.check([f"bough/{start}/seen/{number}" for number in range(ranks.count)]):
                store.set(f"bough/{start}/go", "")
            if store.check([f"bough/{start}/go"]):
                return start
        time.sleep(0.02)
    raise TrainingError(f"rank {ranks.number} has waited for the others in vain")


def _failed_first(store: Store, ranks: Ranks, patience: float = 0.0) -> bool:
    """Return whether no other rank has failed before this one, nor does within so many seconds."""
    try:
        if patience:
            with contextlib.suppress(RuntimeError):
                store.wait([_FAILED], timedelta(seconds=patience))
        own = str(ranks.number)
        return bool(store.compare_set(_FAILED, "", own).decode() == own)
    except RuntimeError:  # the store has gone too
        return True


@contextlib.contextmanager
def _talking() -> Iterator[None]:
    """Turn what goes wrong between ranks into `Lost`."""
    try:
        yield
    except RuntimeError as error:
        raise Lost(str(error).splitlines()[0]) from None
