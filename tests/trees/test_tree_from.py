"""Other people's trees become ours, and ours theirs."""

from __future__ import annotations

import ast
import inspect
import math
import sys
import warnings
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bough import FormatError, Tree
from bough.formats import ptb
from bough.text import spacy as adapter
from treegen import WORDS, constituents, parents, trees

DEEP = 10_000
untimed = settings(deadline=None)


def test_from_nltk() -> None:
    nltk = pytest.importorskip("nltk")
    text = "(S (NP (DT the) (NN elm)) (VP (VBZ bends) low) (X ))"
    tree = Tree.from_nltk(nltk.Tree.fromstring(text))
    assert tree == ptb.parse(text)


def test_from_nltk_keeps_a_label_that_is_zero_and_drops_an_empty_one() -> None:
    nltk = pytest.importorskip("nltk")
    tree = Tree.from_nltk(nltk.Tree("", [nltk.Tree(0, ["poor"]), nltk.Tree(4, ["good"])]))
    assert tree.labels == (None, 0, 4)
    assert tree.tokens == (None, "poor", "good")


@untimed
@given(constituents(labels=WORDS, shuffle=False))
def test_from_nltk_agrees_with_our_own_reader(tree: Tree) -> None:
    nltk = pytest.importorskip("nltk")
    assert Tree.from_nltk(nltk.Tree.fromstring(ptb.write(tree))) == tree.renumbered(tree.preorder)


def test_from_networkx() -> None:
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
def test_from_networkx_keeps_the_graphs_order(above: list[int]) -> None:
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
        ("DiGraph", [(5, 6), (7, 8)], r"2 roots .* \(here node 2 is 7 of the graph\)"),
        (
            "DiGraph",
            [(5, 6), (7, 8), (8, 7)],
            r"a cycle \(2 -> 3 -> 2\); .* \(here node 2 is 7 of the graph\)",
        ),
        ("DiGraph", [], "an empty tree"),
    ],
)
def test_from_networkx_refuses_what_is_no_tree(kind: str, edges: list[tuple[int, int]], message: str) -> None:
    networkx = pytest.importorskip("networkx")
    with pytest.raises(ValueError, match=message):
        Tree.from_networkx(getattr(networkx, kind)(edges))


@pytest.mark.parametrize(
    ("convert", "expected"),
    [(Tree.from_nltk, "an nltk.Tree"), (Tree.from_ast, "Python code or a node of ast")],
)
def test_none_is_refused_by_what_was_expected(convert: Any, expected: str) -> None:
    with pytest.raises(TypeError, match=f"^None; expected {expected}$"):
        convert(None)


def test_deep_trees_of_others() -> None:
    nltk, networkx = pytest.importorskip("nltk"), pytest.importorskip("networkx")
    deep = nltk.Tree("X", ["end"])
    for _ in range(DEEP - 1):
        deep = nltk.Tree("X", [deep])
    assert Tree.from_nltk(deep).heights[0] == DEEP - 1
    assert Tree.from_networkx(networkx.path_graph(DEEP, networkx.DiGraph)).heights[0] == DEEP - 1
    while len(deep) and isinstance(deep[0], nltk.Tree):  # taken apart by hand: nltk's own way recurses
        deep = deep.pop()


# ------------------------------------------------------------------- there and back

SOMETIMES = st.none() | WORDS


def without_empty(tree: Tree) -> Tree:
    """A column of nothing is no column."""
    empty = {
        name: None
        for name in ("tokens", "labels", "relations")
        if not any(entry is not None for entry in getattr(tree, name) or ())
    }
    return tree.replace(**empty)


@untimed
@given(trees(tokens=SOMETIMES, labels=SOMETIMES, relations=SOMETIMES))
def test_networkx_and_back(tree: Tree) -> None:
    pytest.importorskip("networkx")
    assert Tree.from_networkx(tree.to_networkx()) == without_empty(tree)


def test_networkx_and_back_with_numbers_and_categories() -> None:
    pytest.importorskip("networkx")
    tree = Tree(
        [-1, 0, 0],
        features=[[1.5], [math.nan], [0.0]],
        feature_names=["size"],
        categories={"kind": ["a", None, "b"]},
        edge_features=[[math.nan], [2.0], [3.0]],
        edge_feature_names=["d"],
    )
    graph = tree.to_networkx()
    assert graph.nodes[0] == {"kind": "a", "size": 1.5}
    assert Tree.from_networkx(graph, numbers=["size"], categories=["kind"], edge_numbers=["d"]) == tree
    graph.nodes[2]["size"] = "big"
    with pytest.raises(ValueError, match=r"node 2: \"size\" is 'big'; expected a number"):
        Tree.from_networkx(graph, numbers=["size"])


def test_a_missing_library_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(ImportError, match=r"^to_networkx needs networkx: pip install networkx$"):
        Tree([-1]).to_networkx()


# ------------------------------------------------------------------- syntax trees of programs


def test_from_ast() -> None:
    tree = Tree.from_ast("total += prices.sum(2)")
    assert tree.tokens == ("Module", "AugAssign", "Name", "Add", "Call", "Attribute", "Name", "Constant")
    assert tree.labels == (None, None, "total", None, None, "sum", "prices", 2)
    assert tree.relations == (None, "body", "target", "op", "value", "func", "value", "args")
    assert tree.parents.tolist() == [-1, 0, 1, 1, 1, 4, 5, 4]


