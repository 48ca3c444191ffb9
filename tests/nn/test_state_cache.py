"""States kept from call to call are those of the layer, whatever was changed in between."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from bough import Forest, Tree
from bough.nn import BiTreeLSTM, ChildSumTreeGRU, ChildSumTreeLSTM, NaryTreeLSTM, StateCache, TreeLayer
from kernel_cases import needs_c

X, D = 3, 5
LAYERS: list[TreeLayer] = [
    ChildSumTreeLSTM(X, D),
    NaryTreeLSTM(X, D, 4),
    NaryTreeLSTM(X, D, 4, leaf="gated", output_gate=False),
    ChildSumTreeGRU(X, D),
]


@st.composite
def edited_trees(draw: st.DrawFn) -> list[tuple[list[int], list[int]]]:
    """Trees of at most 4 children per node, each an edit of the one before: parents, and an input for each node."""
    parents, inputs = [-1], [draw(st.integers(0, 3))]
    history = []
    for _ in range(draw(st.integers(1, 12))):
        node = draw(st.integers(0, len(parents) - 1))
        match draw(st.sampled_from(["grow", "grow", "change", "move", "prune"])):
            case "grow" if parents.count(node) < 4:
                parents.append(node)
                inputs.append(draw(st.integers(0, 3)))
            case "change":
                inputs[node] = draw(st.integers(0, 3))
            case "move" if node and parents.count(target := draw(st.integers(0, node - 1))) < 4:
                parents[node] = target
            case "prune" if len(parents) > 1:
                kept = [0, *(v for v in range(1, node or len(parents)))]  # parents come first here
                parents, inputs = [parents[v] for v in kept], [inputs[v] for v in kept]
        history.append((list(parents), list(inputs)))
    return history


TABLE = torch.randn(4, X, generator=torch.Generator().manual_seed(0))


def assert_same(cached: StateCache, x: Tensor, forest: Forest) -> None:
    with torch.no_grad():
        wanted = cached.layer(x, forest)
    torch.testing.assert_close(cached(x, forest), wanted, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("layer", LAYERS, ids=str)
@given(history=edited_trees(), entries=st.sampled_from([1, 2, 7, 1000]), reverse=st.booleans())
@settings(deadline=None, max_examples=60)
def test_edits(
    layer: TreeLayer, history: list[tuple[list[int], list[int]]], entries: int, reverse: bool
) -> None:
    cached = StateCache(layer, max_entries=entries)
    for parents, inputs in history:
        tree, x, keys = Tree(parents), TABLE[inputs], inputs
        if reverse:  # children before their parents
            order = range(len(tree) - 1, -1, -1)
            tree, x, keys = tree.renumbered(order), x.flip(0), inputs[::-1]
        assert_same(cached, x, Forest([tree]))
        assert_same(cached, x.repeat(2, 1), Forest([tree, tree], keys=None if entries == 7 else [keys] * 2))
        assert len(cached) <= entries


@needs_c
def test_only_the_path_of_a_changed_leaf_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOUGH_FAST", "1")
    cached, forest = StateCache(ChildSumTreeLSTM(X, D)), Forest([Tree([1, 4, 1, 4, -1])])
    x = torch.randn(5, X)
    assert_same(cached, x, forest)
    assert (cached.hits, len(cached)) == (0, 5)
    x[0] += 1
    assert_same(cached, x, forest)
    assert (cached.hits, len(cached)) == (2, 8)  # nodes 2 and 3 were known; 0, 1 and 4 are new
    assert_same(cached, x, forest)
    assert (cached.hits, len(cached)) == (7, 8)
    swapped = x[[2, 1, 0, 3, 4]]
    assert_same(cached, swapped, forest)  # the order of children is part of a subtree
    assert len(cached) == 10


@needs_c
def test_the_least_recently_used_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOUGH_FAST", "1")
    cached, leaf = StateCache(ChildSumTreeLSTM(X, D), max_entries=3), Forest([Tree([-1])])
    rows = torch.randn(4, 1, X)
    for row in (0, 1, 2, 0, 3, 0, 2, 3):  # row 3 takes the place of row 1
        cached(rows[row], leaf)
    assert (cached.hits, len(cached)) == (4, 3)
    cached(rows[1], leaf)
    assert cached.hits == 4
    cached(rows[0], leaf)
    assert cached.hits == 4  # it was the oldest then


def test_a_changed_weight_is_seen() -> None:
    layer, forest, x = ChildSumTreeLSTM(X, D), Forest([Tree([1, -1, 1])]), torch.randn(3, X)
    cached = StateCache(layer)
    assert_same(cached, x, forest)
    with torch.no_grad():
        layer.U_f.mul_(2)
    assert_same(cached, x, forest)
    layer.U_f = nn.Parameter(torch.randn(D, D))
    assert_same(cached, x, forest)
    layer.U_f.data = torch.randn(D, D)
    assert_same(cached, x, forest)
    layer.U_f.data.mul_(2)
    cached.clear()
    assert_same(cached, x, forest)
    layer.load_state_dict(ChildSumTreeLSTM(X, D).state_dict())
    assert_same(cached, x, forest)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    layer(x, forest)[0].sum().backward()
    optimizer.step()
    assert_same(cached, x, forest)
    with torch.inference_mode():
        layer.U_f = nn.Parameter(torch.randn(D, D))
        assert_same(cached, x, forest)
        layer.U_f.mul_(2)
        assert_same(cached, x, forest)


def test_what_is_wrong_is_said_and_not_kept() -> None:
    cached, forest, x = StateCache(NaryTreeLSTM(X, D, 2)), Forest([Tree([1, -1, 1])]), torch.randn(3, X)
    assert_same(cached, x, forest)
    before = len(cached)
    x[0] = torch.nan
    with pytest.raises(ValueError, match="x has a NaN in the row of node 0 of tree 0"):
        cached(x, forest)
    with pytest.raises(ValueError, match="node 0 of tree 0 has 3 children; the layer's arity is 2"):
        cached(torch.randn(4, X), Forest([Tree([-1, 0, 0, 0])]))
    with pytest.raises(ValueError, match="x has 2 rows; the forest has 3 nodes"):
        cached(x[:2], forest)
    assert len(cached) == before
    with pytest.raises(ValueError, match="max_bytes=10: no room; an entry has 80 bytes"):
        StateCache(NaryTreeLSTM(X, D), max_bytes=10)
    with pytest.raises(TypeError, match="layer is a BiTreeLSTM; StateCache takes a TreeLayer"):
        StateCache(BiTreeLSTM(X, D))  # type: ignore[arg-type]


def test_there_is_no_gradient_and_results_are_ones_own() -> None:
    cached, forest, x = StateCache(ChildSumTreeLSTM(X, D)), Forest([Tree([-1])]), torch.randn(1, X)
    h, _ = cached(x, forest)
    assert isinstance(h, Tensor)
    assert not h.requires_grad
    h.zero_()
    assert_same(cached, x, forest)
