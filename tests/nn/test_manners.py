"""torch.nn's manners: the layers go where any other module goes."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader

from bough import Forest, Tree
from bough.nn import AttentiveChildSum, BaseLayer, BiTreeLSTM, ChildSumTreeGRU, ChildSumTreeLSTM, NaryTreeLSTM
from oracle import D, X

TREES = [Tree([1, -1, 1]), Tree([2, 2, -1])]


class Network(nn.Module):
    """A layer of ours between two of torch's."""

    def __init__(self, layer: BaseLayer) -> None:
        super().__init__()
        self.below, self.layer, self.above = nn.Linear(X, X), layer, nn.Linear(layer.width, 2)

    def forward(self, x: Tensor, forest: Forest) -> Tensor:
        h = self.layer(torch.relu(self.below(x)), forest)
        total: Tensor = self.above(torch.relu(h[0] if isinstance(h, tuple) else h)).sum()
        return total


# the compiler looks at .grad of what it is handed at a graph break, and hears of it from torch itself
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf:UserWarning")
@pytest.mark.parametrize(
    "layer", [ChildSumTreeLSTM, NaryTreeLSTM, ChildSumTreeGRU, BiTreeLSTM, AttentiveChildSum]
)
def test_a_model_with_a_layer_inside_compiles(layer: type[BaseLayer]) -> None:
    network, x, forest = Network(layer(X, D)), torch.randn(6, X), Forest(TREES)
    network(x, forest).backward()
    expected = [parameter.grad for parameter in network.parameters()]
    plain = network(x, forest)
    network.zero_grad(set_to_none=True)
    compiled = torch.compile(network, backend="aot_eager")(x, forest)
    torch.testing.assert_close(compiled, plain)
    compiled.backward()
    for parameter, grad in zip(network.parameters(), expected, strict=True):
        torch.testing.assert_close(parameter.grad, grad)


def collate(trees: list[Tree]) -> tuple[Forest, Tensor]:
    forest = Forest(trees)
    return forest, torch.ones(forest.size, X)


def test_forests_come_out_of_worker_processes() -> None:
    layer = ChildSumTreeLSTM(X, D)
    some: Any = TREES * 3  # torch asks for its own class; a list will do
    loader = DataLoader(
        some, batch_size=2, num_workers=1, collate_fn=collate, multiprocessing_context="spawn"
    )
    for forest, x in loader:
        expected = layer(*reversed(collate(list(forest.trees))))
        torch.testing.assert_close(layer(x, forest), expected)


def test_weights_from_outside_are_the_ones_that_count() -> None:
    layer, other, forest = (ChildSumTreeGRU(X, D), ChildSumTreeGRU(X, D), Forest(TREES))
    x = torch.randn(6, X)
    weights = {name: weight.detach().clone().requires_grad_() for name, weight in other.named_parameters()}
    h = torch.func.functional_call(layer, weights, (x, forest))
    torch.testing.assert_close(h, other(x, forest))
    grads = torch.autograd.grad(h.sum(), list(weights.values()))
    expected = torch.autograd.grad(other(x, forest).sum(), list(other.parameters()))
    for ours, theirs in zip(grads, expected, strict=True):
        torch.testing.assert_close(ours, theirs)
