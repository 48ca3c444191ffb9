"""Child-Sum Tree-LSTM (Sec. 3.1): any number of children, in no order."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional

from bough.nn.engine import sweep, uniform
from bough.nn.fast.child_sum import ChildSumCell
from bough.nn.layer import TreeLSTM
from bough.trees.forest import Forest


class ChildSumTreeLSTM(TreeLSTM):
    """Tree-LSTM that sums its children's states (Eqs. 2-8); over dependency trees, the Dependency Tree-LSTM.

    h~_j = Σ_k h_k
    i_j  = σ(W_i x_j + U_i h~_j + b_i)
    f_jk = σ(W_f x_j + U_f h_k + b_f)
    o_j  = σ(W_o x_j + U_o h~_j + b_o)
    u_j  = tanh(W_u x_j + U_u h~_j + b_u)
    c_j  = i_j ⊙ u_j + Σ_k f_jk ⊙ c_k
    h_j  = o_j ⊙ tanh(c_j), or tanh(c_j) with `output_gate=False`

    `recurrent_dropout` drops entries of u while training, each node with its own mask.

    Shape: x (N, X), a forest of N nodes -> h, c (N, D).
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        output_gate: bool = True,
        recurrent_dropout: float = 0.0,
    ) -> None:
        super().__init__(
            input_size, hidden_size, output_gate=output_gate, recurrent_dropout=recurrent_dropout
        )
        x, d = input_size, hidden_size
        # NOTE(paper): the text has one bias a gate; Table 1 counts one for every affine map, so two.
        gates = len(self.plain) + 1
        self.W = uniform(gates * d, x, fan_in=x)  # row blocks u, i, (o,) f
        self.b_W = uniform(gates * d, fan_in=x)
        self.U = uniform(d, (gates - 1) * d, fan_in=d)  # on h~; column blocks u, i, (o)
        self.U_f = uniform(d, d, fan_in=d)  # on each h_k
        self.b_U = uniform(gates * d, fan_in=d)

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}, output_gate={self.output_gate}"

    def input_map(self, x: Tensor) -> Tensor:
        """(M, X) -> (M, G*D): W x and every bias, for all gates in one matmul."""
        return functional.linear(x, self.W, self.b_W + self.b_U)

    def compose(self, a: Tensor, forest: Forest) -> tuple[Tensor, Tensor]:
        """From `input_map`'s rows for `input_nodes(forest)` to h, c (U, D) of the forest's units."""
        a = a.to(self.U.dtype)  # autocast may have made it another
        drop = self.recurrent_dropout if self.training else 0.0
        cell = ChildSumCell(a, self.U, self.U_f, forest, output_gate=self.output_gate, drop=drop)
        h, c = sweep(cell, forest, a, self.U, self.U_f)
        return h, c

    def gates(self) -> dict[str, Tensor]:
        """The paper's symbols: W_* (D, X), U_* (D, D) and b_* (D), the sum of a gate's biases."""
        d = self.hidden_size
        W, b = self.W.view(-1, d, self.input_size), (self.b_W + self.b_U).view(-1, d)
        U = [*self.U.view(d, -1, d).permute(1, 2, 0), self.U_f.t()]
        named: dict[str, Tensor] = {}
        for k, gate in enumerate(self.plain + "f"):
            named |= {f"W_{gate}": W[k], f"U_{gate}": U[k], f"b_{gate}": b[k]}
        return named
