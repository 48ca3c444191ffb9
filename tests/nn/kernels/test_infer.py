"""A small forest without a gradient, computed in one compiled call, equals the equations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from bough import Forest, Tree
from bough.nn import ChildSumTreeLSTM, NaryTreeLSTM, TreeLayer
from bough.nn.kernels import tree_lstm
from kernel_cases import every_isa, needs_c, on, random_tree

pytestmark = needs_c
X, D = 5, 19
LAYERS: dict[str, Any] = {
    "child-sum": lambda: ChildSumTreeLSTM(X, D),
    "no output gate": lambda: ChildSumTreeLSTM(X, D, output_gate=False),
    "affine": lambda: NaryTreeLSTM(X, D, 3),
    "gated": lambda: NaryTreeLSTM(X, D, 3, leaf="gated"),
    "gated, no output gate": lambda: NaryTreeLSTM(X, D, 2, leaf="gated", output_gate=False),
}
every_layer = pytest.mark.parametrize("name", LAYERS)


@pytest.fixture(autouse=True)
def _compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOUGH_FAST", "1")


def shuffled(draw: np.random.Generator, arity: int | None) -> Tree:
    tree = random_tree(draw, arity)
    return tree.renumbered(draw.permutation(len(tree)))


@every_isa
@every_layer
@torch.no_grad()
def test_random_forests(name: str, isa: int, monkeypatch: pytest.MonkeyPatch) -> None:
    draw, layer = np.random.default_rng(0), LAYERS[name]()
    for seed in range(20):
        on(isa, monkeypatch, few=seed % 3 * 4, **{"gemm": 0, "set_threads": 0} if seed % 2 else {})
        forest = Forest([shuffled(draw, getattr(layer, "arity", None)) for _ in range(seed % 4)])
        x = torch.randn(forest.num_nodes, X)
        found = layer.infer(x, forest)
        layer.fast = False
        torch.testing.assert_close(found, layer(x, forest), rtol=1e-5, atol=1e-6)
        layer.fast = True


@torch.no_grad()
def test_levels_of_more_than_a_chunk_and_a_deep_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_lstm, "SMALL", 5000)
    layer = ChildSumTreeLSTM(X, D)
    for tree in (Tree([-1, *[0] * 300, *range(1, 301)]), Tree([*range(1, 3000), -1])):
        x, forest = torch.randn(len(tree), X), Forest([tree])
        found = layer.infer(x, forest)
        layer.fast = False
        torch.testing.assert_close(found, layer(x, forest), rtol=1e-5, atol=1e-5)
        layer.fast = True


@every_layer
def test_only_where_nothing_else_is_asked_for(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    layer: TreeLayer = LAYERS[name]()
    trees = [Tree([1, -1, 1])]
    forest, x = Forest(trees), torch.randn(3, X)
    assert layer.infer(x, forest) is None  # the weights have gradients
    with torch.no_grad():
        assert layer.infer(x, forest) is not None
        for other in (x.double(), x[:2], x[:, :2], x.t().contiguous().t(), x.to("meta")):
            assert layer.infer(other, forest) is None
        for number in (torch.nan, torch.inf):
            assert layer.infer(torch.full((3, X), number), forest) is None
        assert layer.infer(x, Forest(trees, keys=[[1, 2, 1]])) is None
        assert layer.infer(x, Forest.from_edges([[0, 2], [1, 1]], 3)) is None
        with torch.autocast("cpu"):
            assert layer.infer(x, forest) is None
        layer.recurrent_dropout = 0.5
        assert layer.infer(x, forest) is None
        assert layer.eval().infer(x, forest) is not None
        layer.fast = False
        assert layer.infer(x, forest) is None
        layer.fast = True
        monkeypatch.setattr(tree_lstm, "SMALL", 2)
        assert layer.infer(x, forest) is None


@torch.no_grad()
def test_weights_that_were_changed_are_used_and_those_that_do_not_fit_are_named() -> None:
    layer, forest, x = ChildSumTreeLSTM(X, D), Forest([Tree([1, -1, 1])]), torch.randn(3, X)
    before = layer(x, forest)[0]
    layer.U_f.data.mul_(2)
    assert not torch.equal(layer(x, forest)[0], before)
    layer.U = nn.Parameter(torch.zeros(D, D))
    with pytest.raises(ValueError, match=r"U of ChildSumTreeLSTM is \(19, 19\)"):
        layer(x, forest)


@torch.no_grad()
def test_what_is_wrong_is_still_said() -> None:
    layer, forest = NaryTreeLSTM(X, D, 2), Forest([Tree([-1, 0, 0, 0])])
    with pytest.raises(ValueError, match="node 0 of tree 0 has 3 children; the layer's arity is 2"):
        layer(torch.randn(4, X), forest)
    x = torch.randn(4, X)
    x[2, 1] = torch.nan
    with pytest.raises(ValueError, match="x has a NaN in the row of node 2 of tree 0"):
        ChildSumTreeLSTM(X, D)(x, forest)


@torch.no_grad()
def test_a_subclass_runs_by_its_own_equations() -> None:
    class Doubled(ChildSumTreeLSTM):
        def input_map(self, x: torch.Tensor) -> torch.Tensor:
            return 2 * super().input_map(x)

    layer, forest, x = Doubled(X, D), Forest([Tree([1, -1, 1])]), torch.randn(3, X)
    found = layer(x, forest)
    layer.fast = False
    torch.testing.assert_close(found, layer(x, forest))
