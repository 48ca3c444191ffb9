"""`Tree` against its definitions, spelled out recursively on small trees, and at depth 100,000."""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bough import Tree
from bough.formats import ptb
from treegen import WORDS, constituents, parents, trees

DEEP = 100_000
untimed = settings(deadline=None)


def below(tree: Tree, node: int) -> list[int]:
    return [child for child in range(len(tree)) if tree.parents[child] == node]


def walk(tree: Tree, node: int) -> list[int]:
    return [node, *(step for child in below(tree, node) for step in walk(tree, child))]


def height(tree: Tree, node: int) -> int:
    return max((1 + height(tree, child) for child in below(tree, node)), default=0)


# ------------------------------------------------------------------ structure


@untimed
@given(trees(max_nodes=20))
def test_structure_is_what_the_definitions_say(tree: Tree) -> None:
    nodes = range(len(tree))
    order = walk(tree, tree.root)
    assert tree.parents[tree.root] == -1
    assert tree.children == tuple(tuple(below(tree, node)) for node in nodes)
    assert tree.degrees.tolist() == [len(below(tree, node)) for node in nodes]
    assert tree.child_list.tolist() == [child for node in nodes for child in below(tree, node)]
    assert tree.heights.tolist() == [height(tree, node) for node in nodes]
    assert tree.preorder.tolist() == order
    assert tree.leaves.tolist() == [node for node in order if not below(tree, node)]


@untimed
@given(trees(max_nodes=20, tokens=st.none() | WORDS))
def test_spans_cover_exactly_the_words_of_the_subtree(tree: Tree) -> None:
    words = tree.words.tolist()
    for node in range(len(tree)):
        inside = [words.index(step) for step in walk(tree, node) if step in words]
        expected = [min(inside), max(inside) + 1] if inside else [0, 0]
        assert tree.spans[node].tolist() == expected


@untimed
@given(constituents(max_nodes=20))
def test_words_of_a_constituency_tree_are_its_leaves(tree: Tree) -> None:
    assert tree.words.tolist() == tree.leaves.tolist()
    widths = tree.spans[:, 1] - tree.spans[:, 0]
    assert widths.tolist() == [sum(not below(tree, s) for s in walk(tree, n)) for n in range(len(tree))]


def test_words_of_a_dependency_tree_are_its_nodes_in_order() -> None:
    tree = Tree([1, -1, 1], tokens=["cats", "climb", "trees"])
    assert tree.words.tolist() == [0, 1, 2]
    assert tree.spans.tolist() == [[0, 1], [0, 3], [2, 3]]


def test_parents_alone_are_enough() -> None:
    tree = Tree(parents=[-1])
    assert len(tree) == 1
    assert (tree.root, tree.children, tree.heights.tolist()) == (0, ((),), [0])
    assert tree.leaves.tolist() == tree.words.tolist() == tree.preorder.tolist() == [0]
    assert tree.spans.tolist() == [[0, 1]]
    assert tree.tokens is tree.labels is tree.relations is None


def test_children_are_ordered_by_node_index() -> None:
    assert Tree([4, 4, 0, 4, -1, 0]).children == ((2, 5), (), (), (), (0, 1, 3), ())


def test_arrays_are_the_trees_own_and_read_only() -> None:
    given_parents = np.array([-1, 0])
    tree = Tree(given_parents)
    given_parents[1] = 1
    assert tree.parents.tolist() == [-1, 0]
    for array in (tree.parents, tree.heights, tree.leaves, tree.spans, tree.preorder, tree.child_list):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


@untimed
@given(parents(max_nodes=6), st.data())
def test_equal_trees_are_equal_and_hash_alike(above: Any, data: Any) -> None:
    columns: Any = {
        name: data.draw(st.none() | st.just(list(range(len(above))))) for name in ("labels", "relations")
    }
    tree, twin = Tree(above, **columns), Tree(np.array(above), **columns)
    assert tree == twin
    assert hash(tree) == hash(twin)
    assert tree != Tree(above, tokens=["x"] * len(above), **columns)
    longer: Any = {name: column and [*column, None] for name, column in columns.items()}
    assert tree != Tree([*above, 0], **longer)
    assert tree != above


# ----------------------------------------------------------------- validation


@pytest.mark.parametrize(
    ("above", "columns", "message"),
    [
        ([], {}, "an empty tree; a tree has at least one node"),
        ([-1, 0, -1], {}, "2 roots (nodes 0 and 2); a tree has one"),
        ([-1, -1, -1], {}, "3 roots (nodes 0 and 1, ...); a tree has one"),
        ([1, 0], {}, "no root; exactly one parent is -1"),
        ([-1, 2, 1], {}, "a cycle (1 -> 2 -> 1); following parents must end at the root"),
        ([-1, 1], {}, "a cycle (1 -> 1)"),
        ([-1, *range(2, 9), 1], {}, "a cycle (1 -> 2 -> 3 -> 4 -> 5 -> 6 -> ... -> 1)"),
        ([-1, 2, 3, 2], {}, "a cycle (2 -> 3 -> 2)"),
        ([-1, 2], {}, "node 1 has parent 2; parents are -1 (the root) or 0..1"),
        ([-1, -2], {}, "node 1 has parent -2"),
        ([-1.0, 0.0], {}, "parents are float64; they must be ints"),
        ([[-1]], {}, "parents is [[-1]]; expected one list of ints"),
        ([-1, 0], {"tokens": ["one"]}, "1 tokens for 2 nodes; give one per node"),
        ([-1, 0], {"labels": [1, 2, 3]}, "3 labels for 2 nodes"),
        ([-1, 0], {"relations": []}, "0 relations for 2 nodes"),
    ],
)
def test_what_is_no_tree_is_refused_in_one_line(above: Any, columns: Any, message: Any) -> None:
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        Tree(above, **columns)
    assert "\n" not in str(caught.value)


