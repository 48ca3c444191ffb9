"""Numbers and categories on nodes and edges, and trees from nested objects."""

from __future__ import annotations

import math
import pickle
import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bough import FormatError, Tree
from bough.trees.builders import subtree
from treegen import trees

NUMBERS = st.floats(allow_infinity=False)
untimed = settings(deadline=None)


@st.composite
def featured(draw: st.DrawFn) -> Tree:
    tree = draw(trees(max_nodes=9))
    n, width = len(tree), draw(st.integers(0, 3))
    rows = st.lists(st.lists(NUMBERS, min_size=width, max_size=width), min_size=n, max_size=n)
    kinds = st.lists(st.sampled_from(["hash", "merge", None]), min_size=n, max_size=n)
    return tree.replace(
        features=np.array(draw(rows)).reshape(n, width),
        feature_names=[f"f{i}" for i in range(width)],
        edge_features=np.array(draw(rows)).reshape(n, width),
        categories={"join": draw(kinds)},
    )


@untimed
@given(featured(), st.randoms(use_true_random=False))
def test_numbers_and_categories_follow_their_nodes(tree: Tree, random: Any) -> None:
    assert (pickle.loads(pickle.dumps(tree)), hash(tree)) == (tree, hash(pickle.loads(pickle.dumps(tree))))
    order = list(range(len(tree)))
    random.shuffle(order)
    moved = tree.renumbered(order)
    assert moved.renumbered(np.argsort(order)) == tree
    assert tree.categories is not None
    assert moved.categories == {"join": tuple(tree.categories["join"][node] for node in order)}
    np.testing.assert_array_equal(moved.features, np.asarray(tree.features)[order])
    np.testing.assert_array_equal(moved.edge_features, np.asarray(tree.edge_features)[order])
    assert subtree(tree, tree.root) == tree.renumbered(tree.preorder)
    assert tree.replace(features=None, edge_features=None, categories=None) == Tree(tree.parents)
    assert tree.replace(parents=tree.parents, features=None).feature_names == ()


def test_binarise_leaves_the_numbers_of_new_nodes_missing() -> None:
    tree = Tree([-1, 0, 0, 0], features=[[1], [2], [3], [4]], categories={"c": ["r", "a", "b", "c"]})
    binary = tree.binarise()
    np.testing.assert_array_equal(binary.features, [[1], [2], [math.nan], [3], [4]])
    assert binary.categories == {"c": ("r", "a", None, "b", "c")}


def test_trees_differ_by_their_numbers_and_categories() -> None:
    plain = Tree([-1, 0])
    one = plain.replace(features=[[1.0], [math.nan]])
    assert one == plain.replace(features=np.array([[1], [-math.nan]]))
    others = [
        plain,
        plain.replace(features=[[1.0], [2.0]]),
        plain.replace(edge_features=[[1.0], [math.nan]]),
        one.replace(feature_names=["cost"]),
        one.replace(categories={"join": [None, None]}),
    ]
    assert all(one != other for other in others)
    zero, minus = plain.replace(features=[[0.0], [1.0]]), plain.replace(features=[[-0.0], [1.0]])
    assert (zero, hash(zero)) == (minus, hash(minus))


