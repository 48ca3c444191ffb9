"""One thread for what is small: more of them only wait for each other, for seconds where the machine is busy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

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


class Threads:
    """A layer's threads: one while it runs a small forest, and one while autograd goes back through it."""

    def __init__(self, levels: Sequence[int]) -> None:
        self.few = torch.get_num_threads() > 1 and max(levels, default=0) < LARGE
        self.before = 0

    def on_the_way_in(self, x: Tensor) -> Tensor:
        """The same x; where its gradient comes back out of the layer, the threads are as they were."""
        found: Tensor = _Leave.apply(x, self) if self.few and x.requires_grad else x  # type: ignore[no-untyped-call]
        return found

    def on_the_way_out(self, states: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """The same states; a gradient that comes back to them is handled by one thread."""
        if not self.few or not any(state.requires_grad for state in states):
            return states
        found: tuple[Tensor, ...] = _Enter.apply(self, *states)  # type: ignore[no-untyped-call]
        return found

    def enter(self) -> None:
        now = torch.get_num_threads()
        if now > 1:  # another layer of the same pass may have seen to it
            self.before = now
            torch.set_num_threads(1)
            # where x asks for no gradient, nothing else tells that the layer is done
            torch.autograd.Variable._execution_engine.queue_callback(self.leave)

    def leave(self) -> None:
        if self.before:
            torch.set_num_threads(self.before)
            self.before = 0


class _Enter(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, threads: Threads, *states: Tensor) -> tuple[Tensor, ...]:
        ctx.threads = threads
        ctx.set_materialize_grads(False)
        return tuple(state.view_as(state) for state in states)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor | None) -> tuple[Tensor | None, ...]:
        ctx.threads.enter()
        return (None, *grads)


class _Leave(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, threads: Threads) -> Tensor:
        ctx.threads = threads
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        ctx.threads.leave()
        return grads[0], None
