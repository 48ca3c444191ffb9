"""Every registered layer by its name, options of theirs beside it, and trees that each of them reads."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bough import Tree
from bough.nn import LSTM, Encoder, NaryTreeLSTM, TopDownTreeLSTM, TreeLayer, kinds
from bough.nn.registry import Kind
from oracle import D, X


def _default(kind: Kind) -> Callable[[], Encoder]:
    return lambda: kind.build(X, D, 2, {})


TREES = {"words": "chain", "constituency": "binary", "dependency": "any"}
# a registered layer belongs in here by being registered, unless it has vectors for sentences alone
LAYERS: dict[str, Callable[[], Encoder]] = {
    name: _default(kind) for name, kind in kinds().items() if kind.layer.rows is not Encoder.rows
}
READS = {name: TREES[kind.reads] for name, kind in kinds().items()}
VARIANTS: dict[str, tuple[str, Callable[[], Encoder]]] = {
    "constituency, gated": ("binary", lambda: NaryTreeLSTM(X, D, leaf="gated")),
    "constituency, tied": ("binary", lambda: NaryTreeLSTM(X, D, forget="tied", output_gate=False)),
    "constituency, diagonal": ("binary", lambda: NaryTreeLSTM(X, D, 3, forget="diagonal")),
    "lstm, two layers both ways": ("chain", lambda: LSTM(X, D, layers=2, bidirectional=True)),
    "top-down": ("any", lambda: TopDownTreeLSTM(X, D)),
    "top-down, by place": ("binary", lambda: TopDownTreeLSTM(X, D, 2)),
}
LAYERS |= {name: build for name, (_, build) in VARIANTS.items()}
READS |= {name: trees for name, (trees, _) in VARIANTS.items()}
every_layer = pytest.mark.parametrize("name", LAYERS)
GATED = [name for name in LAYERS if name.split(",")[0] in ("constituency", "dependency", "lstm")]
with_memory = pytest.mark.parametrize("name", GATED)  # those with a c, and a derivative written by hand
BY_HAND = [
    name
    for name, build in LAYERS.items()
    if any(isinstance(module, TreeLayer) and module._has_fast_path() for module in build().modules())
]
by_hand = pytest.mark.parametrize("name", BY_HAND)


def related(parents: list[int]) -> Tree:
    return Tree(parents, relations=[node % 2 for node in range(len(parents))])


def trees_for(name: str) -> list[Tree]:
    if READS[name] == "chain":
        return [related(parents) for parents in ([1, 2, -1], [-1], [1, -1, 0])]
    wide = [[3, 3, 3, -1, 3]] if READS[name] == "any" else []
    return [related(parents) for parents in ([2, 2, 4, 4, -1], [-1], [1, -1, 1], [1, 2, -1], *wide)]


def doubled(name: str) -> Encoder:
    return LAYERS[name]().double()
