"""Whole forests computed by `layer.step`, a few nodes of each tree at a time."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from bough import Forest, Tree
from bough.nn import AttentiveChildSum, BaseLayer, BiTreeLSTM, TreeLayer


def by_steps(layer: BaseLayer, x: Tensor, trees: Sequence[Tree]) -> tuple[Tensor, ...]:
    """What `layer(x, Forest(trees))` should be; for an attentive layer, with `guides(layer, trees)`."""
    if isinstance(layer, BiTreeLSTM):
        up = by_steps(layer.up, x, trees)[0]
        return (torch.cat([up, by_steps(layer.down, up, trees)[0]], dim=1),)
    forest = Forest(trees)
    lower, upper = forest.edge_index
    down = isinstance(layer, TreeLayer) and layer.from_roots
    read, reader = (upper, lower) if down else (lower, upper)
    of_node = {
        "relations": torch.tensor([_relation(tree, node) for tree in trees for node in range(len(tree))]),
        "sizes": torch.tensor([_size(tree, node, down) for tree in trees for node in range(len(tree))]),
    }
    if down:
        of_node["places"] = torch.tensor([_place(tree, node) for tree in trees for node in range(len(tree))])
    depth = torch.tensor([_size(tree, node, True) for tree in trees for node in range(len(tree))])
    # so that a step has leaves, or roots, as well as other nodes
    turn = depth + forest.batch if down else -depth
    done: dict[int, tuple[Tensor, ...]] = {}
    for now in turn.unique().tolist():
        nodes = (turn == now).nonzero().squeeze(1).flip(0)  # in any order
        edges = torch.isin(reader, nodes).nonzero().squeeze(1)
        parents = len(nodes) - 1 - torch.searchsorted(nodes.flip(0), reader[edges])
        width = getattr(layer, "states", (layer.width, layer.width))
        states = [
            torch.stack([done[node][s] for node in read[edges].tolist()]) if len(edges) else x.new_empty(0, w)
            for s, w in enumerate(width)
        ]
        own = {
            name: values[read[edges] if name == "sizes" else lower[edges]] for name, values in of_node.items()
        }
        if isinstance(layer, AttentiveChildSum):
            own["guide"] = guides(layer, trees)[forest.batch[nodes]]
        found = layer.step(x[nodes], states if len(states) > 1 else states[0], parents, **own)
        done |= zip(nodes.tolist(), zip(*_tuple(found), strict=True), strict=True)
    return tuple(torch.stack(rows) for rows in zip(*(done[n] for n in range(len(x))), strict=True))


def guides(layer: BaseLayer, trees: Sequence[Tree]) -> Tensor:
    return torch.arange(len(trees) * layer.width, dtype=torch.float64).sin().view(len(trees), layer.width)


def _tuple(found: Tensor | tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    return found if isinstance(found, tuple) else (found,)


def _place(tree: Tree, node: int) -> int:
    parent = int(tree.parents[node])
    return tree.children[parent].index(node) if parent >= 0 else 0


def _relation(tree: Tree, node: int) -> int:
    relation = tree.relations[node] if tree.relations else None
    return relation if isinstance(relation, int) else 0


def _size(tree: Tree, node: int, down: bool) -> int:
    """The number of nodes in the subtree of a node, or on its path to the root."""
    if down:
        parent = int(tree.parents[node])
        return 1 + (_size(tree, parent, True) if parent >= 0 else 0)
    return 1 + sum(_size(tree, child, False) for child in tree.children[node])
