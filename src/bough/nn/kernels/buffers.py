"""Memory that is reused from pass to pass, since new pages of memory cost more than writing to them."""

import os
import sys
import threading

import torch
from torch import Tensor

# the most floats to keep: an eighth of the machine's memory, at most 2 GB
LIMIT = 1 << 29
if sys.platform != "win32":
    LIMIT = min(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 32, LIMIT)


class Buffer:
    """Buffer of at least `size` floats; once it is deleted, another buffer may reuse its memory."""

    _lock = threading.Lock()
    _free: list[Tensor] = []  # noqa: RUF012 - shared by all buffers on purpose

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
        # `__del__` must not wait: the garbage collector may call it while the lock is held
        if floats is None or not self._lock.acquire(blocking=False):
            return
        try:
            self._free.append(floats)
            while sum(free.numel() for free in self._free) > LIMIT or len(self._free) > 8:
                self._free.pop(0)
        finally:
            self._lock.release()
