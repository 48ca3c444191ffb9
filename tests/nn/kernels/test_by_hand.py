"""A compiled layer is its equations, and a subclass with other equations is not compiled."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bough import Forest
from bough.nn import BaseLayer, ChildSumTreeLSTM, TreeLayer
from layers import build, by_hand, forests_for, trees_for
from one_by_one import one_by_one
from oracle import D, X, assert_all_close, drawn, gradients, inputs, keys_for, states


def by_equations(layer: BaseLayer) -> BaseLayer:
    for module in layer.modules():
        if isinstance(module, TreeLayer):
            module.fast = False
    return layer


@by_hand
@given(data=st.data())
@drawn
def test_what_is_compiled_is_the_equations(name: str, data: st.DataObject) -> None:
    layer, trees = build(name), data.draw(forests_for(name))
    keys = data.draw(st.none() | keys_for(trees))
    x = inputs(trees, keys).detach().float().requires_grad_()
    fast = states(layer, x, Forest(trees, keys))
    slow = states(by_equations(layer), x, Forest(trees, keys))
    found, wanted = ([*out, *gradients(out, x, layer)] for out in (fast, slow))
    for ours, theirs in zip(found, wanted, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["constituency", "constituency, affine", "dependency"])
def test_so_is_it_with_dropout(name: str) -> None:
    layer, trees = build(name), trees_for(name) * 3
    setattr(layer, "recurrent_dropout", 0.4)  # noqa: B010
    x, found = inputs(trees).detach().float().requires_grad_(), []
    for _ in range(2):
        torch.manual_seed(3)
        out = states(layer, x, Forest(trees))
        found.append([*out, *gradients(out, x, layer)])
        by_equations(layer)
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)
    assert not torch.equal(found[0][0], states(layer.eval(), x, Forest(trees))[0])


def test_a_changed_equation_does_not_keep_the_old_fast_path() -> None:
    class Halved(ChildSumTreeLSTM):
        def node(self, a, below):  # type: ignore[no-untyped-def]
            h, c = super().node(a, below)
            return h / 2, c

    layer, trees = Halved(X, D).double(), trees_for("dependency")
    x = inputs(trees)
    assert_all_close(layer(x, Forest(trees)), one_by_one(layer, x, trees))
