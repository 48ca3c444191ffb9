"""`Tree.from_nltk` and `Tree.from_networkx`: other people's trees, by duck typing."""

import pytest
from hypothesis import given, settings

from bough import Tree
from bough.formats import ptb
from treegen import WORDS, constituents, parents

DEEP = 100_000
untimed = settings(deadline=None)


def test_from_nltk():
    nltk = pytest.importorskip("nltk")
    text = "(S (NP (DT the) (NN elm)) (VP (VBZ bends) low) (X ))"
    tree = Tree.from_nltk(nltk.Tree.fromstring(text))
    assert tree == ptb.parse(text)


def test_from_nltk_keeps_a_label_that_is_zero_and_drops_an_empty_one():
    nltk = pytest.importorskip("nltk")
    tree = Tree.from_nltk(nltk.Tree("", [nltk.Tree(0, ["poor"]), nltk.Tree(4, ["good"])]))
    assert tree.labels == (None, 0, 4)
    assert tree.tokens == (None, "poor", "good")


@untimed
@given(constituents(labels=WORDS, shuffle=False))
def test_from_nltk_agrees_with_our_own_reader(tree):
    nltk = pytest.importorskip("nltk")
    assert Tree.from_nltk(nltk.Tree.fromstring(ptb.write(tree))) == tree.renumbered(tree.preorder)


def test_from_networkx():
    networkx = pytest.importorskip("networkx")
    graph = networkx.DiGraph()
    graph.add_node("cats", token="cats", relation="nsubj")
    graph.add_node("climb", token="climb")
    graph.add_node("trees", token="trees", relation="obj")
    graph.add_edges_from([("climb", "trees"), ("climb", "cats")])
    expected = Tree([1, -1, 1], tokens=["cats", "climb", "trees"], relations=["nsubj", None, "obj"])
    assert Tree.from_networkx(graph) == expected


@untimed
@given(parents(max_nodes=12))
def test_from_networkx_keeps_the_graphs_order(above):
    networkx = pytest.importorskip("networkx")
    for kind in (networkx.DiGraph, networkx.MultiDiGraph):
        graph = kind()
        graph.add_nodes_from(range(len(above)))
        graph.add_edges_from((parent, node) for node, parent in enumerate(above) if parent >= 0)
        assert Tree.from_networkx(graph) == Tree(above)


@pytest.mark.parametrize(
    ("kind", "edges", "message"),
    [
        ("Graph", [(0, 1)], "undirected"),
        ("DiGraph", [(0, 2), (1, 2)], "node 2 has two parents"),
        ("DiGraph", [(0, 1), (2, 3)], "2 roots"),
        ("DiGraph", [(0, 1), (2, 3), (3, 2)], "a cycle"),
        ("DiGraph", [], "an empty tree"),
    ],
)
def test_from_networkx_refuses_what_is_no_tree(kind, edges, message):
    networkx = pytest.importorskip("networkx")
    with pytest.raises(ValueError, match=message):
        Tree.from_networkx(getattr(networkx, kind)(edges))


def test_deep_trees_of_others():
    nltk, networkx = pytest.importorskip("nltk"), pytest.importorskip("networkx")
    deep = nltk.Tree("X", ["end"])
    for _ in range(DEEP - 1):
        deep = nltk.Tree("X", [deep])
    assert Tree.from_nltk(deep).heights[0] == DEEP - 1
    assert Tree.from_networkx(networkx.path_graph(DEEP, networkx.DiGraph)).heights[0] == DEEP - 1
    while len(deep) and isinstance(deep[0], nltk.Tree):  # taken apart by hand: nltk's own way recurses
        deep = deep.pop()
