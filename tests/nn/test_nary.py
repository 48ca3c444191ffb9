"""The N-ary Tree-LSTM is Eqs. 9-14, however its forget gates and its leaves are made."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bough import Forest, Tree
from bough.nn import NaryTreeLSTM
from bough.nn.dropout import dropout_mask
from oracle import TOLERANCE, D, Keys, X, assert_recursive, batches, drawn, inputs, widest

FORGET = ("full", "diagonal", "tied")
LEAF = ("affine", "gated")
GATE = (True, False)
PAIR = Tree([2, 2, -1])
MIXED = [
    Tree([2, 2, 4, 4, -1]),
    Tree([-1]),
    Tree([1, 2, -1]),
    Tree([2, 2, -1]),
]  # binary, single, unary, a repeat


@pytest.mark.parametrize("forget", FORGET)
@pytest.mark.parametrize("leaf", LEAF)
@pytest.mark.parametrize("output_gate", GATE)
@given(batch=batches(), spare=st.integers(0, 2))
@drawn
def test_batched_equals_recursive(
    batch: tuple[list[Tree], Keys], spare: int, forget: Any, leaf: Any, output_gate: bool
) -> None:
    trees, keys = batch
    arity = max(1, widest(trees) + spare)  # wide nodes, and slots that no node fills
    layer = NaryTreeLSTM(X, D, arity, forget=forget, leaf=leaf, output_gate=output_gate)
    assert_recursive(layer, trees, keys)


def test_left_and_right_differ() -> None:
    layer = NaryTreeLSTM(X, D).double()
    x = inputs([PAIR])
    h, _ = layer(x, Forest([PAIR]))
    swapped, _ = layer(x[[1, 0, 2]], Forest([PAIR]))
    assert not torch.allclose(h[2], swapped[2])


def test_a_single_child_fills_the_first_slot() -> None:
    layer = NaryTreeLSTM(X, D, arity=2, leaf="gated").double()
    unary = NaryTreeLSTM(X, D, arity=1, leaf="gated").double()
    with torch.no_grad():
        unary.W.copy_(layer.W)
        unary.U.copy_(torch.cat([layer.U[:D, : 3 * D], layer.U[:D, 4 * D :]], dim=1))
        unary.b_W.copy_(layer.b_W)
        whole = layer.b_U.sum(0)  # a bias is added even where its child is missing
        unary.b_U.copy_(torch.cat([whole[: 3 * D], whole[4 * D :]]).unsqueeze(0))
    x, forest = inputs([Tree([1, -1])]), Forest([Tree([1, -1])])
    for a, b in zip(layer(x, forest), unary(x, forest), strict=True):
        torch.testing.assert_close(a, b, **TOLERANCE)


def test_the_affine_leaf_and_an_inner_node_without_x() -> None:
    layer = NaryTreeLSTM(X, D, leaf="affine").double()
    g, x = layer.gates(), inputs([PAIR])
    h, c = layer(x, Forest([PAIR]))
    torch.testing.assert_close(c[0], g["W_leaf"] @ x[0] + g["b_leaf"], **TOLERANCE)
    torch.testing.assert_close(
        h[0], torch.sigmoid(g["W_leaf_o"] @ x[0] + g["b_leaf_o"]) * c[0].tanh(), **TOLERANCE
    )
    moved = x.detach().clone()
    moved[2] += 1
    assert torch.equal(layer(moved, Forest([PAIR]))[0], h)
    moved[2] = torch.nan  # never looked at
    assert torch.equal(layer(moved, Forest([PAIR]))[0], h)


# ------------------------------------------------------------------------ gates


def test_gates_of_gated_leaves_have_the_papers_names_and_shapes() -> None:
    gates = NaryTreeLSTM(X, D, 3, leaf="gated").gates()
    expected: dict[str, tuple[int, ...]] = {"U_f": (3, 3, D, D), "b_f": (3, D), "W_f": (D, X)}
    for gate in "iou":
        expected |= {f"W_{gate}": (D, X), f"U_{gate}": (3, D, D), f"b_{gate}": (D,)}
    assert {name: tuple(weight.shape) for name, weight in gates.items()} == expected


@pytest.mark.parametrize("output_gate", GATE)
def test_gates_of_affine_leaves_name_the_leaf(output_gate: bool) -> None:
    gates = NaryTreeLSTM(X, D, leaf="affine", output_gate=output_gate).gates()
    names = {f"{kind}_{gate}" for kind in "Ub" for gate in ("iouf" if output_gate else "iuf")}
    names |= {"W_leaf", "b_leaf"} | ({"W_leaf_o", "b_leaf_o"} if output_gate else set())
    assert set(gates) == names
    assert gates["W_leaf"].shape == (D, X)
    assert gates["b_leaf"].shape == (D,)


@pytest.mark.parametrize("forget", FORGET)
def test_forget_gates_off_the_diagonal(forget: Any) -> None:
    layer = NaryTreeLSTM(X, D, 3, forget=forget)
    U_f = layer.gates()["U_f"]
    off = [U_f[k, l] for k in range(3) for l in range(3) if k != l]
    zero = [bool((block == 0).all()) for block in off]
    equal = [torch.equal(block, off[0]) for block in off]
    if forget == "diagonal":
        assert all(zero)
    else:
        assert not any(zero)
        assert all(equal) == (forget == "tied")


def test_a_forget_gate_recomputed_by_hand() -> None:
    layer = NaryTreeLSTM(X, D).double()
    g, x = layer.gates(), inputs([PAIR])
    h, c = layer(x, Forest([PAIR]))
    i = torch.sigmoid(g["W_i"] @ x[2] + g["U_i"][0] @ h[0] + g["U_i"][1] @ h[1] + g["b_i"])
    u = torch.tanh(g["W_u"] @ x[2] + g["U_u"][0] @ h[0] + g["U_u"][1] @ h[1] + g["b_u"])
    f = [
        torch.sigmoid(g["W_f"] @ x[2] + g["U_f"][k, 0] @ h[0] + g["U_f"][k, 1] @ h[1] + g["b_f"][k])
        for k in range(2)
    ]
    torch.testing.assert_close(c[2], i * u + f[0] * c[0] + f[1] * c[1], **TOLERANCE)


def test_every_affine_map_adds_a_bias_of_its_own() -> None:
    layer = NaryTreeLSTM(X, D, 3, leaf="affine")
    u, i, *f, o = layer.b_U.view(3, 6, D).sum(0)  # three children's maps to each gate
    gates = layer.gates()
    for name, expected in (("b_u", u), ("b_i", i), ("b_o", o), ("b_f", torch.stack(f))):
        torch.testing.assert_close(gates[name], expected)
    tied = NaryTreeLSTM(X, D, 3, forget="tied", leaf="affine")
    torch.testing.assert_close(tied.gates()["b_f"], tied.b_f + tied.b_off + tied.b_off)
    diagonal = NaryTreeLSTM(X, D, 3, forget="diagonal", leaf="affine")
    torch.testing.assert_close(diagonal.gates()["b_f"], diagonal.b_f)


@pytest.mark.parametrize("forget", FORGET)
@pytest.mark.parametrize("leaf", LEAF)
def test_forget_bias_moves_every_forget_gate_and_nothing_else(forget: Any, leaf: Any) -> None:
    torch.manual_seed(3)
    plain = NaryTreeLSTM(X, D, 3, forget=forget, leaf=leaf).gates()
    torch.manual_seed(3)
    biased = NaryTreeLSTM(X, D, 3, forget=forget, leaf=leaf, forget_bias=1.0).gates()
    for name in plain:
        torch.testing.assert_close(biased[name], plain[name] + (1.0 if name == "b_f" else 0.0))


# ---------------------------------------------------------------------- dropout


@pytest.mark.parametrize("leaf", LEAF)
@pytest.mark.parametrize("output_gate", GATE)
@pytest.mark.parametrize("keyed", [False, True])
def test_recurrent_dropout_masks_u_at_every_node(leaf: Any, output_gate: bool, keyed: bool) -> None:
    p = 0.4
    layer = NaryTreeLSTM(X, D, leaf=leaf, output_gate=output_gate, recurrent_dropout=p)
    forest = Forest(MIXED)
    masks = torch.ones(forest.num_nodes, D, dtype=torch.float64)
    dropped = forest.node_of if leaf == "gated" else forest.node_of[forest.num_unique_leaves :]
    torch.manual_seed(5)
    masks[dropped] = dropout_mask(masks, len(dropped), D, p)
    assert {0.0, 1 / (1 - p)} <= set(masks.unique().tolist())
    keys = [[0] * len(tree) for tree in MIXED] if keyed else None  # equal subtrees, yet each draws its own
    assert_recursive(layer, MIXED, keys, masks=masks, seed=5)


@pytest.mark.parametrize("leaf", LEAF)
def test_nothing_is_dropped_in_evaluation(leaf: Any) -> None:
    layer = NaryTreeLSTM(X, D, leaf=leaf, recurrent_dropout=0.9).eval()
    assert_recursive(layer, MIXED, [[0] * len(tree) for tree in MIXED])


# ------------------------------------------------------------------------ errors


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"forget": "some"}, "forget='some': 'full', 'diagonal' or 'tied'"),
        ({"leaf": "none"}, "leaf='none': 'gated' or 'affine'"),
        ({"arity": 0}, "arity=0: at least 1"),
        ({"recurrent_dropout": 1.0}, "recurrent_dropout=1.0: at least 0, below 1"),
        ({"recurrent_dropout": -0.1}, "recurrent_dropout=-0.1: at least 0, below 1"),
    ],
)
def test_options_out_of_range(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        NaryTreeLSTM(X, D, **options)


def test_more_children_than_the_arity() -> None:
    trees = [PAIR, Tree([4, 4, 4, 4, -1])]
    message = "^node 4 of tree 1 has 4 children; the layer's arity is 3$"
    with pytest.raises(ValueError, match=message):
        NaryTreeLSTM(X, D, 3).double()(inputs(trees), Forest(trees))


def test_repr_shows_what_the_layer_is() -> None:
    layer = NaryTreeLSTM(300, 150, forget="tied", leaf="gated", output_gate=False)
    assert repr(layer) == ("NaryTreeLSTM(300, 150, arity=2, forget='tied', leaf='gated', output_gate=False)")
