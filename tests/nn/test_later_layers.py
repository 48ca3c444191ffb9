"""The gated recursive layer and the tree convolution against their papers' equations, written out for one tree."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given
from torch import Tensor, nn
from torch.nn import functional

from bough import Forest, Tree
from bough.nn import GatedRecursive, TreeConv
from one_by_one import one_by_one
from oracle import Keys, X, assert_all_close, batches, drawn, gradients, inputs

PHRASE = Tree([-1, 0, 0, 2, 2])  # ( a ( b c ) )


def test_gated_recursive_is_the_cell_of_ordered_memory() -> None:
    torch.manual_seed(1)
    layer, x = GatedRecursive(4, 3).double(), torch.randn(5, 4).double()
    nn.init.normal_(layer.norm.weight)
    nn.init.normal_(layer.leaf_norm.bias)

    def cell(left: Tensor, right: Tensor) -> Tensor:
        hidden = functional.gelu(torch.cat([left, right]) @ layer.W_1 + layer.b_1)
        f_1, f_2, i, p = (hidden @ layer.W_2 + layer.b_2).chunk(4)
        mixed = f_1.sigmoid() * left + f_2.sigmoid() * right + i.sigmoid() * p
        return functional.layer_norm(mixed, (3,), layer.norm.weight, layer.norm.bias)

    a, b, c = (
        functional.layer_norm(row, (3,), layer.leaf_norm.weight, layer.leaf_norm.bias)
        for row in (x[[1, 3, 4]] @ layer.W.t() + layer.b)
    )
    torch.testing.assert_close(layer(x, Forest([PHRASE]))[0], cell(a, cell(b, c)))


def test_gated_recursive_drops_entries_of_its_hidden_layer_while_training() -> None:
    layer, x = GatedRecursive(4, 3, recurrent_dropout=0.5), torch.randn(5, 4)
    forest = Forest([PHRASE], keys=[[0, 1, 0, 2, 3]])
    assert not torch.equal(layer(x, forest)[0], layer(x, forest)[0])
    torch.testing.assert_close(layer(x, forest)[1], layer(x, forest)[1])  # a leaf has no hidden layer
    layer.eval()
    torch.testing.assert_close(layer(x, forest), layer(x, forest))


def test_gated_recursive_takes_two_children_at_most() -> None:
    with pytest.raises(ValueError, match=r"^node 0 of tree 0 has 3 children; the layer's arity is 2$"):
        GatedRecursive(4, 3)(torch.randn(4, 4), Forest([Tree([-1, 0, 0, 0])]))


def test_tree_conv_moves_its_filters_from_left_to_right() -> None:
    layer, x = TreeConv(4, 3, layers=1).double(), torch.randn(6, 4).double()
    W_t, W_l, W_r = layer.get_parameter("W_1").split(4)
    b = layer.get_parameter("b_1")
    m, h, _ = layer(x, Forest([Tree([-1, 0, 0, 0, 3, 4])]))
    sides = x[1] @ W_l + x[2] @ (W_l + W_r) / 2 + x[3] @ W_r
    torch.testing.assert_close(h[0], torch.tanh(x[0] @ W_t + sides + b))
    torch.testing.assert_close(h[3], torch.tanh(x[3] @ W_t + x[4] @ (W_l + W_r) / 2 + b))
    torch.testing.assert_close(h[5], torch.tanh(x[5] @ W_t + b))
    torch.testing.assert_close(m[0], h.amax(dim=0))
    torch.testing.assert_close(m[3], h[3:].amax(dim=0))


def test_tree_conv_sees_as_many_levels_as_it_has_layers() -> None:
    layer, x = TreeConv(2, 3, layers=2).double(), torch.randn(4, 2).double()
    forest = Forest([Tree([-1, 0, 1, 2])])
    h, changed = layer(x, forest)[1], layer(x + torch.tensor([[0.0], [0], [0], [1]]), forest)[1]
    assert torch.equal(h[0], changed[0])
    assert not torch.equal(h[1], changed[1])
    with pytest.raises(ValueError, match=r"^layers=0: at least 1$"):
        TreeConv(2, 3, layers=0)


@pytest.mark.parametrize("norm", ["none", "node"])
@pytest.mark.parametrize("pooled", [True, False])
@given(batch=batches())
@drawn
def test_a_convolution_of_all_nodes_at_once_is_its_equations_at_each(
    norm: Any, pooled: bool, batch: tuple[list[Tree], Keys]
) -> None:
    trees, keys = batch
    layer = TreeConv(X, (4, 2), activation="leaky_relu", norm=norm, pooled=pooled).double()
    x = inputs(trees, keys)
    ours, theirs = layer(x, Forest(trees, keys)), one_by_one(layer, x, trees)
    assert [state.shape[1] for state in ours] == [2] * pooled + [2, 4, X]
    assert_all_close(ours, theirs)
    plain = layer(x, Forest(trees))
    assert_all_close(gradients(plain, x, layer), gradients(theirs, x, layer))


def test_tree_norm_is_over_all_nodes_and_columns_of_a_tree() -> None:
    trees = [Tree([-1, 0, 0]), Tree([1, -1])]
    plain, layer = (TreeConv(X, (3,), norm=norm, pooled=False).double() for norm in ("none", "tree"))
    layer.load_state_dict(plain.state_dict(), strict=False)
    gain, bias = layer.norms[0].parameters()
    nn.init.normal_(gain)
    nn.init.normal_(bias)
    x = inputs(trees)
    parts = torch.atanh(plain(x, Forest(trees))[0]).split([3, 2])
    wanted = [torch.tanh(functional.layer_norm(part, part.shape) * gain + bias) for part in parts]
    assert_all_close([layer(x, Forest(trees))[0]], [torch.cat(wanted)])
    same = Forest(
        trees, keys=[[0, 1, 2], [1, 0]]
    )  # nodes with equal subtrees differ with the rest of the tree
    assert_all_close(layer(x[[0, 1, 2, 1, 0]], same), layer(x[[0, 1, 2, 1, 0]], Forest(trees)))


def test_tree_norm_passes_gradcheck() -> None:
    forest, layer = Forest([Tree([-1, 0, 0]), Tree([-1])]), TreeConv(2, (3, 2), norm="tree").double()
    x = torch.randn(4, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: layer(x, forest)[1:], (x,))


def test_tree_conv_drops_entries_while_training() -> None:
    layer, x = TreeConv(4, (3, 3), dropout=0.5), torch.randn(5, 4)
    forest = Forest([PHRASE], keys=[[0, 1, 0, 2, 3]])
    assert not torch.equal(layer(x, forest)[0], layer(x, forest)[0])
    layer.eval()
    assert torch.equal(layer(x, forest)[0], layer(x, forest)[0])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"hidden_size": ()}, r"^hidden_size=\(\): at least one width$"),
        ({"activation": "softmax"}, r"^activation='softmax': one of 'tanh', 'relu', "),
        ({"norm": "batch"}, r"^norm='batch': one of 'none', 'node', 'tree'$"),
        ({"dropout": 1.0}, r"^dropout=1\.0: at least 0, below 1$"),
    ],
)
def test_wrong_settings_of_tree_conv_are_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TreeConv(4, **{"hidden_size": 3} | settings)
