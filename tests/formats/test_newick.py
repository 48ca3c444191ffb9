"""Newick: names, lengths of branches, quotes and comments."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bough import FormatError, Tree
from bough.formats import newick
from treegen import trees

NAMES = st.text(alphabet="ab_ '()[],:;\u00fc.1-", max_size=5)
untimed = settings(deadline=None)


@untimed
@given(trees(tokens=st.none() | NAMES), st.data())
def test_read_undoes_write(tree: Tree, data: st.DataObject) -> None:
    tree = tree.renumbered(tree.preorder)
    if not any(token is not None for token in tree.tokens or ()):
        tree = tree.replace(tokens=None)
    lengths = data.draw(st.lists(st.floats(allow_infinity=False), min_size=len(tree), max_size=len(tree)))
    if not np.isnan(lengths).all():
        tree = tree.replace(edge_features=np.array(lengths)[:, None], edge_feature_names=["length"])
    assert newick.parse(newick.write(tree)) == tree
    assert newick.read([newick.write(tree), newick.write(tree)]) == [tree, tree]


def test_quotes_comments_lengths_and_line_breaks() -> None:
    text = "[&R] ((human:0.2, 'Homo ''x''\n(y)':3e-1[a [nested] comment])apes:1,\n gibbon_1:2,)root;\n\n;"
    first, second = newick.read(text.split("\n"))
    assert first.tokens == ("root", "apes", "human", "Homo 'x'\n(y)", "gibbon_1", None)
    assert first.parents.tolist() == [-1, 0, 1, 1, 0, 0]
    nan = math.nan
    np.testing.assert_array_equal(first.edge_features, [[nan], [1], [0.2], [0.3], [2], [nan]])
    assert first.edge_feature_names == ("length",)
    assert second == Tree([-1])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(a,b", "1: the tree that starts here has no ';' at its end"),
        ("a;\n\n(a,b;", "3: 1 '(' never closed in the tree that starts on line 3"),
        ("a),b;", "1: ')' is not expected here"),
        ("a b;", "1: 'b' is not expected here"),
        ("(a:x,b);", "1: the length of a branch is 'x'; expected a number"),
        ("(a:inf,b);", "1: the length of a branch is 'inf'"),
        ("(a:1:2,b);", "1: ':' is not expected here"),
        ("(a\n,'b);", "2: a quote that is never closed"),
        ("(a,b)[x;", "1: a comment that starts here is never closed"),
        ("(a)(b);", "1: '(' is not expected here"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text: str, message: str) -> None:
    with pytest.raises(FormatError, match="^" + re.escape(message)):
        newick.read(text.split("\n"))


def test_a_tree_may_be_10_000_deep_or_wide() -> None:
    for tree in (Tree([*range(-1, 9_999)]), Tree([-1] + [0] * 10_000)):
        assert newick.parse(newick.write(tree)) == tree


def test_parse_takes_one_tree_and_write_only_what_newick_holds() -> None:
    assert newick.parse("(a,b)") == Tree([-1, 0, 0], tokens=[None, "a", "b"])
    with pytest.raises(FormatError, match="2 trees in the text"):
        newick.parse("a;b;")
    with pytest.raises(ValueError, match="Newick holds no labels"):
        newick.write(Tree([-1], labels=["a"]))
    with pytest.raises(ValueError, match="2 numbers for each edge; Newick holds one"):
        newick.write(Tree([-1], edge_features=[[1, 2]]))


def test_an_empty_text_holds_no_tree() -> None:
    with pytest.raises(FormatError, match="0 trees in the text"):
        newick.parse(" ")
