"""Graphs: their columns, their checks, and forests of them, which are those of their edges."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bough import Forest, Graph, Tree
from bough.nn import ChildSumTreeLSTM
from oracle import assert_all_close, batches, drawn
from treegen import graphs

DIAMOND = [(0, 1), (0, 2), (1, 3), (2, 3)]
WORDS = ["input", "relu", "conv", "add"]
SCHEDULE = ("roots", "batch", "ptr", "edge_index", "children", "edge_parents", "edge_places", "node_of")


def test_a_diamond() -> None:
    graph = Graph(DIAMOND, tokens=WORDS)
    assert repr(graph) == "Graph(4 nodes, 4 edges)"
    assert (len(graph), graph.roots.tolist(), graph.leaves.tolist()) == (4, [3], [0])
    assert graph.children == ((), (0,), (0,), (1, 2))
    assert graph.heights.tolist() == [0, 1, 1, 2]
    assert [graph.node_name(node) for node in range(4)] == WORDS


def test_children_are_in_the_order_of_their_edges() -> None:
    assert Graph([(2, 3), (0, 3), (1, 3)], 4).children[3] == (2, 0, 1)


@pytest.mark.parametrize(
    ("edges", "columns", "message"),
    [
        (
            [(0, 1), (1, 0)],
            {"num_nodes": 2},
            r"^a cycle \(0 -> 1 -> 0\); following the edges must end at a root$",
        ),
        ([(0, 3)], {"num_nodes": 2}, r"^edge 0 is \(0, 3\); the nodes are 0..1$"),
        (
            [[0, 0, 1], [1, 2, 2]],
            {"num_nodes": 3},
            r"^edges have shape \(2, 3\); expected \(E, 2\): .* edge_index$",
        ),
        ([(0, 1)], {}, r"^a graph without columns of nodes; give num_nodes$"),
        ([], {"num_nodes": 0}, r"^num_nodes is 0; expected .* at least 1$"),
        ([(0, 1)], {"tokens": ["a", "b"], "labels": [1]}, r"^1 labels for 2 nodes; give one per node"),
        ([(0, 1)], {"num_nodes": 2, "relations": ["a", "b"]}, r"^2 relations for 1 edges; give one per edge"),
        (
            [(0, 1)],
            {"num_nodes": 2, "edge_features": [[1.0], [2.0]]},
            r"^edge_features have shape \(2, 1\); expected \(1, F\), one row per edge$",
        ),
    ],
)
def test_a_wrong_graph_is_named(edges: Any, columns: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Graph(edges, **columns)


@given(graphs(), st.data())
@drawn
def test_copies_pickles_and_replaces(graph: tuple[torch.Tensor, int], data: st.DataObject) -> None:
    edge_index, nodes = graph
    words = data.draw(st.lists(st.sampled_from("ab"), min_size=nodes, max_size=nodes))
    ours = Graph(edge_index.T, tokens=words, categories={"kind": words}, edge_features=edge_index.T.numpy())
    for twin in (copy.deepcopy(ours), pickle.loads(pickle.dumps(ours)), ours.replace(tokens=words)):
        assert twin == ours
        assert hash(twin) == hash(ours)
        assert np.array_equal(twin.heights, ours.heights)
    assert ours.replace(tokens=None) != ours
    with pytest.raises(
        AttributeError, match=r"^a Graph does not change; graph\.replace\(tokens=\.\.\.\) makes"
    ):
        ours.tokens = None


# ---------------------------------------------------------------------------------- forests


@given(st.lists(graphs(), min_size=1, max_size=3))
@drawn
def test_a_forest_of_graphs_is_that_of_their_edges(parts: list[tuple[torch.Tensor, int]]) -> None:
    starts = np.cumsum([0, *(nodes for _, nodes in parts)]).tolist()
    edges = torch.cat(
        [edge_index + start for (edge_index, _), start in zip(parts, starts, strict=False)], dim=1
    )
    batch = torch.arange(len(parts)).repeat_interleave(torch.tensor([nodes for _, nodes in parts]))
    related = torch.arange(edges.shape[1])
    theirs = Forest.from_edges(edges, starts[-1], batch, related)
    ids = related.split([edge_index.shape[1] for edge_index, _ in parts])
    ours = Forest([Graph(e.T, n, relations=i.tolist()) for (e, n), i in zip(parts, ids, strict=True)])
    assert len(ours) == len(theirs)
    for a, b in ((ours, theirs), (ours.from_roots, theirs.from_roots)):
        assert a.level_sizes == b.level_sizes
        for name in (*SCHEDULE, "edge_columns", "edge_relations"):
            assert torch.equal(getattr(a, name), getattr(b, name)), name


@given(batches())
@drawn
def test_a_tree_as_a_graph_has_the_same_states(batch: tuple[list[Tree], Any]) -> None:
    trees, keys = batch
    as_graphs = [
        Graph([(node, parent) for node, parent in enumerate(tree.parents.tolist()) if parent >= 0], len(tree))
        for tree in trees
    ]
    mixed = [
        graph if number % 2 else tree
        for number, (tree, graph) in enumerate(zip(trees, as_graphs, strict=True))
    ]
    layer, nodes = ChildSumTreeLSTM(3, 2).double(), sum(map(len, trees))
    rows = torch.randn(3, 3, dtype=torch.float64)
    x = (
        torch.randn(nodes, 3, dtype=torch.float64)
        if keys is None
        else rows[[k + 1 for part in keys for k in part]]
    )
    for examples in (mixed, as_graphs):
        forest = Forest(examples, keys)
        assert_all_close(layer(x, forest), layer(x, Forest(trees, keys)))
        assert forest.num_unique == Forest(trees, keys).num_unique
        assert [tree.parents.tolist() for tree in forest.trees] == [tree.parents.tolist() for tree in trees]


def test_equal_parts_of_graphs_are_computed_once() -> None:
    forest = Forest([Graph(DIAMOND, 4), Tree([1, -1])], keys=[[7, 8, 9, 6], [7, 8]])
    assert forest.num_unique == 4
    assert repr(forest) == "Forest(2 graphs, 6 nodes, 5 edges, 3 levels)"


def test_errors_name_the_node_of_a_graph() -> None:
    forest = Forest([Tree([-1]), Graph(DIAMOND, 4)])
    with pytest.raises(ValueError, match=r"^node 0 of graph 1 has 2 parents; in a tree it has at most one "):
        forest.trees  # noqa: B018
    with pytest.raises(TypeError, match=r"^a Graph, where a list of trees is expected: Forest\(\[graph\]\)$"):
        Forest(Graph(DIAMOND, 4))  # type: ignore[arg-type]


def test_a_graph_is_drawn_with_an_edge_to_each_parent() -> None:
    picture = Forest([Graph(DIAMOND, tokens=WORDS)])._repr_svg_() or ""
    assert picture.count('class="edge"') == 4
    assert all(word in picture for word in WORDS)


# --------------------------------------------------------------------------------- networkx


def test_from_networkx_reads_columns_of_nodes_and_edges() -> None:
    networkx = pytest.importorskip("networkx")
    graph = networkx.DiGraph()
    graph.add_node("d", token="add", cost=1.0, kind="op")
    graph.add_edge("d", "b", relation="left", weight=2.0)
    graph.add_edges_from([("d", "c"), ("b", "a"), ("c", "a")])
    ours = Graph.from_networkx(graph, numbers=["cost"], categories=["kind"], edge_numbers=["weight"])
    assert ours.tokens == ("add", None, None, None)
    assert ours.relations == ("left", None, None, None)
    assert ours.edges.tolist() == [[1, 0], [2, 0], [3, 1], [3, 2]]
    assert ours.categories == {"kind": ("op", None, None, None)}
    assert np.array_equal(ours.features, [[1], [np.nan], [np.nan], [np.nan]], equal_nan=True)  # type: ignore[arg-type]
    graph.edges["c", "a"]["weight"] = "heavy"
    with pytest.raises(ValueError, match=r"edge 'c' -> 'a'.*\"weight\" is 'heavy'; expected a number$"):
        Graph.from_networkx(graph, edge_numbers=["weight"])


def test_names_of_nodes_are_tokens_if_there_are_no_others() -> None:
    networkx = pytest.importorskip("networkx")
    named = networkx.DiGraph([("climb", "cats"), ("climb", "trees")])
    assert Tree.from_networkx(named).tokens == Graph.from_networkx(named).tokens == ("climb", "cats", "trees")
    assert Tree.from_networkx(networkx.DiGraph([(0, 1)])).tokens is None
    with pytest.raises(
        ValueError, match=r"two parents; .* \(if .* from child to parent, reverse the edges with"
    ):
        Tree.from_networkx(named.reverse())
