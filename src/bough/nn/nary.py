"""N-ary Tree-LSTM (Sec. 3.2), for nodes with at most N ordered children, with separate weights for each."""

import math
from collections.abc import Mapping
from typing import Any, Literal

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
class NaryTreeLSTM(TreeLayer):
    """Tree-LSTM with separate matrices for each child slot (Eqs. 9-14); over binary trees, the Constituency Tree-LSTM.

        i_j  = σ(W_i x_j + Σ_l U_i,l  h_jl + b_i)
        f_jk = σ(W_f x_j + Σ_l U_f,kl h_jl + b_f,k)
        o_j  = σ(W_o x_j + Σ_l U_o,l  h_jl + b_o)
        u_j  = tanh(W_u x_j + Σ_l U_u,l h_jl + b_u)
        c_j  = i_j ⊙ u_j + Σ_l f_jl ⊙ c_jl
        h_j  = o_j ⊙ tanh(c_j), or tanh(c_j) with `output_gate=False`

    Args:
        input_size: the width X of an input row.
        hidden_size: the width D of a state.
        arity: N, the most children a node may have; a node with fewer fills the first slots.
        forget: "full" has all U_f,kl; "diagonal" has U_f,kk only; "tied" has U_f,kk and one matrix for all k ≠ l.
        leaf: "gated" uses the equations above at every node, and every node has an x. "affine" is for trees with words
            at the leaves only (the Constituency Tree-LSTM): c = W x + b, h = σ(W_o x + b_o) ⊙ tanh(c) at a leaf, and
            inner nodes have no x.
        output_gate: whether there is an output gate o.
        recurrent_dropout: the probability of dropping an entry of u while training; each node has its own mask.
        forget_bias: added to the initial biases of the forget gates, which are otherwise drawn around zero.

    Shape:
        x (N, X), a forest of N nodes -> h, c (N, D).

    Examples:
        >>> import torch, bough
        >>> call = bough.Tree(parents=[-1, 0, 0], tokens=["add", "x", "1"])
        >>> forest = bough.Forest([call])
        >>> h, c = bough.nn.NaryTreeLSTM(300, 150, arity=2)(torch.randn(3, 300), forest)
        >>> h.shape
        torch.Size([3, 150])
    """

    name = "constituency"
    reads = "constituency"
    shown = ("arity", "forget", "leaf", "output_gate")

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        arity: int = 2,
        *,
        forget: Literal["full", "diagonal", "tied"] = "full",
        leaf: Literal["gated", "affine"] = "gated",
        output_gate: bool = True,
        recurrent_dropout: float = 0.0,
        forget_bias: float = 0.0,
        **kwargs: Any,
    ) -> None:
        if forget not in ("full", "diagonal", "tied"):
            raise ValueError(f"forget={forget!r}: 'full', 'diagonal' or 'tied'")
        if leaf not in ("gated", "affine"):
            raise ValueError(f"leaf={leaf!r}: 'gated' or 'affine'")
        if arity < 1:
            raise ValueError(f"arity={arity}: at least 1")
        if not math.isfinite(forget_bias):
            raise ValueError(f"forget_bias={forget_bias}: a finite number")
        x, d, n = input_size, hidden_size, arity
        super().__init__(x, (d, d), recurrent_dropout=recurrent_dropout, **kwargs)
        self.hidden_size, self.arity, self.output_gate = d, n, output_gate
        self.forget, self.leaf, self.forget_bias = forget, leaf, forget_bias
        self.leaf_inputs = leaf == "affine"
        self.plain = "uio" if output_gate else "ui"  # the gates other than the forget gates
        columns = (len(self.plain) + (n if forget == "full" else 0)) * d
        # NOTE(paper): the text has one bias per gate; Table 1 counts one for every affine map.
        maps = len("co"[: 1 + output_gate] if leaf == "affine" else self.plain + "f")
        self.weight("W", maps * d, x, fan_in=x)  # row blocks c, o (affine) or u, i, f, o (gated)
        self.weight("b_W", maps * d, fan_in=x)
        # row block l: child l; column blocks u, i, (f_1 .. f_N if full,) o
        self.weight("U", n * d, columns, fan_in=d)
        self.weight("b_U", n, columns, fan_in=d)
        if forget != "full":
            self.weight("U_f", n, d, d, fan_in=d)  # U_f[k] is U_kk, transposed as U is
            self.weight("b_f", n, d, fan_in=d)
        if forget == "tied":
            self.weight("U_off", d, d, fan_in=d)
            self.weight("b_off", d, fan_in=d)
        self.reset_parameters()

    @torch.no_grad()
    def reset_parameters(self) -> None:
        super().reset_parameters()
        n, d = self.arity, self.hidden_size
        if self.forget_bias:
            (self.b_U[0, 2 * d : (2 + n) * d] if self.forget == "full" else self.b_f).add_(self.forget_bias)

    def check(self, forest: Forest) -> None:
        forest.check_arity(self.arity)

    def input_map(self, x: Tensor) -> Tensor:
        """Return (M, 2D) with c and o for affine leaves, else (M, gates * D) with W_f x for each of the N slots."""
        a = functional.linear(x, self.W, self.b_W)
        if self.leaf == "affine" or self.arity == 1:
            return a
        u, i, f, *o = a.split(self.hidden_size, dim=1)
        return torch.cat([u, i, *[f] * self.arity, *o], dim=1)

    def at_leaf(self, a: Tensor, below: Children) -> tuple[Tensor, Tensor]:
        if self.leaf == "gated":
            return self.node(a, below)
        # NOTE(paper): the released program does not use Eqs. 9-14 at a leaf; it maps x to c by an affine map.
        c, *a_o = a.split(self.hidden_size, dim=1)  # (n, D)
        return (torch.sigmoid(a_o[0]) * torch.tanh(c) if a_o else torch.tanh(c)), c

    def with_input_map(self, W: Tensor, b: Tensor) -> dict[str, Tensor]:
        d, n = self.hidden_size, self.arity
        if self.leaf == "gated":  # `input_map` repeats W_f x for each slot, but W has it once
            W, b = (torch.cat([rows[: 3 * d], rows[(2 + n) * d :]]) for rows in (W, b))
        return {"W": W, "b_W": b}

    def node(self, a: Tensor | None, below: Children) -> tuple[Tensor, Tensor]:
        """Return h and c by Eqs. 9-14; a (n, gates * D) has W x, or is None if inner nodes have no x."""
        h, c_l = (below.slots(state, self.arity) for state in below.states)  # (n, N, D)
        d, n, (U, b) = self.hidden_size, self.arity, below.once(self._fused)
        z = below.addmm(b if a is None else a + b, h.view(-1, n * d), U)  # (n, gates * D)
        z_u, z_ifo = z.split([d, z.shape[1] - d], dim=1)
        i, f, *o = torch.sigmoid(z_ifo).split([d, n * d, *[d] * self.output_gate], dim=1)
        u = below.drop(torch.tanh(z_u))
        c = i * u + (f.view(-1, n, d) * c_l).sum(dim=1)
        h = o[0] * torch.tanh(c) if o else torch.tanh(c)
        return h, c

    def run_kernel(self, a: Tensor, forest: Forest, dropout: Tensor | None) -> tuple[Tensor, ...]:
        bias: Tensor | None
        U, bias = self._fused()
        if self.leaf == "gated":
            a, bias = a + bias, None
        return run_tree_lstm(a, U, bias, forest, self.arity, self.output_gate, dropout)

    def infer(self, x: Tensor, forest: Forest, table: Any = None) -> tuple[Tensor, ...] | None:
        dropped = self.training and self.recurrent_dropout
        if type(self) is not NaryTreeLSTM or not self.fast or dropped or self.forget != "full":
            return None
        return infer_tree_lstm(self, x, forest, self.arity, table)

    def _fused(self) -> tuple[Tensor, Tensor]:
        """Return U (N*D, G*D) and b (G*D,) for one matmul per level; column blocks u, i, f_1 .. f_N, o."""
        U, b = self.U, self.b_U.sum(0)
        if self.forget == "full":
            return U, b
        n, d = self.arity, self.hidden_size
        U_f, b_f = torch.block_diag(*self.U_f), self.b_f.flatten()
        if self.forget == "tied":
            off = 1 - torch.eye(n, dtype=U.dtype, device=U.device)
            U_f = U_f + torch.kron(off, self.U_off)
            b_f = b_f + (n - 1) * self.b_off.repeat(n)
        return torch.cat([U[:, : 2 * d], U_f, U[:, 2 * d :]], dim=1), torch.cat([b[: 2 * d], b_f, b[2 * d :]])

    def gates(self) -> dict[str, Tensor]:
        """Return copies of the weights by their names in the paper.

        These are W_* (D, X), U_* (N, D, D), U_f (N, N, D, D) by [k, l], b_* (D) and b_f (N, D). A
        layer with affine leaves has W_leaf, b_leaf, W_leaf_o and b_leaf_o instead of W_i, W_f, W_o
        and W_u.
        """
        n, d = self.arity, self.hidden_size
        named = summed(self._gate_views())
        if self.forget != "full":
            fused = self._fused()[0].view(n, d, -1, d).permute(2, 0, 3, 1)  # gate, child, out, in
            named["U_f"] = fused[2 : 2 + n].clone()
        return named

    def load_gates(self, weights: Mapping[str, Any]) -> list[str]:
        """Replace weights by their names in the paper, with those of another program, for example.

        Args:
            weights: tensors or arrays, by the names and with the shapes that `gates` returns. The bias of an equation
                is stored in one parameter; the others that are added to it become 0.

        Returns:
            The names that were not given, in the order of `gates`. These weights keep their values.

        Raises:
            ValueError: if a name or a shape is not one of `gates`, or if U_f[k, l], k ≠ l, are not 0 with
                `forget="diagonal"` or not equal with `forget="tied"`. No weight has been changed then.
        """
        named = self.gates()
        new = checked(self, named, weights)
        if self.forget != "full" and "U_f" in new:
            self._load_forget(new.pop("U_f"))
        write(self._gate_views(), new)
        return [name for name in named if name not in weights]

    @torch.no_grad()
    def _load_forget(self, U_f: Tensor) -> None:
        """Set U_kk and, if tied, the one matrix for all k ≠ l from U_f (N, N, D, D)."""
        n = self.arity
        off = U_f[~torch.eye(n, dtype=torch.bool, device=U_f.device)]  # (N * (N - 1), D, D)
        wanted = torch.zeros_like(off) if self.forget == "diagonal" else off[:1].expand_as(off)
        if not torch.equal(off, wanted):
            must = "0" if self.forget == "diagonal" else "equal to each other"
            raise ValueError(f"U_f[k, l], k ≠ l, must be {must} in a layer with forget={self.forget!r}")
        self.U_f.copy_(U_f.diagonal().permute(2, 1, 0))  # (N, D, D), each transposed as U is
        if self.forget == "tied" and n > 1:
            self.U_off.copy_(off[0].t())

    def _gate_views(self) -> Views:
        """Return the views of all weights but U_f of a layer whose `forget` is not "full"."""
        n, d, gated = self.arity, self.hidden_size, self.leaf == "gated"
        U = self.U.view(n, d, -1, d).permute(2, 0, 3, 1)  # gate, child, out, in
        b_U = self.b_U.view(n, -1, d)  # child, gate, out
        W, b_W = self.W.view(-1, d, self.input_size), self.b_W.view(-1, d)
        views: Views = {}
        for k, gate in zip((0, 1, -1), self.plain, strict=False):
            views |= {f"U_{gate}": (U[k],), f"b_{gate}": tuple(b_U[:, k])}
        if self.forget == "full":
            views |= {"U_f": (U[2 : 2 + n],), "b_f": tuple(b_U[:, 2 : 2 + n])}
        else:
            off = (self.b_off.unsqueeze(0),) * (n - 1) if self.forget == "tied" else ()
            views["b_f"] = (self.b_f, *off)
        for k, name in enumerate("uifo"[: len(W)] if gated else ("leaf", "leaf_o")[: len(W)]):
            views[f"W_{name}"] = (W[k],)
            views[f"b_{name}"] = (*views.get(f"b_{name}", ()), b_W[k : k + 1] if name == "f" else b_W[k])
        return views
