"""A chain is a tree, and on chains the layers are the LSTM that everybody knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import pytest
import torch
from hypothesis import given
from torch import Tensor, nn

from bough import Forest, Tree
from bough.nn import LSTM, ChildSumTreeLSTM, NaryTreeLSTM
from oracle import TOLERANCE, D, Keys, X, assert_recursive, chains, drawn, inputs

WORDS = (5, 1, 3)
SENTENCES = [Tree([*range(1, n), -1]) for n in WORDS]  # first word = leaf, last = root


def cells(layer: LSTM, stack: int) -> list[Any]:
    """The layers of a direction, from the lowest on."""
    return list(cast(nn.ModuleList, layer.stacks[stack]))


def torch_lstm(cells: Sequence[NaryTreeLSTM | ChildSumTreeLSTM]) -> nn.LSTM:
    """PyTorch's stacked LSTM with the weights of ours."""
    theirs = nn.LSTM(X, D, len(cells)).double()
    for l, cell in enumerate(cells):
        g = {name: weight.detach().reshape(weight.shape[-2:]) for name, weight in cell.gates().items()}
        with torch.no_grad():
            getattr(theirs, f"weight_ih_l{l}").copy_(torch.cat([g[f"W_{gate}"] for gate in "ifuo"]))
            getattr(theirs, f"weight_hh_l{l}").copy_(torch.cat([g[f"U_{gate}"] for gate in "ifuo"]))
            getattr(theirs, f"bias_ih_l{l}").copy_(torch.cat([g[f"b_{gate}"].flatten() for gate in "ifuo"]))
            getattr(theirs, f"bias_hh_l{l}").zero_()
    return theirs


def per_word(theirs: nn.LSTM, x: Tensor, *, backwards: bool = False) -> tuple[Tensor, Tensor]:
    """The top layer's h at every word (N, D), and every layer's last h (sentences, layers * D)."""
    tops, ends = [], []
    for part in x.split(WORDS):
        h, (last, _) = theirs(part.flip(0) if backwards else part)
        tops.append(h.flip(0) if backwards else h)
        ends.append(last.flatten())
    return torch.cat(tops), torch.stack(ends)


@pytest.mark.parametrize(
    "layer",
    [
        ChildSumTreeLSTM(X, D),
        NaryTreeLSTM(X, D, 1, leaf="gated"),
        NaryTreeLSTM(X, D, 1, leaf="gated", forget="tied"),
    ],
    ids=["child-sum", "unary", "unary-tied"],
)
def test_tree_layers_on_a_chain_are_an_lstm(layer: NaryTreeLSTM | ChildSumTreeLSTM) -> None:
    x = inputs(SENTENCES)
    theirs = torch_lstm([layer.double()])
    h, _ = layer(x, Forest(SENTENCES))
    expected, _ = per_word(theirs, x)
    torch.testing.assert_close(h, expected, **TOLERANCE)
    onto = torch.randn_like(h)
    torch.testing.assert_close(
        torch.autograd.grad(h, x, onto), torch.autograd.grad(expected, x, onto), **TOLERANCE
    )


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_stacked(layers: int) -> None:
    layer, x = LSTM(X, D, layers=layers).double(), inputs(SENTENCES)
    h, c = layer(x, Forest(SENTENCES))
    assert h.shape == c.shape == (sum(WORDS), layers * D)
    tops, ends = per_word(torch_lstm(cells(layer, 0)), x)
    torch.testing.assert_close(h[:, -D:], tops, **TOLERANCE)
    torch.testing.assert_close(layer.final(h, Forest(SENTENCES)), ends, **TOLERANCE)
    onto = torch.randn_like(ends)
    ours = torch.autograd.grad(layer.final(h, Forest(SENTENCES)), x, onto)
    torch.testing.assert_close(ours, torch.autograd.grad(ends, x, onto), **TOLERANCE)


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("tied", [True, False])
def test_both_directions_are_independent_stacks(layers: int, tied: bool) -> None:
    layer = LSTM(X, D, layers=layers, bidirectional=True, tied=tied).double()
    forest, x = Forest(SENTENCES), inputs(SENTENCES)
    h, _ = layer(x, forest)
    assert h.shape == (sum(WORDS), 2 * layers * D)
    forward, backward = cells(layer, 0), cells(layer, -1)
    assert (forward[0] is backward[0]) == tied
    there, ends = per_word(torch_lstm(forward), x)
    back, starts = per_word(torch_lstm(backward), x, backwards=True)
    torch.testing.assert_close(h[:, (layers - 1) * D : layers * D], there, **TOLERANCE)
    torch.testing.assert_close(h[:, -D:], back, **TOLERANCE)
    torch.testing.assert_close(layer.final(h, forest), torch.cat([ends, starts], dim=1), **TOLERANCE)


def test_one_untied_bidirectional_layer_is_pytorchs() -> None:
    layer, x = LSTM(X, D, bidirectional=True, tied=False).double(), inputs(SENTENCES)
    theirs = nn.LSTM(X, D, bidirectional=True).double()
    for stack, ending in enumerate(("", "_reverse")):
        for name, weight in torch_lstm(cells(layer, stack)).named_parameters():
            getattr(theirs, name + ending).data.copy_(weight)
    expected = torch.cat([theirs(part)[0] for part in x.split(WORDS)])
    torch.testing.assert_close(layer(x, Forest(SENTENCES))[0], expected, **TOLERANCE)


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize(("bidirectional", "tied"), [(False, True), (True, True), (True, False)])
@pytest.mark.parametrize("output_gate", [True, False])
@given(batch=chains())
@drawn
def test_batched_equals_recursive(
    batch: tuple[list[Tree], Keys], layers: int, bidirectional: bool, tied: bool, output_gate: bool
) -> None:
    options: dict[str, Any] = {"bidirectional": bidirectional, "tied": tied, "output_gate": output_gate}
    assert_recursive(LSTM(X, D, layers=layers, **options), *batch)


@pytest.mark.parametrize("bidirectional", [False, True])
def test_words_shared_by_sentences_are_computed_once(bidirectional: bool) -> None:
    forest = Forest(SENTENCES, [list(range(n)) for n in WORDS])  # each sentence is the start of the longest
    assert forest.num_unique == max(WORDS)
    layer = LSTM(X, D, layers=2, bidirectional=bidirectional).double()
    assert_recursive(layer, SENTENCES, [list(range(n)) for n in WORDS])


@pytest.mark.parametrize("bidirectional", [False, True])
def test_anything_but_a_chain_is_an_error(bidirectional: bool) -> None:
    trees = [Tree([1, -1]), Tree([2, 2, -1])]
    message = "^node 2 of tree 1 has 2 children; in a chain every node has at most one$"
    with pytest.raises(ValueError, match=message):
        LSTM(X, D, bidirectional=bidirectional).double()(inputs(trees), Forest(trees))


def test_layers_out_of_range() -> None:
    with pytest.raises(ValueError, match=r"^layers=0: at least 1$"):
        LSTM(X, D, layers=0)


def test_final_wants_this_layers_states() -> None:
    layer, forest = LSTM(X, D, bidirectional=True), Forest(SENTENCES)
    message = r"^h is \(9, 3\); this layer's states of the forest are \(9, 6\)$"
    with pytest.raises(ValueError, match=message):
        layer.final(torch.zeros(9, D), forest)
