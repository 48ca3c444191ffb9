"""Every layer by a name, and trees that each of them takes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from torch import nn

from bough import Tree
from bough.nn import DTRNN, LSTM, SDTRNN, ChildSumTreeLSTM, NaryTreeLSTM
from oracle import D, X

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
