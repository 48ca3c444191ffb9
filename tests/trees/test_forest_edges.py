"""Forests made from edges: trees come out as they are, shared nodes are scheduled once, and bad edges are named."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given

from bough import Forest, Tree
from oracle import Keys, batches, drawn
from treegen import graphs

DIAMOND = [[0, 0, 1, 2], [1, 2, 3, 3]]  # 3 has the children 1 and 2, which share the child 0
ATTRIBUTES = (
    "roots",
    "batch",
    "ptr",
    "edge_index",
    "children",
    "edge_parents",
    "edge_rows",
    "edge_places",
    "node_of",
)


@given(batches(relations=3))
@drawn
def test_trees_given_as_edges_are_the_same_forest(batch: tuple[list[Tree], Keys]) -> None:
    trees = Forest(batch[0])
    names = np.concatenate([np.array(tree.relations)[tree.parents >= 0] for tree in batch[0]])
    related = torch.from_numpy(names.astype(np.int64))
    edges = Forest.from_edges(trees.edge_index, trees.num_nodes, trees.batch, related)
    assert len(edges) == len(trees)
    assert [tree.parents.tolist() for tree in edges.trees] == [tree.parents.tolist() for tree in batch[0]]
    for ours, theirs in (
        (edges, trees),
        (edges.from_roots, trees.from_roots),
        (edges.unshared, trees.unshared),
    ):
        assert ours.level_sizes == theirs.level_sizes
        assert ours.edge_sizes == theirs.edge_sizes
        for name in (*ATTRIBUTES, "edge_relations", "edge_columns", "subtree_sizes"):
            assert torch.equal(getattr(ours, name), getattr(theirs, name)), name


@given(batches())
@drawn
def test_the_edges_of_trees_are_in_the_order_of_their_child(batch: tuple[list[Tree], Keys]) -> None:
    forest = Forest(*batch)
    child, parent = forest.edge_index.tolist()
    start, wanted = 0, []
    for tree in batch[0]:
        wanted += [(start + k, start + p) for k, p in enumerate(tree.parents.tolist()) if p >= 0]
        start += len(tree)
    assert list(zip(child, parent, strict=True)) == wanted
    assert forest.ptr.tolist() == np.cumsum([0, *map(len, batch[0])]).tolist()


@given(graphs())
@drawn
def test_every_edge_is_read_once_after_its_far_end(graph: tuple[torch.Tensor, int]) -> None:
    edge_index, nodes = graph
    forest = Forest.from_edges(edge_index, nodes)
    has_parent = set(edge_index[0].tolist())
    assert forest.roots.tolist() == [node for node in range(nodes) if node not in has_parent]
    for direction, (near, far) in ((forest, (1, 0)), (forest.from_roots, (0, 1))):
        assert sorted(direction.edge_columns.tolist()) == list(range(edge_index.shape[1]))
        read = edge_index[:, direction.edge_columns]
        assert torch.equal(direction.node_of[direction.edge_parents], read[near])
        assert torch.equal(direction.node_of[direction.children], read[far])
        for (start, _), edges in zip(direction.slices, direction.edge_slices, strict=True):
            assert bool((direction.children[edges] < start).all())
            assert start == 0 or len(direction.children[edges])
    for node in range(nodes):  # children are in the order of their columns
        columns = forest.edge_columns[forest.node_of[forest.edge_parents] == node].tolist()
        assert columns == sorted(columns)


def test_a_diamond() -> None:
    forest = Forest.from_edges(np.array(DIAMOND), 4)
    assert repr(forest) == "Forest(1 graph, 4 nodes, 4 edges, 3 levels)"
    assert forest.level_sizes == [1, 2, 1]
    assert (forest.roots.tolist(), forest.batch.tolist(), forest.ptr.tolist()) == ([3], [0, 0, 0, 0], [0, 4])
    assert forest.subtree_sizes.tolist() == [1, 2, 2, 5]  # as if it were unfolded
    assert forest.from_roots.level_sizes == [1, 2, 1]
    assert forest.unshared is forest


def test_several_graphs_with_several_roots_and_none() -> None:
    forest = Forest.from_edges(torch.tensor([[0, 0, 3], [1, 2, 4]]), 5, batch=torch.tensor([0, 0, 0, 2, 2]))
    assert repr(forest) == "Forest(3 graphs, 5 nodes, 3 edges, 2 levels)"
    assert forest.roots.tolist() == [1, 2, 4]
    assert forest.ptr.tolist() == [0, 3, 3, 5]
    with pytest.raises(ValueError, match=r"^graph 0 has 2 roots; "):
        forest.check_one_root()
    with pytest.raises(ValueError, match=r"^graph 1 has 0 roots; "):
        Forest.from_edges([[0, 2], [1, 3]], 4, batch=[0, 0, 2, 2]).check_one_root()


@pytest.mark.parametrize(
    "edges", [torch.zeros(2, 0, dtype=torch.int64), np.zeros((2, 0)), [[], []]], ids=type
)
def test_an_empty_graph_and_nodes_without_edges(edges: Any) -> None:
    empty, alone = Forest.from_edges(edges, 0), Forest.from_edges(edges, 3)
    assert (len(empty), empty.num_nodes, empty.level_sizes, empty.roots.tolist()) == (1, 0, [], [])
    assert empty.edge_index.shape == alone.edge_index.shape == (2, 0)
    assert (alone.roots.tolist(), alone.num_unique_leaves, alone.from_roots.level_sizes) == (
        [0, 1, 2],
        3,
        [3],
    )
    assert len(Forest.from_edges(edges, 0, batch=[])) == 0


def test_an_edge_that_is_there_twice_is_two_children() -> None:
    forest = Forest.from_edges([[0, 0], [1, 1]], 2)
    assert forest.children.tolist() == [0, 0]
    assert forest.edge_places.tolist() == [0, 1]


def test_a_hundred_thousand_deep_and_more_paths_than_an_int_holds() -> None:
    nodes = np.arange(100_000)
    edges = np.concatenate([[nodes[:-1], nodes[1:]], [nodes[:-2], nodes[2:]]], axis=1)
    forest = Forest.from_edges(edges, 100_000)
    assert len(forest.level_sizes) == len(forest.from_roots.level_sizes) == 100_000
    assert forest.subtree_sizes[-1] == 2**62


def test_copies_and_pickles() -> None:
    forest = Forest.from_edges(DIAMOND, 4, relations=[0, 1, 0, 1])
    for twin in (copy.deepcopy(forest), pickle.loads(pickle.dumps(forest))):
        assert repr(twin) == repr(forest)
        assert torch.equal(twin.edge_index, forest.edge_index)
    assert forest.to("meta").from_roots.children.is_meta
    assert Forest.from_edges(torch.tensor(DIAMOND), 4, [0] * 4).device == torch.device("cpu")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0, 1], [1, 0]], 2), r"a cycle \(0 -> 1 -> 0\); following the edges must end at a root"),
        (([[0, 1, 3, 1, 2], [1, 2, 0, 4, 1]], 5), r"a cycle \(1 -> 2 -> 1\); .*"),
        (([[2], [2]], 3), r"a cycle \(2 -> 2\); .*"),
        (([[*range(50)], [*range(1, 50), 0]], 50), r"a cycle \(0 -> 1 -> 2 -> 3 -> 4 -> 5 -> \.\.\. -> 0\); .*"),
        (([0, 1], 2), r"edge_index is \(2,\); it is \(2, edges\): the children, then their parents"),
        (([[0, 1]], 2), r"edge_index is \(1, 2\); .*"),
        (([[0.5], [1.0]], 2), r"edge_index is float64; it must hold ints"),
        (([[0, 5], [1, 1]], 2), r"edge_index\[0, 1\] is 5; the nodes are 0\.\.1"),
        (([[0], [-1]], 2), r"edge_index\[1, 0\] is -1; the nodes are 0\.\.1"),
        (([[0], [1]], 2, [0]), r"batch is \(1,\); it must be \(2,\): the graph of each node"),
        (([[0], [1]], 2, [1, 0]), r"batch is not in ascending order from 0; sort the nodes by their graph"),
        (([[0], [1]], 2, [0, 1]), r"edge 0 \(0 -> 1\) leads from one graph to another"),
        (([[0], [1]], 2, None, [0, 1]), r"relations is \(2,\); it is \(1,\): an int for each edge"),
        (([[0], [1]], 2, None, ["obj"]), r"relations is <U3; it must hold ints"),
        (([[0, 1], [1]], 2), r"edge_index has rows of different lengths"),
        (([[0], [1]], "2"), r"num_nodes is '2'; expected the number of nodes, an int"),
        (([[], []], -1), r"num_nodes is -1; expected the number of nodes, an int"),
    ],
)  # fmt: skip
def test_edges_that_are_no_graph(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        Forest.from_edges(*arguments)


def test_what_needs_trees_says_why_a_graph_is_none() -> None:
    reverse = r" \(if the edges run from parent to child, reverse the edges: edge_index.flip\(0\)\)$"
    with pytest.raises(ValueError, match=r"^node 0 has 2 parents; in a tree it has at most one" + reverse):
        Forest.from_edges(DIAMOND, 4).trees  # noqa: B018
    with pytest.raises(ValueError, match=r"^graph 0 has 2 roots; "):
        Forest.from_edges([[0], [1]], 3).trees  # noqa: B018
    with pytest.raises(ValueError, match=r"^node 3 has 2 children; the layer's arity is 1$"):
        Forest.from_edges(DIAMOND, 4).check_arity(1)
