"""Claims about optimisers: the rules are the published ones, and rows that no batch read stay as they are."""

from itertools import pairwise
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from bough.models.config import Config
from bough.models.model import Model
from bough.train.optimisers import RULES, adagrad, optimiser_for, rate_scale
from bough.train.optimisers.optimiser import Group, Optimiser
from bough.train.optimisers.rules import AdaDelta, AdaGrad, Adam, AdamW, Plain, Rule
from small_models import CLASSES

BATCHES = st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=8), min_size=1, max_size=4)
THEIRS = [
    (AdaGrad(), torch.optim.Adagrad, {"eps": 1e-10}),
    (AdaDelta(), torch.optim.Adadelta, {"rho": 0.95, "eps": 1e-6}),
    (Adam(), torch.optim.Adam, {}),
    (AdamW(), torch.optim.AdamW, {}),
    (Plain(), torch.optim.SGD, {}),
]


def weights() -> list[Tensor]:
    generator = torch.Generator().manual_seed(0)
    shapes = [(4, 3), (3,), (), (2, 3, 4)]
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


def loss(tensors: list[Tensor], step: int) -> Tensor:
    return torch.stack([((p + step) ** 2).sin().sum() for p in tensors]).sum()


@pytest.mark.parametrize("l2", [0.0, 0.1])
@pytest.mark.parametrize(("rule", "theirs", "options"), THEIRS, ids=lambda v: type(v).__name__)
def test_a_rule_moves_as_torchs_does(rule: Rule, theirs: type, options: dict[str, Any], l2: float) -> None:
    ours, others = ([p.requires_grad_() for p in weights()] for _ in range(2))
    optimiser = Optimiser([Group({str(i): p for i, p in enumerate(ours)}, rule, 0.05, l2)])
    reference = theirs(others, lr=0.05, weight_decay=l2, **options)
    for step in range(5):
        for tensors, moved in ((ours, optimiser), (others, reference)):
            moved.zero_grad()
            loss(tensors, step).backward()
            moved.step()
    for p, q in zip(ours, others, strict=True):
        torch.testing.assert_close(p, q)


def test_the_papers_adagrad_is_torchs_fused_one_to_the_bit() -> None:
    ours, others = ([p.float().requires_grad_() for p in weights()] for _ in range(2))
    optimiser = adagrad(ours)
    reference = torch.optim.Adagrad(others, lr=0.05, weight_decay=1e-4, eps=1e-10, fused=True)
    for step in range(20):
        for tensors, moved in ((ours, optimiser), (others, reference)):
            moved.zero_grad()
            loss(tensors, step).backward()
            moved.step()
    assert all(torch.equal(p, q) for p, q in zip(ours, others, strict=True))


