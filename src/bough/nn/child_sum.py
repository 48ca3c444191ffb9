"""Child-Sum Tree-LSTM (Sec. 3.1), for nodes with any number of unordered children."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from bough.nn.children import Children
from bough.nn.gates import Views, checked, summed, write
from bough.nn.kernels.tree_lstm import infer_tree_lstm, run_tree_lstm
from bough.nn.layer import TreeLayer
from bough.nn.registry import register
from bough.trees.forest import Forest


@register
class ChildSumTreeLSTM(TreeLayer):
    """Tree-LSTM that sums its children's states (Eqs. 2-8); over dependency trees, the Dependency Tree-LSTM.

        h~_j = Σ_k h_k
        i_j  = σ(W_i x_j + U_i h~_j + b_i)
        f_jk = σ(W_f x_j + U_f h_k + b_f)
        o_j  = σ(W_o x_j + U_o h~_j + b_o)
        u_j  = tanh(W_u x_j + U_u h~_j + b_u)
        c_j  = i_j ⊙ u_j + Σ_k f_jk ⊙ c_k
        h_j  = o_j ⊙ tanh(c_j), or tanh(c_j) with `output_gate=False`

    Args:
        input_size: the width X of an input row.
        hidden_size: the width D of a state.
        output_gate: whether there is an output gate o.
        recurrent_dropout: the probability of dropping an entry of u while training; each node has its own mask.

    Shape:
        x (N, X), a forest of N nodes -> h, c (N, D).

    Examples:
        >>> import torch, bough
        >>> forest = bough.Forest([bough.Tree(parents=[1, -1, 1]), bough.Tree(parents=[1, -1])])
        >>> h, c = bough.nn.ChildSumTreeLSTM(300, 150)(torch.randn(5, 300), forest)
        >>> h[forest.roots].shape
        torch.Size([2, 150])
    """

    name = "dependency"
    reads = "dependency"
    equations = ("node", "at_leaf", "gated")
    shown = ("output_gate",)

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        output_gate: bool = True,
        recurrent_dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        x, d = input_size, hidden_size
        super().__init__(x, (d, d), recurrent_dropout=recurrent_dropout, **kwargs)
        self.hidden_size, self.output_gate = d, output_gate
        self.plain = "uio" if output_gate else "ui"  # the gates other than the forget gates
        # NOTE(paper): the text has one bias per gate; Table 1 counts one for every affine map, so two.
        gates = len(self.plain) + 1
        self.weight("W", gates * d, x, fan_in=x)  # row blocks u, i, (o,) f
        self.weight("b_W", gates * d, fan_in=x)
        self.weight("U", d, (gates - 1) * d, fan_in=d)  # on h~; column blocks u, i, (o)
        self.weight("U_f", d, d, fan_in=d)  # on each h_k
        self.weight("b_U", gates * d, fan_in=d)
        self.reset_parameters()

    def input_map(self, x: Tensor) -> Tensor:
        """Return W x plus all biases, for all gates in one matmul: (M, X) -> (M, G*D)."""
        return functional.linear(x, self.W, self.b_W + self.b_U)

    def with_input_map(self, W: Tensor, b: Tensor) -> dict[str, Tensor]:
        return {"W": W, "b_W": b - self.b_U}

    def node(self, a: Tensor, below: Children) -> tuple[Tensor, Tensor]:
        """Return h and c by Eqs. 2-8; a (n, G*D) has W x and the biases."""
        h_k, _ = below.states  # (E, D)
        return self.gated(a, below.sum(h_k), below)

    def gated(self, a: Tensor, h_sum: Tensor, below: Children) -> tuple[Tensor, Tensor]:
        """Return h and c by Eqs. 3-8, from h~ (n, D)."""
        h_k, c_k = below.states  # (E, D)
        z, a_f = a.split([a.shape[1] - self.hidden_size, self.hidden_size], dim=1)
        if len(h_k):  # h~ of a leaf is 0
            z = torch.addmm(z, h_sum, self.U)  # (n, 2D or 3D)
        z_u, z_i, *z_o = z.split(self.hidden_size, dim=1)  # (n, D)
        i = torch.sigmoid(z_i)
        f = torch.sigmoid(torch.addmm(below.spread(a_f), h_k, self.U_f)) if len(h_k) else None  # (E, D)
        o = torch.sigmoid(z_o[0]) if z_o else None
        u = below.drop(torch.tanh(z_u))
        c = i * u if f is None else i * u + below.sum(f * c_k)
        h = torch.tanh(c) if o is None else o * torch.tanh(c)
        return h, c

    def run_kernel(self, a: Tensor, forest: Forest, dropout: Tensor | None) -> tuple[Tensor, ...]:
        return run_tree_lstm(a, self.U, self.U_f, forest, None, self.output_gate, dropout)

    def infer(self, x: Tensor, forest: Forest, table: Any = None) -> tuple[Tensor, ...] | None:
        if type(self) is not ChildSumTreeLSTM or not self.fast or (self.training and self.recurrent_dropout):
            return None
        return infer_tree_lstm(self, x, forest, None, table)

    def gates(self) -> dict[str, Tensor]:
        """Return copies of the weights by their names in the paper: W_* (D, X), U_* (D, D), b_* (D)."""
        return summed(self._gate_views())

    def load_gates(self, weights: Mapping[str, Any]) -> list[str]:
        """Replace weights by their names in the paper, with those of another program, for example.

        Args:
            weights: tensors or arrays, by the names and with the shapes that `gates` returns. The bias of an equation
                is stored in one parameter; the others that are added to it become 0.

        Returns:
            The names that were not given, in the order of `gates`. These weights keep their values.

        Raises:
            ValueError: if a name or a shape is not one of `gates`. No weight has been changed then.
        """
        views = self._gate_views()
        write(views, checked(self, summed(views), weights))
        return [name for name in views if name not in weights]

    def _gate_views(self) -> Views:
        d = self.hidden_size
        W, b_W, b_U = self.W.view(-1, d, self.input_size), self.b_W.view(-1, d), self.b_U.view(-1, d)
        U = [*self.U.view(d, -1, d).permute(1, 2, 0), self.U_f.t()]
        views: Views = {}
        for k, gate in enumerate(self.plain + "f"):
            views |= {f"W_{gate}": (W[k],), f"U_{gate}": (U[k],), f"b_{gate}": (b_W[k], b_U[k])}
        return views