def test_numbers_and_categories_are_the_trees_own() -> None:
    given_rows = np.ones((2, 1))
    tree = Tree([-1, 0], features=given_rows, categories={"a": ["x", "y"]})
    given_rows[0] = 5
    assert np.asarray(tree.features).tolist() == [[1.0], [1.0]]
    twin: Any
    for twin in (tree, pickle.loads(pickle.dumps(tree)), tree.replace(labels=[1, 2])):
        with pytest.raises(ValueError, match="read-only"):
            twin.features[0] = 1
        with pytest.raises(TypeError):
            twin.categories["b"] = ("x", "y")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"features": [1.0, 2.0]}, "features have shape (2,); expected (2, F), one row per node"),
        ({"features": [[1.0]]}, "features have shape (1, 1); expected (2, F)"),
        ({"features": [["x"], ["y"]]}, "features are no numbers: could not convert string to float"),
        (
            {"edge_features": [[0], [math.inf]]},
            "edge_features of node 1, column 0: inf; expected a finite number or NaN",
        ),
        ({"features": [[1], [2]], "feature_names": ["a", "b"]}, "2 names for 1 columns of features"),
        ({"features": [[1, 2], [2, 3]], "feature_names": ["a", "a"]}, "features: two columns are called 'a'"),
        ({"feature_names": ["a"]}, "1 names of features, but no features"),
        ({"categories": {"join": ["x"]}}, "1 categories 'join' for 2 nodes"),
        ({"categories": {"join": ["x", 3]}}, "category 'join' of node 1 is 3; expected a string or None"),
    ],
)
def test_bad_numbers_and_categories_are_refused_in_one_line(columns: Any, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        Tree([-1, 0], **columns)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("tokens", ["ab", 3])
def test_a_column_is_a_list(tokens: Any) -> None:
    with pytest.raises(TypeError, match=f"tokens is {tokens!r}; expected a list with one entry per node"):
        Tree([-1, 0], tokens=tokens)


def test_replace_names_an_unknown_column() -> None:
    with pytest.raises(TypeError, match="a Tree has no 'words'; it has parents, tokens"):
        Tree([-1]).replace(words=["a"])


# -------------------------------------------------------------- nested objects

PLAN: dict[str, Any] = {
    "Node Type": "Hash Join",
    "Join Type": "Semi",
    "Total Cost": 12.5,
    "Parallel": True,
    "Plans": [
        {"Node Type": "Seq Scan", "Total Cost": 3, "Plans": []},
        {"Node Type": "Hash", "Parallel": False, "Plans": [{"Node Type": "Seq Scan", "Plans": None}]},
    ],
}
KEYS: dict[str, Any] = {"children": "Plans", "token": "Node Type", "numbers": ["Total Cost", "Parallel"]}


def test_nested_json_becomes_a_tree_with_numbers_and_categories() -> None:
    nan: Any = math.nan
    tree = Tree.from_nested(
        PLAN, **KEYS, categories=["Join Type"], label="Total Cost", edge_numbers=["Parallel"]
    )
    assert tree == Tree(
        [-1, 0, 0, 2],
        tokens=["Hash Join", "Seq Scan", "Hash", "Seq Scan"],
        labels=[12.5, 3, None, None],
        features=[[12.5, 1], [3, nan], [nan, 0], [nan, nan]],
        feature_names=["Total Cost", "Parallel"],
        categories={"Join Type": ["Semi", None, None, None]},
        edge_features=[[1], [nan], [0], [nan]],
        edge_feature_names=["Parallel"],
    )


@dataclass
class Part:
    name: str
    size: Any = None
    parts: list[Any] = field(default_factory=list)


def test_dataclasses_and_functions() -> None:
    part = Part("car", 4, [Part("wheel", np.float32(0.5)), Part("door", np.True_)])
    tree = Tree.from_nested(part, children="parts", token=lambda part: part.name.upper(), numbers=["size"])
    assert tree.tokens == ("CAR", "WHEEL", "DOOR")
    assert np.asarray(tree.features).tolist() == [[4.0], [0.5], [1.0]]
    lists = Tree.from_nested(
        ["S", ["NP", "cats"], "climb"],
        children=lambda item: item[1:] if isinstance(item, list) else None,
        token=lambda item: item if isinstance(item, str) else item[0],
    )
    assert lists == Tree([-1, 0, 1, 0], tokens=["S", "NP", "cats", "climb"])


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ({"Total Cost": "12"}, "Plans[1].Plans[0]: \"Total Cost\" is '12'; expected a number"),
        ({"Total Cost": math.inf}, 'Plans[1].Plans[0]: "Total Cost" is inf; expected a number'),
        ({"Total Cost": 10**400}, 'Plans[1].Plans[0]: "Total Cost" is 1000'),
        ({"Total Cost": [1]}, 'Plans[1].Plans[0]: "Total Cost" is [1.0]; expected a number'),
        ({"Node Type": {}}, 'Plans[1].Plans[0]: "Node Type" is {}; expected a string'),
        (
            {"Plans": {"Node Type": "x"}},
            "Plans[1].Plans[0]: \"Plans\" is {'Node Type': 'x'}; expected a list",
        ),
        ({"Plans": 3}, 'Plans[1].Plans[0]: "Plans" is 3; expected a list'),
        ({"Plans": [None]}, "Plans[1].Plans[0].Plans[0]: None is no object with 'Plans'"),
        ({"Plans": ["leaf"]}, "Plans[1].Plans[0].Plans[0]: 'leaf' is no object with 'Plans'"),
    ],
)
def test_a_bad_object_is_named_by_its_path(broken: Any, message: str) -> None:
    leaf = PLAN["Plans"][1]["Plans"][0] | broken
    plan = PLAN | {"Plans": [PLAN["Plans"][0], {"Node Type": "Hash", "Plans": [leaf]}]}
    with pytest.raises(FormatError, match=re.escape(message)) as caught:
        Tree.from_nested(plan, **KEYS)
    assert "\n" not in str(caught.value)


