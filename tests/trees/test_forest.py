"""Forest is a schedule: every node computed after its children, equal subtrees once, and nothing lost."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import pytest
import torch
from hypothesis import given
from torch import Tensor

from bough import Forest, Tree
from bough.trees import subtree_sharing as sharing
from oracle import Keys, batches, drawn

PAIR = Tree([2, 2, -1])
STAR = Tree([-1, 0, 0, 0])


def nodes_of(trees: Sequence[Tree]) -> list[tuple[int, int]]:
    """(tree, node) of every node, counted through."""
    return [(number, node) for number, tree in enumerate(trees) for node in range(len(tree))]


def children_of(trees: Sequence[Tree]) -> list[list[int]]:
    """The children of every node, counted through."""
    starts = np.cumsum([0, *map(len, trees)]).tolist()
    return [[starts[number] + k for k in trees[number].children[node]] for number, node in nodes_of(trees)]


def contents(trees: Sequence[Tree], keys: Keys, *, relations: bool) -> list[Hashable]:
    """What a node's state depends on, nested: its key, and its children's contents and relations."""
    flat = range(sum(map(len, trees))) if keys is None else [key for part in keys for key in part]
    below, places = children_of(trees), nodes_of(trees)
    found: dict[int, Hashable] = {}
    for number, tree in enumerate(trees):
        start = sum(map(len, trees[:number]))
        for node in np.argsort(tree.heights, kind="stable").tolist():
            edges = []
            for k in below[start + node]:
                names = trees[places[k][0]].relations
                edges.append((found[k], names[places[k][1]] if relations and names is not None else None))
            found[start + node] = (flat[start + node], tuple(edges))
    return [found[node] for node in range(len(places))]


# --------------------------------------------------------------------- the schedule


@given(batches())
@drawn
def test_levels_hold_every_unit_once_and_children_below(batch: tuple[list[Tree], Keys]) -> None:
    trees, keys = batch
    forest = Forest(trees, keys)
    assert sum(forest.level_sizes) == forest.num_unique
    assert [end - start for start, end in forest.slices] == forest.level_sizes
    assert [start for start, _ in forest.slices] == [0, *(end for _, end in forest.slices[:-1])]
    heights = [int(tree.heights[node]) for tree in trees for node in range(len(tree))]
    unit_heights = [heights[node] for node in forest.node_of.tolist()]
    assert unit_heights == sorted(unit_heights)
    assert forest.num_unique_leaves == forest.level_sizes[0] == unit_heights.count(0)
    for l, (start, end) in enumerate(forest.slices):
        edges = forest.edge_slices[l]
        assert edges.stop - edges.start == forest.edge_sizes[l]
        assert bool((forest.children[edges] < start).all())
        assert bool(((forest.edge_parents[edges] >= start) & (forest.edge_parents[edges] < end)).all())
        assert torch.equal(forest.edge_rows[edges], forest.edge_parents[edges] - start)


@given(batches())
@drawn
def test_edges_are_the_trees_in_order(batch: tuple[list[Tree], Keys]) -> None:
    trees, keys = batch
    forest = Forest(trees, keys)
    below = children_of(trees)
    edges: list[list[int]] = [[] for _ in range(forest.num_unique)]
    for parent, child in zip(forest.edge_parents.tolist(), forest.children.tolist(), strict=True):
        edges[parent].append(child)
    unique_of = forest.unique_of.tolist()
    for node, unit in enumerate(unique_of):
        assert edges[unit] == [unique_of[k] for k in below[node]]
    assert [unique_of[node] for node in forest.edge_nodes] == forest.children.tolist()


@given(batches())
@drawn
def test_units_are_the_distinct_subtrees(batch: tuple[list[Tree], Keys]) -> None:
    trees, keys = batch
    forest = Forest(trees, keys)
    meaning = contents(trees, keys, relations=False)
    assert forest.num_unique == len(set(meaning))
    assert [meaning[node] for node in forest.node_of[forest.unique_of].tolist()] == meaning


@given(batches(relations=2))
@drawn
def test_relations_set_subtrees_apart(batch: tuple[list[Tree], Keys]) -> None:
    trees, keys = batch
    forest = Forest(trees, keys)
    meaning = contents(trees, keys, relations=True)
    assert forest.num_unique == len(set(meaning))
    assert [meaning[node] for node in forest.node_of[forest.unique_of].tolist()] == meaning
    assert forest.edge_relations is not None
    flat = [name for tree in trees for name in tree.relations or ()]
    assert forest.edge_relations.tolist() == [flat[node] for node in forest.edge_nodes]


@given(batches())
@drawn
def test_inputs_are_the_distinct_keys(batch: tuple[list[Tree], Keys]) -> None:
    trees, keys = batch
    forest = Forest(trees, keys)
    flat = list(range(forest.num_nodes)) if keys is None else [key for part in keys for key in part]
    read = [flat[node] for node in forest.inputs.tolist()]
    assert sorted(read) == sorted(set(flat))
    assert [read[row] for row in forest.input_of.tolist()] == [flat[node] for node in forest.node_of.tolist()]


def test_without_keys_every_node_is_its_own_unit() -> None:
    forest = Forest([PAIR, PAIR])
    assert forest.num_unique == forest.num_nodes == 6
    assert forest.node_of[forest.unique_of].tolist() == list(range(6))


def test_with_keys_equal_subtrees_are_one_unit() -> None:
    twins = [[0, 1, 9], [0, 1, 9]]
    assert Forest([PAIR, PAIR], twins).num_unique == 3
    assert Forest([PAIR, PAIR], [[0, 1, 9], [1, 0, 9]]).num_unique == 4  # children are ordered
    assert Forest([PAIR, PAIR], [[0, 1, 9], [0, 1, 8]]).num_unique == 4
    assert Forest([PAIR], [[0, 0, 0]]).num_unique == 2  # an equal key at another place is another subtree
    assert Forest([Tree([1, -1]), STAR], [[0, 0], [0, 0, 0, 0]]).num_unique == 3


def test_roots_count_through() -> None:
    assert Forest([PAIR, STAR, Tree([-1])]).roots.tolist() == [2, 3, 7]


def test_tree_sizes_and_tree_of() -> None:
    forest = Forest([PAIR, Tree([-1]), STAR])
    assert forest.ptr.diff().tolist() == [3, 1, 4]
    assert forest.batch.tolist() == [0, 0, 0, 1, 2, 2, 2, 2]


@given(batches())
@drawn
def test_subtree_sizes(batch: tuple[list[Tree], Keys]) -> None:
    trees, keys = batch
    forest, below = Forest(trees, keys), children_of(trees)

    def size(node: int) -> int:
        return 1 + sum(map(size, below[node]))

    assert forest.subtree_sizes.tolist() == [size(node) for node in forest.node_of.tolist()]


def test_places_are_counted_among_siblings() -> None:
    assert Forest([STAR, Tree([1, -1])]).edge_places.tolist() == [0, 1, 2, 0]


def test_a_hundred_thousand_deep() -> None:
    chain = Tree(np.append(np.arange(1, 100_000), -1))
    assert len(Forest([chain]).level_sizes) == 100_000
    assert Forest([chain, chain], [np.zeros(100_000, dtype=np.int64)] * 2).num_unique == 100_000


def test_an_empty_forest() -> None:
    for forest in (Forest([]), Forest([], []), Forest([], relations={})):
        assert (len(forest), forest.num_nodes, forest.num_unique, forest.num_unique_leaves) == (0, 0, 0, 0)
        assert forest.level_sizes == []
        assert forest.roots.shape == forest.children.shape == forest.inputs.shape == (0,)
        forest.check_arity(2)


def test_repr_counts() -> None:
    forest = Forest([PAIR, PAIR], [[0, 1, 9], [0, 1, 9]])
    assert repr(forest) == "Forest(2 trees, 6 nodes, 3 computed, 2 levels)"


# ------------------------------------------------------------------------- keys


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ([[0, 1, 2]], "keys for 1 trees; the forest has 2"),
        ([[0, 1, 2], [0, 1, 2]], "3 keys for tree 1 of 4 nodes; give one int per node"),
        ([[0, 1, 2], []], "0 keys for tree 1 of 4 nodes; give one int per node"),
        ([[0, 1, 2.5], [0, 1, 2, 3]], "keys of tree 0 are float64; a key is an int"),
        ([[0, 1, 2], ["a", "b", "c", "d"]], "keys of tree 1 are <U1; a key is an int"),
    ],
)
def test_keys_that_do_not_fit(keys: Keys, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        Forest([PAIR, STAR], keys)


def test_keys_are_compared_as_whole_numbers() -> None:
    near = [np.array([2**62, 2**62 + 1, 0]), np.array([2**62, 2**62 + 1, 0], dtype=np.uint64)]
    assert Forest([PAIR], near[:1]).num_unique_leaves == 2
    assert Forest([PAIR, PAIR], near).num_unique == 3
    assert Forest([PAIR], [torch.tensor([-5, -5, 0]).numpy()]).num_unique_leaves == 1


def test_a_hash_collision_is_an_error_and_never_a_wrong_state(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharing, "_mixed", lambda words: words * np.uint64(0))
    with pytest.raises(RuntimeError, match=r"^two different subtrees have one digest; "):
        Forest([PAIR], [[0, 1, 2]])


@drawn
@given(batches())
def test_digests_worked_out_beforehand_change_nothing(batch: tuple[list[Tree], Keys]) -> None:
    some, given_keys = batch
    keys = [np.array(part) for part in given_keys or [[0] * len(tree) for tree in some]]
    fresh, from_digests = Forest(some, keys), Forest(some, keys, digests=sharing.prepared(some, keys))
    assert torch.equal(fresh.unique_of, from_digests.unique_of)
    assert torch.equal(fresh.node_of, from_digests.node_of)


def test_digests_do_not_merge_what_relations_tell_apart() -> None:
    some = [Tree([1, -1], relations=[0, 0]), Tree([1, -1], relations=[1, 0])]
    keys = [np.array([1, 2])] * 2
    forest = Forest(some, keys, digests=sharing.prepared(some, keys))
    assert torch.equal(forest.unique_of, Forest(some, keys).unique_of)


def test_digests_of_other_trees_are_an_error() -> None:
    keys = [np.array([0, 1, 2])]
    with pytest.raises(ValueError, match="digests of 4 nodes; the trees have 3"):
        Forest([PAIR], keys, digests=[np.zeros(4, dtype=np.uint64)])


# --------------------------------------------------------------- errors and devices


def test_more_children_than_slots() -> None:
    with pytest.raises(ValueError, match=r"^node 0 of tree 1 has 3 children; the layer's arity is 2$"):
        Forest([PAIR, STAR]).check_arity(2)


def test_places_are_of_a_tree() -> None:
    forest = Forest([PAIR, STAR])
    assert [forest.describe_node(node) for node in (0, 2, 3, 6)] == [
        "node 0 of tree 0",
        "node 2 of tree 0",
        "node 0 of tree 1",
        "node 3 of tree 1",
    ]


def test_moving_to_the_same_device_changes_nothing() -> None:
    forest = Forest([PAIR])
    assert forest.to("cpu") is forest
    assert forest.to(torch.device("cpu")) is forest


def test_moving_takes_every_tensor_along() -> None:
    forest = Forest([PAIR, Tree([1, -1])], [[0, 0, 1], [0, 1]])
    assert len(forest.subtree_sizes) == forest.num_unique < forest.unshared.num_unique
    moved = forest.to("meta")
    assert moved.device == moved.roots.device == torch.device("meta")
    tensors = [value for value in vars(moved).values() if isinstance(value, Tensor)]
    tensors += [moved.roots, moved.unique_of, moved.node_of, moved.inputs, moved.input_of]
    tensors += [moved.children, moved.edge_parents, moved.edge_rows]
    assert all(value.is_meta for value in tensors)
    assert (moved.num_unique, moved.level_sizes, moved.trees) == (
        forest.num_unique,
        forest.level_sizes,
        forest.trees,
    )
    assert forest.roots.device == forest.device == torch.device("cpu")
