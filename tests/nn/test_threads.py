"""A layer runs small forests in one thread, there and back, and leaves torch's setting as it was."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor

from bough import Forest, Tree
from bough.nn import BaseLayer, BiTreeLSTM, Children, ChildSumTreeGRU, ChildSumTreeLSTM
from bough.nn import engine as module
from bough.nn.engine import one_thread
from oracle import D, X

FOREST = Forest([Tree([1, -1, 1]), Tree([2, 2, -1])])


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


class Watched(ChildSumTreeGRU):
    """Notes the threads there are on the way up and on the way down."""

    seen: list[int]

    def node(self, a: Tensor, below: Children) -> tuple[Tensor]:
        self.seen.append(torch.get_num_threads())
        (h,) = super().node(a, below)
        h.register_hook(lambda grad: self.seen.append(torch.get_num_threads()))
        return (h,)


@pytest.mark.parametrize("asks", [True, False])
def test_one_thread_there_and_back(asks: bool) -> None:
    layer = Watched(X, D)
    layer.seen = []
    x = torch.randn(6, X, requires_grad=asks)
    before = []
    inputs = x * 2
    if asks:
        inputs.register_hook(lambda grad: before.append(torch.get_num_threads()))
    h = layer(inputs, FOREST)
    assert torch.get_num_threads() == 2
    h.sum().backward()
    assert torch.get_num_threads() == 2
    assert set(layer.seen) == {1}
    assert len(layer.seen) == 4
    assert before == ([2] if asks else [])  # what stands below the layer has its threads again


def test_a_large_forest_keeps_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGE", 2)
    layer = Watched(X, D)
    layer.seen = []
    layer(torch.randn(6, X), FOREST).sum().backward()
    assert set(layer.seen) == {2}


@pytest.mark.parametrize("layer", [ChildSumTreeLSTM(X, D), BiTreeLSTM(X, D)])
def test_two_layers_in_one_backward(layer: BaseLayer) -> None:
    x = torch.randn(6, X)
    first, second = (layer(x, FOREST) for _ in range(2))
    sums = [(out[0] if isinstance(out, tuple) else out).sum() for out in (first, second)]
    (sums[0] + sums[1]).backward()
    assert torch.get_num_threads() == 2


def test_states_may_be_changed_in_place() -> None:
    layer = ChildSumTreeLSTM(X, D)
    h, c = layer(torch.randn(6, X), FOREST)
    h += 1
    torch.nn.functional.dropout(c, inplace=True)
    (h.relu_().sum() + c.sum()).backward()
    assert layer.U.grad is not None


class Failing(ChildSumTreeGRU):
    """Fails on the way down."""

    def node(self, a: Tensor, below: Children) -> tuple[Tensor]:
        (h,) = super().node(a, below)
        h.register_hook(self.fail)
        return (h,)

    def fail(self, grad: Tensor) -> None:
        raise KeyboardInterrupt


def test_a_backward_that_fails_gives_the_threads_back() -> None:
    h = ChildSumTreeGRU(X, D)(torch.randn(6, X), FOREST)
    h.sum().backward()
    with pytest.raises(RuntimeError, match="second time"):
        h.sum().backward()
    assert torch.get_num_threads() == 2
    with pytest.raises(KeyboardInterrupt):
        Failing(X, D)(torch.randn(6, X), FOREST).sum().backward()
    assert torch.get_num_threads() == 2


def test_one_thread_for_a_while() -> None:
    with one_thread():
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == 2


def test_an_error_gives_the_threads_back() -> None:
    with pytest.raises(ValueError, match="NaN"):
        ChildSumTreeLSTM(X, D)(torch.full((6, X), torch.nan), FOREST)
    assert torch.get_num_threads() == 2