def test_a_nested_object_may_be_deep_and_shared_but_has_no_cycle() -> None:
    deep: dict[str, Any] = {"n": 0}
    for depth in range(1, 10_000):
        deep = {"n": depth, "children": [deep]}
    tree = Tree.from_nested(deep, numbers=["n"])
    assert tree.heights[0] == np.asarray(tree.features)[0, 0] == 9_999
    leaf = {"n": 1}
    assert len(Tree.from_nested({"children": [leaf, {"children": [leaf]}, leaf]})) == 5
    loop: dict[str, Any] = {"children": [{"children": []}]}
    loop["children"][0]["children"] = [leaf, loop]
    with pytest.raises(FormatError, match=r"children\[0\]\.children\[1\]: the object is its own ancestor"):
        Tree.from_nested(loop)


def test_one_name_where_a_list_is_expected_is_refused() -> None:
    with pytest.raises(TypeError, match="numbers='Total Cost'; expected a list of names"):
        Tree.from_nested(PLAN, numbers="Total Cost")


EXPLAINED = [{"Plan": {"Type": "Sort", "Cost": {"total": 9.5}, "Plans": [{"Type": "Scan"}]}, "Time": 2.0}]


def test_the_root_may_be_nested_and_lists_of_one_are_unwrapped() -> None:
    tree = Tree.from_nested(EXPLAINED, root="Plan", children="Plans", token="Type", numbers=["Cost.total"])
    assert tree.tokens == ("Sort", "Scan")
    np.testing.assert_array_equal(tree.features, [[9.5], [math.nan]])
    assert tree == Tree.from_nested(
        EXPLAINED[0]["Plan"], children="Plans", token="Type", numbers=["Cost.total"]
    )


def test_a_root_without_the_children_that_a_nested_object_has_is_an_error() -> None:
    message = 'the root has no "Plans", but "Plan" has; use from_nested(..., root="Plan")'
    with pytest.raises(FormatError, match=rf"^{re.escape(message)}$"):
        Tree.from_nested(EXPLAINED, children="Plans")
    with pytest.raises(FormatError, match=r"^no 'plan' in \[.*; give the path of the root as root="):
        Tree.from_nested(EXPLAINED, root="plan", children="Plans")
    leaf = {"Type": "Scan", "Output": ["a"]}
    assert len(Tree.from_nested(leaf, children="Plans")) == 1
    assert len(Tree.from_nested([leaf], children="Plans")) == 1


def test_a_list_of_numbers_is_several_columns() -> None:
    nested = {"at": [1, 0], "children": [{"at": [0.5, 2]}, {}]}
    tree = Tree.from_nested(nested, numbers=["at"])
    assert tree.feature_names == ("at[0]", "at[1]")
    np.testing.assert_array_equal(tree.features, [[1, 0], [0.5, 2], [math.nan, math.nan]])
    nested["children"][1]["at"] = [1]  # type: ignore[index]
    with pytest.raises(FormatError, match=r'^children\[1\]: "at" is \[1\.0\]; expected a list of 2 numbers'):
        Tree.from_nested(nested, numbers=["at"])
