"""Table 1: the memory dimensions and composition parameter counts of the paper, every one of them."""

from __future__ import annotations

from typing import Any

import pytest
from torch import nn

from bough.nn import LSTM, ChildSumTreeLSTM, NaryTreeLSTM

SEQUENTIAL: dict[str, dict[str, Any]] = {
    "LSTM": {},
    "Bidirectional LSTM": {"bidirectional": True},
    "2-layer LSTM": {"layers": 2},
    "Bidirectional 2-layer LSTM": {"layers": 2, "bidirectional": True},
}
TABLE = [  # variant, relatedness d and count, sentiment d and count
    ("LSTM", 150, 203_400, 168, 315_840),
    ("Bidirectional LSTM", 150, 203_400, 168, 315_840),
    ("2-layer LSTM", 108, 203_472, 120, 318_720),
    ("Bidirectional 2-layer LSTM", 108, 203_472, 120, 318_720),
    ("Constituency Tree-LSTM", 142, 205_190, 150, 316_800),
    ("Dependency Tree-LSTM", 150, 203_400, 168, 315_840),
]


def build(variant: str, d: int, *, output_gate: bool) -> nn.Module:
    if variant == "Constituency Tree-LSTM":
        return NaryTreeLSTM(300, d, leaf="affine", output_gate=output_gate)
    if variant == "Dependency Tree-LSTM":
        return ChildSumTreeLSTM(300, d, output_gate=output_gate)
    return LSTM(300, d, output_gate=output_gate, **SEQUENTIAL[variant])


def count(layer: nn.Module) -> int:
    return sum(parameter.numel() for parameter in layer.parameters())


@pytest.mark.parametrize(("variant", "d", "expected"), [(row[0], row[1], row[2]) for row in TABLE])
def test_relatedness(variant: str, d: int, expected: int) -> None:
    assert count(build(variant, d, output_gate=False)) == expected


@pytest.mark.parametrize(("variant", "d", "expected"), [(row[0], row[3], row[4]) for row in TABLE])
def test_sentiment(variant: str, d: int, expected: int) -> None:
    assert count(build(variant, d, output_gate=True)) == expected
