"""torch.nn's manners: the layers go where any other module goes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader

from bough import Forest, Tree
from bough.nn import (
    AttentiveChildSum,
    BaseLayer,
    BiTreeLSTM,
    Children,
    ChildSumTreeGRU,
    ChildSumTreeLSTM,
    NaryTreeLSTM,
    TreeLayer,
)
from layers import LAYERS, build, trees_for
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
    return forest, torch.ones(forest.num_nodes, X)


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


@pytest.mark.parametrize("name", LAYERS)
def test_autocast_may_compute_the_input(name: str) -> None:
    torch.manual_seed(0)  # the error of bfloat16 is above the tolerance for one draw in a hundred
    layer, forest = build(name), Forest(trees_for(name))
    below, x = nn.Linear(X, X), torch.randn(forest.num_nodes, X)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert below(x).dtype == torch.bfloat16
        out = layer(below(x), forest)
        h = out[0] if isinstance(out, tuple) else out
        assert h.dtype == torch.float32
        h.sum().backward()
    assert below.weight.grad is not None
    assert below.weight.grad.any()
    plain = layer(below(x), forest)
    torch.testing.assert_close(h, plain[0] if isinstance(plain, tuple) else plain, rtol=0.1, atol=0.1)


class Own(TreeLayer):
    """h = a + U Σ_k h_k + v, where v is a tensor on `self` and what `extra` is given goes through a module."""

    def __init__(self, extra: nn.Module | None = None) -> None:
        super().__init__(2, states=(2,))
        self.U, self.extra, self.v = nn.Linear(2, 2), extra or nn.Identity(), torch.zeros(2)
        self.seen: Tensor | None = None

    def node(self, a: Tensor, below: Children) -> tuple[Tensor]:
        self.seen = self.extra(self.U(below.sum(below.states[0])))
        return (a + self.seen + self.v,)


FOREST, ROWS = Forest([Tree([1, -1]), Tree([1, -1])], [[0, 1]] * 2), torch.ones(4, 2)


def test_a_tensor_that_would_get_no_gradient_is_an_error() -> None:
    layer = Own()
    message = (
        "^v of Own requires a gradient, but is no parameter and would get none; make it an nn.Parameter, or"
    )
    for wrong in (torch.ones(2, requires_grad=True), layer.U.bias * 2):
        layer.v = wrong
        with pytest.raises(ValueError, match=message):
            layer(ROWS, FOREST)
        with torch.no_grad():
            layer(ROWS, FOREST)
    layer.v = torch.ones(2)
    layer.extra.hidden = torch.ones(2, requires_grad=True)
    with pytest.raises(ValueError, match=r"^hidden of Identity requires a gradient"):
        layer(ROWS, FOREST)


def test_equations_may_keep_what_they_have_seen() -> None:
    layer = Own(torch.nn.utils.parametrizations.weight_norm(nn.Linear(2, 2)))
    for _ in range(2):
        layer(ROWS, FOREST).sum().backward()
        assert layer.seen is not None
        assert not layer.seen.requires_grad
    assert all(parameter.grad is not None for parameter in layer.parameters())


@pytest.mark.parametrize("module", [nn.Dropout(0.5), nn.AlphaDropout(0.5), nn.Sequential(nn.Dropout(0.5))])
def test_dropout_inside_turns_sharing_off_while_it_is_active(module: nn.Module) -> None:
    layer = Own(module)
    assert not layer.shares
    assert layer.eval().shares
    layer.train().extra.eval()
    assert layer.shares
    assert layer.schedule(FOREST).num_unique == 2
    assert layer.train().schedule(FOREST).num_unique == 4
    assert Own(nn.Dropout(0.0)).shares


NO_TENSOR = r"it must be a tensor with one row per node, in the order layer\(x, forest\)"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Own()(ROWS, TREES[0]), r"forest is a Tree; a layer takes bough\.Forest\(\[tree\]\)"),
        (lambda: Own()(ROWS, TREES), r"forest is a list; a layer takes bough\.Forest\(trees\)"),
        (lambda: Own()(ROWS, None), r"forest is a NoneType; a layer takes bough\.Forest\(trees\)"),
        (lambda: Own()(FOREST, ROWS), f"x is a Forest; {NO_TENSOR}"),
        (lambda: Own()([[1.0]], FOREST), f"x is a list; {NO_TENSOR}"),
        (lambda: TreeLayer(2, states=4), r"states=4: one width per state, as in states=\(4,\)"),  # type: ignore[arg-type]
        (lambda: Forest(TREES[0]), r"a Tree, where a list of trees is expected: Forest\(\[tree\]\)"),  # type: ignore[arg-type]
        (lambda: Forest([TREES[0], None]), "tree 1 is None; expected a bough.Tree or a bough.Graph"),  # type: ignore[list-item]
        (lambda: Forest([[1, -1]]), "tree 0 is a list; expected a bough.Tree or a bough.Graph"),  # type: ignore[list-item]
    ],
)
def test_arguments_of_the_wrong_type_are_one_clear_line(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(TypeError, match=f"^{message}$"):
        call()
