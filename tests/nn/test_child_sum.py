"""The Child-Sum Tree-LSTM is Eqs. 2-8."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bough import Forest, Tree
from bough.nn import ChildSumTreeLSTM, NaryTreeLSTM
from bough.nn.dropout import dropout_mask
from oracle import TOLERANCE, D, Keys, X, assert_recursive, batches, drawn, inputs

GATE = (True, False)
STAR = Tree([3, 3, 3, -1])
MIXED = [Tree([1, -1, 3, 1]), Tree([-1]), Tree([1, 2, -1]), STAR]


@pytest.mark.parametrize("output_gate", GATE)
@given(batch=batches(max_nodes=12))
@drawn
def test_batched_equals_recursive(batch: tuple[list[Tree], Keys], output_gate: bool) -> None:
    assert_recursive(ChildSumTreeLSTM(X, D, output_gate=output_gate), *batch)


@given(batch=batches(), data=st.data())
@drawn
def test_the_order_of_children_does_not_matter(batch: tuple[list[Tree], Keys], data: st.DataObject) -> None:
    trees, _ = batch
    layer = ChildSumTreeLSTM(X, D).double()
    x = inputs(trees)
    h, c = layer(x, Forest(trees))
    orders = [data.draw(st.permutations(range(len(tree)))) for tree in trees]
    shuffled = [tree.renumbered(order) for tree, order in zip(trees, orders, strict=True)]
    starts = [sum(map(len, trees[:k])) for k in range(len(trees))]
    rows = torch.tensor([start + node for start, order in zip(starts, orders, strict=True) for node in order])
    for state, other in zip((h, c), layer(x[rows], Forest(shuffled)), strict=True):
        torch.testing.assert_close(state[rows], other, **TOLERANCE)


def test_on_a_chain_it_is_the_n_ary_one() -> None:
    chain = Tree([1, 2, 3, -1])
    layer, nary = ChildSumTreeLSTM(X, D).double(), NaryTreeLSTM(X, D, 1, leaf="gated").double()
    shapes = {name: weight.shape for name, weight in nary.gates().items()}
    nary.load_gates({name: weight.reshape(shapes[name]) for name, weight in layer.gates().items()})
    x = inputs([chain])
    for a, b in zip(layer(x, Forest([chain])), nary(x, Forest([chain])), strict=True):
        torch.testing.assert_close(a, b, **TOLERANCE)


@pytest.mark.parametrize("output_gate", GATE)
def test_gates_have_the_papers_names_and_shapes(output_gate: bool) -> None:
    gates = ChildSumTreeLSTM(X, D, output_gate=output_gate).gates()
    shape = {"W": (D, X), "U": (D, D), "b": (D,)}
    names = {f"{kind}_{gate}" for kind in shape for gate in ("ifou" if output_gate else "ifu")}
    assert set(gates) == names
    for name, weight in gates.items():
        assert tuple(weight.shape) == shape[name[0]]


def test_gates_are_the_real_function() -> None:
    layer = ChildSumTreeLSTM(X, D).double()
    g, x = layer.gates(), inputs([STAR])
    h, c = layer(x, Forest([STAR]))
    h_sum = h[:3].sum(0)
    i = torch.sigmoid(g["W_i"] @ x[3] + g["U_i"] @ h_sum + g["b_i"])
    u = torch.tanh(g["W_u"] @ x[3] + g["U_u"] @ h_sum + g["b_u"])
    o = torch.sigmoid(g["W_o"] @ x[3] + g["U_o"] @ h_sum + g["b_o"])
    f = torch.sigmoid(g["W_f"] @ x[3] + h[:3] @ g["U_f"].T + g["b_f"])
    torch.testing.assert_close(c[3], i * u + (f * c[:3]).sum(0), **TOLERANCE)
    torch.testing.assert_close(h[3], o * c[3].tanh(), **TOLERANCE)


@pytest.mark.parametrize("output_gate", GATE)
@pytest.mark.parametrize("keyed", [False, True])
def test_recurrent_dropout_masks_u_at_every_node(output_gate: bool, keyed: bool) -> None:
    p = 0.4
    forest = Forest(MIXED)
    masks = torch.empty(forest.num_nodes, D, dtype=torch.float64)
    torch.manual_seed(5)
    masks[forest.node_of] = dropout_mask(masks, forest.num_nodes, D, p)
    assert {0.0, 1 / (1 - p)} == set(masks.unique().tolist())
    keys = [[0] * len(tree) for tree in MIXED] if keyed else None  # equal subtrees, yet each draws its own
    layer = ChildSumTreeLSTM(X, D, output_gate=output_gate, recurrent_dropout=p)
    assert_recursive(layer, MIXED, keys, masks=masks, seed=5)


def test_nothing_is_dropped_in_evaluation() -> None:
    layer = ChildSumTreeLSTM(X, D, recurrent_dropout=0.9).eval()
    assert_recursive(layer, MIXED, [[0] * len(tree) for tree in MIXED])


def test_dropout_out_of_range() -> None:
    with pytest.raises(ValueError, match=r"^recurrent_dropout=1\.5: at least 0, below 1$"):
        ChildSumTreeLSTM(X, D, recurrent_dropout=1.5)


def test_repr_shows_what_the_layer_is() -> None:
    assert repr(ChildSumTreeLSTM(300, 150, output_gate=False)) == (
        "ChildSumTreeLSTM(300, 150, output_gate=False)"
    )
