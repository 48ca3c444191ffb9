"""Buffers that live on from sweep to sweep: fresh pages cost more than what is written to them."""

from __future__ import annotations

import os
import threading

import torch
from torch import Tensor


def _limit() -> int:
    """Floats kept for later: an eighth of the machine's memory, 2 GB at most, 256 MB where it does not tell."""
    try:
        return min(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 32, 1 << 29)
    except (AttributeError, OSError, ValueError):  # not every system has it
        return 1 << 26


LIMIT = _limit()


class Buffer:
    """`floats` (at least as many as asked for) until nothing refers to this; then they wait for the next one."""

    _lock = threading.Lock()
    _free: list[Tensor] = []  # noqa: RUF012 - shared by all, which is the point

    def __init__(self, size: int) -> None:
        with self._lock:
            fitting = [k for k, free in enumerate(self._free) if free.numel() >= size]
            best = min(fitting, key=lambda k: self._free[k].numel(), default=-1)
            found = self._free.pop(best) if fitting else None
        if found is None:
            with torch.inference_mode(False):
                found = torch.empty(size + size // 4, dtype=torch.float32, device="cpu")
        self.floats = found

    def __del__(self) -> None:
        floats = getattr(self, "floats", None)
        if floats is None or not self._lock.acquire(blocking=False):  # never waits inside a collection
            return
        try:
            self._free.append(floats)
            while sum(free.numel() for free in self._free) > LIMIT or len(self._free) > 8:
                self._free.pop(0)
        finally:
            self._lock.release()


def forget_buffers() -> None:
    """Give back what is kept for later."""
    with Buffer._lock:
        Buffer._free.clear()
