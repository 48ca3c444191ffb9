"""A layer's weights and its memory: how they start, where they lie, and that a step leaves nothing behind."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
import torch

from bough import Forest
from bough.nn import ChildSumTreeLSTM
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