# -------------------------------------------------------------------- changes


@untimed
@given(trees(max_nodes=20, labels=st.integers(0, 4), relations=WORDS), st.sampled_from(["left", "right"]))
def test_binarise_keeps_everything_but_the_wide_nodes(tree: Tree, direction: Any) -> None:
    marked = Tree(tree.parents, labels=list(range(len(tree))), relations=tree.relations)
    binary = marked.binarise(direction)
    assert binary.labels is not None
    assert binary.relations is not None
    assert marked.relations is not None
    new = {label: node for node, label in enumerate(binary.labels) if label is not None}
    assert max(binary.degrees) <= 2
    assert binary.preorder.tolist() == list(range(len(binary)))
    assert [binary.labels[leaf] for leaf in binary.leaves] == marked.leaves.tolist()
    assert set(new) == set(range(len(tree)))
    for node in range(len(tree)):
        assert binary.spans[new[node]].tolist() == marked.spans[node].tolist()
        assert binary.relations[new[node]] == marked.relations[node]
    added = [node for node, label in enumerate(binary.labels) if label is None]
    assert all(binary.relations[node] is None and binary.degrees[node] == 2 for node in added)
    assert len(added) == sum(max(0, degree - 2) for degree in marked.degrees)


@pytest.mark.parametrize(
    ("direction", "expected"), [("right", "(S a ( b ( c d)))"), ("left", "(S ( ( a b) c) d)")]
)
def test_binarise_groups_to_the_named_side(direction: Any, expected: Any) -> None:
    assert ptb.write(ptb.parse("(S a b c d)").binarise(direction)) == expected


def test_binarise_leaves_binary_and_unary_nodes_alone() -> None:
    tree = ptb.parse("(ROOT (S (NP elms) (VP (V bend))))")
    assert tree.binarise("left") == tree.binarise("right") == tree


def test_binarise_knows_two_directions() -> None:
    with pytest.raises(ValueError, match=r"'up'.*'left' or 'right'"):
        Tree([-1]).binarise("up")  # type: ignore[arg-type]


@untimed
@given(trees(max_nodes=12, labels=st.integers()), st.randoms(use_true_random=False))
def test_renumbered_is_undone_by_the_inverse_order(tree: Tree, random: Any) -> None:
    order = list(range(len(tree)))
    random.shuffle(order)
    moved = tree.renumbered(order)
    assert moved.labels == tuple((tree.labels or ())[node] for node in order)
    assert moved.renumbered(np.argsort(order)) == tree


@pytest.mark.parametrize("order", [[0], [0, 0], [0, 2], [0, 1, 2]])
def test_renumbered_wants_a_permutation(order: Any) -> None:
    with pytest.raises(ValueError, match=r"not a permutation of 0\.\.1"):
        Tree([-1, 0]).renumbered(order)


# -------------------------------------------------------------------- display


@pytest.mark.parametrize(
    ("tree", "shown"),
    [
        (Tree([-1]), "Tree(0, 1 node)"),
        (Tree([1, -1, 1], tokens=["cats", "climb", "trees"]), "Tree((climb cats trees), 3 nodes)"),
        (Tree([-1, 0, 0], tokens=[None, "a", "b"], labels=["S", None, 3]), "Tree((S a 3:b), 3 nodes)"),
        (Tree([-1, 0, 1, 0]), "Tree((· (· 2) 3), 4 nodes)"),
    ],
)
def test_repr(tree: Tree, shown: Any) -> None:
    assert repr(tree) == shown


def test_repr_of_a_large_tree_is_short() -> None:
    wide = Tree([-1] + [0] * DEEP)
    assert len(repr(wide)) < 100
    assert repr(wide).endswith("…, 100001 nodes)")


# ----------------------------------------------------------------------- depth


@pytest.mark.parametrize("downwards", [True, False])
def test_a_chain_of_100_000_nodes_is_a_tree_like_any_other(downwards: Any) -> None:
    above = [*range(-1, DEEP - 1)] if downwards else [*range(1, DEEP), -1]
    top, bottom = (0, DEEP - 1) if downwards else (DEEP - 1, 0)
    tree = Tree(above, labels=["X"] * DEEP)
    assert (tree.root, tree.leaves.tolist(), tree.heights[top]) == (top, [bottom], DEEP - 1)
    assert tree.preorder.tolist() == [*range(DEEP)][:: 1 if downwards else -1]
    assert tree.children[top] == ((1,) if downwards else (DEEP - 2,))
    assert tree.spans.tolist() == [[0, 1]] * DEEP
    assert tree.binarise() == tree.renumbered(tree.preorder)
    assert repr(tree).startswith("Tree((X (X (X")
    assert ptb.parse(ptb.write(tree)) == tree.renumbered(tree.preorder)
    assert hash(tree) == hash(Tree(above, labels=["X"] * DEEP))


@pytest.mark.parametrize("direction", ["left", "right"])
def test_a_node_with_100_000_children_binarises(direction: Any) -> None:
    binary = Tree([-1] + [0] * DEEP).binarise(direction)
    assert len(binary) == 2 * DEEP - 1
    assert binary.heights[0] == DEEP - 1


def test_a_deep_cycle_is_found() -> None:
    with pytest.raises(ValueError, match="a cycle"):
        Tree([-1, *range(2, DEEP), 1])
