"""What every layer owes its user, whatever its equations."""

from __future__ import annotations

import copy
import gc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import safetensors.torch
import torch
from torch import Tensor, nn

from bough import Forest, Tree
from bough.forest import CHUNK
from bough.nn import DTRNN, LSTM, SDTRNN, ChildSumTreeLSTM, NaryTreeLSTM
from bough.nn.child_sum_cell import ChildSumCell
from bough.nn.engine import grouped
from bough.nn.nary_cell import NaryCell
from oracle import TOLERANCE, D, X, assert_recursive, inputs, states

LAYERS: dict[str, Callable[[], nn.Module]] = {
    "affine": lambda: NaryTreeLSTM(X, D),
    "gated": lambda: NaryTreeLSTM(X, D, leaf="gated"),
    "tied": lambda: NaryTreeLSTM(X, D, forget="tied", output_gate=False),
    "child-sum": lambda: ChildSumTreeLSTM(X, D),
    "lstm": lambda: LSTM(X, D, layers=2, bidirectional=True),
    "dt-rnn": lambda: DTRNN(X, D),
    "sdt-rnn": lambda: SDTRNN(X, D, relations=2),
}
GATED = [name for name in LAYERS if "rnn" not in name]
every_layer = pytest.mark.parametrize("name", LAYERS)
with_memory = pytest.mark.parametrize("name", GATED)  # those with a c


def related(parents: list[int]) -> Tree:
    return Tree(parents, relations=[node % 2 for node in range(len(parents))])


def trees_for(name: str) -> list[Tree]:
    if name == "lstm":
        return [related(parents) for parents in ([1, 2, -1], [-1], [1, -1, 0])]
    return [related(parents) for parents in ([2, 2, 4, 4, -1], [-1], [1, -1, 1], [1, 2, -1])]


def doubled(name: str) -> nn.Module:
    return LAYERS[name]().double()


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
    for grad in torch.autograd.grad(Nothing.apply(h).sum(), [x, *layer.parameters()], materialize_grads=True):
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


@pytest.mark.parametrize("name", ["affine", "gated", "child-sum"])
def test_weights_changed_before_backward_are_an_error(name: str) -> None:
    layer, trees = doubled(name), trees_for(name)
    h, _ = layer(inputs(trees), Forest(trees))
    with torch.no_grad():
        layer.U.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        h.sum().backward()


