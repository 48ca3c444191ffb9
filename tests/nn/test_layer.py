"""What every layer owes its user, whatever its equations: modes, memory, saving, clear errors."""

from __future__ import annotations

import copy
import gc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import safetensors.torch
import torch

from bough import Forest
from bough.nn import MVRNN, RecursiveNetwork
from bough.nn.fast.child_sum import ChildSumCell
from bough.nn.fast.nary import NaryCell
from bough.nn.weights import Weighted
from layers import LAYERS, doubled, every_layer, trees_for, with_memory
from oracle import D, X, inputs, states

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
    for module in LAYERS[name]().modules():
        # the networks of Socher et al. start their children's maps as the identity
        if isinstance(module, Weighted) and not isinstance(module, RecursiveNetwork | MVRNN):
            for weight, fan_in in module._fan_in.items():
                drawn = module.get_parameter(weight).abs()
                assert drawn.max() <= fan_in**-0.5
                assert drawn.numel() < 9 or drawn.max() > fan_in**-0.5 / 4


@pytest.mark.parametrize(
    ("name", "reads_x", "reads_h"), [("dependency", "W b_W", "U U_f b_U"), ("dt-rnn", "W", "U b_U")]
)
def test_a_weight_is_as_wide_as_what_it_reads(name: str, reads_x: str, reads_h: str) -> None:
    fans = LAYERS[name]()._fan_in
    assert {fans[weight] for weight in reads_x.split()} == {X}
    assert {fans[weight] for weight in reads_h.split()} == {D}


# ------------------------------------------------------------------------- errors


@every_layer
@pytest.mark.parametrize("way", ["0", "torch", ""])
def test_a_weight_of_another_shape_is_named_by_every_path(
    name: str, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither read out of bounds nor broadcast in silence."""
    monkeypatch.setenv("BOUGH_FAST", way)
    forest = Forest(trees_for(name))
    x = torch.randn(forest.size, X)
    layer = LAYERS[name]()
    for part in layer.modules():
        for weight, shape in part._shapes.items() if isinstance(part, Weighted) else ():
            right = getattr(part, weight)
            for wrong in ((*shape[:-1], shape[-1] + 1), (*shape[:-1], 1), (1,) * len(shape)):
                if wrong != shape:
                    setattr(part, weight, torch.nn.Parameter(torch.zeros(wrong)))
                    with pytest.raises(ValueError, match=rf"^{weight} of \w+ is \(.*; it must be \("):
                        layer(x, forest)
            setattr(part, weight, right)
    layer(x, forest)


@every_layer
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
    x = torch.zeros([forest.size if size is None else size for size in shape])
    with pytest.raises(ValueError, match=message.format(nodes=forest.size, width=X)):
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
