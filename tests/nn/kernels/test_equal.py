"""The compiled code and the layers' equations agree on every forest, in states and all gradients."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from bough import Tree
from kernel_cases import Case, every_isa, needs_c, on

pytestmark = needs_c
CLOSE: dict[str, Any] = {"rtol": 1e-5, "atol": 1e-5}


def assert_equal(case: Case) -> None:
    found, wanted = case.run(case.compiled), case.run(case.by_equations)
    for number, (a, b) in enumerate(zip(found, wanted, strict=True)):
        scale = max(1.0, float(b.abs().max())) if b.numel() else 1.0  # a sum of many rows has their rounding
        assert torch.allclose(a / scale, b / scale, **CLOSE), (number, vars(case))


def choose_matmuls(seed: int, isa: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the BLAS, by ourselves, or by both; and without a BLAS."""
    on(isa, monkeypatch, few=seed % 4 * 4, **{"gemm": 0, "set_threads": 0} if seed % 4 == 3 else {})


@every_isa
@pytest.mark.parametrize("seed", range(60))
def test_random_forests(seed: int, isa: int, monkeypatch: pytest.MonkeyPatch) -> None:
    choose_matmuls(seed, isa, monkeypatch)
    assert_equal(Case(seed))


@pytest.mark.slow
@every_isa
def test_a_thousand_random_forests(isa: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(1000, 2000):
        choose_matmuls(seed, isa, monkeypatch)
        assert_equal(Case(seed))


@every_isa
@pytest.mark.parametrize("arity", [None, 1, 2, 3])
@pytest.mark.parametrize("affine", [False, True])
@pytest.mark.parametrize("trees", [[], [Tree([-1])], [Tree([-1])] * 3], ids=["none", "one", "three"])
def test_forests_without_an_edge(
    trees: list[Tree], affine: bool, arity: int | None, isa: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    on(isa, monkeypatch)
    assert_equal(Case(0, trees, arity=arity, affine=affine))


@every_isa
@pytest.mark.parametrize("arity", [None, 1, 2])
def test_depth_100_000(arity: int | None, isa: int, monkeypatch: pytest.MonkeyPatch) -> None:
    on(isa, monkeypatch)
    case = Case(0, [Tree([*range(1, 100_000), -1])], arity=arity, d=3, affine=False)
    for tensor in case.tensors:
        tensor.requires_grad_()
    states = case.compiled()
    case.onto = [torch.ones_like(state) for state in states]
    assert all(t.isfinite().all() for t in (*states, *case.gradients(states)))


@every_isa
def test_levels_of_more_than_a_chunk(isa: int, monkeypatch: pytest.MonkeyPatch) -> None:
    on(isa, monkeypatch)
    for arity in (None, 2):
        assert_equal(Case(0, [Tree([2, 2, 4, 4, -1])] * 300, arity=arity, d=5))
