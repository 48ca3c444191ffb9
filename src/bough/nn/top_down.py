"""Tree-LSTMs from the roots, in which a node reads its parent, and in both directions."""

from typing import Any, Literal

import torch
from torch import Tensor
from torch.nn import functional

from bough.nn.base import BaseLayer
from bough.nn.child_sum import ChildSumTreeLSTM
from bough.nn.children import Children
from bough.nn.layer import TreeLayer
from bough.nn.nary import NaryTreeLSTM
from bough.nn.registry import register
from bough.trees.forest import Forest


class TopDownTreeLSTM(TreeLayer):
    """Tree-LSTM from the roots to the leaves, with separate matrices for each position among siblings.

        i_j = σ(W_i x_j + U_i,l h_p + b_i)        f_j = σ(W_f x_j + U_f,l h_p + b_f)
        o_j = σ(W_o x_j + U_o,l h_p + b_o)        u_j = tanh(W_u x_j + U_u,l h_p + b_u)
        c_j = i_j ⊙ u_j + f_j ⊙ c_p               h_j = o_j ⊙ tanh(c_j)

    p is the parent of j, and j is its l-th child. A root reads zeros. In a graph, a node may have
    several parents: i, o and u read Σ_p U_l h_p, and each parent has a forget gate f_jp, so that
    c_j = i_j ⊙ u_j + Σ_p f_jp ⊙ c_p.

    Args:
        input_size: the width X of an input row.
        hidden_size: the width D of a state.
        arity: the most children a node may have; with 1, all children share their matrices, for dependency trees.
        recurrent_dropout: the probability of dropping an entry of u while training; each node has its own mask.

    Shape:
        x (N, X), a forest of N nodes -> h, c (N, D).

    Examples:
        >>> import torch, bough
        >>> forest = bough.Forest([bough.Tree(parents=[1, -1, 1]), bough.Tree(parents=[1, -1])])
        >>> h, c = bough.nn.TopDownTreeLSTM(300, 150)(torch.randn(5, 300), forest)
        >>> h.shape
        torch.Size([5, 150])
    """

    from_roots = True
    shown = ("arity",)

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        arity: int = 1,
        *,
        recurrent_dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        if arity < 1:
            raise ValueError(f"arity={arity}: at least 1")
        x, d = input_size, hidden_size
        super().__init__(x, (d, d), recurrent_dropout=recurrent_dropout, **kwargs)
        self.hidden_size, self.arity = d, arity
        self.weight("W", 4 * d, x, fan_in=x)  # row blocks i, f, o, u
        self.weight("b_W", 4 * d, fan_in=x)
        self.weight("U", arity * d, 4 * d, fan_in=d)  # row block l: for the l-th child
        self.reset_parameters()

    def check(self, forest: Forest) -> None:
        if self.arity > 1:
            forest.check_arity(self.arity)

    def input_map(self, x: Tensor) -> Tensor:
        """Return W x + b_W: (M, X) -> (M, 4D)."""
        return functional.linear(x, self.W, self.b_W)

    def node(self, a: Tensor, above: Children) -> tuple[Tensor, Tensor]:
        h_p, c_p = above.states  # (n, D), none above the roots
        if bool((above.count > 1).any()):
            return self._node_of_graph(a, above)
        h = above.slots(h_p, self.arity).flatten(1) if self.arity > 1 else above.sum(h_p)  # (n, arity * D)
        z_i, z_f, z_o, z_u = torch.addmm(a, h, self.U).chunk(4, dim=1)
        i, f, o = torch.sigmoid(z_i), torch.sigmoid(z_f), torch.sigmoid(z_o)
        u = above.drop(torch.tanh(z_u))
        c = i * u + f * above.sum(c_p)
        return o * torch.tanh(c), c

    def _node_of_graph(self, a: Tensor, above: Children) -> tuple[Tensor, Tensor]:
        """Return h and c of nodes that may have several parents, E in all."""
        h_p, c_p = above.states  # (E, D)
        rows = torch.arange(len(h_p), device=a.device)
        places = above.places if self.arity > 1 else torch.zeros_like(rows)
        slots = h_p.new_zeros(len(h_p), self.arity, self.hidden_size).index_put((rows, places), h_p)
        z_p = slots.flatten(1) @ self.U  # (E, 4D): U_l h_p
        z_i, _, z_o, z_u = (a + above.sum(z_p)).chunk(4, dim=1)
        i, o, u = torch.sigmoid(z_i), torch.sigmoid(z_o), above.drop(torch.tanh(z_u))
        f = torch.sigmoid((above.spread(a) + z_p).chunk(4, dim=1)[1])  # (E, D)
        c = i * u + above.sum(f * c_p)
        return o * torch.tanh(c), c


class BiTreeLSTM(BaseLayer):
    """Tree-LSTM from the leaves, followed by one from the roots over its states, so that a node sees the whole tree.

        h↑ = Tree-LSTM(x),  h↓ = TopDownTreeLSTM(h↑),  h = [h↑ ; h↓]

    It also takes graphs, as its two layers do.

    Args:
        input_size: the width X of an input row.
        hidden_size: the width D of a state.
        arity: 2 for binary trees; 0 for any number of unordered children, with Child-Sum and shared matrices.
        leaf: "gated" if every node has an input, "affine" if leaves only have one, as in `NaryTreeLSTM`.
        recurrent_dropout: the probability of dropping an entry of u while training, in both directions.

    Shape:
        x (N, X), a forest of N nodes -> h (N, 2D).

    Examples:
        >>> import torch, bough
        >>> forest = bough.Forest([bough.Tree(parents=[1, -1, 1]), bough.Tree(parents=[1, -1])])
        >>> bough.nn.BiTreeLSTM(300, 150, arity=0)(torch.randn(5, 300), forest).shape
        torch.Size([5, 300])
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        arity: int = 2,
        *,
        leaf: Literal["gated", "affine"] = "gated",
        recurrent_dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        if leaf == "affine" and not arity:
            raise ValueError("leaf='affine' needs an arity of at least 1; with arity=0 all nodes have inputs")
        super().__init__(input_size, 2 * hidden_size)
        self.hidden_size, self.arity = hidden_size, arity
        kwargs["recurrent_dropout"] = recurrent_dropout
        if arity:
            self.up: TreeLayer = NaryTreeLSTM(input_size, hidden_size, arity, leaf=leaf, **kwargs)
        else:
            self.up = ChildSumTreeLSTM(input_size, hidden_size, **kwargs)
        self.down = TopDownTreeLSTM(hidden_size, hidden_size, max(arity, 1), **kwargs)

    @property
    def shares(self) -> bool:
        return self.up.shares

    def input_nodes(self, forest: Forest) -> Tensor:
        return self.up.input_nodes(forest)

    def rows(self, x: Tensor, forest: Forest) -> tuple[Tensor, Tensor]:
        risen, unique_of = self.up.rows(x, forest)
        up = risen.index_select(0, unique_of)  # (N, D)
        fallen, row_of = self.down.rows(up.index_select(0, self.down.input_nodes(forest)), forest)
        both = torch.cat([up, fallen.index_select(0, row_of)], dim=1)
        return both, torch.arange(forest.num_nodes, device=x.device)


register(BiTreeLSTM, name="bi-constituency", reads="constituency", arity=2)
register(BiTreeLSTM, name="bi-dependency", reads="dependency", arity=0)
