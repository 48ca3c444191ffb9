"""What holds for every layer, whatever its equations: here for those of the library, found through the registry."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest
import safetensors.torch
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from bough import Forest, Tree
from bough.nn import LSTM, AttentiveChildSum, TreeLayer
from bough.nn.base import UniformInit
from bough.nn.kernels.tree_lstm import CHUNK
from by_steps import by_steps, guides
from layers import LAYERS, build, doubled, forests_for, reads, related, trees_for
from one_by_one import one_by_one
from oracle import TOLERANCE, X, assert_all_close, drawn, gradients, identities, inputs, keys_for, states

pytestmark = pytest.mark.parametrize(
    "name", LAYERS
)  # tests/lab/paper/layers takes all claims for other layers


# ----------------------------------------------------------------------------- the equations


@given(data=st.data())
@drawn
def test_a_batch_is_its_nodes_one_at_a_time(name: str, data: st.DataObject) -> None:
    layer, trees = doubled(name), data.draw(forests_for(name))
    x = inputs(trees)
    ours, theirs = states(layer, x, Forest(trees)), one_by_one(layer, x, trees)
    assert_all_close(ours, theirs)
    assert_all_close(gradients(ours, x, layer), gradients(theirs, x, layer))


@given(data=st.data())
@drawn
def test_sharing_changes_nothing(name: str, data: st.DataObject) -> None:
    layer, trees = doubled(name), data.draw(forests_for(name))
    keys = data.draw(keys_for(trees))
    x, ids = inputs(trees, keys), identities(trees, keys)
    shared, plain = (states(layer, x, forest) for forest in (Forest(trees, keys), Forest(trees)))
    assert_all_close(shared, plain)
    found = [gradients(out, x, layer) for out in (shared, plain)]
    for grads in found:  # of inputs that are shared, only the sum of the gradients is defined
        grads[0] = torch.zeros_like(x).index_add(0, ids, grads[0])
    assert_all_close(*found)


@given(data=st.data())
@drawn
def test_steps_are_the_whole_forward_pass(name: str, data: st.DataObject) -> None:
    layer, trees = doubled(name), data.draw(forests_for(name))
    x = inputs(trees)
    if isinstance(layer, LSTM) and layer.bidirectional:
        with pytest.raises(ValueError, match=r"^LSTM has no step; the state of a node depends on more than"):
            layer.step(x)
        return
    more = {"guide": guides(layer, trees)} if isinstance(layer, AttentiveChildSum) else {}
    whole = layer(x, Forest(trees, relations={0: 0, 1: 1}), **more)
    whole = whole if isinstance(whole, tuple) else (whole,)
    steps = by_steps(layer, x, trees)
    assert_all_close(steps, whole)
    assert_all_close(gradients(steps, x, layer), gradients(whole, x, layer))


@pytest.mark.parametrize("keyed", [False, True])
def test_one_kind_is_no_kinds(name: str, keyed: bool) -> None:
    layer, trees = doubled(name), trees_for(name)
    keys = [[node % 2 for node in range(len(tree))] for tree in trees] if keyed else None
    forest, x = Forest(trees, keys), inputs(trees, keys)
    if not isinstance(layer, TreeLayer):
        with pytest.raises(ValueError, match=rf"^{type(layer).__name__} does not use kinds$"):
            layer(x, forest, kinds=[0] * len(x))
        return
    plain, kind = states(layer, x, forest), layer(x, forest, kinds=[0] * len(x))
    kind = kind if isinstance(kind, tuple) else (kind,)
    assert_all_close(kind, plain)
    assert_all_close(gradients(kind, x, layer), gradients(plain, x, layer))
    with pytest.raises(
        ValueError, match=rf"^{type(layer).__name__} does not use kinds; a layer reads them as"
    ):
        layer(x, forest, kinds=range(len(x)))


def test_a_single_node(name: str) -> None:
    layer, trees = doubled(name), [related([-1])]
    x = inputs(trees)
    assert_all_close(states(layer, x, Forest(trees)), one_by_one(layer, x, trees))


@pytest.mark.parametrize("nodes", [1_500, pytest.param(10_000, marks=pytest.mark.slow)])
def test_depth(name: str, nodes: int) -> None:
    layer = build(name)
    tree = related([*range(1, nodes), -1])
    x = torch.randn(len(tree), X, requires_grad=True)
    out = states(layer, x, Forest([tree]))[0]
    assert out.shape == (len(tree), layer.width)
    out.sum().backward()
    assert x.grad is not None
    assert x.grad.isfinite().all()


def test_the_vector_of_a_sentence_is_as_wide_as_it_says(name: str) -> None:
    layer, trees = doubled(name), trees_for(name)
    forest = Forest(trees)
    rows = inputs(trees)[layer.input_nodes(forest)]
    assert layer.sentences(rows, forest).shape == (len(trees), layer.width)


# --------------------------------------------------------------------------------- gradients


@pytest.mark.parametrize("keyed", [False, True])
def test_gradcheck(name: str, keyed: bool) -> None:
    layer, trees = doubled(name), trees_for(name)
    keys = [[node % 2 for node in range(len(tree))] for tree in trees] if keyed else None
    forest = Forest(trees, keys)
    # distinct rows even where keys are equal would break the promise that keys make, so perturb those instead
    table = torch.randn(2, X, dtype=torch.float64, requires_grad=True)
    x = inputs(trees)
    rows = torch.tensor([key for part in keys for key in part]) if keys is not None else None
    names = [parameter for parameter, _ in layer.named_parameters()]

    def run(*tensors: Tensor) -> tuple[Tensor, ...]:
        weights = dict(zip(names, tensors[1:], strict=True))
        nodes = tensors[0] if rows is None else tensors[0][rows]
        out = torch.func.functional_call(layer, weights, (nodes, forest))
        return out if isinstance(out, tuple) else (out,)

    assert torch.autograd.gradcheck(run, (x if rows is None else table, *layer.parameters()))


def test_a_second_derivative_is_refused_and_never_wrong(name: str) -> None:
    layer, trees = doubled(name), trees_for(name)
    x = inputs(trees)
    out = layer(x, Forest(trees))
    h = out[0] if isinstance(out, tuple) else out
    plain = torch.autograd.grad(h.sum(), x, retain_graph=True)[0]
    (grad,) = torch.autograd.grad(h.sum(), x, create_graph=True)
    assert torch.equal(grad, plain)
    with pytest.raises(RuntimeError, match="first derivatives only"):
        grad.square().sum().backward()


def test_autocast_leaves_the_layer_alone(name: str) -> None:
    layer, trees = build(name), trees_for(name)
    x = inputs(trees).float().detach().requires_grad_()
    wanted = [x, *layer.parameters()]
    found = []
    for enabled in (False, True):
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=enabled):
            out = layer(x, Forest(trees))
            h = out[0] if isinstance(out, tuple) else out
            grads = torch.autograd.grad(h.sum(), wanted, allow_unused=True, materialize_grads=True)
        assert h.dtype == torch.float32
        found.append((h, *grads))
    for exact, cast in zip(*found, strict=True):
        assert torch.allclose(exact, cast, atol=0.05, rtol=0.05)


class Nothing(torch.autograd.Function):
    """The identity, but no gradient comes back."""

    @staticmethod
    def forward(ctx: object, h: Tensor) -> Tensor:
        return h.clone()

    @staticmethod
    def backward(ctx: object, grad: Tensor) -> None:
        return None


def test_no_gradient_at_all_is_a_gradient_of_zero(name: str) -> None:
    layer, trees = doubled(name), trees_for(name)
    x = inputs(trees)
    h = states(layer, x, Forest(trees))[0]
    nothing = Nothing.apply(h).sum()  # type: ignore[no-untyped-call]
    for grad in torch.autograd.grad(nothing, [x, *layer.parameters()], materialize_grads=True):
        assert not grad.any()


def test_a_retained_graph_gives_the_same_gradient_twice(name: str) -> None:
    layer, trees = doubled(name), trees_for(name)
    h = states(layer, inputs(trees), Forest(trees))[0]
    loss, parameters = h.square().sum(), list(layer.parameters())
    first = torch.autograd.grad(loss, parameters, retain_graph=True, materialize_grads=True)
    kept = [grad.clone() for grad in first]
    second = torch.autograd.grad(loss, parameters, materialize_grads=True)
    for a, b, c in zip(first, second, kept, strict=True):
        assert torch.equal(a, b)
        assert torch.equal(a, c)  # the second pass did not write into what the first one returned


def test_gradients_accumulate(name: str) -> None:
    layer, trees = doubled(name), trees_for(name)
    x, forest = inputs(trees), Forest(trees)
    for _ in range(2):
        states(layer, x, forest)[0].sum().backward()
    (once,) = torch.autograd.grad(states(layer, x, forest)[0].sum(), x)
    torch.testing.assert_close(x.grad, 2 * once, **TOLERANCE)


def test_x_alone_may_ask_for_a_gradient(name: str) -> None:
    layer, trees = doubled(name), trees_for(name)
    x, forest = inputs(trees), Forest(trees)
    (expected,) = torch.autograd.grad(states(layer, x, forest)[0].sum(), x)
    layer.requires_grad_(False)
    (grad,) = torch.autograd.grad(states(layer, x, forest)[0].sum(), x)
    torch.testing.assert_close(grad, expected, **TOLERANCE)


# ----------------------------------------------------------------------------------- forests


def test_a_forest_equals_its_trees_one_by_one(name: str) -> None:
    layer, trees = doubled(name), trees_for(name)
    x = inputs(trees)
    together = states(layer, x, Forest(trees))
    alone = [
        states(layer, part, Forest([tree]))
        for tree, part in zip(trees, x.split([len(tree) for tree in trees]), strict=True)
    ]
    for state, parts in zip(together, zip(*alone, strict=True), strict=True):
        torch.testing.assert_close(state, torch.cat(parts), **TOLERANCE)


def assert_one_by_one(name: str, trees: list[Tree]) -> None:
    layer, x = doubled(name), inputs(trees)
    for ours, theirs in zip(states(layer, x, Forest(trees)), one_by_one(layer, x, trees), strict=True):
        torch.testing.assert_close(ours, theirs, **TOLERANCE)


def test_levels_of_many_rows_agree(name: str) -> None:
    shape = [1, 2, -1] if reads(name) == "chain" else [2, 2, -1]
    assert_one_by_one(name, [related(shape)] * (CHUNK + 10))


def test_long_chains(name: str) -> None:
    tree = related([*range(1, 120), -1])
    assert_one_by_one(name, [tree, related([-1])])


@pytest.mark.parametrize("keys", [None, []])
def test_an_empty_forest_has_empty_states_and_no_gradient(name: str, keys: list[list[int]] | None) -> None:
    layer = doubled(name)
    x = torch.zeros(0, X, dtype=torch.float64, requires_grad=True)
    out = states(layer, x, Forest([], keys))
    for state in out:
        assert state.shape[0] == 0
    assert [state.shape[1] for state in out] in ([layer.width] * len(out), list(getattr(layer, "states", ())))
    total = torch.stack([state.sum() for state in out]).sum()
    for grad in torch.autograd.grad(total, [x, *layer.parameters()], materialize_grads=True):
        assert not grad.any()


# ------------------------------------------------------------------------------------- modes


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_states_are_the_same_without_a_gradient(name: str, mode: Callable[[], torch.no_grad]) -> None:
    layer, trees = doubled(name), trees_for(name)
    x, forest = inputs(trees), Forest(trees)
    recorded = states(layer, x, forest)
    with mode():
        bare = states(layer, x, forest)
    for a, b in zip(recorded, bare, strict=True):
        assert not b.requires_grad
        assert torch.equal(a, b)


def test_float32_is_float64_rounded(name: str) -> None:
    layer, trees = doubled(name), trees_for(name)
    x = inputs(trees)
    expected = states(layer, x, Forest(trees))
    rounded = states(layer.float(), x.float(), Forest(trees))
    for a, b in zip(rounded, expected, strict=True):
        assert a.dtype == torch.float32
        torch.testing.assert_close(a, b.float(), rtol=1e-5, atol=1e-5)


# ------------------------------------------------------------------------------------ saving


def test_reset_draws_every_weight_again(name: str) -> None:
    layer = build(name)
    with torch.no_grad():
        for value in layer.parameters():
            value.add_(1)
    before = {weight: value.clone() for weight, value in layer.named_parameters()}
    layer.reset_parameters()
    for weight, value in layer.named_parameters():
        assert not torch.equal(value, before[weight]), weight


def test_copies_and_pickles(name: str) -> None:
    layer, trees = doubled(name), trees_for(name)
    x, forest = inputs(trees), Forest(trees)
    expected = states(layer, x, forest)
    for twin in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert_all_close(states(twin, x, pickle.loads(pickle.dumps(forest))), expected)


def test_state_dict_round_trip(name: str) -> None:
    layer, other, trees = doubled(name), doubled(name), trees_for(name)
    x, forest = inputs(trees), Forest(trees)
    assert not torch.equal(states(layer, x, forest)[0], states(other, x, forest)[0])
    other.load_state_dict(layer.state_dict())
    assert torch.equal(states(layer, x, forest)[0], states(other, x, forest)[0])


def test_saved_without_pickle(name: str, tmp_path: Path) -> None:
    layer, other, trees = doubled(name), doubled(name), trees_for(name)
    x, forest = inputs(trees), Forest(trees)
    safetensors.torch.save_model(layer, str(tmp_path / "layer.safetensors"))
    safetensors.torch.load_model(other, tmp_path / "layer.safetensors")
    assert torch.equal(states(layer, x, forest)[0], states(other, x, forest)[0])


def test_a_deep_copy_lives_on_its_own(name: str) -> None:
    layer, trees = doubled(name), trees_for(name)
    x, forest = inputs(trees), Forest(trees)
    states(layer, x, forest)[0].sum().backward()
    twin = copy.deepcopy(layer)
    before = states(layer, x, forest)[0].detach()
    assert torch.equal(states(twin, x, forest)[0], before)
    with torch.no_grad():
        for parameter in twin.parameters():
            parameter.zero_()
    assert torch.equal(states(layer, x, forest)[0], before)


# ------------------------------------------------------------------------------------ errors


@pytest.mark.parametrize("way", ["0", ""])
def test_a_weight_of_another_shape_is_named_by_every_path(
    name: str, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither read out of bounds nor broadcast in silence."""
    monkeypatch.setenv("BOUGH_FAST", way)
    forest = Forest(trees_for(name))
    x = torch.randn(forest.num_nodes, X)
    layer = build(name)
    for part in layer.modules():
        for weight, shape in part._shapes.items() if isinstance(part, UniformInit) else ():
            right = getattr(part, weight)
            for wrong in ((*shape[:-1], shape[-1] + 1), (*shape[:-1], 1), (1,) * len(shape)):
                if wrong != shape:
                    setattr(part, weight, torch.nn.Parameter(torch.zeros(wrong)))
                    with pytest.raises(ValueError, match=rf"^{weight} of \w+ is \(.*; it must be \("):
                        layer(x, forest)
            setattr(part, weight, right)
    layer(x, forest)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((6, X), r"^x has 6 rows; the forest has {nodes} nodes, one row each$"),
        ((None, 9), r"^x is \({nodes}, 9\); the layer takes \(nodes, {width}\)$"),
        ((X,), r"^x is \({width},\); the layer takes \(nodes, {width}\)$"),
        ((1, None, X), r"^x is \(1, {nodes}, {width}\); the layer takes \(nodes, {width}\)$"),
    ],
)
def test_x_of_the_wrong_shape(name: str, shape: tuple[int | None, ...], message: str) -> None:
    forest = Forest(trees_for(name))
    x = torch.zeros([forest.num_nodes if size is None else size for size in shape])
    with pytest.raises(ValueError, match=message.format(nodes=forest.num_nodes, width=X)):
        build(name)(x, forest)


