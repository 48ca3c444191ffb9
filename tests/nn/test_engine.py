"""The level engine under every layer: its gradients, and forests of every shape."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from bough import Forest, Tree
from bough.nn import ChildSumTreeLSTM, Edges, NaryTreeLSTM, TreeLayer
from bough.nn.engine import grouped
from bough.trees.schedule import CHUNK
from layers import LAYERS, READS, doubled, every_layer, related, trees_for, with_memory
from one_by_one import one_by_one
from oracle import TOLERANCE, X, inputs, states

# --------------------------------------------------------------------- gradients


@every_layer
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


@every_layer
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


@every_layer
def test_autocast_leaves_the_sweep_alone(name: str) -> None:
    layer, trees = LAYERS[name](), trees_for(name)
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


class Nothing(torch.autograd.Function):
    """The identity, but no gradient comes back."""

    @staticmethod
    def forward(ctx: object, h: Tensor) -> Tensor:
        return h.clone()

    @staticmethod
    def backward(ctx: object, grad: Tensor) -> None:
        return None


@every_layer
def test_no_gradient_at_all_is_a_gradient_of_zero(name: str) -> None:
    layer, trees = doubled(name), trees_for(name)
    x = inputs(trees)
    h = states(layer, x, Forest(trees))[0]
    nothing = Nothing.apply(h).sum()  # type: ignore[no-untyped-call]
    for grad in torch.autograd.grad(nothing, [x, *layer.parameters()], materialize_grads=True):
        assert not grad.any()


@every_layer
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


@every_layer
def test_gradients_accumulate(name: str) -> None:
    layer, trees = doubled(name), trees_for(name)
    x, forest = inputs(trees), Forest(trees)
    for _ in range(2):
        states(layer, x, forest)[0].sum().backward()
    (once,) = torch.autograd.grad(states(layer, x, forest)[0].sum(), x)
    torch.testing.assert_close(x.grad, 2 * once, **TOLERANCE)


@every_layer
def test_x_alone_may_ask_for_a_gradient(name: str) -> None:
    layer, trees = doubled(name), trees_for(name)
    x, forest = inputs(trees), Forest(trees)
    (expected,) = torch.autograd.grad(states(layer, x, forest)[0].sum(), x)
    layer.requires_grad_(False)
    (grad,) = torch.autograd.grad(states(layer, x, forest)[0].sum(), x)
    torch.testing.assert_close(grad, expected, **TOLERANCE)


@pytest.mark.parametrize("name", ["constituency", "constituency, gated", "dependency"])
def test_weights_changed_before_backward_are_an_error(name: str) -> None:
    layer, trees = doubled(name), trees_for(name)
    h, _ = layer(inputs(trees), Forest(trees))
    with torch.no_grad():
        layer.get_parameter("U").mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        h.sum().backward()


# ------------------------------------------------------------------------ forests


@every_layer
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


@every_layer
def test_levels_of_many_rows_are_cut_and_agree(name: str) -> None:
    shape = [1, 2, -1] if READS[name] == "chain" else [2, 2, -1]
    trees = [related(shape)] * (CHUNK + 10)
    assert max(Forest(trees).level_sizes[1:]) <= CHUNK < len(trees)
    assert_one_by_one(name, trees)


@every_layer
def test_long_chains(name: str) -> None:
    tree = related([*range(1, 300), -1])
    assert_one_by_one(name, [tree, related([-1])])


@every_layer
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


def test_groups_cover_the_units_in_runs_that_end_with_a_level() -> None:
    slices = [(0, 40), (40, 50), (50, 58), (58, 90), (90, 91)]
    assert grouped(slices, rows=16) == {0: (0, 40), 2: (40, 58), 3: (58, 90), 4: (90, 91)}
    assert grouped([]) == {}


class BySlot(TreeLayer):
    """h = a + the sum over two slots; the layer does not check its forests."""

    def node(self, a: Tensor, below: Edges) -> tuple[Tensor]:
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
