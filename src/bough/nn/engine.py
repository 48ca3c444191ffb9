"""Run a layer's equations over a forest, one level at a time, and differentiate them."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn

from bough.nn.children import Children
from bough.trees.forest import Forest

Grads = tuple[Tensor | None, ...]
LARGE = 4096  # rows of a level from which torch uses all its threads


def run_equations(
    layer: Any,
    a: Tensor,
    forest: Forest,
    dropout: Tensor | None = None,
    edge_features: Tensor | None = None,
    *,
    at_once: Callable[[Tensor], tuple[Tensor, ...]] | None = None,
) -> tuple[Tensor, ...]:
    """Return one (U, D) per state of the layer, for the unique nodes of the forest.

    Args:
        layer: the `TreeLayer` whose `node` and `at_leaf` are run.
        a: the result of `layer.input_map`; it gets a gradient, as all weights of the layer do.
        forest: the forest in the order in which the layer computes it.
        dropout: the mask of recurrent dropout, one row per unique node that `below.drop` is called for.
        edge_features: (E, F) for `below.features`, in the order of `forest.edge_index`; it gets a gradient.
        at_once: computes all states from a, instead of one level after the other.
    """
    tensors = (a, edge_features, *layer.parameters())
    record = recorded(*tensors)
    if record:
        for module, name in _other_tensors(layer):
            found = f"{name} of {type(module).__name__} requires a gradient, but is no parameter"
            raise ValueError(f"{found} and would get none; make it an nn.Parameter, or detach it")
    states: tuple[Tensor, ...] = _Equations.apply(layer, forest, dropout, at_once, record, *tensors)  # type: ignore[no-untyped-call]
    if record:
        for module, name in _other_tensors(layer):  # `node` may have stored one for inspection
            vars(module)[name] = vars(module)[name].detach()
    return states


def _other_tensors(layer: Any) -> list[tuple[nn.Module, str]]:
    """Return the attributes that require a gradient but are no parameters, unless a hook recomputes them."""
    return [
        (module, name)
        for number, module in enumerate(layer.modules())  # the layer itself is the first
        for name, value in (*vars(module).items(), *module._buffers.items())
        if isinstance(value, Tensor)
        and value.requires_grad
        and (number == 0 or not module._forward_pre_hooks)
    ]


class LevelBuffer:
    """States of all levels and, in the backward pass, their gradients, with one row per unique node."""

    def __init__(self, like: Tensor, forest: Forest, widths: Sequence[int]) -> None:
        self.states = tuple(like.new_empty(forest.num_unique, width) for width in widths)
        self.gradients: tuple[Tensor, ...] = ()
        self.done = like.new_empty(0)
        self.sizes, self.edges = forest.level_sizes, forest.level_edges
        self.levels = self._by_level(self.states)

    def _by_level(self, states: Sequence[Tensor]) -> list[tuple[Tensor, ...]]:
        return list(zip(*(state.split(self.sizes) for state in states), strict=True))

    def differentiate(self, gradients: tuple[Tensor, ...]) -> None:
        """Begin the backward pass with the gradients of all states."""
        self.gradients, self.levels = gradients, self._by_level(gradients)


class _Equations(torch.autograd.Function):
    """All levels as one function. It contains their graph, so that it controls threads and autocast in both passes."""

    @staticmethod
    def forward(
        ctx: Any,
        layer: Any,
        forest: Forest,
        dropout: Tensor | None,
        at_once: Any,
        record: bool,
        *tensors: Any,
    ) -> tuple[Tensor, ...]:
        a, features, *weights = tensors
        a = a.detach().requires_grad_(record and a.requires_grad)
        if features is not None:
            features = features.detach().requires_grad_(record and features.requires_grad)
        buffer = LevelBuffer(a, forest, layer.states)
        # inference mode makes a small call a fifth faster; the buffers, which are returned, are made outside it
        with without_autocast(a.device), torch.inference_mode(not record), torch.set_grad_enabled(record):
            if at_once is None:
                ctx.outputs = _run_levels(layer, a, features, forest, dropout, buffer)
            else:
                ctx.outputs = at_once(a)
                for rows, state in zip(buffer.states, ctx.outputs, strict=True):
                    rows.copy_(state.detach())
        ctx.inputs, ctx.sizes = (a, features, *weights), forest.level_sizes
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*weights)  # so that torch refuses a second backward, and changed weights
        return tuple(state[:] for state in buffer.states)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor | None) -> tuple[Any, ...]:
        _ = ctx.saved_tensors
        found: list[Tensor | None] = [None] * len(ctx.inputs)
        heads = [k for k, grad in enumerate(grads) if grad is not None and ctx.outputs[k].requires_grad]
        if heads:
            learned = [k for k, t in enumerate(ctx.inputs) if t is not None and t.requires_grad]
            with threads_for(ctx.sizes), without_autocast(ctx.inputs[0].device):
                gradients = torch.autograd.grad(
                    [ctx.outputs[k] for k in heads],
                    [ctx.inputs[k] for k in learned],
                    [grads[k] for k in heads],
                    retain_graph=True,  # the graph outside decides whether there may be a second backward
                    allow_unused=True,
                )
            for k, gradient in zip(learned, gradients, strict=True):
                found[k] = gradient
        # an empty forest, or leaves alone, do not use all weights; the first five inputs are no tensors
        for k, (tensor, wanted) in enumerate(zip(ctx.inputs, ctx.needs_input_grad[5:], strict=True)):
            if found[k] is None and tensor is not None and wanted:
                found[k] = torch.zeros_like(tensor)
        return (None, None, None, None, None, *differentiated_once(tuple(found)))


def _run_levels(
    layer: Any, a: Tensor, given: Tensor | None, forest: Forest, dropout: Tensor | None, buffer: LevelBuffer
) -> tuple[Tensor, ...]:
    """Compute one level after the other from a and the features of edges. Return all states, with their graph."""
    sizes, edges = forest.level_sizes, forest.level_edges
    inputs: Sequence[Any] = [a, *[None] * len(sizes)]
    masks: Sequence[Tensor | None] = [None] * len(sizes)
    features: Sequence[Tensor | None] = masks
    if given is not None:
        features = given.index_select(0, forest.edge_columns).split(forest.edge_sizes)
    if not layer.leaf_inputs:
        inputs = (a if forest.inputs_are_unique else a.index_select(0, forest.input_of)).split(sizes)
    if dropout is not None:
        masks = [None, *dropout.split(sizes[1:])] if layer.leaf_inputs else dropout.split(sizes)
    done, states, known = a.new_empty(0), tuple[Tensor, ...](), dict[Any, Any]()
    for l, size in enumerate(sizes):
        done, *read = _NextLevel.apply(buffer, l, done, *states)  # type: ignore[no-untyped-call]
        below = Children(tuple(read), forest, l, edges[l][1], masks[l], features[l], known)
        states = (layer.node if l > 0 else layer.at_leaf)(inputs[l], below)
        wanted = [(size, width) for width in layer.states]
        if [state.shape for state in states] != wanted:
            shapes = [tuple(state.shape) for state in states]
            raise ValueError(f"{type(layer).__name__}.node gave {shapes}; its states are {wanted}")
    if given is not None and len(forest.children) and "features" not in known:
        unread = f"{type(layer).__name__} does not use edge_features"
        raise ValueError(f"{unread}; a layer reads them as below.features")
    if forest.kinds is not None and len(forest.kinds.unique()) > 1 and "kinds" not in known:
        raise ValueError(f"{type(layer).__name__} does not use kinds; a layer reads them as below.kinds")
    _, *whole = _NextLevel.apply(buffer, len(sizes), done, *states)  # type: ignore[no-untyped-call]
    return tuple(whole)


class _NextLevel(torch.autograd.Function):
    """Store the states of level l - 1, and return the children's states that level l reads; at the end, all states.

    The first result is an empty tensor that means "the levels below l are done". It makes autograd
    finish the levels above l before it differentiates level l - 1. So a gradient is read from the
    buffer when it is complete, and memory is linear in the number of nodes at any depth.
    """

    @staticmethod
    def forward(ctx: Any, buffer: LevelBuffer, l: int, done: Tensor, *states: Tensor) -> tuple[Tensor, ...]:
        ctx.buffer, ctx.l = buffer, l
        ctx.set_materialize_grads(False)
        if states:
            for rows, state in zip(buffer.levels[l - 1], states, strict=True):
                rows.copy_(state)
        if l == len(buffer.sizes):
            return done.new_empty(0), *(rows[:] for rows in buffer.states)
        return done.new_empty(0), *(rows.index_select(0, buffer.edges[l][0]) for rows in buffer.states)

    @staticmethod
    def backward(ctx: Any, done: Tensor | None, *grads: Tensor | None) -> tuple[Any, ...]:
        buffer, l = ctx.buffer, ctx.l
        if l == len(buffer.sizes):
            whole = zip(buffer.states, grads, strict=True)
            buffer.differentiate(
                tuple(torch.zeros_like(rows) if grad is None else grad.clone() for rows, grad in whole)
            )
        else:
            for rows, grad in zip(buffer.gradients, grads, strict=True):
                if grad is not None:
                    rows.index_add_(0, buffer.edges[l][0], grad)
        return None, None, buffer.done, *(buffer.levels[l - 1] if l > 0 else ())


def recorded(*tensors: Tensor | None) -> bool:
    """Return whether autograd records operations on one of these tensors."""
    return torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in tensors)


def without_autocast(device: torch.device) -> AbstractContextManager[Any]:
    """Turn autocast off, to compute in the float type of the weights."""
    if torch.is_autocast_enabled(device.type):
        return torch.autocast(device.type, enabled=False)
    return nullcontext()


def differentiated_once(grads: Grads) -> Grads:
    """Return the gradients. Raise an error if they are differentiated again."""
    if not torch.is_grad_enabled():  # the usual case: no graph of the backward pass is recorded
        return grads
    return tuple(None if grad is None else _Once.apply(grad.detach().requires_grad_()) for grad in grads)  # type: ignore[no-untyped-call]


class _Once(torch.autograd.Function):
    """Raise an error even if the incoming gradient has no graph, unlike torch's `once_differentiable`."""

    @staticmethod
    def forward(ctx: Any, grad: Tensor) -> Tensor:
        return grad.view_as(grad)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        raise RuntimeError("bough's layers and losses have first derivatives only, not those of a gradient")


@contextmanager
def one_thread() -> Iterator[None]:
    """Let torch use one thread within the block.

    Threads that share a small matrix multiplication wait for each other, which takes seconds on a busy machine.
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
    """Let torch use one thread if all levels are small."""
    return one_thread() if max(levels, default=0) < LARGE else nullcontext()