@pytest.mark.parametrize("module", [ast, inspect, settings])
def test_from_ast_has_every_node_but_the_contexts(module: Any) -> None:
    code = ast.parse(inspect.getsource(inspect.getmodule(module) or module))
    tree = Tree.from_ast(code)
    kinds = [type(node).__name__ for node in ast.walk(code) if not isinstance(node, ast.expr_context)]
    assert sorted(str(token) for token in tree.tokens or ()) == sorted(kinds)
    assert tree.preorder.tolist() == list(range(len(tree)))


def test_from_ast_of_what_is_not_python() -> None:
    with pytest.raises(FormatError, match=r"^source:2: not Python: "):
        Tree.from_ast("a = 1\nb =\n")
    with pytest.raises(FormatError, match=r"not Python: .*null bytes"):
        Tree.from_ast("a\0")


@pytest.fixture(scope="module")
def parser() -> Any:
    tree_sitter, python = pytest.importorskip("tree_sitter"), pytest.importorskip("tree_sitter_python")
    return tree_sitter.Parser(tree_sitter.Language(python.language()))


def test_from_tree_sitter(parser: Any) -> None:
    code = parser.parse(b"total = f(2)")
    tree = Tree.from_tree_sitter(code)
    kinds = (
        "module",
        "expression_statement",
        "assignment",
        "identifier",
        "call",
        "identifier",
        "argument_list",
    )
    assert tree.tokens == (*kinds, "integer")
    assert tree.parents.tolist() == [-1, 0, 1, 2, 2, 4, 4, 6]
    assert tree.labels == (None, None, None, "total", None, "f", None, "2")
    assert tree.relations == (None, None, None, "left", "right", "function", "arguments", None)
    below = Tree.from_tree_sitter(code.root_node.children[0].children[0].children[2], named=False)
    assert below.tokens == ("call", "identifier", "argument_list", "(", "integer", ")")
    assert below.relations is not None
    assert below.relations[0] is None  # the root has no edge


def test_from_tree_sitter_has_every_named_node_at_any_depth(parser: Any) -> None:
    source = inspect.getsource(inspect) + "\nx = " + "(" * 10_000 + "1" + ")" * 10_000
    code = parser.parse(source.encode())
    everything, stack = 0, [code.root_node]
    while stack:
        node = stack.pop()
        everything += node.is_named
        stack += node.children
    tree = Tree.from_tree_sitter(code)
    assert len(tree) == everything
    assert tree.heights.max() >= 10_000
    assert tree.preorder.tolist() == list(range(len(tree)))


# ------------------------------------------------------------------- spaCy


@pytest.fixture(scope="module")
def nlp() -> Any:
    spacy = pytest.importorskip("spacy")
    if not adapter.installed():
        pytest.skip("no English spaCy pipeline is installed")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"\[W095\]")
        return spacy.load(next(iter(adapter.installed().values())))


def test_from_spacy(nlp: Any) -> None:
    doc = nlp("Cats climb trees.  The old dog\n sleeps.")
    first, second = (Tree.from_spacy(sentence) for sentence in doc.sents)
    assert first.tokens == ("Cats", "climb", "trees", ".")
    assert first.parents.tolist() == [1, -1, 1, 1]
    assert first.relations == ("nsubj", "ROOT", "dobj", "punct")
    assert second.tokens == ("The", "old", "dog", "sleeps", ".")
    assert (second.tokens or ())[second.root] == "sleeps"
    assert Tree.from_spacy(doc[5:8]).tokens == ("The", "old", "dog")  # a phrase


def test_from_spacy_of_what_is_no_sentence(nlp: Any) -> None:
    with pytest.raises(
        ValueError, match=r"^2 roots in 'Cats climb. Dogs sleep.'; take a sentence of `doc.sents`"
    ):
        Tree.from_spacy(nlp("Cats climb. Dogs sleep."))
    with pytest.raises(ValueError, match="has no dependencies; give it to a spaCy pipeline with a parser"):
        Tree.from_spacy(nlp.make_doc("Cats climb."))


# ------------------------------------------------------------------- stanza


@dataclass
class Node:
    """A node of stanza's constituency trees."""

    label: str
    children: tuple[Node, ...] = ()


def test_from_stanza() -> None:
    columns = [("Cats", 2, "nsubj"), ("climb", 0, "root"), ("trees", 2, "obj")]
    words = [SimpleNamespace(text=text, head=head, deprel=name) for text, head, name in columns]
    tree = Tree.from_stanza(SimpleNamespace(words=words, text="Cats climb trees"))
    assert tree == Tree([1, -1, 1], tokens=["Cats", "climb", "trees"], relations=["nsubj", "root", "obj"])
    words[0].head = None
    with pytest.raises(
        ValueError, match=r"^'Cats climb trees' has no dependencies; .*'depparse' makes them$"
    ):
        Tree.from_stanza(SimpleNamespace(words=words, text="Cats climb trees"))


def test_from_stanza_takes_phrases_too() -> None:
    noun, verb = Node("NNS", (Node("Cats"),)), Node("VBP", (Node("climb"),))
    tree = Tree.from_stanza(Node("S", (Node("NP", (noun,)), Node("VP", (verb,)))))
    assert tree == ptb.parse("(S (NP (NNS Cats)) (VP (VBP climb)))")
