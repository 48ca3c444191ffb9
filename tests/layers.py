"""Layers by their name, registered or options of such, trees that each of them reads, and what they have in common."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from hypothesis import strategies as st

from bough import Forest, Tree
from bough.nn import LSTM, BaseLayer, BiTreeLSTM, NaryTreeLSTM, TopDownTreeLSTM, TreeConv, TreeLayer, kinds
from bough.nn.base import UniformInit
from oracle import D, X, chains, states
from treegen import trees as any_trees

TREES = {"words": "chain", "constituency": "binary", "dependency": "any"}
VARIANTS: dict[str, tuple[str, Callable[[], BaseLayer]]] = {
    "constituency, affine": ("binary", lambda: NaryTreeLSTM(X, D, leaf="affine")),
    "constituency, tied": (
        "binary",
        lambda: NaryTreeLSTM(X, D, leaf="affine", forget="tied", output_gate=False),
    ),
    "constituency, diagonal": ("binary", lambda: NaryTreeLSTM(X, D, 3, forget="diagonal")),
    "bi-constituency, affine": ("binary", lambda: BiTreeLSTM(X, D, leaf="affine")),
    "lstm, two layers both ways": ("chain", lambda: LSTM(X, D, layers=2, bidirectional=True)),
    "tree-conv, widths": (
        "any",
        lambda: TreeConv(X, (4, D, 2), activation="leaky_relu", norm="node", pooled=False),
    ),
    "top-down": ("any", lambda: TopDownTreeLSTM(X, D)),
    "top-down, by place": ("binary", lambda: TopDownTreeLSTM(X, D, 2)),
}


def build(name: str) -> BaseLayer:
    return VARIANTS[name][1]() if name in VARIANTS else kinds()[name].build(X, D, 2, {})


def doubled(name: str) -> BaseLayer:
    return build(name).double()


def reads(name: str) -> str:
    """Which trees the layer takes: "chain", "binary" or "any"."""
    return VARIANTS[name][0] if name in VARIANTS else TREES[kinds()[name].reads]


def registered(package: str) -> list[str]:
    """The layers that a package registers."""
    return [name for name, kind in kinds().items() if kind.layer.__module__.startswith(f"{package}.")]


def of_nodes(names: list[str]) -> list[str]:
    """Without those that have vectors for sentences alone."""
    return [name for name in names if kinds()[name].layer.rows is not BaseLayer.rows]


# a registered layer belongs in here by being registered
LAYERS = [*of_nodes(registered("bough")), *VARIANTS]
GATED = [name for name in LAYERS if name.split(",")[0] in ("constituency", "dependency", "lstm")]
with_memory = pytest.mark.parametrize("name", GATED)  # those with a c, and a kernel
BY_HAND = [
    name
    for name in LAYERS
    if any(isinstance(module, TreeLayer) and module._has_kernel() for module in build(name).modules())
]
by_hand = pytest.mark.parametrize("name", BY_HAND)


def related(parents: list[int]) -> Tree:
    return Tree(parents, relations=[node % 2 for node in range(len(parents))])


def trees_for(name: str) -> list[Tree]:
    if reads(name) == "chain":
        return [related(parents) for parents in ([1, 2, -1], [-1], [1, -1, 0])]
    wide = [[3, 3, 3, -1, 3]] if reads(name) == "any" else []
    return [related(parents) for parents in ([2, 2, 4, 4, -1], [-1], [1, -1, 1], [1, 2, -1], *wide)]


@st.composite
def forests_for(draw: st.DrawFn, name: str) -> list[Tree]:
    if reads(name) == "chain":
        return draw(chains())[0]
    found = draw(st.lists(any_trees(max_nodes=9, relations=st.integers(0, 1)), min_size=1, max_size=4))
    if reads(name) == "any":
        return found
    return [Tree(tree.binarise().parents) for tree in found]


def assert_within_the_papers_bounds(module: UniformInit) -> None:
    for weight, fan_in in module._fan_in.items():
        drawn = module.get_parameter(weight).abs()
        assert drawn.max() <= fan_in**-0.5
        assert drawn.numel() < 9 or drawn.max() > fan_in**-0.5 / 4


def assert_device_and_dtype_are_taken(name: str) -> None:
    layer = kinds()[name].build(X, D, 2, {"device": "meta", "dtype": torch.float64})
    for weight in layer.parameters():
        assert (weight.device.type, weight.dtype) == ("meta", torch.float64)


def assert_the_loss_of_an_empty_forest_has_a_gradient(name: str) -> None:
    x = torch.randn(0, X, requires_grad=True)
    states(build(name), x, Forest([]))[0].sum().backward()
    assert x.grad is not None


def assert_an_x_that_does_not_fit_is_an_error(layer: BaseLayer) -> None:
    """The layer's `input_size` is 4."""
    forest = Forest([Tree([-1, 0, 0])])
    with pytest.raises(ValueError, match=r"x is \(3, 7\); the layer takes \(nodes, 4\)"):
        layer(torch.randn(3, 7), forest)
    with pytest.raises(ValueError, match="x has 9 rows; the forest has 3 nodes"):
        layer(torch.randn(9, 4), forest)
    with pytest.raises(ValueError, match=r"x has a NaN in the row of node \d of tree 0"):
        layer(torch.full((3, 4), torch.nan), forest)
