"""The compiled losses equal torch's."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from bough.nn.heads import Classifier, Similarity
from bough.nn.kernels.losses import node_loss, pair_loss
from kernel_cases import every_isa, needs_c, on

pytestmark = needs_c


@pytest.fixture(autouse=True)
def _compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOUGH_FAST", "1")


def assert_same(found: Tensor | None, wanted: Tensor, tensors: list[Tensor]) -> None:
    assert found is not None
    torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-6)
    for a, b in zip(
        torch.autograd.grad(3 * found, tensors), torch.autograd.grad(3 * wanted, tensors), strict=True
    ):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)


@every_isa
@pytest.mark.parametrize("nodes", [0, 1, 40])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("d", [1, 16, 37])
def test_nodes(d: int, masked: bool, nodes: int, isa: int, monkeypatch: pytest.MonkeyPatch) -> None:
    on(isa, monkeypatch)
    head = Classifier(d, 5)
    h = torch.randn(20, d, requires_grad=True)
    rows, labels = torch.randint(0, 20, (nodes,)), torch.randint(0, 5, (nodes,))
    mask = (torch.rand(nodes, d) < 0.5).float() if masked else None
    states = h[rows] if mask is None else h[rows] * mask * 2
    wanted = torch.nn.functional.cross_entropy(head(states), labels, reduction="sum")
    found = node_loss(h, head.W_s, head.b_s, rows, labels, mask, 2.0 if masked else 1.0)
    assert_same(found, wanted, [h, head.W_s, head.b_s])


@every_isa
@pytest.mark.parametrize("blas", [True, False])
@pytest.mark.parametrize("features", ["both", "product", "difference"])
@pytest.mark.parametrize("objective", ["kl", "mse"])
def test_pairs(features: Any, objective: Any, blas: bool, isa: int, monkeypatch: pytest.MonkeyPatch) -> None:
    on(isa, monkeypatch, **{} if blas else {"gemm": 0, "set_threads": 0})
    head = Similarity(7, hidden=4, features=features, objective=objective)
    h = torch.randn(18, 7, requires_grad=True)
    left, right = h[::2], torch.cat([h[1::2][:-1], h[-2:-1]])  # the last pair is a row and itself
    y = torch.tensor([1.0, 5.0, 2.0, 4.999, 1.3, 3.5, 4.0, 2.7, 3.0])
    found = pair_loss(
        left, right, y, head.W_h, head.b_h, head.W_p, head.b_p, features=features, objective=objective
    )
    assert_same(found, head.loss(left, right, y), [h, *head.parameters()])


def test_torchs_defaults_do_not_matter() -> None:
    head, h, labels = Classifier(4, 3), torch.randn(5, 4), torch.tensor([0, 1, 2, 0, 1])
    expected = head.loss(h, labels)
    wanted = torch.autograd.grad(head.loss(h, labels), head.W_s)
    torch.set_default_dtype(torch.float64)
    try:
        found = head.loss(h, labels)
        gradient = torch.autograd.grad(found, head.W_s)
        found = found.detach()
    finally:
        torch.set_default_dtype(torch.float32)
    assert torch.equal(found, expected)
    assert torch.equal(gradient[0], wanted[0])


def test_a_rating_off_the_scale_is_named() -> None:
    head, h = Similarity(3), torch.randn(2, 3)
    for wrong, said in ((5.5, "5.5"), (0.0, "0"), (float("nan"), "nan")):
        with pytest.raises(ValueError, match=f"a rating of {said}; the scale goes from 1 to 5"):
            pair_loss(h, h, torch.tensor([1.0, wrong]), head.W_h, head.b_h, head.W_p, head.b_p)


def test_a_nan_is_a_nan() -> None:
    head, h = Similarity(3), torch.full((2, 3), float("nan"))
    loss = pair_loss(h, h, torch.ones(2), head.W_h, head.b_h, head.W_p, head.b_p)
    assert loss is not None
    assert loss.isnan()
    classes = Classifier(3, 2)
    loss = node_loss(h, classes.W_s, classes.b_s, torch.arange(2), torch.tensor([0, 1]), None, 1.0)
    assert loss is not None
    assert loss.isnan()


def test_no_tensor_that_does_not_fit_reaches_a_loss() -> None:
    h, W, b = torch.randn(4, 3), torch.randn(2, 3), torch.randn(2)
    rows = torch.arange(4)
    mask = torch.ones(4, 3)
    for name, given in {
        "W": (h, W[:, :1], b, rows, rows % 2, mask),
        "b": (h, W, b[:1], rows, rows % 2, mask),
        "rows": (h, W, b, rows.int(), rows % 2, mask),
        "labels": (h, W, b, rows, (rows % 2)[:1], mask),
        "mask": (h, W, b, rows, rows % 2, mask[:1]),
    }.items():
        with pytest.raises(ValueError, match=f"^{name} is .*; the compiled code takes"):
            node_loss(*given, 1.0)
    weights = {
        "W_h": torch.randn(5, 6),
        "b_h": torch.randn(5),
        "W_p": torch.randn(4, 5),
        "b_p": torch.randn(4),
    }
    for name, weight in weights.items():
        wrong = weights | {name: weight[..., :1]}
        with pytest.raises(ValueError, match="the compiled code takes"):
            pair_loss(h, h, torch.ones(4), *wrong.values())
    for left, right, y in ((h, h[:1], torch.ones(4)), (h, h, torch.ones(1))):
        with pytest.raises(ValueError, match="the compiled code takes"):
            pair_loss(left, right, y, *weights.values())


def test_rows_out_of_range_are_an_error() -> None:
    head, h = Classifier(3, 2), torch.randn(4, 3)
    for row, label in ((4, 0), (-1, 0), (0, 2)):
        with pytest.raises(IndexError, match="there are 4 states and 2 classes"):
            node_loss(h, head.W_s, head.b_s, torch.tensor([row]), torch.tensor([label]), None, 1.0)
