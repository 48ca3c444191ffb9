"""Layers on graphs with shared nodes, and layers that read the features of edges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from bough import Forest, Tree
from bough.nn import (
    BaseLayer,
    BiTreeLSTM,
    Children,
    ChildSumTreeGRU,
    ChildSumTreeLSTM,
    NaryTreeLSTM,
    TopDownTreeLSTM,
    TreeLayer,
)
from layers import LAYERS, doubled, forests_for
from oracle import D, X, assert_all_close, drawn, gradients, inputs, states
from treegen import graphs

DIAMOND = torch.tensor([[0, 0, 1, 2], [1, 2, 3, 3]])
F = 2


class EdgeLayer(TreeLayer):
    """h = tanh(W x + Σ_k α_k (U h_k + V e_k + r_k) + max_k h_k), α = softmax_k(w · [h_k ; e_k])"""

    def __init__(self) -> None:
        super().__init__(X, states=(D,))
        self.W, self.U, self.V = (
            torch.nn.Linear(X, D),
            torch.nn.Linear(D, D),
            torch.nn.Linear(F, D, bias=False),
        )
        self.w, self.r = torch.nn.Linear(D + F, 1), torch.nn.Embedding(2, D)

    def input_map(self, x: Tensor) -> Tensor:
        return self.W(x)  # type: ignore[no-any-return]

    def node(self, a: Tensor, below: Children) -> tuple[Tensor]:
        ((h_k,), e_k) = below.states, below.features
        alpha = below.softmax(self.w(torch.cat([h_k, e_k], dim=1)))
        sums = below.sum(alpha * (self.U(h_k) + self.V(e_k) + self.r(below.relations)))
        return (torch.tanh(a + sums + below.max(h_k) / below.count.clamp_min(1)),)


class EdgeLayerDown(EdgeLayer):
    """The same equations over the parents."""

    from_roots = True


def features_of(edges: int) -> Tensor:
    return torch.randn(edges, F, dtype=torch.float64, requires_grad=True)


def unfolded(edge_index: Tensor, nodes: int) -> tuple[list[Tree], Tensor, Tensor]:
    """The trees in which every path has a node of its own; each node's node in the graph and each edge's column."""
    above, below = set(edge_index[0].tolist()), [[] for _ in range(nodes)]  # type: ignore[var-annotated]
    for column, (child, parent) in enumerate(edge_index.t().tolist()):
        below[parent].append((child, column))
    trees, origin, columns = [], [], []
    for root in (node for node in range(nodes) if node not in above):
        parents: list[int] = []
        waiting = [(-1, root, -1)]
        while waiting:  # in preorder, children by their columns
            parent, node, column = waiting.pop()
            waiting += [(len(parents), *edge) for edge in below[node][::-1]]
            parents.append(parent)
            origin.append(node)
            columns += [column] if column >= 0 else []
        trees.append(Tree(parents))
    return trees, torch.tensor(origin), torch.tensor(columns, dtype=torch.int64)


SHARING: dict[str, Callable[[int], TreeLayer]] = {
    "child-sum": lambda _: ChildSumTreeLSTM(X, D),
    "gru": lambda _: ChildSumTreeGRU(X, D),
    "n-ary": lambda arity: NaryTreeLSTM(X, D, max(arity, 1), leaf="gated"),
    "n-ary, affine": lambda arity: NaryTreeLSTM(X, D, max(arity, 1), leaf="affine"),
}


@pytest.mark.parametrize("name", SHARING)
@pytest.mark.parametrize(
    "dtype", [torch.float64, torch.float32]
)  # by the equations, and in C where there is C
@given(graph=graphs())
@drawn
def test_a_graph_is_its_unfolded_trees(name: str, dtype: torch.dtype, graph: tuple[Tensor, int]) -> None:
    forest = Forest.from_edges(*graph)
    layer = SHARING[name](forest.most_children).to(dtype)
    x = torch.randn(forest.num_nodes, X, dtype=dtype, requires_grad=True)
    trees, origin, _ = unfolded(*graph)
    one_of_each = torch.stack([(origin == node).nonzero()[0, 0] for node in range(forest.num_nodes)])
    ours = states(layer, x, forest)
    theirs = tuple(state[one_of_each] for state in states(layer, x[origin], Forest(trees)))
    tolerance: dict[str, Any] = (
        {"rtol": 1e-10, "atol": 1e-10} if dtype == torch.float64 else {"rtol": 1e-4, "atol": 1e-5}
    )
    for a, b in zip(
        (*ours, *gradients(ours, x, layer)), (*theirs, *gradients(theirs, x, layer)), strict=True
    ):
        torch.testing.assert_close(a, b, **tolerance)


@pytest.mark.parametrize("name", LAYERS)
@given(data=st.data())
@drawn
def test_trees_given_as_edges_have_the_same_states_and_gradients(name: str, data: st.DataObject) -> None:
    layer, trees = doubled(name), data.draw(forests_for(name))
    forest, x = Forest(trees), inputs(trees)
    edges = Forest.from_edges(forest.edge_index, forest.num_nodes, forest.batch)
    ours, theirs = states(layer, x, edges), states(layer, x, forest)
    for a, b in zip(
        (*ours, *gradients(ours, x, layer)), (*theirs, *gradients(theirs, x, layer)), strict=True
    ):
        assert torch.equal(a, b)
    rows = x[layer.input_nodes(forest)]
    assert torch.equal(layer.sentences(rows, edges), layer.sentences(rows, forest))


@given(graph=graphs())
@drawn
def test_edge_features_of_a_graph_are_those_of_its_unfolded_trees(graph: tuple[Tensor, int]) -> None:
    edge_index, nodes = graph
    e, x = features_of(edge_index.shape[1]), torch.randn(nodes, X, dtype=torch.float64, requires_grad=True)
    related, layer = torch.arange(len(e)) % 2, EdgeLayer().double()
    trees, origin, columns = unfolded(*graph)
    flat = Forest(trees)
    plain = Forest.from_edges(flat.edge_index, flat.num_nodes, flat.batch, related[columns])
    ours = layer(x, Forest.from_edges(*graph, relations=related), edge_features=e)
    theirs = layer(x[origin], plain, edge_features=e[columns])
    assert_all_close([ours[origin]], [theirs])
    onto = torch.randn_like(ours)
    one_of_each = torch.stack([(origin == node).nonzero()[0, 0] for node in range(nodes)])
    wanted = [x, e, *layer.parameters()]
    assert_all_close(
        torch.autograd.grad(ours, wanted, onto, materialize_grads=True),
        torch.autograd.grad(theirs[one_of_each], wanted, onto, materialize_grads=True),
    )


@given(graph=graphs())
@drawn
def test_from_the_roots_is_from_the_leaves_of_the_reversed_graph(graph: tuple[Tensor, int]) -> None:
    """So a node reads a row for each of its parents."""
    edge_index, nodes = graph
    e, x = features_of(edge_index.shape[1]), torch.randn(nodes, X, dtype=torch.float64, requires_grad=True)
    related, down, up = torch.arange(len(e)) % 2, EdgeLayerDown().double(), EdgeLayer().double()
    up.load_state_dict(down.state_dict())
    ours = down(x, Forest.from_edges(edge_index, nodes, relations=related), edge_features=e)
    theirs = up(x, Forest.from_edges(edge_index.flip(0), nodes, relations=related), edge_features=e)
    onto = torch.randn_like(ours)
    found = (
        torch.autograd.grad(out, [x, e, *layer.parameters()], onto, materialize_grads=True)
        for out, layer in ((ours, down), (theirs, up))
    )
    assert_all_close([ours], [theirs])
    assert_all_close(*found)


@pytest.mark.parametrize("kind", [EdgeLayer, EdgeLayerDown])
@pytest.mark.parametrize("keys", [None, [[0, 0, 1, 0]]])
def test_edge_features_pass_gradcheck(kind: type[EdgeLayer], keys: list[list[int]] | None) -> None:
    layer = kind().double()
    trees = Forest([Tree([2, 2, 3, -1], relations=[0, 1, 0, 0])], keys)  # with keys, 0 and 1 would be one
    graph = Forest.from_edges(DIAMOND, 4, relations=[0, 1, 1, 0])
    x = torch.randn(4, X, dtype=torch.float64)
    if keys is not None:
        x[1] = x[3] = x[0]
    for forest in (trees, graph):
        e = features_of(forest.edge_index.shape[1])
        assert torch.autograd.gradcheck(
            lambda x, e, on=forest: layer(x, on, edge_features=e), (x.requires_grad_(), e)
        )


def test_edges_tell_equal_subtrees_apart() -> None:
    layer, tree = EdgeLayer(), Tree([2, 2, -1], relations=[0, 0, 0])
    forest = Forest([tree, tree], [[0, 0, 1]] * 2)
    e = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]])
    h = layer(torch.ones(6, X), forest, edge_features=e)
    assert not torch.allclose(h[2], h[5])


def test_a_layer_may_ask_for_features_where_there_are_no_edges() -> None:
    layer, x = EdgeLayer(), torch.randn(2, X, requires_grad=True)
    e = torch.zeros(0, F, requires_grad=True)
    h = layer(x, Forest.from_edges([[], []], 2, relations=[]), edge_features=e)
    h.sum().backward()
    assert e.grad is not None
    ChildSumTreeLSTM(X, D)(x, Forest([Tree([-1]), Tree([-1])]), edge_features=e)


@pytest.mark.parametrize("edges", [DIAMOND, torch.tensor([[0, 1, 2], [1, 2, 3]])])
def test_features_that_do_not_fit(edges: Tensor) -> None:
    forest, x, count = (
        Forest.from_edges(edges, 4, relations=[0] * edges.shape[1]),
        torch.zeros(4, X),
        edges.shape[1],
    )
    layer = EdgeLayer()
    with pytest.raises(
        ValueError, match=r"^the layer reads the features of edges; call it with edge_features="
    ):
        layer(x, forest)
    with pytest.raises(
        ValueError, match=rf"^edge_features is \(9, 2\); it must be \({count}, features\), a row for"
    ):
        layer(x, forest, edge_features=torch.zeros(9, F))
    with pytest.raises(ValueError, match=rf"^edge_features is \({count},\); it must be"):
        layer(x, forest, edge_features=torch.zeros(count))
    with pytest.raises(
        ValueError, match=r"^edge_features is torch\.int64 on cpu, the layer torch\.float32 on cpu; "
    ):
        layer(x, forest, edge_features=torch.zeros(count, F, dtype=torch.int64))
    e = torch.zeros(count, F)
    e[1, 1] = torch.nan
    with pytest.raises(
        ValueError, match=r"^edge_features has a NaN in row 1, the edge from node \d to node 2$"
    ):
        layer(x, forest, edge_features=e)


@pytest.mark.parametrize("layer", [ChildSumTreeLSTM(X, D), NaryTreeLSTM(X, D), BiTreeLSTM(X, D, 0)], ids=repr)
@pytest.mark.parametrize("way", ["0", ""])
def test_a_layer_without_features_refuses_them(
    layer: BaseLayer, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOUGH_FAST", way)
    with pytest.raises(ValueError, match=rf"^{type(layer).__name__} does not use edge_features"):
        layer(torch.zeros(3, X), Forest([Tree([1, -1, 1])]), edge_features=torch.zeros(2, F))


def down_one_by_one(layer: TopDownTreeLSTM, x: Tensor, edge_index: Tensor) -> tuple[Tensor, Tensor]:
    """The equations of each node, from the roots on."""
    U, b = layer.U.view(layer.arity, D, 4, D), layer.b_W.view(4, D)
    edges: list[list[int]] = edge_index.t().tolist()
    places = [sum(other[1] == parent for other in edges[:k]) for k, (_, parent) in enumerate(edges)]
    states: dict[int, tuple[Tensor, Tensor]] = {}
    while len(states) < len(x):
        for j in range(len(x)):
            above = [(p, places[k]) for k, (child, p) in enumerate(edges) if child == j]
            if j in states or any(p not in states for p, _ in above):
                continue
            own = (layer.W.view(4, D, -1) @ x[j]) + b
            read = [
                torch.einsum("d,dge->ge", states[p][0], U[place if layer.arity > 1 else 0])
                for p, place in above
            ]
            i, _, o, u = sum(read, start=own)
            c = i.sigmoid() * u.tanh()
            for (p, _), z in zip(above, read, strict=True):
                c = c + (own[1] + z[1]).sigmoid() * states[p][1]
            states[j] = o.sigmoid() * c.tanh(), c
    h, c = zip(*(states[j] for j in range(len(x))), strict=True)
    return torch.stack(h), torch.stack(c)


@pytest.mark.parametrize("by_place", [False, True])
@given(graph=graphs())
@drawn
def test_from_the_roots_a_node_reads_all_of_its_parents(by_place: bool, graph: tuple[Tensor, int]) -> None:
    forest = Forest.from_edges(*graph)
    layer = TopDownTreeLSTM(X, D, max(1, forest.most_children) if by_place else 1).double()
    x = torch.randn(forest.num_nodes, X, dtype=torch.float64, requires_grad=True)
    ours, theirs = layer(x, forest), down_one_by_one(layer, x, graph[0])
    assert_all_close(ours, theirs)
    assert_all_close(gradients(ours, x, layer), gradients(theirs, x, layer))


def test_a_graph_in_both_directions_is_its_two_layers() -> None:
    layer, forest = BiTreeLSTM(X, D, arity=0).double(), Forest.from_edges(DIAMOND, 4)
    x = torch.randn(4, X, dtype=torch.float64, requires_grad=True)
    up = layer.up(x, forest)[0]
    down = layer.down(up, forest)[0]
    assert_all_close([layer(x, forest)], [torch.cat([up, down], dim=1)])
    assert torch.autograd.gradcheck(lambda x: layer(x, forest), (x,))


def test_a_vector_per_graph_needs_one_root() -> None:
    forest = Forest.from_edges([[0], [1]], 3)
    with pytest.raises(ValueError, match=r"^graph 0 has 2 roots; "):
        ChildSumTreeLSTM(X, D).sentences(torch.zeros(3, X), forest)


@pytest.mark.parametrize(("way", "nodes"), [("", 100_000), ("0", 2_000)])
def test_a_deep_graph_of_shared_nodes(way: str, nodes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every node is the child of the next two, so that there are more paths than a float counts."""
    monkeypatch.setenv("BOUGH_FAST", way)
    at = torch.arange(nodes)
    edges = torch.cat([torch.stack([at[:-1], at[1:]]), torch.stack([at[:-2], at[2:]])], dim=1)
    x = torch.randn(nodes, X, requires_grad=True)
    layer = ChildSumTreeLSTM(X, D)
    with torch.no_grad():
        layer.b_W[-D:] = -3  # forget most: the sum of two memories would double at every step
    h, _ = layer(x, Forest.from_edges(edges, nodes))
    h.sum().backward()
    assert x.grad is not None
    assert x.grad.isfinite().all()
    assert x.grad.any(dim=1).all()
