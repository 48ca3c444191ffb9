"""Layers held against the recursive reference: the states, and the gradient of every input and parameter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import hypothesis
import torch
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from torch import Tensor, nn

from benchmarks.recursion import recursive
from bough import Forest, Tree
from bough.nn import BaseLayer
from treegen import trees

X, D = 6, 3  # 6 is 2 + 2², a vector and a matrix
TOLERANCE: dict[str, Any] = {"rtol": 1e-10, "atol": 1e-10}
drawn = hypothesis.settings(max_examples=30, deadline=None)  # one drawn forest is a few hundred torch calls

Keys = list[list[int]] | None


@st.composite
def batches(
    draw: DrawFn, max_trees: int = 4, max_nodes: int = 9, relations: int = 0
) -> tuple[list[Tree], Keys]:
    """Trees of any shape and, half the time, keys: three inputs in all, so that subtrees repeat."""
    names = st.integers(0, relations - 1) if relations else None
    some = draw(st.lists(trees(max_nodes=max_nodes, relations=names), min_size=1, max_size=max_trees))
    return some, draw(st.none() | keys_for(some))


@st.composite
def chains(draw: DrawFn, max_trees: int = 4, max_nodes: int = 6) -> tuple[list[Tree], Keys]:
    """Sentences as chains, in any numbering of their words."""
    words = st.integers(1, max_nodes).flatmap(lambda n: st.permutations(range(n)))
    some = []
    for order in draw(st.lists(words, min_size=1, max_size=max_trees)):
        parents = [-1] * len(order)
        for word, following in pairwise(order):
            parents[word] = following
        some.append(Tree(parents))
    return some, draw(st.none() | keys_for(some))


@st.composite
def keys_for(draw: DrawFn, some: Sequence[Tree]) -> list[list[int]]:
    return [draw(st.lists(st.integers(-1, 1), min_size=len(t), max_size=len(t))) for t in some]


def widest(some: Sequence[Tree]) -> int:
    """The most children a node has."""
    return max(int(tree.degrees.max()) for tree in some)


def inputs(some: Sequence[Tree], keys: Keys = None, width: int = X) -> Tensor:
    """Random float64 rows, one a node; equal where keys are."""
    ids = identities(some, keys)
    return torch.randn(int(ids.max()) + 1, width, dtype=torch.float64)[ids].requires_grad_()


def identities(some: Sequence[Tree], keys: Keys) -> Tensor:
    """(N,) which input a node has, counted from 0: its own, or that of its key."""
    if keys is None:
        return torch.arange(sum(map(len, some)))
    keyed = torch.tensor([key for part in keys for key in part])
    ids: Tensor = keyed.unique(return_inverse=True)[1]
    return ids


def states(layer: nn.Module, x: Tensor, forest: Forest) -> tuple[Tensor, ...]:
    out = layer(x, forest)
    return out if isinstance(out, tuple) else (out,)


def gradients(out: tuple[Tensor, ...], x: Tensor, layer: BaseLayer) -> list[Tensor]:
    out = tuple(state for state in out if state.requires_grad)  # a count does not
    onto = [torch.sin(torch.arange(state.numel(), dtype=state.dtype)).view_as(state) for state in out]
    return list(torch.autograd.grad(out, [x, *layer.parameters()], onto, materialize_grads=True))


def assert_all_close(some: Sequence[Tensor], other: Sequence[Tensor]) -> None:
    for a, b in zip(some, other, strict=True):
        torch.testing.assert_close(a, b, **TOLERANCE)


def assert_recursive(
    layer: nn.Module,
    some: Sequence[Tree],
    keys: Keys = None,
    *,
    masks: Tensor | None = None,
    seed: int = 0,
    reference: Callable[[Any, Tensor, Sequence[Tree], Tensor | None], tuple[Tensor, ...]] = recursive,
) -> None:
    """The layer's states and gradients are the reference's, to 1e-10 in float64.

    `seed` is set before the layer runs, so that a test that knows what it draws can hand over `masks`.
    """
    layer = layer.double()
    x = inputs(some, keys, int(layer.input_size))  # type: ignore[arg-type]
    torch.manual_seed(seed)
    ours = states(layer, x, Forest(some, keys))
    theirs = reference(layer, x, some, masks)
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, b, **TOLERANCE)

    onto = [torch.randn_like(state) for state in ours]
    wanted = [x, *layer.parameters()]
    dx, *ours_d = torch.autograd.grad(ours, wanted, onto, materialize_grads=True)
    ex, *theirs_d = torch.autograd.grad(theirs, wanted, onto, materialize_grads=True)
    for (name, _), a, b in zip(layer.named_parameters(), ours_d, theirs_d, strict=True):
        torch.testing.assert_close(a, b, **TOLERANCE, msg=partial(_of, name))
    ids = identities(some, keys)  # of inputs that are shared, only the sum of the gradients is defined
    for a, b in zip(_summed(dx, ids), _summed(ex, ids), strict=True):
        torch.testing.assert_close(a, b, **TOLERANCE)


def _of(name: str, text: str) -> str:
    return f"gradient of {name}: {text}"


def _summed(dx: Tensor, ids: Tensor) -> Tensor:
    return torch.zeros_like(dx).index_add(0, ids, dx)
