"""Run a layer's equations over a forest, one level at a time, and differentiate them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from bough.nn.children import Children
from bough.trees.forest import Forest

Grads = tuple[Tensor | None, ...]
LARGE = 4096  # rows of a level, from which on torch keeps all of its threads


class Equations(Protocol):
    """What the engine needs of a `TreeLayer`."""

    states: tuple[int, ...]
    leaf_inputs: bool

    def node(self, a: Any, below: Children) -> tuple[Tensor, ...]: ...
    def at_leaf(self, a: Any, below: Children) -> tuple[Tensor, ...]: ...
    def parameters(self) -> Iterator[nn.Parameter]: ...


def run_equations(
    layer: Equations, a: Tensor, forest: Forest, dropout: Tensor | None = None
) -> tuple[Tensor, ...]:
    """Return one (U, D) per state of the layer, for the units of the forest.

    Args:
        layer: the layer whose `node` and `at_leaf` are run.
        a: what `layer.input_map` made of the inputs; it gets a gradient, as every weight of the layer does.
        forest: the forest in the order in which the layer computes it.
        dropout: the mask of recurrent dropout, one row per unit that has an input.
    """
    weights = tuple(layer.parameters())
    record = recorded(a, *weights)
    states: tuple[Tensor, ...] = _Equations.apply(layer, forest, dropout, record, a, *weights)  # type: ignore[no-untyped-call]
    return states


class _Equations(torch.autograd.Function):
    """All levels as one function: the graph of the levels is inside, where one thread and one float type hold."""

    @staticmethod
    def forward(
        ctx: Any,
        layer: Equations,
        forest: Forest,
        dropout: Tensor | None,
        record: bool,
        a: Tensor,
        *weights: Tensor,
    ) -> tuple[Tensor, ...]:
        buffer = LevelBuffer(a, forest, layer.states)
        inside = a.detach().requires_grad_(record and a.requires_grad)
        # inference mode takes a fifth off the time of a small call; only the buffers leave it
        with without_autocast(a.device), torch.inference_mode(not record), torch.set_grad_enabled(record):
            ctx.outputs = _run_levels(layer, inside, forest, dropout, buffer)
        ctx.inputs, ctx.sizes = (inside, *weights), forest.level_sizes
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*weights)  # torch refuses a second backward, and weights changed in between
        return tuple(state[:] for state in buffer.states)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor | None) -> tuple[Any, ...]:
        _ = ctx.saved_tensors
        found: list[Tensor | None] = [None] * len(ctx.inputs)
        heads = [k for k, grad in enumerate(grads) if grad is not None and ctx.outputs[k].requires_grad]
        if heads:
            learned = [k for k, tensor in enumerate(ctx.inputs) if tensor.requires_grad]
            with threads_for(ctx.sizes), without_autocast(ctx.inputs[0].device):
                gradients = torch.autograd.grad(
                    [ctx.outputs[k] for k in heads],
                    [ctx.inputs[k] for k in learned],
                    [grads[k] for k in heads],
                    retain_graph=True,  # whether there is a second backward is for the graph outside to say
                    allow_unused=True,
                )
            for k, gradient in zip(learned, gradients, strict=True):
                found[k] = gradient
        if found[0] is None:  # an empty forest, or equations without an input
            found[0] = torch.zeros_like(ctx.inputs[0])
        return (None, None, None, None, *differentiated_once(tuple(found)))


def _run_levels(
    layer: Equations, a: Tensor, forest: Forest, dropout: Tensor | None, buffer: LevelBuffer
) -> tuple[Tensor, ...]:
    """Compute the levels in turn, and return the states of all of them, from which autograd leads back."""
    sizes, owners = forest.level_sizes, forest.edge_rows.split(forest.edge_sizes)
    inputs: Sequence[Any] = [a, *[None] * len(sizes)]
    masks: Sequence[Tensor | None] = [None] * len(sizes)
    if not layer.leaf_inputs:
        inputs = (a if forest.inputs_are_unique else a.index_select(0, forest.input_of)).split(sizes)
    if dropout is not None:
        masks = [None, *dropout.split(sizes[1:])] if layer.leaf_inputs else dropout.split(sizes)
    done, states, known = a.new_empty(0), tuple[Tensor, ...](), dict[Any, Any]()
    for l, size in enumerate(sizes):
        done, *read = _NextLevel.apply(buffer, l, done, *states)  # type: ignore[no-untyped-call]
        below = Children(tuple(read), forest, l, owners[l], masks[l], known)
        states = (layer.node if l > 0 else layer.at_leaf)(inputs[l], below)
        wanted = [(size, width) for width in layer.states]
        if [state.shape for state in states] != wanted:
            shapes = [tuple(state.shape) for state in states]
            raise ValueError(f"{type(layer).__name__}.node gave {shapes}; its states are {wanted}")
    _, *whole = _NextLevel.apply(buffer, len(sizes), done, *states)  # type: ignore[no-untyped-call]
    return tuple(whole)


class LevelBuffer:
    """The states of all levels and, in the backward pass, their gradients: one row per unit, sorted by level."""

    def __init__(self, like: Tensor, forest: Forest, widths: Sequence[int]) -> None:
        self.states = tuple(like.new_empty(forest.num_unique, width) for width in widths)
        self.gradients: list[Tensor] = []
        self.slices, self.neighbours = forest.slices, forest.children.split(forest.edge_sizes)


class _NextLevel(torch.autograd.Function):
    """Store the states of level l - 1 and return what level l reads of those below it; after the last, all states.

    The first result stands for "the levels below l are done". It has no numbers, but it makes autograd finish the
    levels above l before it differentiates level l - 1. So a gradient is read from the buffer when it is complete, and
    memory is linear in the nodes at any depth.
    """

    @staticmethod
    def forward(ctx: Any, buffer: LevelBuffer, l: int, done: Tensor, *states: Tensor) -> tuple[Tensor, ...]:
        ctx.buffer, ctx.l = buffer, l
        ctx.set_materialize_grads(False)
        if states:
            start, end = buffer.slices[l - 1]
            for rows, state in zip(buffer.states, states, strict=True):
                rows[start:end] = state
        if l == len(buffer.slices):
            return done.new_empty(0), *(rows[:] for rows in buffer.states)
        return done.new_empty(0), *(rows.index_select(0, buffer.neighbours[l]) for rows in buffer.states)

    @staticmethod
    def backward(ctx: Any, done: Tensor | None, *grads: Tensor | None) -> tuple[Any, ...]:
        buffer, l = ctx.buffer, ctx.l
        if l == len(buffer.slices):
            buffer.gradients = [
                torch.zeros_like(rows) if grad is None else grad.clone()
                for rows, grad in zip(buffer.states, grads, strict=True)
            ]
        else:
            for rows, grad in zip(buffer.gradients, grads, strict=True):
                if grad is not None:
                    rows.index_add_(0, buffer.neighbours[l], grad)
        if l == 0:
            return None, None, None
        start, end = buffer.slices[l - 1]
        return None, None, buffer.gradients[0].new_empty(0), *(rows[start:end] for rows in buffer.gradients)


def recorded(*tensors: Tensor | None) -> bool:
    """Return whether a gradient of one of these tensors may be asked for."""
    return torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in tensors)


def without_autocast(device: torch.device) -> AbstractContextManager[Any]:
    """Compute in the float type of the weights, whatever matmuls outside are cast to."""
    if torch.is_autocast_enabled(device.type):
        return torch.autocast(device.type, enabled=False)
    return nullcontext()


def differentiated_once(grads: Grads) -> Grads:
    """Return the gradients, with an error for whoever differentiates them again."""
    if not torch.is_grad_enabled():  # the usual case: no graph of the backward is being made
        return grads
    return tuple(None if grad is None else _Once.apply(grad.detach().requires_grad_()) for grad in grads)  # type: ignore[no-untyped-call]


class _Once(torch.autograd.Function):
    """Raise an error also where the incoming gradient has no graph, which `once_differentiable` does not."""

    @staticmethod
    def forward(ctx: Any, grad: Tensor) -> Tensor:
        return grad.view_as(grad)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        raise RuntimeError("bough's layers and losses have first derivatives only, not those of a gradient")


@contextmanager
def one_thread() -> Iterator[None]:
    """Use one thread for torch, and afterwards as many as before.

    Threads that share a small matrix multiplication wait for each other, for seconds where the machine is busy.
    """
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
    """Use one thread for small levels, else as many as torch has."""
    return one_thread() if max(levels, default=0) < LARGE else nullcontext()
