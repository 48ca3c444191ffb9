"""A layer's weights and its memory: how they start, where they lie, and that a step leaves nothing behind."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
import torch
from torch import Tensor

from bough import Forest, Tree
from bough.nn import Children, ChildSumTreeLSTM, TreeLayer
from bough.nn.base import UniformInit, looks_for_nan
from bough.nn.engine import LevelBuffer
from layers import (
    LAYERS,
    assert_device_and_dtype_are_taken,
    assert_within_the_papers_bounds,
    build,
    doubled,
    registered,
    trees_for,
    with_memory,
)
from oracle import D, X, inputs


def live_buffers() -> int:
    return sum(type(thing) is LevelBuffer for thing in gc.get_objects())


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
        assert live_buffers() > 0
        (h.sum() + c.sum()).backward()
        del h, c
        assert live_buffers() == 0  # by reference counts alone, no cycle for the collector to find
    layer(x, forest)  # never differentiated
    with torch.no_grad():
        held = layer(x, forest)
    assert live_buffers() == 0
    del held


@pytest.mark.parametrize("name", LAYERS)
def test_weights_start_within_the_papers_bounds(name: str) -> None:
    for module in build(name).modules():
        if isinstance(module, UniformInit):
            assert_within_the_papers_bounds(module)


def test_a_device_that_would_wait_is_searched_for_nan_on_demand(monkeypatch: pytest.MonkeyPatch) -> None:
    here, elsewhere = torch.empty(1), torch.empty(1, device="meta")
    assert looks_for_nan(here)
    assert not looks_for_nan(elsewhere)
    monkeypatch.setenv("BOUGH_CHECK", "1")
    assert looks_for_nan(elsewhere)


def test_a_weight_is_as_wide_as_what_it_reads() -> None:
    fans = ChildSumTreeLSTM(X, D)._fan_in
    assert {fans[weight] for weight in ("W", "b_W")} == {X}
    assert {fans[weight] for weight in ("U", "U_f", "b_U")} == {D}


@pytest.mark.parametrize("name", registered("bough"))
def test_device_and_dtype_are_taken(name: str) -> None:
    assert_device_and_dtype_are_taken(name)


class Looked(TreeLayer):
    """h_j = tanh(e(x_j) + Σ_k h_k), e an embedding"""

    integer_inputs = True

    def __init__(self, words: int, columns: int = 1) -> None:
        super().__init__(columns, states=(3,))
        self.e = torch.nn.Embedding(words, 3)
        self.looked_up: list[tuple[int, ...]] = []

    def input_map(self, x: Tensor) -> Tensor:
        self.looked_up.append(tuple(x.shape))
        rows: Tensor = self.e(x)
        return rows if x.dim() == 1 else rows.sum(dim=1)

    def node(self, a: Tensor, below: Children) -> tuple[Tensor]:
        return (torch.tanh(a + below.sum(below.states[0])),)


@pytest.mark.parametrize("columns", [1, 2])
def test_ids_are_looked_up_once_per_distinct_input(columns: int) -> None:
    layer, trees = Looked(5, columns).double(), [Tree([-1, 0, 0]), Tree([1, -1])]
    ids = torch.tensor([4, 2, 2, 2, 4])
    x = ids if columns == 1 else torch.stack([ids, ids], dim=1)
    h = layer(x, Forest(trees, keys=[[4, 2, 2], [2, 4]]))
    assert layer.looked_up == [(2,) if columns == 1 else (2, 2)]
    e = columns * layer.e.weight
    leaf = torch.tanh(e[2])
    theirs = torch.stack([torch.tanh(e[4] + 2 * leaf), leaf, leaf, leaf, torch.tanh(e[4] + leaf)])
    torch.testing.assert_close(h, theirs)
    onto = torch.randn_like(h)
    grads = (torch.autograd.grad(out, layer.e.weight, onto)[0] for out in (h, theirs))
    torch.testing.assert_close(*grads)
    torch.testing.assert_close(layer.step(x[1:2]), leaf[None])


def test_ids_that_do_not_fit_are_named() -> None:
    forest = Forest([Tree([1, -1])])
    with pytest.raises(
        ValueError, match=r"^x is torch\.float32; Looked takes ints, such as the ids of words$"
    ):
        Looked(5)(torch.zeros(2), forest)
    with pytest.raises(ValueError, match=r"^x is \(2,\); the layer takes \(nodes, 2\)$"):
        Looked(5, 2)(torch.zeros(2, dtype=torch.int64), forest)