@pytest.mark.parametrize("dtype", [torch.float64, torch.int64])
def test_x_of_the_wrong_dtype(name: str, dtype: torch.dtype) -> None:
    forest = Forest(trees_for(name))
    message = rf"^x is {dtype} on cpu, the layer torch\.float32 on cpu; use \.to\(\) on one$"
    with pytest.raises(ValueError, match=message):
        build(name)(torch.zeros(forest.num_nodes, X, dtype=dtype), forest)


def test_a_forest_on_another_device(name: str) -> None:
    forest = Forest(trees_for(name)).to("meta")
    with pytest.raises(ValueError, match=r"^the forest is on meta, x on cpu; use forest\.to\(x\.device\)$"):
        build(name)(torch.zeros(forest.num_nodes, X), forest)


@pytest.mark.parametrize("keyed", [False, True])
def test_a_nan_names_its_node(name: str, keyed: bool) -> None:
    trees = trees_for(name)
    x = torch.zeros(sum(map(len, trees)), X)
    x[len(trees[0]) + len(trees[1]), 2] = torch.nan  # a leaf, or a chain's first word
    keys = [list(range(10 * k, 10 * k + len(tree))) for k, tree in enumerate(trees)] if keyed else None
    with pytest.raises(ValueError, match=r"^x has a NaN in the row of node 0 of tree 2$"):
        build(name)(x, Forest(trees, keys))


def test_infinities_are_numbers(name: str) -> None:
    trees = trees_for(name)
    x = torch.zeros(sum(map(len, trees)), X)
    x[0, 0], x[0, 1] = torch.inf, -torch.inf
    build(name)(x, Forest(trees))
