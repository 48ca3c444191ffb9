"""How the processes that torchrun starts find one another, and how they end together."""

from __future__ import annotations

import contextlib
import os
import time
import uuid
from collections.abc import Iterator
from datetime import timedelta
from hashlib import blake2b

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import PrefixStore, Store
from torch.distributed.rendezvous import rendezvous

from bough.errors import TrainingError
from bough.train.distributed import Lost, Ranks, being, here

_FAILED = "failed"  # in the store that all ranks see: the first one that failed
_PATIENCE = timedelta(minutes=30)  # for ranks that have not come yet
_POLL = 0.02  # seconds


def restarts() -> bool:
    """Whether torchrun starts the run anew when a rank is lost: then the run that is there goes on."""
    return "RANK" in os.environ and int(os.environ.get("TORCHELASTIC_MAX_RESTARTS", "0")) > 0


@contextlib.contextmanager
def joined(device: str = "cpu") -> Iterator[Ranks]:
    """Within it this process is one of those that torchrun has started, if it has: gloo on CPUs, nccl on GPUs.

    The first rank that fails raises its error; the others end with it, without a word of their own.
    """
    if "RANK" not in os.environ or "WORLD_SIZE" not in os.environ:
        yield here()
        return
    ranks = Ranks(*(int(os.environ.get(name, "0")) for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK")))
    found: Store = next(iter(rendezvous("env://")))[0]
    store = PrefixStore(f"bough/{_start(found, ranks)}", found)
    backend = "nccl" if device.startswith("cuda") and torch.cuda.is_available() else "gloo"
    dist.init_process_group(backend, store=store, rank=ranks.number, world_size=ranks.count)
    try:
        if backend == "nccl":
            _take_gpu(ranks)
        with being(ranks):
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


def _start(store: Store, ranks: Ranks) -> str:
    """A name for this start of the ranks that they agree on.

    torchrun keeps its store when it starts them anew, and what the former ranks have left there would lead to them. So
    each says that it is here by a name never used before; the first names all that it finds, until every one of
    these has found itself among them.
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
        time.sleep(_POLL)
    raise TrainingError(f"rank {ranks.number} has waited for the others in vain")


def _take_gpu(ranks: Ranks) -> None:
    """Each rank of a machine its own: "cuda" means that one from now on."""
    count = torch.cuda.device_count()
    if ranks.local >= count:
        raise TrainingError(
            f"rank {ranks.number}: {count} GPUs on its machine; start no more ranks than that there"
        )
    torch.cuda.set_device(ranks.local)


def _failed_first(store: Store, ranks: Ranks, patience: float = 0.0) -> bool:
    """Whether no other rank has failed before this one, nor does within so many seconds."""
    try:
        if patience:
            with contextlib.suppress(RuntimeError):
                store.wait([_FAILED], timedelta(seconds=patience))
        own = str(ranks.number)
        return bool(store.compare_set(_FAILED, "", own).decode() == own)
    except RuntimeError:  # the store has gone too
        return True
