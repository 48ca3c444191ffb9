"""Layers whose equations depend on the kind of a node, or of an edge."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from bough import Forest, Tree
from bough.nn import Children, ChildSumTreeLSTM, NaryTreeLSTM, TreeLayer
from oracle import D, X, assert_all_close, batches, drawn, gradients, inputs
from treegen import graphs

KINDS = 3


class Units(TreeLayer):
    """h_j = tanh(V_t x_j + Σ_k U_r h_k), t the kind of j, r the relation of k"""

    def __init__(self) -> None:
        super().__init__(X, states=(D,))
        self.V = nn.ModuleList(nn.Linear(X, D) for _ in range(KINDS))
        self.U = nn.ModuleList(nn.Linear(D, D) for _ in range(2))
        self.calls: list[int] = []

    def node(self, a: Tensor, below: Children) -> tuple[Tensor]:
        (h_k,) = below.states
        self.calls.append(below.nodes)
        messages = below.sum(below.by_kind(self.U, h_k, kinds=below.relations))
        return (torch.tanh(below.by_kind(self.V, a) + messages),)


class UnitsDown(Units):
    from_roots = True


def node_by_node(layer: Units, x: Tensor, edges: Tensor, relations: Tensor, kinds: Tensor) -> Tensor:
    """The equations of `Units`, one node at a time. `edges` (2, E) lead from what is read to its reader."""
    done: dict[int, Tensor] = {}

    def state(j: int) -> Tensor:
        if j not in done:
            z = layer.V[int(kinds[j])](x[j])
            for e in (edges[1] == j).nonzero().flatten().tolist():
                z = z + layer.U[int(relations[e])](state(int(edges[0, e])))
            done[j] = torch.tanh(z)
        return done[j]

    return torch.stack([state(j) for j in range(len(x))])


@pytest.mark.parametrize("layer_type", [Units, UnitsDown])
@given(graph=graphs(), data=st.data())
@drawn
def test_a_graph_is_its_nodes_one_at_a_time(
    layer_type: type[Units], graph: tuple[Tensor, int], data: st.DataObject
) -> None:
    edges, nodes = graph
    kinds = torch.tensor(data.draw(st.lists(st.integers(0, KINDS - 1), min_size=nodes, max_size=nodes)))
    relations = torch.arange(edges.shape[1]) % 2
    layer = layer_type().double()
    x = torch.randn(nodes, X, dtype=torch.float64, requires_grad=True)
    forest = Forest.from_edges(edges, nodes, relations=relations)
    ours = layer(x, forest, kinds=kinds)
    theirs = node_by_node(layer, x, edges.flip(0) if layer.from_roots else edges, relations, kinds)
    assert_all_close([ours], [theirs])
    assert_all_close(gradients((ours,), x, layer), gradients((theirs,), x, layer))


@given(batch=batches(relations=2), data=st.data())
@drawn
def test_nodes_with_equal_keys_and_different_kinds_are_not_shared(
    batch: tuple[list[Tree], Any], data: st.DataObject
) -> None:
    trees, keys = batch
    x, layer = inputs(trees, keys), Units().double()
    kinds = torch.tensor(data.draw(st.lists(st.integers(0, KINDS - 1), min_size=len(x), max_size=len(x))))
    relations = {0: 0, 1: 1}
    plain = Forest(trees, relations=relations)
    assert plain.edge_relations is not None
    unordered = torch.empty_like(plain.edge_relations).index_copy(0, plain.edge_columns, plain.edge_relations)
    theirs = node_by_node(layer, x, plain.edge_index, unordered, kinds)
    assert_all_close([layer(x, Forest(trees, keys, relations=relations), kinds=kinds)], [theirs])


def test_a_module_runs_once_per_level_with_all_rows_of_its_kind() -> None:
    forest = Forest([Tree([-1, 0, 0, 1, 1, 2], relations=[0] * 6)] * 4)
    layer, rows = Units(), list[int]()
    layer.V[1].register_forward_hook(lambda module, given, result: rows.append(len(result)))
    layer(torch.zeros(24, X), forest, kinds=[0, 1, 2, 1, 0, 1] * 4)
    assert (layer.calls, rows) == ([12, 8, 4], [8, 4])


def test_kinds_pass_gradcheck() -> None:
    layer = Units().double()
    for forest in (Forest([Tree([2, 2, 3, -1], relations=[0, 1, 0, 0])]),
                   Forest.from_edges([[0, 0, 1, 2], [1, 2, 3, 3]], 4, relations=[0, 1, 1, 0])):  # fmt: skip
        x = torch.randn(4, X, dtype=torch.float64, requires_grad=True)
        assert torch.autograd.gradcheck(lambda x, on=forest: layer(x, on, kinds=[2, 0, 2, 1]), (x,))


def test_inputs_of_each_kind_are_padded() -> None:
    forest, kinds = Forest([Tree([-1, 0, 0], relations=[0] * 3)] * 2), torch.tensor([2, 0, 2, 0, 2, 2])
    x = {2: torch.randn(4, X, requires_grad=True), 0: torch.randn(2, 1, requires_grad=True)}
    padded = torch.zeros(6, X)
    padded[kinds == 2], padded[kinds == 0, :1] = x[2].detach(), x[0].detach()
    layer = Units()
    h = layer(x, forest, kinds=kinds)
    torch.testing.assert_close(h, layer(padded, forest, kinds=kinds))
    assert all(grad.any() for grad in torch.autograd.grad(h.sum(), [x[2], x[0]]))


class PerKindLSTM(ChildSumTreeLSTM):
    """A Child-Sum Tree-LSTM for each kind: modules that return two states."""

    def __init__(self) -> None:
        super().__init__(X, D)
        self.cells = nn.ModuleList(nn.LSTMCell(X, D) for _ in range(KINDS))

    def input_map(self, x: Tensor) -> Tensor:
        return x

    def node(self, a: Tensor, below: Children) -> tuple[Tensor, Tensor]:
        h, c = (below.sum(state) for state in below.states)
        pair: tuple[Tensor, Tensor] = below.by_kind(
            [lambda x, h, c, cell=cell: cell(x, (h, c)) for cell in self.cells], a, h, c
        )
        return pair


def test_a_module_may_return_several_states() -> None:
    layer, forest, x = PerKindLSTM(), Forest([Tree([-1, 0, 1])]), torch.randn(3, X)
    h, c = layer(x, forest, kinds=[1, 0, 2])
    one = layer.cells[2](x[2:])
    two = layer.cells[0](x[1:2], one)
    torch.testing.assert_close((h[:1], c[:1]), layer.cells[1](x[:1], two))


def test_a_step_has_kinds() -> None:
    layer, x, forest = (
        Units().double(),
        inputs([Tree([-1, 0, 0, 2])]),
        Forest([Tree([-1, 0, 0, 2], relations=[0, 1, 0, 1])]),
    )
    kinds = torch.tensor([1, 2, 0, 2])
    whole = layer(x, forest, kinds=kinds)
    two = layer.step(x[[2, 1]], whole[3:], [0], relations=torch.tensor([1]), kinds=kinds[[2, 1]])
    assert_all_close([two], [whole[[2, 1]]])
    root = layer.step(x[:1], two.flip(0), [0, 0], relations=torch.tensor([1, 0]), kinds=kinds[:1])
    assert_all_close([root], [whole[:1]])


@pytest.mark.parametrize("layer_type", [ChildSumTreeLSTM, NaryTreeLSTM])
def test_a_step_has_second_derivatives(layer_type: type[TreeLayer]) -> None:
    layer: Any = layer_type(X, D)  # type: ignore[arg-type]
    x, h, c = (torch.randn(2, width, dtype=torch.float64, requires_grad=True) for width in (X, D, D))
    assert torch.autograd.gradgradcheck(lambda *of: layer.double().step(of[0], of[1:], [1, 1]), (x, h, c))


FOREST, ROWS = Forest([Tree([-1, 0], relations=[0, 1])]), torch.zeros(2, X)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Units()(ROWS, FOREST), r"the layer reads the kinds of nodes; call it with kinds=\.\.\."),
        (
            lambda: Units()(ROWS, FOREST, kinds=[0]),
            r"kinds is \(1,\); it must be \(2,\): the kind of each node",
        ),
        (lambda: Units()(ROWS, FOREST, kinds=[0, -1]), r"kinds\[1\] is -1; kinds are counted from 0"),
        (lambda: Units()(ROWS, FOREST, kinds=[0.5, 1.0]), "kinds is float64; it must hold ints"),
        (lambda: Units()(ROWS, FOREST, kinds=[0, 7]), "kind 7: by_kind got 3 modules, for the kinds from 0"),
        (
            lambda: Units()({0: ROWS, 1: ROWS}, FOREST, kinds=[0, 0]),
            r"x has inputs for the kinds \[0, 1\]; kinds has \[0\]",
        ),
        (
            lambda: Units()({0: torch.zeros(2, 9)}, FOREST, kinds=[0, 0]),
            rf"x\[0\] is \(2, 9\); it must be \(2, up to {X}\), a row for each node of the kind",
        ),
        (
            lambda: Units().step(ROWS, torch.zeros(1, D), [2]),
            "parents has 2; the nodes are 0..1, the rows of x",
        ),
        (
            lambda: Units().step(ROWS, torch.zeros(2, D), [0]),
            r"states are \[\(2, 3\)\] and parents \(1,\); they must be \[\(1, 3\)\]",
        ),
        (lambda: Units().step(None, torch.zeros(1, D), [0]), rf"x is None; Units takes \(nodes, {X}\)"),
        (
            lambda: NaryTreeLSTM(X, D).step(ROWS, (torch.zeros(3, D),) * 2, [1, 1, 1]),
            "node 1 has 3 children; the layer's arity is 2",
        ),
    ],
)
def test_what_does_not_fit_is_one_clear_line(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        call()
