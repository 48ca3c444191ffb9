"""The level engine: one sweep up the levels, one down for the gradient, over buffers sorted by level.

A layer hands over a `Cell`, its equations for one level and their derivative. Autograd sees one function.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any, Protocol

import torch
from torch import Tensor

from bough.nn.threads import threads_for
from bough.trees.forest import Forest
from bough.trees.schedule import CHUNK

Grads = tuple[Tensor | None, ...]

sigmoid_backward = torch.ops.aten.sigmoid_backward.grad_input  # grad * y * (1 - y), into `grad_input`
tanh_backward = torch.ops.aten.tanh_backward.grad_input  # grad * (1 - y^2), likewise


class Cell(Protocol):
    """One sweep's equations and buffers. `up` fills level l from the levels below; `down` undoes that."""

    def up(self, l: int) -> None: ...
    def states(self) -> tuple[Tensor, ...]: ...
    def turn(self, grads: Sequence[Tensor | None]) -> None: ...
    def down(self, l: int) -> None: ...
    def gradients(self) -> Grads: ...


class _Sweep(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, cell: Cell, sizes: Sequence[int], *tensors: Tensor | None) -> tuple[Tensor, ...]:
        ctx.device = next(t.device for t in tensors if t is not None)
        # inference mode takes a fifth off the cost of a small call; only `states` leave it
        with without_autocast(ctx.device), torch.inference_mode():
            for l in range(len(sizes)):
                cell.up(l)
        ctx.cell, ctx.sizes = cell, sizes
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*(t for t in tensors if t is not None))  # catches weights changed in between
        return cell.states()

    @staticmethod
    def backward(ctx: Any, *grads: Tensor | None) -> tuple[Any, ...]:
        _ = ctx.saved_tensors
        with threads_for(ctx.sizes), without_autocast(ctx.device), torch.no_grad():
            ctx.cell.turn(grads)
            with torch.inference_mode():
                for l in reversed(range(len(ctx.sizes))):
                    ctx.cell.down(l)
            found = ctx.cell.gradients()
        return (None, None, *differentiated_once(found))


def without_autocast(device: torch.device) -> contextlib.AbstractContextManager[Any]:
    """What is done by hand is done in one type, whatever matmuls outside are cast to."""
    if torch.is_autocast_enabled(device.type):
        return torch.autocast(device.type, enabled=False)
    return contextlib.nullcontext()


def differentiated_once(grads: Grads) -> Grads:
    """The same gradients; who differentiates them again is told that they have no derivative here."""
    if not torch.is_grad_enabled():  # the usual case: no graph of the backward is being made
        return grads
    return tuple(None if grad is None else _Once.apply(grad.detach().requires_grad_()) for grad in grads)  # type: ignore[no-untyped-call]


class _Once(torch.autograd.Function):
    """`once_differentiable` does this only where the incoming gradient has a graph, as that of a sum has not."""

    @staticmethod
    def forward(ctx: Any, grad: Tensor) -> Tensor:
        return grad.view_as(grad)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        raise RuntimeError("bough's layers and losses have first derivatives only, not those of a gradient")


def sweep(cell: Cell, forest: Forest, *tensors: Tensor | None) -> tuple[Tensor, ...]:
    """Run `cell` up the forest; `tensors` are what it differentiates, in the order of `cell.gradients()`."""
    states: tuple[Tensor, ...] = _Sweep.apply(cell, forest.level_sizes, *tensors)  # type: ignore[no-untyped-call]
    return states


def recorded(*tensors: Tensor | None) -> bool:
    """Whether a gradient will be asked for, so that a cell must keep what its backward needs."""
    return torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in tensors)


class Rows:
    """A buffer with one row a unit, cut into levels; without `keep` all levels use the same rows."""

    def __init__(self, like: Tensor, sizes: Sequence[int], width: int, keep: bool) -> None:
        self.sizes, self.keep = list(sizes), keep
        self.whole = like.new_empty(sum(sizes) if keep else max(sizes, default=0), width)

    def levels(self, start: int = 0, end: int | None = None) -> Sequence[Tensor]:
        """Columns start to end of each level: cut once, since a slice can cost more than the arithmetic."""
        columns = self.whole[:, start:end]
        return columns.split(self.sizes) if self.keep else [columns[:size] for size in self.sizes]


def grouped(slices: Sequence[tuple[int, int]], rows: int = CHUNK) -> dict[int, tuple[int, int]]:
    """Consecutive levels joined to runs of about `rows` units: top level of a run -> the run's units.

    The leaves are a run of their own. What does not depend on the level above is computed a run at a time.
    """
    groups: dict[int, tuple[int, int]] = {}
    start = 0
    for l, (_, end) in enumerate(slices):
        if l == 0 or end - start >= rows or l == len(slices) - 1:
            groups[l] = (start, end)
            start = end
    return groups
