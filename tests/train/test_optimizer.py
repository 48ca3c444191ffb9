"""Claims about the optimizer: which weights move, by how much, and that rows no batch read stay as they are."""

from itertools import pairwise
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from bough.models.model import Model
from bough.train.config import TrainConfig
from bough.train.optimizer import OPTIMIZERS, ModelOptimizer, adagrad
from small_models import CLASSES

BATCHES = st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=8), min_size=1, max_size=4)
SMALL: dict[str, Any] = {"hidden_size": 4, "embedding_size": 3}


def made(words: int = 5, table: Tensor | None = None, **options: Any) -> tuple[Model, ModelOptimizer]:
    torch.manual_seed(0)
    config = TrainConfig(**SMALL).with_settings(options)
    if table is None:
        table = torch.randn(words + 1, 3)
    model = Model(config.for_model(), CLASSES, [str(word) for word in range(words)], (), table.clone())
    return model, ModelOptimizer(model, config)


def read(model: Model, rows: list[int]) -> Tensor:
    return model.vectors(torch.tensor(rows)).sin().sum()


@settings(deadline=None)
@given(BATCHES, st.sampled_from([0.0, 0.1]))
def test_each_row_learns_as_if_it_were_alone_and_only_when_read(
    batches: list[list[int]], weight_decay: float
) -> None:
    model, optimizer = made(embedding_optimizer="rows", weight_decay=weight_decay)
    start = model.table.detach().clone()
    alone = [start[row : row + 1].clone().requires_grad_() for row in range(6)]
    others = [torch.optim.Adagrad([row], lr=0.1, weight_decay=weight_decay) for row in alone]
    for rows in batches:
        optimizer.zero_grad()
        read(model, rows).backward()
        optimizer.step()
        for row in set(rows):
            others[row].zero_grad()
            (rows.count(row) * alone[row].sin().sum()).backward()
            others[row].step()
    torch.testing.assert_close(model.table.detach(), torch.cat(alone).detach())
    unread = sorted(set(range(6)) - {row for rows in batches for row in rows})
    assert torch.equal(model.table[unread], start[unread])
    assert not optimizer.rows["sum"][unread].any()


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_rows_that_every_batch_reads_move_as_torchs_optimizer_moves_a_whole_matrix(name: str) -> None:
    model, optimizer = made(embedding_optimizer="rows", optimizer=name, embedding_learning_rate=0.05)
    whole = model.table.detach().clone().requires_grad_()
    options = {key: value for key, value in optimizer.options.items() if key != "fused"}
    reference = OPTIMIZERS[name]([whole], lr=0.05, **options)
    for _ in range(3):
        optimizer.zero_grad()
        read(model, list(range(6))).backward()
        optimizer.step()
        reference.zero_grad()
        whole.sin().sum().backward()
        reference.step()
    torch.testing.assert_close(model.table.detach(), whole.detach())


def test_by_plain_descent_a_word_moves_by_its_gradient_alone() -> None:
    model, optimizer = made(weight_decay=0.5, embedding_learning_rate=0.25)
    start = model.table.detach().clone()
    model.vectors(torch.tensor([2, 2, 4])).sum().backward()
    optimizer.step(scale=0.5)
    expected = start.clone()
    expected[2] -= 2 * 0.125
    expected[4] -= 0.125
    torch.testing.assert_close(model.table.detach(), expected)


@pytest.mark.parametrize("table", ["plain", "rows"])
def test_l2_shrinks_the_weights_and_only_with_rows_the_words(table: str) -> None:
    model, optimizer = made(words=1, table=torch.ones(2, 3), weight_decay=0.5, embedding_optimizer=table)
    weights = [p.detach().clone() for p in model.parameters()]
    (0 * model.vectors(torch.tensor([1])).sum() + sum(0 * p.sum() for p in model.parameters())).backward()
    optimizer.step()
    for p, before in zip(model.parameters(), weights, strict=True):
        assert (p.abs() < before.abs()).any()
    assert torch.equal(model.table[0], torch.ones(3))
    assert torch.equal(model.table[1], torch.ones(3)) == (table == "plain")


def test_fixed_vectors_have_no_gradient() -> None:
    model, _ = made(embeddings="fixed")
    assert not model.vectors(torch.tensor([0, 1])).requires_grad


