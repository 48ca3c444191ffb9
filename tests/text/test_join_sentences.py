"""Pieces of a sentence and sentences of a text: cut, and joined into one tree."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bough.text.join_sentences import join_sentences, split_long
from bough.trees.tree import Tree

PHRASES = [
    Tree([-1, 0, 0], tokens=[None, "a", "b"]),
    Tree([-1, 0, 1, 1, 0], tokens=[None, None, "c", "d", "e"]),
    Tree([-1], tokens=["f"]),
]


@pytest.mark.parametrize(("balanced", "inner"), [(True, (0, 5)), (False, (2, 6))])
def test_phrase_trees_join_into_one_binary_tree(balanced: bool, inner: tuple[int, int]) -> None:
    tree = join_sentences(PHRASES, "constituency", balanced=balanced)
    assert sorted(map(tuple, tree.spans.tolist())) == sorted(
        [(0, 6), (0, 2), inner, (2, 5), (2, 4), *((i, i + 1) for i in range(6))]
    )
    assert [tree.tokens[leaf] for leaf in tree.leaves] == list("abcdef")  # type: ignore[index]
    assert set(tree.degrees.tolist()) == {0, 2}
    assert tree.preorder.tolist() == list(range(len(tree)))


def test_later_roots_hang_from_the_first() -> None:
    first = Tree([1, -1], tokens=["a", "b"], relations=["det", "root"])
    later = Tree([-1, 0], tokens=["c", "d"], relations=["root", "dobj"])
    tree = join_sentences([first, later], "dependency")
    assert tree.parents.tolist() == [1, -1, 1, 2]
    assert tree.relations == ("det", "root", "parataxis", "dobj")


@given(st.lists(st.sampled_from(["a", ",", "b"]), min_size=1, max_size=60), st.integers(2, 10))
def test_pieces_are_the_sentence_again(tokens: list[str], longest: int) -> None:
    found = split_long(tokens, longest)
    assert [token for piece in found for token in piece] == tokens
    assert all(1 <= len(piece) <= longest for piece in found)


def test_pieces_end_after_a_mark_where_there_is_one() -> None:
    assert [len(piece) for piece in split_long([*"abcdef", ",", *"ghijklm"], 10)] == [7, 7]
