import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bough.text.builtin.build_trees import in_pieces, phrase_tree, word_tree


def test_parents_become_a_binary_tree_in_preorder() -> None:
    tree = phrase_tree(["now", "she", "sings"], [np.array([-1, 0, 0, 2, 2])])
    assert tree.parents.tolist() == [-1, 0, 0, 2, 2]
    assert tree.tokens == (None, "now", None, "she", "sings")


def test_one_word_is_one_leaf() -> None:
    tree = phrase_tree(["Go"], [np.array([-1])])
    assert tree.parents.tolist() == [-1]
    assert tree.tokens == ("Go",)


def test_pieces_join_into_one_binary_tree() -> None:
    tree = phrase_tree(list("abcdef"), [np.array([-1, 0, 0]), np.array([-1, 0, 1, 1, 0]), np.array([-1])])
    assert sorted(map(tuple, tree.spans.tolist())) == sorted(
        [(0, 6), (0, 2), (2, 6), (2, 5), (2, 4), *((i, i + 1) for i in range(6))]
    )
    assert set(tree.degrees.tolist()) == {0, 2}
    assert tree.preorder.tolist() == list(range(len(tree)))


def test_later_roots_hang_from_the_first() -> None:
    tree = word_tree(list("abcd"), [([2, 0], ["det", "root"]), ([0, 1], ["root", "dobj"])])
    assert tree.parents.tolist() == [1, -1, 1, 2]
    assert tree.relations == ("det", "root", "parataxis", "dobj")


@given(st.lists(st.sampled_from(["a", ",", "b"]), min_size=1, max_size=60), st.integers(2, 10))
def test_pieces_are_the_sentence_again(tokens: list[str], longest: int) -> None:
    found = in_pieces(tokens, longest)
    assert [token for piece in found for token in piece] == tokens
    assert all(1 <= len(piece) <= longest for piece in found)


def test_pieces_end_after_a_mark_where_there_is_one() -> None:
    assert [len(piece) for piece in in_pieces([*"abcdef", ",", *"ghijklm"], 10)] == [7, 7]
