"""Claims about trees without a parse, and about parts of trees."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bough.trees.builders import balanced, chain, reversed_chain, subtree, word_nodes
from bough.trees.tree import Tree
from treegen import trees


@given(length=st.integers(1, 200))
def test_halves_are_binary_and_as_low_as_can_be(length: int) -> None:
    tree = balanced(length)
    assert len(tree) == 2 * length - 1
    assert len(tree.leaves) == length
    assert {*tree.degrees.tolist()} <= {0, 2}
    assert tree.heights.max() == int(np.ceil(np.log2(length)))
    for node, below in enumerate(tree.children):
        if below:
            left, right = (int(np.diff(tree.spans[child])[0]) for child in below)
            assert left - right in (0, 1), node


@given(length=st.integers(1, 50))
def test_a_chain_read_from_its_end_is_known_once(length: int) -> None:
    turned = reversed_chain(chain(length))
    assert turned is reversed_chain(chain(length))
    assert turned == reversed_chain(Tree(chain(length).parents))
    assert word_nodes(turned).tolist() == list(range(length))


def test_words_are_all_nodes_of_a_chain_and_the_leaves_of_halves() -> None:
    assert word_nodes(chain(3)).tolist() == [0, 1, 2]
    assert word_nodes(balanced(3)).tolist() == balanced(3).leaves.tolist()


def test_no_words_are_no_tree() -> None:
    with pytest.raises(ValueError, match="0 words"):
        balanced(0)


@given(tree=trees(), data=st.data())
def test_a_part_of_a_tree_has_the_nodes_below(tree: Tree, data: st.DataObject) -> None:
    tree = tree.replace(tokens=[str(i) for i in range(len(tree))], labels=None)
    node = data.draw(st.integers(0, len(tree) - 1))
    part = subtree(tree, node)
    kept = [int(str(token)) for token in part.tokens or ()]
    below = {node}
    for other in tree.preorder.tolist():
        if int(tree.parents[other]) in below:
            below.add(other)
    assert {*kept} == below
    assert kept[part.root] == node
    for new, old in enumerate(kept):
        assert [kept[child] for child in part.children[new]] == list(tree.children[old])
