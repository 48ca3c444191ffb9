"""Run a layer's equations once, on states that are already there."""

from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from bough.nn.children import Children
from bough.nn.dropout import dropout_mask


class StepForest:
    """What `Children` and `TreeLayer.check` read of a `Forest`, for nodes that are computed in one step.

    Args:
        nodes: the number n of nodes.
        parents: (E,) the node that reads each state, in ascending order.
        runs_down: whether the states are those of parents.
        given: `places`, `relations` and `sizes` of the edges and `kinds` of the nodes, if known.
    """

    kind_sizes = None  # the nodes are in any order

    def __init__(self, nodes: int, parents: Tensor, runs_down: bool, given: dict[str, Tensor]) -> None:
        self.level_sizes, self.slices, self.edge_slices = [nodes], [(0, nodes)], [slice(0, len(parents))]
        self.edge_rows, self.runs_down, self._given = parents, runs_down, given
        self.edge_relations, self.kinds = given.get("relations"), given.get("kinds")
        self.children = torch.arange(nodes, nodes + len(parents), device=parents.device)

    @cached_property
    def counts(self) -> Tensor:
        """(n,) the number of states that each node reads."""
        return torch.bincount(self.edge_rows, minlength=self.level_sizes[0])

    @cached_property
    def edge_places(self) -> Tensor:
        """(E,) the position of each child among its siblings."""
        if (places := self._given.get("places")) is not None:
            return places
        if self.runs_down and len(self.edge_rows):
            raise ValueError(
                "the layer reads the position of a node among its siblings; call step with places=..."
            )
        first = self.counts.cumsum(0) - self.counts
        return torch.arange(len(self.edge_rows), device=first.device) - first.index_select(0, self.edge_rows)

    @cached_property
    def subtree_sizes(self) -> Tensor:
        """(n + E,) the sizes of the subtrees of the nodes and of their children."""
        sizes = self._given.get("sizes")
        if sizes is None:
            if len(self.edge_rows):
                raise ValueError(
                    "the layer reads the sizes of subtrees; call step with sizes=..., one per state"
                )
            sizes = self.edge_rows
        return torch.cat(
            [self.counts.new_ones(self.level_sizes[0]).index_add(0, self.edge_rows, sizes), sizes]
        )

    def check_arity(self, arity: int) -> None:
        """Raise a ValueError if a node reads more children than `arity`, or has a place beyond it."""
        if len(self.edge_rows) and int(self.edge_places.max()) >= arity:
            edge = int(self.edge_places.argmax())
            wrong = f"node {int(self.edge_rows[edge])} has the place {int(self.edge_places[edge])}"
            if not self.runs_down:
                wrong = f"node {int(self.edge_rows[edge])} has {int(self.counts.max())} children"
            raise ValueError(f"{wrong}; the layer's arity is {arity}")

    def check_one_parent(self) -> None:
        """Raise a ValueError if a node reads several parents."""
        if self.runs_down and len(self.edge_rows) > 1 and int(self.counts.max()) > 1:
            raise ValueError(
                f"node {int(self.counts.argmax())} has {int(self.counts.max())} parents; at most one"
            )


class StepChildren(Children):
    """`Children` for plain autograd."""

    def addmm(self, b: Tensor, rows: Tensor, weight: Tensor) -> Tensor:
        return torch.addmm(b, rows, weight)


def run_step(
    layer: Any,
    x: Tensor | None,
    states: tuple[Tensor, ...],
    parents: Tensor,
    given: dict[str, Tensor],
    more: dict[str, Any],
) -> tuple[Tensor, ...]:
    """Return one (n, D) per state of the layer, for n nodes whose neighbours' states are given.

    Args:
        layer: the `TreeLayer` whose `node` and `at_leaf` are run.
        x: (n, X), or None if no node has an input.
        states: one (E, D) per state of the layer.
        parents: (E,) the node that reads each of them.
        given: `places`, `relations`, `sizes` and `edge_features`, with E rows each, and `kinds`, with n, if known.
        more: arguments of `layer.step_inputs`.
    """
    nodes = int(parents.max()) + 1 if x is None and len(parents) else 0 if x is None else len(x)
    if len(parents) > 1:  # sorted by node, and for each node in the order in which they are given
        parents, order = parents.sort(stable=True)
        states = tuple(state.index_select(0, order) for state in states)
        given |= {name: rows.index_select(0, order) for name, rows in given.items() if name != "kinds"}
    if not nodes:
        return states
    if len(parents) and not 0 <= int(parents[0]) <= int(parents[-1]) < nodes:
        wrong = int(parents[0]) if parents[0] < 0 else int(parents[-1])
        raise ValueError(f"parents has {wrong}; the nodes are 0..{nodes - 1}, the rows of x")
    counts = torch.bincount(parents, minlength=nodes)
    if x is None and not (layer.leaf_inputs and counts.all()):
        raise ValueError(f"x is None; {type(layer).__name__} takes (nodes, {layer.input_size})")
    layer.check(StepForest(nodes, parents, layer.from_roots, given))
    leaves, inner = (counts == 0).nonzero().squeeze(1), counts.nonzero().squeeze(1)
    if x is not None and layer.leaf_inputs:
        x = x.index_select(0, leaves)
    a = None if x is None else layer.step_inputs(x, **more)
    results: list[tuple[Tensor, ...]] = []
    for rows in (leaves, inner):
        if not len(rows):
            continue
        reads = slice(0, len(parents) if rows is inner else 0)
        owners, of_rows = torch.searchsorted(rows, parents[reads]), dict[str, Tensor]()
        for name, values in given.items():
            of_rows[name] = values.index_select(0, rows) if name == "kinds" else values[reads]
        forest = StepForest(len(rows), owners, layer.from_roots, of_rows)
        inputs, mask = a, None
        if layer.leaf_inputs:
            inputs = a if rows is leaves else None
        elif a is not None and len(rows) < nodes:
            inputs = a.index_select(0, rows)
        if layer.training and layer.recurrent_dropout and not (layer.leaf_inputs and rows is leaves):
            mask = dropout_mask(states[0], len(rows), layer.dropout_width, layer.recurrent_dropout)
        states_k = tuple(state[reads] for state in states)
        below = StepChildren(states_k, forest, 0, owners, mask, of_rows.get("edge_features"), {})
        results.append((layer.node if rows is inner else layer.at_leaf)(inputs, below))
    if len(results) == 1:
        return results[0]
    order = torch.cat([leaves, inner]).argsort()
    return tuple(torch.cat(parts).index_select(0, order) for parts in zip(*results, strict=True))
