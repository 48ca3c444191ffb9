"""Claims about the cited systems' layers: each is the equations its authors wrote, and its special cases are known."""

from __future__ import annotations

import torch

from bough import Forest, Tree
from bough.nn import RNTN, RecursiveNetwork
from layers import trees_for
from oracle import TOLERANCE, X, inputs

PAIR = Tree([2, 2, -1])


def test_a_recursive_network_starts_near_the_sum_of_its_children() -> None:
    torch.manual_seed(0)
    layer = RecursiveNetwork(100)
    with torch.no_grad():
        layer.b.zero_()
        h = layer(x := 0.01 * torch.randn(3, 100), Forest([PAIR]))
    assert torch.cosine_similarity(h[2], x[0] + x[1], dim=0) > 0.9


def test_an_rntn_without_its_tensor_is_the_recursive_network() -> None:
    tensor, plain = RNTN(X).double(), RecursiveNetwork(X).double()
    trees = trees_for("rntn")
    x, forest = inputs(trees), Forest(trees)
    plain.load_state_dict({name: w for name, w in tensor.state_dict().items() if name != "V"})
    assert not torch.allclose(tensor(x, forest), plain(x, forest))
    with torch.no_grad():
        tensor.V.zero_()
    torch.testing.assert_close(tensor(x, forest), plain(x, forest), **TOLERANCE)


def test_only_the_symmetric_part_of_the_tensor_counts() -> None:
    layer, trees = RNTN(X).double(), trees_for("rntn")
    x, forest = inputs(trees), Forest(trees)
    before = layer(x, forest)
    with torch.no_grad():
        V = layer.V.view(2 * X, 2 * X, X)
        V.copy_(V.transpose(0, 1).clone())
    torch.testing.assert_close(layer(x, forest), before, **TOLERANCE)
