"""What holds for every registered layer, found through the registry: its equations are all there is to it."""

from __future__ import annotations

import copy
import pickle

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from bough import Forest, Tree
from bough.nn import Encoder, TreeLayer, kinds
from layers import LAYERS, READS, by_hand, doubled, every_layer, related, trees_for
from one_by_one import one_by_one
from oracle import TOLERANCE, D, X, chains, drawn, identities, inputs, keys_for, states
from treegen import trees as any_trees


def _grads(out: tuple[Tensor, ...], x: Tensor, layer: Encoder) -> list[Tensor]:
    out = tuple(state for state in out if state.requires_grad)  # a count does not
    onto = [torch.sin(torch.arange(state.numel(), dtype=state.dtype)).view_as(state) for state in out]
    return list(torch.autograd.grad(out, [x, *layer.parameters()], onto, materialize_grads=True))


def _close(some: list[Tensor] | tuple[Tensor, ...], other: list[Tensor] | tuple[Tensor, ...]) -> None:
    for a, b in zip(some, other, strict=True):
        torch.testing.assert_close(a, b, **TOLERANCE)


def _equations(layer: Encoder) -> Encoder:
    for module in layer.modules():
        if isinstance(module, TreeLayer):
            module.fast = False
    return layer


@st.composite
def forests_for(draw: st.DrawFn, name: str) -> list[Tree]:
    if READS[name] == "chain":
        return draw(chains())[0]
    found = draw(st.lists(any_trees(max_nodes=9, relations=st.integers(0, 1)), min_size=1, max_size=4))
    if READS[name] == "any":
        return found
    return [Tree(tree.binarise().parents) for tree in found]


@every_layer
@given(data=st.data())
@drawn
def test_a_batch_is_its_nodes_one_at_a_time(name: str, data: st.DataObject) -> None:
    layer, trees = doubled(name), data.draw(forests_for(name))
    x = inputs(trees)
    ours, theirs = states(layer, x, Forest(trees)), one_by_one(layer, x, trees)
    _close(ours, theirs)
    _close(_grads(ours, x, layer), _grads(theirs, x, layer))


@every_layer
@given(data=st.data())
@drawn
def test_sharing_changes_nothing(name: str, data: st.DataObject) -> None:
    layer, trees = doubled(name), data.draw(forests_for(name))
    keys = data.draw(keys_for(trees))
    x, ids = inputs(trees, keys), identities(trees, keys)
    shared, plain = (states(layer, x, forest) for forest in (Forest(trees, keys), Forest(trees)))
    _close(shared, plain)
    found = [_grads(out, x, layer) for out in (shared, plain)]
    for grads in found:  # of inputs that are shared, only the sum of the gradients is defined
        grads[0] = torch.zeros_like(x).index_add(0, ids, grads[0])
    _close(*found)


@by_hand
@pytest.mark.parametrize(
    "dtype", [torch.float64, torch.float32], ids=["torch", "compiled"]
)  # C takes float32
@given(data=st.data())
@drawn
def test_what_is_written_by_hand_is_the_equations(name: str, dtype: torch.dtype, data: st.DataObject) -> None:
    layer, trees = LAYERS[name]().to(dtype), data.draw(forests_for(name))
    keys = data.draw(st.none() | keys_for(trees))
    x = inputs(trees, keys).detach().to(dtype).requires_grad_()
    fast = states(layer, x, Forest(trees, keys))
    slow = states(_equations(layer), x, Forest(trees, keys))
    near = TOLERANCE if dtype == torch.float64 else {"rtol": 1e-4, "atol": 1e-5}
    for ours, theirs in zip([*fast, *_grads(fast, x, layer)], [*slow, *_grads(slow, x, layer)], strict=True):
        torch.testing.assert_close(ours, theirs, **near)


@pytest.mark.parametrize("name", ["constituency", "constituency, gated", "dependency"])
def test_so_is_it_with_dropout(name: str) -> None:
    layer, trees = doubled(name), trees_for(name) * 3
    setattr(layer, "recurrent_dropout", 0.4)  # noqa: B010
    x, found = inputs(trees), []
    for _ in range(2):
        torch.manual_seed(3)
        out = states(layer, x, Forest(trees))
        found.append([*out, *_grads(out, x, layer)])
        _equations(layer)
    _close(*found)
    assert not torch.equal(found[0][0], states(layer.eval(), x, Forest(trees))[0])


def test_a_changed_equation_does_not_keep_the_old_fast_path() -> None:
    class Halved(kinds()["dependency"].layer):  # type: ignore[misc]
        def node(self, a, below):  # type: ignore[no-untyped-def]
            h, c = super().node(a, below)
            return h / 2, c

    layer, trees = Halved(X, D).double(), trees_for("dependency")
    x = inputs(trees)
    _close(layer(x, Forest(trees)), one_by_one(layer, x, trees))


@every_layer
def test_depth_ten_thousand(name: str) -> None:
    layer = LAYERS[name]()
    tree = related([*range(1, 10_000), -1])
    x = torch.randn(len(tree), X, requires_grad=True)
    out = states(layer, x, Forest([tree]))[0]
    assert out.shape == (len(tree), layer.width)
    out.sum().backward()
    assert x.grad is not None
    assert x.grad.isfinite().all()


@every_layer
def test_a_single_node(name: str) -> None:
    layer, trees = doubled(name), [related([-1])]
    x = inputs(trees)
    _close(states(layer, x, Forest(trees)), one_by_one(layer, x, trees))


@every_layer
def test_copies_and_pickles(name: str) -> None:
    layer, trees = doubled(name), trees_for(name)
    x, forest = inputs(trees), Forest(trees)
    expected = states(layer, x, forest)
    for twin in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        _close(states(twin, x, pickle.loads(pickle.dumps(forest))), expected)


@every_layer
def test_reset_draws_every_weight_again(name: str) -> None:
    layer = LAYERS[name]()
    before = {weight: value.clone() for weight, value in layer.named_parameters()}
    layer.reset_parameters()
    for weight, value in layer.named_parameters():
        assert not torch.equal(value, before[weight]), weight


@pytest.mark.parametrize("name", kinds())
def test_device_and_dtype_are_taken(name: str) -> None:
    kind = kinds()[name]
    layer = kind.build(X, D, 2, {"device": "meta", "dtype": torch.float64})
    for weight in layer.parameters():
        assert (weight.device.type, weight.dtype) == ("meta", torch.float64)


@every_layer
def test_the_vector_of_a_sentence_is_as_wide_as_it_says(name: str) -> None:
    layer, trees = doubled(name), trees_for(name)
    forest = Forest(trees)
    rows = inputs(trees)[layer.input_nodes(forest)]
    assert layer.sentences(rows, forest).shape == (len(trees), layer.width)
