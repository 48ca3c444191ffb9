"""Forests made from a forest: unshared, reversed, both ways; and one that outlives inference."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given

from bough import Forest, Tree
from bough.nn import LSTM, ChildSumTreeLSTM
from oracle import Keys, chains, drawn

PAIR = Tree([2, 2, -1])


def test_unshared() -> None:
    shared = Forest([PAIR, PAIR], [[0, 1, 9], [0, 1, 9]])
    assert shared.unshared.num_unique == shared.unshared.num_nodes == 6
    assert shared.unshared is shared.unshared
    plain = Forest([PAIR])
    assert plain.unshared is plain


def test_by_unit_gives_every_unit_an_input() -> None:
    forest = Forest([PAIR, PAIR], [[0, 0, 0], [0, 0, 0]]).with_own_inputs
    assert forest.num_unique == 2
    assert torch.equal(forest.inputs, forest.node_of)
    assert forest.input_of.tolist() == [0, 1]


@given(chains())
@drawn
def test_chains_read_backwards(batch: tuple[list[Tree], Keys]) -> None:
    trees, keys = batch
    forest = Forest(trees, keys)
    forest.check_chains()
    for tree, other in zip(trees, forest.reversed.trees, strict=True):
        words, back = (np.argsort(chain.heights).tolist() for chain in (tree, other))
        assert words == back[::-1]
    assert forest.reversed.reversed.trees == tuple(Tree(tree.parents) for tree in trees)
    assert torch.equal(forest.chain_starts, forest.reversed.roots)
    assert torch.equal(forest.roots, forest.reversed.chain_starts)
    assert (forest.reversed.keys is None) == (keys is None)


def test_both_ways_is_the_forest_and_its_reverse() -> None:
    trees = [Tree([1, 2, -1]), Tree([-1])]
    both = Forest(trees, [[0, 1, 0], [0]]).both_ways
    assert both.trees == (*trees, Tree([-1, 0, 1]), Tree([-1]))
    assert both.num_unique == 3  # the palindrome and the single word are shared


def test_only_chains_have_a_reverse() -> None:
    forest = Forest([Tree([1, -1]), PAIR])
    message = "^node 2 of tree 1 has 2 children; in a chain every node has at most one$"
    with pytest.raises(ValueError, match=message):
        forest.reversed  # noqa: B018
    with pytest.raises(ValueError, match=message):
        forest.both_ways  # noqa: B018


@pytest.mark.parametrize(
    "layer", [ChildSumTreeLSTM(2, 3), LSTM(2, 3, layers=2, bidirectional=True)], ids=repr
)
@pytest.mark.parametrize("keys", [None, [[0, 1, 0]]])
def test_a_forest_first_used_for_inference_can_still_train(
    layer: torch.nn.Module, keys: list[list[int]] | None
) -> None:
    with torch.inference_mode():
        forest = Forest([Tree([1, 2, -1])], keys)
        layer(torch.zeros(3, 2), forest)
    h, _ = layer(torch.zeros(3, 2), forest)
    h.sum().backward()