@with_memory
def test_a_second_derivative_is_an_error_not_a_wrong_number(name: str) -> None:
    layer, trees = doubled(name), trees_for(name)
    x = inputs(trees)
    (grad,) = torch.autograd.grad(layer(x, Forest(trees))[0].square().sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        grad.sum().backward()


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


@every_layer
def test_levels_of_many_rows_are_cut_and_agree(name: str) -> None:
    shape = [1, 2, -1] if name == "lstm" else [2, 2, -1]
    trees = [related(shape)] * (CHUNK + 10)
    assert max(Forest(trees).level_sizes[1:]) <= CHUNK < len(trees)
    assert_recursive(LAYERS[name](), trees)


@every_layer
def test_long_chains(name: str) -> None:
    tree = related([*range(1, 700), -1])
    assert_recursive(LAYERS[name](), [tree, related([-1])])


@every_layer
@pytest.mark.parametrize("keys", [None, []])
def test_an_empty_forest_has_empty_states_and_no_gradient(name: str, keys: list[list[int]] | None) -> None:
    layer = doubled(name)
    x = torch.zeros(0, X, dtype=torch.float64, requires_grad=True)
    out = states(layer, x, Forest([], keys))
    for state in out:
        assert state.shape == (0, getattr(layer, "width", D))
    for grad in torch.autograd.grad(
        sum(state.sum() for state in out), [x, *layer.parameters()], materialize_grads=True
    ):
        assert not grad.any()


# ------------------------------------------------------------------ modes, memory


@every_layer
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


@every_layer
def test_float32_is_float64_rounded(name: str) -> None:
    layer, trees = doubled(name), trees_for(name)
    x = inputs(trees)
    expected = states(layer, x, Forest(trees))
    rounded = states(layer.float(), x.float(), Forest(trees))
    for a, b in zip(rounded, expected, strict=True):
        assert a.dtype == torch.float32
        torch.testing.assert_close(a, b.float(), rtol=1e-5, atol=1e-5)


def live_cells() -> int:
    return sum(type(thing) in (NaryCell, ChildSumCell) for thing in gc.get_objects())


@pytest.fixture
def no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collector")
@with_memory
def test_a_finished_step_leaves_nothing_behind(name: str) -> None:
    layer, trees = doubled(name), trees_for(name)
    x, forest = inputs(trees), Forest(trees)
    for _ in range(2):
        h, c = layer(x, forest)
        assert live_cells() > 0
        (h.sum() + c.sum()).backward()
        del h, c
        assert live_cells() == 0  # by reference counts alone, no cycle for the collector to find
    layer(x, forest)  # never differentiated
    with torch.no_grad():
        held = layer(x, forest)
    assert live_cells() == 0
    del held


# ------------------------------------------------------------------------- saving


@every_layer
def test_state_dict_round_trip(name: str) -> None:
    layer, other, trees = doubled(name), doubled(name), trees_for(name)
    x, forest = inputs(trees), Forest(trees)
    assert not torch.equal(states(layer, x, forest)[0], states(other, x, forest)[0])
    other.load_state_dict(layer.state_dict())
    assert torch.equal(states(layer, x, forest)[0], states(other, x, forest)[0])


@every_layer
def test_saved_without_pickle(name: str, tmp_path: Path) -> None:
    layer, other, trees = doubled(name), doubled(name), trees_for(name)
    x, forest = inputs(trees), Forest(trees)
    safetensors.torch.save_model(layer, str(tmp_path / "layer.safetensors"))
    safetensors.torch.load_model(other, tmp_path / "layer.safetensors")
    assert torch.equal(states(layer, x, forest)[0], states(other, x, forest)[0])


@every_layer
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


@every_layer
def test_weights_start_within_the_papers_bounds(name: str) -> None:
    layer = LAYERS[name]()
    for parameter_name, parameter in layer.named_parameters():
        reads_x = (
            "W" in parameter_name
        ) and ".1." not in parameter_name  # .1. is a second layer, which reads h
        bound = (X if reads_x else D) ** -0.5
        assert bound / 3 < parameter.abs().max() <= bound


# ------------------------------------------------------------------------- errors


@every_layer
@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((6, X), r"^x has 6 rows; the forest has {nodes} nodes, one row each$"),
        ((None, 9), r"^x is \({nodes}, 9\); the layer takes \(nodes, 4\)$"),
        ((X,), r"^x is \(4,\); the layer takes \(nodes, 4\)$"),
        ((1, None, X), r"^x is \(1, {nodes}, 4\); the layer takes \(nodes, 4\)$"),
    ],
)
def test_x_of_the_wrong_shape(name: str, shape: tuple[int | None, ...], message: str) -> None:
    forest = Forest(trees_for(name))
    x = torch.zeros([forest.size if size is None else size for size in shape])
    with pytest.raises(ValueError, match=message.format(nodes=forest.size)):
        LAYERS[name]()(x, forest)


@every_layer
@pytest.mark.parametrize("dtype", [torch.float64, torch.int64])
def test_x_of_the_wrong_dtype(name: str, dtype: torch.dtype) -> None:
    forest = Forest(trees_for(name))
    message = rf"^x is {dtype} on cpu, the layer torch\.float32 on cpu; use \.to\(\) on one$"
    with pytest.raises(ValueError, match=message):
        LAYERS[name]()(torch.zeros(forest.size, X, dtype=dtype), forest)


@every_layer
def test_a_forest_on_another_device(name: str) -> None:
    forest = Forest(trees_for(name)).to("meta")
    with pytest.raises(ValueError, match=r"^the forest is on meta, x on cpu; use forest\.to\(x\.device\)$"):
        LAYERS[name]()(torch.zeros(forest.size, X), forest)


@every_layer
@pytest.mark.parametrize("keyed", [False, True])
def test_a_nan_names_its_node(name: str, keyed: bool) -> None:
    trees = trees_for(name)
    x = torch.zeros(sum(map(len, trees)), X)
    x[len(trees[0]) + len(trees[1]), 2] = torch.nan  # a leaf, or a chain's first word
    keys = [list(range(10 * k, 10 * k + len(tree))) for k, tree in enumerate(trees)] if keyed else None
    with pytest.raises(ValueError, match=r"^x has a NaN in the row of node 0 of tree 2$"):
        LAYERS[name]()(x, Forest(trees, keys))


@every_layer
def test_infinities_are_numbers(name: str) -> None:
    trees = trees_for(name)
    x = torch.zeros(sum(map(len, trees)), X)
    x[0, 0], x[0, 1] = torch.inf, -torch.inf
    LAYERS[name]()(x, Forest(trees))


# ------------------------------------------------------------------------- groups


def test_groups_cover_the_units_in_runs_that_end_with_a_level() -> None:
    slices = [(0, 40), (40, 50), (50, 58), (58, 90), (90, 91)]
    assert grouped(slices, rows=16) == {0: (0, 40), 2: (40, 58), 3: (58, 90), 4: (90, 91)}
    assert grouped([]) == {}