@pytest.mark.parametrize("bound", [0.01, 1e9])
def test_clipping_shortens_all_gradients_together_and_turns_none(bound: float) -> None:
    gradients = []
    for max_grad_norm in (0.0, bound):
        model, optimizer = made(max_grad_norm=max_grad_norm)
        weight = next(model.parameters())
        (read(model, [0, 2, 2]) + weight.square().sum()).backward()
        optimizer.step()
        assert weight.grad is not None
        assert model.table.grad is not None
        gradients.append(torch.cat([weight.grad.flatten(), model.table.grad.to_dense().flatten()]))
    free, clipped = gradients
    assert clipped.norm().item() == pytest.approx(min(bound, free.norm().item()), rel=1e-4)
    torch.testing.assert_close(clipped / clipped.norm(), free / free.norm(), rtol=1e-3, atol=1e-4)


def test_the_weights_of_a_class_stay_within_their_norm() -> None:
    model, optimizer = made(max_norm=0.1)
    torch.stack([p.sum() for p in model.parameters()]).sum().backward()
    optimizer.step()
    assert isinstance(model.head.W_s, Tensor)
    assert model.head.W_s.norm(dim=1).max() <= 0.1 + 1e-6


@pytest.mark.parametrize("table", ["plain", "rows"])
def test_after_a_reset_the_next_step_is_a_first_step(table: str) -> None:
    steps = []
    for reset in (True, False):
        options: dict[str, Any] = {
            "weight_decay": 0.0,
            "embedding_optimizer": table,
            "embedding_learning_rate": 0.05,
        }
        model, optimizer = made(**options, adagrad_reset_every=int(reset))
        weight = next(model.parameters()) if table == "plain" else model.table
        for _ in range(2):
            before = weight.detach().clone()
            optimizer.zero_grad()
            (next(model.parameters()).sum() + model.vectors(torch.tensor([0])).sum()).backward()
            optimizer.step()
            steps.append((before - weight.detach()).flatten()[0].item())
            if reset:
                optimizer.start_epoch(0)
    assert steps == pytest.approx([0.05, 0.05, 0.05, 0.05 / 2**0.5], rel=1e-4)


def test_the_papers_adagrad_adds_its_l2_to_the_gradient() -> None:
    p = torch.tensor([2.0], requires_grad=True)
    optimizer = adagrad([p], lr=0.1, weight_decay=0.5)
    sums, value = 0.0, 2.0
    for gradient in (1.0, -3.0, 0.5):
        p.grad = torch.tensor([gradient])
        optimizer.step()
        g = gradient + 0.5 * value
        sums += g * g
        value -= 0.1 * g / (sums**0.5 + 1e-10)
        assert p.item() == pytest.approx(value, rel=1e-5)


def test_the_learning_rates_rise_then_fall_in_lines() -> None:
    _, optimizer = made(epochs=10, warmup=0.2)
    scales = [optimizer.lr_scale(step, 10) for step in range(100)]
    assert scales[:20] == pytest.approx([(step + 1) / 20 for step in range(20)])
    falls = [before - after for before, after in pairwise(scales[19:])]
    assert falls == pytest.approx([falls[0]] * 80)
    assert 0 < scales[-1] < 0.02


def test_the_learning_rates_shrink_once_an_epoch() -> None:
    _, optimizer = made(epochs=3, lr_decay=0.5)
    assert [optimizer.lr_scale(step, 2) for step in range(6)] == [1, 1, 0.5, 0.5, 0.25, 0.25]


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_the_state_is_taken_over_by_another_of_its_kind(name: str) -> None:
    (model, optimizer), (other, taker) = (
        made(optimizer=name, embedding_optimizer="rows"),
        made(optimizer=name, embedding_optimizer="rows"),
    )

    def step(model: Model, optimizer: ModelOptimizer, rows: list[int]) -> None:
        optimizer.zero_grad()
        (read(model, rows) + torch.stack([p.square().sum() for p in model.parameters()]).sum()).backward()
        optimizer.step()

    step(model, optimizer, [0, 1])
    step(model, optimizer, [1])
    other.load_state_dict(model.state_dict())
    taker.load({key: tensor.clone() for key, tensor in optimizer.state().items()})
    step(model, optimizer, [1, 2])
    step(other, taker, [1, 2])
    for one, its in zip(model.state_dict().values(), other.state_dict().values(), strict=True):
        assert torch.equal(one, its)
    with pytest.raises(ValueError, match=r"is not of this optimizer"):
        taker.load({"layer.nothing.sum": torch.zeros(1)})
