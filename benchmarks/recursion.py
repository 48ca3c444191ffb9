"""Compute the paper's equations one node at a time in plain PyTorch, to test and time the layers against.

Only the weights come from the layers: `gates()` returns them by the paper's names.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from bough import Tree
from bough.nn import LSTM, ChildSumTreeLSTM, NaryTreeLSTM

State = tuple[Tensor, Tensor]  # h, c of one node, (D,) each
Node = Callable[[Tensor, Sequence[State], Tensor | None], State]  # x_j, the children's states, a mask for u


def child_sum(layer: ChildSumTreeLSTM) -> Node:
    """Return the function of one node of a Child-Sum Tree-LSTM, Eqs. 2-8."""
    g = layer.gates()

    def node(x: Tensor, below: Sequence[State], mask: Tensor | None) -> State:
        h_sum = sum((h for h, _ in below), start=x.new_zeros(layer.hidden_size))
        i = torch.sigmoid(g["W_i"] @ x + g["U_i"] @ h_sum + g["b_i"])
        u = torch.tanh(g["W_u"] @ x + g["U_u"] @ h_sum + g["b_u"])
        c = i * (u if mask is None else u * mask)
        for h_k, c_k in below:
            f_k = torch.sigmoid(g["W_f"] @ x + g["U_f"] @ h_k + g["b_f"])
            c = c + f_k * c_k
        if not layer.output_gate:
            return torch.tanh(c), c
        o = torch.sigmoid(g["W_o"] @ x + g["U_o"] @ h_sum + g["b_o"])
        return o * torch.tanh(c), c

    return node


def nary(layer: NaryTreeLSTM) -> Node:
    """Return the function of one node of an N-ary Tree-LSTM, Eqs. 9-14, or with affine leaves."""
    g = layer.gates()
    U = {gate: g[f"U_{gate}"].unbind() for gate in ("iou" if layer.output_gate else "iu")}
    U_f = [row.unbind() for row in g["U_f"].unbind()]
    b_f = g["b_f"].unbind()
    affine = layer.leaf == "affine"

    def total(x: Tensor, gate: str, maps: Sequence[Tensor], b: Tensor, below: Sequence[State]) -> Tensor:
        z = b if affine else g[f"W_{gate}"] @ x + b
        for U_l, (h_l, _) in zip(maps, below, strict=False):  # the first slots are filled
            z = z + U_l @ h_l
        return z

    def node(x: Tensor, below: Sequence[State], mask: Tensor | None) -> State:
        if affine and not below:
            c = g["W_leaf"] @ x + g["b_leaf"]
            o = torch.sigmoid(g["W_leaf_o"] @ x + g["b_leaf_o"]) if layer.output_gate else 1.0
            return o * torch.tanh(c), c
        i = torch.sigmoid(total(x, "i", U["i"], g["b_i"], below))
        u = torch.tanh(total(x, "u", U["u"], g["b_u"], below))
        c = i * (u if mask is None else u * mask)
        for k, (_, c_k) in enumerate(below):
            c = c + torch.sigmoid(total(x, "f", U_f[k], b_f[k], below)) * c_k
        if not layer.output_gate:
            return torch.tanh(c), c
        return torch.sigmoid(total(x, "o", U["o"], g["b_o"], below)) * torch.tanh(c), c

    return node


def climb(node: Node, x: Tensor, trees: Sequence[Tree], masks: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Return h and c (N, D) of every node in the forest's order, children before parents."""
    # unbind once: indexing would give each row a gradient of the size of x
    rows, states = x.unbind(), list[State]()
    for tree in trees:
        first = len(states)
        states += [(x, x)] * len(tree)
        for j in tree.heights.argsort(kind="stable").tolist():
            below = [states[first + k] for k in tree.children[j]]
            mask = None if masks is None else masks[first + j]
            states[first + j] = node(rows[first + j], below, mask)
    h, c = zip(*states, strict=True)
    return torch.stack(h), torch.stack(c)


def lstm(layer: LSTM, x: Tensor, trees: Sequence[Tree]) -> tuple[Tensor, Tensor]:
    """Return h and c of Eq. 1 along every chain, one direction and layer at a time."""
    columns: list[tuple[Tensor, Tensor]] = []
    for direction in range(layer.directions):
        chains, inputs = trees, x
        if direction:  # each word's child, if it has one, becomes its parent
            chains = [Tree([(*below, -1)[0] for below in tree.children]) for tree in trees]
        for cell in layer.stacks[direction if len(layer.stacks) > 1 else 0].children():
            assert isinstance(cell, NaryTreeLSTM)
            columns.append(climb(nary(cell), inputs, chains))
            inputs = columns[-1][0]
    h, c = zip(*columns, strict=True)
    return torch.cat(h, dim=1), torch.cat(c, dim=1)


def recursive(
    layer: nn.Module, x: Tensor, trees: Sequence[Tree], masks: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Return the h and c that `layer(x, Forest(trees))` should return.

    `masks` (N, D) replaces the random mask of `recurrent_dropout`.
    """
    if isinstance(layer, NaryTreeLSTM):
        return climb(nary(layer), x, trees, masks)
    if isinstance(layer, ChildSumTreeLSTM):
        return climb(child_sum(layer), x, trees, masks)
    if isinstance(layer, LSTM):
        return lstm(layer, x, trees)
    raise TypeError(f"no equations for a {type(layer).__name__}")