@settings(deadline=None)
@given(BATCHES, st.sampled_from([rule for rule, *_ in THEIRS]), st.sampled_from([0.0, 0.1]))
def test_each_row_learns_as_if_it_were_alone_and_only_when_read(
    batches: list[list[int]], rule: Rule, l2: float
) -> None:
    start = torch.randn(6, 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    table = start.clone().requires_grad_()
    single = [row.clone().unsqueeze(0).requires_grad_() for row in start]
    whole = Optimiser([Group({"embedding_optimizer": table}, rule, 0.1, l2)])
    alone = [Optimiser([Group({"row": row}, rule, 0.1, l2)]) for row in single]
    for rows in batches:
        whole.zero_grad()
        torch.nn.functional.embedding(torch.tensor(rows), table, sparse=True).sin().sum().backward()
        whole.step()
        for row in set(rows):
            alone[row].zero_grad()
            (rows.count(row) * single[row].sin().sum()).backward()
            alone[row].step()
    torch.testing.assert_close(table, torch.cat(single))
    unread = sorted(set(range(6)) - {row for rows in batches for row in rows})
    assert torch.equal(table[unread], start[unread])
    assert all(not state[unread].any() for state in whole.state().values())


def test_groups_have_their_own_rates_and_bounds() -> None:
    slow, fast, bound = (torch.full((2, 2), 3.0, requires_grad=True) for _ in range(3))
    groups = [
        Group({"slow": slow}, Plain(), 0.1),
        Group({"fast": fast}, Plain(), 0.2),
        Group({"bound": bound}, Plain(), 0.1, max_norm=2.0),
    ]
    optimiser = Optimiser(groups)
    (slow + fast + bound).sum().backward()
    optimiser.step(scale=0.5)
    assert slow.tolist() == [[pytest.approx(2.95)] * 2] * 2
    assert fast.tolist() == [[pytest.approx(2.9)] * 2] * 2
    assert bound.norm(dim=1).tolist() == [pytest.approx(2.0)] * 2


def test_one_name_for_two_tensors_is_an_error() -> None:
    group = Group({"W": torch.zeros(1)}, Plain(), 0.1)
    with pytest.raises(ValueError, match="two tensors of an optimiser have the same name"):
        Optimiser([group, group])


@pytest.mark.parametrize("clip", [0.01, 1e9])
def test_clipping_shortens_all_gradients_together_and_turns_none(clip: float) -> None:
    rows = torch.tensor([0, 2, 2])
    moves = []
    for bound in (0.0, clip):
        weight, table = torch.ones(2, 2, requires_grad=True), torch.ones(3, 2, requires_grad=True)
        optimiser = Optimiser([Group({"W": weight, "embedding_optimizer": table}, Plain(), 1.0)], clip=bound)
        x = torch.nn.functional.embedding(rows, table, sparse=True)
        (x @ weight).square().sum().backward()
        optimiser.step()
        moves.append(torch.cat([1 - weight.detach(), 1 - table.detach()]))
    free, clipped = moves
    assert clipped.norm().item() == pytest.approx(min(clip, free.norm().item()), rel=1e-4)
    torch.testing.assert_close(clipped / clipped.norm(), free / free.norm(), rtol=1e-3, atol=1e-4)


def test_after_a_reset_the_next_step_is_a_first_step() -> None:
    steps = []
    for reset in (True, False):
        p = torch.zeros(3, requires_grad=True)
        optimiser = adagrad([p], weight_decay=0.0)
        for _ in range(2):
            before = p.detach().clone()
            p.grad = torch.ones(3)
            optimiser.step()
            steps.append((before - p.detach())[0].item())
            if reset:
                optimiser.reset()
    assert steps == pytest.approx([0.05, 0.05, 0.05, 0.05 / 2**0.5])


def test_the_rates_rise_then_fall_in_lines() -> None:
    config = Config(epochs=10, warmup=0.2)
    scales = [rate_scale(config, step, 10) for step in range(100)]
    assert scales[:20] == pytest.approx([(step + 1) / 20 for step in range(20)])
    falls = [before - after for before, after in pairwise(scales[19:])]
    assert falls == pytest.approx([falls[0]] * 80)
    assert 0 < scales[-1] < 0.02


def test_the_rates_shrink_once_an_epoch() -> None:
    config = Config(epochs=3, lr_decay=0.5)
    assert [rate_scale(config, step, 2) for step in range(6)] == [1, 1, 0.5, 0.5, 0.25, 0.25]


@pytest.mark.parametrize("name", RULES)
def test_the_state_of_one_optimiser_is_taken_over_by_its_like_only(name: str) -> None:
    def made(**options: str) -> Optimiser:
        config = Config(hidden_size=4, embedding_size=3).with_settings(options)
        return optimiser_for(Model(config, CLASSES, ["a"]))

    one, other = (
        made(optimiser=name, embedding_optimizer="rows"),
        made(optimiser=name, embedding_optimizer="rows"),
    )
    for tensor in one.state().values():
        tensor.normal_()
    other.load(one.state())
    for key, tensor in one.state().items():
        assert torch.equal(other.state()[key], tensor)
    with pytest.raises(ValueError, match=r"table\.\w+ is not of this optimiser"):
        made(optimiser=name).load(one.state())
    with pytest.raises(ValueError, match=r"table\.\w+ is missing"):
        one.load(made(optimiser=name).state())
    with pytest.raises(ValueError, match=r"is \(1,\), not "):
        one.load({key: torch.zeros(1) for key in one.state()})


def test_fixed_vectors_have_no_gradient() -> None:
    model = Model(Config(hidden_size=4, embedding_size=3, embeddings="fixed"), CLASSES, ["a"])
    assert "table" not in {name for group in optimiser_for(model).groups for name in group.tensors}
    assert not model.vectors(torch.tensor([0, 1])).requires_grad


@pytest.mark.parametrize("table", ["plain", "rows"])
def test_l2_shrinks_the_weights_and_only_with_rows_the_words(table: str) -> None:
    config = Config(hidden_size=4, embedding_size=3, weight_decay=0.5).with_settings(
        {"embedding_optimizer": table}
    )
    model = Model(config, CLASSES, ["a"], (), torch.ones(2, 3))
    optimiser = optimiser_for(model)
    weights = [p.detach().clone() for p in model.parameters()]
    (0 * model.vectors(torch.tensor([1])).sum() + sum(0 * p.sum() for p in model.parameters())).backward()
    optimiser.step()
    for p, before in zip(model.parameters(), weights, strict=True):
        assert (p.abs() < before.abs()).any()
    assert torch.equal(model.table[0], torch.ones(3))
    assert torch.equal(model.table[1], torch.ones(3)) == (table == "plain")
