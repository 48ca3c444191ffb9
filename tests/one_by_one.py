"""Any layer's own equations, one node at a time: a brute-force oracle that shares nothing with the engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from bough import Tree
from bough.nn import LSTM, AttentiveChildSum, BaseLayer, BiTreeLSTM, TreeLayer
from bough.trees.builders import reversed_chain


class OneNode:
    """What `Children` gives, for a single node whose neighbours' states are the rows (k, D)."""

    def __init__(self, states: tuple[Tensor, ...], relations: list[int], places: list[int], sizes: list[int]):
        self.states, self.nodes = states, 1
        self.relations, self.places = (torch.tensor(ids, dtype=torch.int64) for ids in (relations, places))
        *below, own = sizes
        self.sizes, self.own_sizes = torch.tensor(below).unsqueeze(1), torch.tensor([[own]])
        self.count = torch.tensor([[len(relations)]])

    def sum(self, rows: Tensor) -> Tensor:
        return rows.sum(dim=0, keepdim=True)

    def max(self, rows: Tensor) -> Tensor:
        return rows.amax(dim=0, keepdim=True) if len(rows) else rows.new_zeros(1, rows.shape[1])

    def softmax(self, scores: Tensor) -> Tensor:
        return scores.softmax(dim=0)

    def spread(self, rows: Tensor) -> Tensor:
        return rows.expand(len(self.places), -1)

    def slots(self, rows: Tensor, arity: int) -> Tensor:
        found = [rows.new_zeros(rows.shape[1])] * arity
        for place, row in zip(self.places.tolist(), rows, strict=True):
            found[place] = row
        return torch.stack(found).unsqueeze(0)

    def drop(self, rows: Tensor) -> Tensor:
        return rows

    def addmm(self, b: Tensor, rows: Tensor, weight: Tensor) -> Tensor:
        return b + rows @ weight

    def once(self, compute: Callable[[], Any]) -> Any:
        return compute()


def one_by_one(layer: BaseLayer, x: Tensor, trees: Sequence[Tree]) -> tuple[Tensor, ...]:
    """What `layer(x, Forest(trees))` should be."""
    parts = x.split([len(tree) for tree in trees])
    found = [_states(layer, part, tree) for part, tree in zip(parts, trees, strict=True)]
    return tuple(torch.cat(states) for states in zip(*found, strict=True))


def _states(layer: BaseLayer, x: Tensor, tree: Tree) -> tuple[Tensor, ...]:
    if isinstance(layer, LSTM):
        return _stacks(layer, x, tree)
    if isinstance(layer, BiTreeLSTM):
        up = _states(layer.up, x, tree)[0]
        return (torch.cat([up, _states(layer.down, up, tree)[0]], dim=1),)
    assert isinstance(layer, TreeLayer)
    a = layer.input_map(x)
    if isinstance(layer, AttentiveChildSum):
        words = Tree([*range(1, len(tree)), -1])
        guide = _stacks(layer.reader, x, words)[0][-1]
        a = torch.cat([a, (guide @ layer.U_m).expand(len(tree), -1)], dim=1)
    return _walk(layer, a, tree)


def _walk(layer: TreeLayer, a: Tensor, tree: Tree) -> tuple[Tensor, ...]:
    order = tree.preorder.tolist() if layer.from_roots else tree.heights.argsort(kind="stable").tolist()
    relation = tree.relations or [0] * len(tree)
    sizes = [
        1 + sum(tree.parents[k] >= 0 and _is_below(tree, k, j) for k in range(len(tree)))
        for j in range(len(tree))
    ]
    states: dict[int, tuple[Tensor, ...]] = {}
    for j in order:
        if layer.from_roots:
            parent = int(tree.parents[j])
            near = [] if parent < 0 else [parent]
            places = [] if parent < 0 else [tree.children[parent].index(j)]
            relations = [] if parent < 0 else [relation[j]]
        else:
            near = list(tree.children[j])
            places, relations = list(range(len(near))), [relation[k] for k in near]
        rows = tuple(
            torch.stack([states[k][s] for k in near]) if near else a.new_zeros(0, width)
            for s, width in enumerate(layer.states)
        )
        below: Any = OneNode(rows, relations, places, [*(sizes[k] for k in near), sizes[j]])
        if near:
            found = layer.node(None if layer.leaf_inputs else a[j : j + 1], below)
        else:
            found = layer.at_leaf(a[j : j + 1], below)
        states[j] = tuple(state[0] for state in found)
    return tuple(torch.stack(rows) for rows in zip(*(states[j] for j in range(len(tree))), strict=True))


def _is_below(tree: Tree, k: int, j: int) -> bool:
    while k >= 0:
        k = int(tree.parents[k])
        if k == j:
            return True
    return False


def _stacks(layer: LSTM, x: Tensor, tree: Tree) -> tuple[Tensor, ...]:
    columns = []
    for direction in range(layer.directions):
        inputs = x
        stack: Any = layer.stacks[direction if len(layer.stacks) > 1 else 0]
        for cell in stack:
            columns.append(_states(cell, inputs, reversed_chain(tree) if direction else tree))
            inputs = columns[-1][0]
    return tuple(torch.cat(parts, dim=1) for parts in zip(*columns, strict=True))
