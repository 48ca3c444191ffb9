"""A `Tree` does not change: copies are the same tree, and `replace` makes another."""

import copy
import pickle
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bough import Tree
from treegen import WORDS, trees

COLUMNS = ("tokens", "labels", "relations")
untimed = settings(deadline=None)


@untimed
@given(trees(max_nodes=12, tokens=st.none() | WORDS, labels=st.integers(0, 4), relations=WORDS))
def test_a_copy_is_the_same_tree_and_as_fixed(tree: Tree) -> None:
    tree.spans  # noqa: B018  (known before the copy is made)
    for twin in (pickle.loads(pickle.dumps(tree)), copy.copy(tree), copy.deepcopy(tree)):
        assert (twin, hash(twin)) == (tree, hash(tree))
        assert twin.spans.tolist() == tree.spans.tolist()
        for name in ("parents", "heights", "spans"):
            assert not getattr(twin, name).flags.writeable


@pytest.mark.parametrize("name", ["parents", "tokens", "labels", "relations", "root", "spans", "mine"])
def test_a_tree_does_not_change(name: Any) -> None:
    tree = Tree([-1, 0], tokens=["a", "b"])
    before = hash(tree)
    with pytest.raises(AttributeError, match=rf"a Tree does not change; tree\.replace\({name}=\.\.\.\)"):
        setattr(tree, name, None)
    with pytest.raises(AttributeError, match="a Tree does not change"):
        delattr(tree, name)
    assert hash(tree) == before


def test_the_workers_of_a_data_loader_are_given_trees() -> None:
    given_trees: Any = [Tree([-1, *[0] * size], tokens=["w"] * (size + 1)) for size in range(4)]
    loader = torch.utils.data.DataLoader(
        given_trees, batch_size=2, num_workers=1, collate_fn=list, multiprocessing_context="fork"
    )
    assert [tree for batch in loader for tree in batch] == given_trees


@untimed
@given(trees(max_nodes=12, tokens=st.none() | WORDS, labels=st.integers(0, 4), relations=WORDS), st.data())
def test_replace_is_the_tree_made_anew_with_some_columns_changed(tree: Tree, data: Any) -> None:
    tree.spans  # noqa: B018  (what is known of the old words must not stay)
    n = len(tree)
    column = st.none() | st.lists(st.none() | WORDS, min_size=n, max_size=n)
    changed = data.draw(st.fixed_dictionaries({}, optional=dict.fromkeys(COLUMNS, column)))
    above = data.draw(st.just({}) | st.just({"parents": [-1, *range(n - 1)]}))
    other = tree.replace(**changed, **above)
    anew = {name: changed.get(name, getattr(tree, name)) for name in COLUMNS}
    made = Tree(above.get("parents", tree.parents), **anew)
    assert other == made
    for name in ("words", "spans", "heights", "preorder"):
        assert getattr(other, name).tolist() == getattr(made, name).tolist()


def test_replace_shares_what_does_not_change() -> None:
    tree = Tree([-1, 0], tokens=["a", "b"], labels=[1, 2])
    heights = tree.heights
    other = tree.replace(labels=[3, 4])
    assert other.parents is tree.parents
    assert other.heights is heights
    assert other.tokens is tree.tokens
    assert tree.labels == (1, 2)


def test_replace_refuses_what_the_tree_itself_would() -> None:
    tree = Tree([-1, 0], tokens=["a", "b"])
    with pytest.raises(ValueError, match="1 labels for 2 nodes"):
        tree.replace(labels=[1])
    with pytest.raises(ValueError, match="2 tokens for 3 nodes"):
        tree.replace(parents=[-1, 0, 0])
    with pytest.raises(ValueError, match="a cycle"):
        tree.replace(parents=[-1, 1])
