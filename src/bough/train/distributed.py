"""Train one model in several processes (ranks) that torchrun started.

Every rank has all examples, draws the same batches, and computes its share of each. The gradients
are summed, so that all ranks take the same step. Only the first rank writes files and shows
progress. Without torchrun there is one rank.
"""

import contextlib
import importlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

import numpy as np
import torch
import torch.distributed as dist
from numpy.typing import NDArray
from torch import Tensor, nn
from torch._C._distributed_c10d import PrefixStore, Store
from torch.distributed.rendezvous import rendezvous

from bough.errors import TrainingError
from bough.train.tasks import Floats, Indices, Learnable

T = TypeVar("T")
_FAILED = "failed"  # the key, in the shared store, of the number of the first rank that failed


class Lost(Exception):
    """Raised if another rank cannot be reached."""


@dataclass(frozen=True)
class Ranks:
    """The rank of this process: its number among `count`, and its number on this machine."""

    number: int = 0
    count: int = 1
    local: int = 0

    @property
    def first(self) -> bool:
        """Whether this is the rank that writes files and shows progress."""
        return self.number == 0

    def share(self, sizes: NDArray[Any]) -> slice:
        """Return the slice of the items of this rank; all have about the same sum of `sizes`."""
        after = np.cumsum(sizes)
        total = int(after[-1]) if len(after) else 0
        edges = [total * rank / self.count for rank in (self.number, self.number + 1)]
        start, end = np.searchsorted(after - sizes / 2, edges).tolist()
        return slice(start, len(sizes) if self.number == self.count - 1 else end)

    def loss(
        self, task: Learnable, model: nn.Module, whole: Sequence[Any], sizes: Indices, rng: Any
    ) -> float:
        """Return the loss of a batch and compute its gradients; both are sums over all ranks."""
        if self.count == 1:
            loss = task.loss(model, whole, rng)
            loss.backward()
            return loss.item()
        own = whole[self.share(sizes)]
        loss = task.loss(model, own, rng, whole) if own else next(model.parameters()).new_zeros(())
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
            for table in model.buffers():  # a word table that is trained, whose gradient is sparse
                if table.requires_grad:
                    table.grad = self._sum_rows(table)
        return float(total)

    def _sum_rows(self, table: Tensor) -> Tensor:
        """Return the sparse gradient of a word table, with the rows of all ranks."""
        own = (torch.zeros(1, 0, dtype=torch.int64), torch.zeros(0, table.shape[1], dtype=table.dtype))
        if table.grad is not None:
            gradient = table.grad.coalesce()
            own = gradient.indices().cpu(), gradient.values().cpu()
        indices, values = zip(*self.each(own), strict=True)
        rows = torch.cat(indices, dim=1).to(table.device), torch.cat(values).to(table.device)
        return torch.sparse_coo_tensor(*rows, table.shape, check_invariants=False)

    def predict(self, task: Learnable, model: nn.Module, examples: Sequence[Any]) -> Floats:
        """Return the predictions for all examples; each rank computes its share."""
        if self.count == 1:
            return task.predict(model, examples)
        own = examples[self.share(task.sizes(examples))]
        found = self.each(task.predict(model, own) if len(own) else None)
        return np.concatenate([part for part in found if part is not None])

    def each(self, value: T) -> list[T]:
        """Return the values of all ranks, in the order of their numbers."""
        if self.count == 1:
            return [value]
        found: list[Any] = [None] * self.count
        with _talking():
            dist.all_gather_object(found, value)
        return found

    def from_first(self, work: Callable[[], T]) -> T:
        """Call `work` on the first rank, and return its result on all ranks. An error ends all ranks."""
        if self.count == 1:
            return work()
        found: list[Any] = [work() if self.first else None]
        with _talking():
            dist.broadcast_object_list(found, src=0)
        value: T = found[0]
        return value

    def in_turn(self, work: Callable[[], T]) -> T:
        """Call `work` on one rank per machine, then on the others, which find results cached."""
        if self.local == 0:
            found = work()
        if self.count > 1:
            with _talking():
                dist.barrier()
        return found if self.local == 0 else work()


_current: ContextVar[Ranks] = ContextVar("ranks", default=Ranks())  # noqa: B039


def current() -> Ranks:
    """Return the rank of this process."""
    return _current.get()


def restarts() -> bool:
    """Return whether torchrun restarts all ranks if one is lost. Then a run is resumed."""
    return "RANK" in os.environ and int(os.environ.get("TORCHELASTIC_MAX_RESTARTS", "0")) > 0


@contextlib.contextmanager
def joined(device: str = "cpu") -> Iterator[Ranks]:
    """Connect the processes that torchrun started, by gloo on CPUs and nccl on GPUs. Without torchrun, do nothing.

    The first rank that fails raises its error. The other ranks exit without a message.
    """
    if "RANK" not in os.environ or "WORLD_SIZE" not in os.environ:
        yield current()
        return
    ranks = Ranks(*(int(os.environ.get(name, "0")) for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK")))
    cuda = device.startswith("cuda") and torch.cuda.is_available()
    if cuda:
        gpus = torch.cuda.device_count()
        if ranks.local >= gpus:
            raise TrainingError(
                f"rank {ranks.number}: its machine has {gpus} GPUs; start no more ranks there"
            )
        torch.cuda.set_device(ranks.local)
    # torch.distributed.nn has the process group as a default argument. If the optimizers import it after the group was
    # created, the threads of the group outlive it, and may abort Python at its end.
    importlib.import_module("torch.distributed.nn")
    # after a restart the store may have entries of the former ranks; the prefix hides them
    attempt = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
    store = PrefixStore(f"bough/{attempt}", next(iter(rendezvous("env://")))[0])
    backend = "nccl" if cuda else "gloo"
    dist.init_process_group(backend, store=store, rank=ranks.number, world_size=ranks.count)
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


def _failed_first(store: Store, ranks: Ranks, patience: float = 0.0) -> bool:
    """Return whether this rank failed first, after waiting `patience` seconds for others."""
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
    """Raise `Lost` for an error in the communication of ranks."""
    try:
        yield
    except RuntimeError as error:
        raise Lost(str(error).splitlines()[0]) from None
