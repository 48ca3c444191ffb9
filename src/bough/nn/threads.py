"""One thread for what is small: more of them only wait for each other, for seconds where the machine is busy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext

import torch

LARGE = 4096  # rows of a level; from there on torch's setting holds


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread for torch, and afterwards as many as before."""
    before = torch.get_num_threads()
    if before == 1:
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def threads_for(levels: Sequence[int]) -> AbstractContextManager[None]:
    """One thread for small levels, else as many as torch has."""
    return one_thread() if max(levels, default=0) < LARGE else nullcontext()
