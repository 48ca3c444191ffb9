"""A sweep by a layer's own equations: autograd differentiates one level at a time, so depth costs no recursion."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from bough.nn.children import Edges
from bough.nn.engine import Grads, recorded, sweep
from bough.trees.forest import Forest

Graph = tuple[list[Tensor], list[Tensor]]  # what a level read, and what it computed from that


class Equations(Protocol):
    """What a sweep needs of a `TreeLayer`."""

    states: tuple[int, ...]
    leaf_inputs: bool

    def node(self, a: Any, below: Edges) -> tuple[Tensor, ...]: ...
    def at_leaf(self, a: Any, below: Edges) -> tuple[Tensor, ...]: ...
    def parameters(self) -> Iterator[nn.Parameter]: ...


def sweep_equations(
    layer: Equations, a: Tensor, forest: Forest, mask: Tensor | None = None
) -> tuple[Tensor, ...]:
    """The states of the forest's units; `a` and every weight of the layer get gradients."""
    weights = tuple(layer.parameters())
    cell = EquationCell(layer, a, forest, mask, weights)
    return sweep(cell, forest, a, *weights)


class EquationCell:
    """A level's graph begins at copies of its inputs, `a` and the neighbours' states, and ends at its states.

    `down` differentiates that graph alone and hands the gradients on through the buffers, so that memory is
    linear in the nodes, whatever the depth.
    """

    def __init__(
        self,
        layer: Equations,
        a: Tensor,
        forest: Forest,
        mask: Tensor | None,
        weights: tuple[Tensor, ...],
    ) -> None:
        self.layer, self.forest, self.weights, self.keep = layer, forest, weights, recorded(a, *weights)
        self.a, self.mask = a.detach(), mask
        self.states_of = tuple(a.new_empty(forest.units, width) for width in layer.states)
        self.neighbours, self.owners = (
            edges.split(forest.edge_sizes) for edges in (forest.children, forest.edge_rows)
        )
        self.graphs: list[Graph] = []

    def up(self, l: int) -> None:
        start, end = self.forest.slices[l]
        with torch.inference_mode(not self.keep), torch.set_grad_enabled(self.keep):
            read = [state.index_select(0, self.neighbours[l]) for state in self.states_of]
            a = self._inputs(start, end)
            inputs = read if a is None else [*read, a]
            for rows in inputs:
                rows.requires_grad_(self.keep)
            below = Edges(tuple(read), self.forest, l, self.owners[l], self._level_mask(start, end))
            found = (self.layer.node if end > self.forest.leaves else self.layer.at_leaf)(a, below)
            self._check(found, end - start)
            for buffer, state in zip(self.states_of, found, strict=True):
                buffer[start:end] = state.detach()
        if self.keep:
            self.graphs.append((inputs, list(found)))

    def _inputs(self, start: int, end: int) -> Tensor | None:
        if not self.layer.leaf_inputs:
            return self.a.index_select(0, self.forest.input_of[start:end])
        return self.a[start:end].clone() if start < self.forest.leaves else None

    def _level_mask(self, start: int, end: int) -> Tensor | None:
        shift = self.forest.leaves if self.layer.leaf_inputs else 0
        return None if self.mask is None or start < shift else self.mask[start - shift : end - shift]

    def _check(self, found: tuple[Tensor, ...], nodes: int) -> None:
        shapes = [tuple(state.shape) for state in found]
        wanted = [(nodes, width) for width in self.layer.states]
        if shapes != wanted:
            raise ValueError(f"{type(self.layer).__name__}.node gave {shapes}; its states are {wanted}")

    def states(self) -> tuple[Tensor, ...]:
        return tuple(state[:] for state in self.states_of)

    def turn(self, grads: Sequence[Tensor | None]) -> None:
        self.d_states = [
            torch.zeros_like(state) if grad is None else grad.clone()
            for state, grad in zip(self.states_of, grads, strict=True)
        ]
        rows = self.forest.leaves if self.layer.leaf_inputs else self.forest.units
        self.d_inputs = self.a.new_zeros(rows, *self.a.shape[1:])
        self.d_weights: list[Tensor | None] = [None] * len(self.weights)

    @torch.inference_mode(False)  # what leaves here are gradients like any other
    def down(self, l: int) -> None:
        (start, end), (read, found) = self.forest.slices[l], self.graphs[l]
        heads = [(state, grad[start:end]) for state, grad in zip(found, self.d_states, strict=True)]
        heads = [(state, grad) for state, grad in heads if state.requires_grad]
        learned = [weight for weight in self.weights if weight.requires_grad]
        if not heads:
            return
        outputs, onto = zip(*heads, strict=True)
        grads = torch.autograd.grad(outputs, [*read, *learned], onto, retain_graph=True, allow_unused=True)
        for d_state, grad in zip(self.d_states, grads, strict=False):
            if grad is not None and len(grad):
                d_state.index_add_(0, self.neighbours[l], grad)
        if len(read) > len(self.d_states) and (grad := grads[len(self.d_states)]) is not None:
            self.d_inputs[start:end] = grad
        self._add(grads[len(read) :])

    def _add(self, grads: Sequence[Tensor | None]) -> None:
        places = [i for i, weight in enumerate(self.weights) if weight.requires_grad]
        for i, grad in zip(places, grads, strict=True):
            before = self.d_weights[i]
            if grad is not None:
                self.d_weights[i] = grad.clone() if before is None else before.add_(grad)

    def gradients(self) -> Grads:
        """Of `a` and of every weight."""
        d_a = self.d_inputs
        if not (self.layer.leaf_inputs or self.forest.own_inputs):
            d_a = torch.zeros_like(self.a).index_add_(0, self.forest.input_of, d_a)
        return d_a, *self.d_weights
