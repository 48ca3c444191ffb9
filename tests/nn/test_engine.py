"""The level engine under every layer: its gradients and what it refuses."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from bough import Forest, Tree
from bough.nn import Children, ChildSumTreeLSTM, NaryTreeLSTM, TreeLayer, kinds
from layers import doubled, trees_for, with_memory
from oracle import TOLERANCE, inputs


@with_memory
def test_gradients_of_h_alone_and_of_c_alone_add_up(name: str) -> None:
    layer, trees = doubled(name), trees_for(name)
    x = inputs(trees)
    h, c = layer(x, Forest(trees))
    dh, dc, wanted = torch.randn_like(h), torch.randn_like(c), [x, *layer.parameters()]

    def grads(outputs: list[Tensor], onto: list[Tensor]) -> tuple[Tensor, ...]:
        return torch.autograd.grad(outputs, wanted, onto, retain_graph=True, materialize_grads=True)

    parts = zip(grads([h], [dh]), grads([c], [dc]), grads([h, c], [dh, dc]), strict=True)
    for of_h, of_c, of_both in parts:
        torch.testing.assert_close(of_h + of_c, of_both, **TOLERANCE)


@pytest.mark.parametrize("name", ["constituency", "constituency, affine", "dependency"])
def test_weights_changed_before_backward_are_an_error(name: str) -> None:
    layer, trees = doubled(name), trees_for(name)
    h, _ = layer(inputs(trees), Forest(trees))
    with torch.no_grad():
        layer.get_parameter("U").mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        h.sum().backward()


class BySlot(TreeLayer):
    """h = a + the sum over two slots; the layer does not check its forests."""

    def node(self, a: Tensor, below: Children) -> tuple[Tensor]:
        return (a + below.slots(below.states[0], 2).sum(dim=1),)


def test_a_child_too_many_for_the_slots_is_named() -> None:
    many = Forest([Tree([-1, 0, 0, 0]), Tree([-1, 0])])
    with pytest.raises(ValueError, match="node 0 of tree 0 has 3 children; the layer's arity is 2"):
        BySlot(1, states=(1,))(torch.ones(6, 1), many)


@pytest.mark.parametrize("layer", [ChildSumTreeLSTM, NaryTreeLSTM])
def test_dropped_entries_have_a_gradient_in_16_bits(
    layer: type[ChildSumTreeLSTM] | type[NaryTreeLSTM],
) -> None:
    torch.manual_seed(0)
    half = layer(3, 4, recurrent_dropout=0.5).half()
    h, c = half(torch.randn(3, 3).half(), Forest([Tree([-1, 0, 0])]))
    (h.sum() + c.sum()).backward()
    assert all(p.grad is None or bool(p.grad.isfinite().all()) for p in half.parameters())


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize("name", ["dependency", "constituency", "tree-gru"])
def test_weights_that_no_node_uses_have_zero_gradients(
    name: str, fast: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOUGH_FAST", "" if fast else "0")
    layer = kinds()[name].build(3, 4, 2, {})
    forest = Forest([Tree([-1]), Tree([-1])])  # no node has children
    out = layer(torch.randn(2, 3), forest)
    (out[0] if isinstance(out, tuple) else out).sum().backward()
    assert all(weight.grad is not None for weight in layer.parameters())
    unused = [weight for weight in layer.parameters() if weight.grad is not None and not weight.grad.any()]
    assert unused
