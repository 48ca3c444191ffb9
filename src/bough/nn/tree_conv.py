"""Tree-based convolution with dynamic pooling (Mou et al., 2016), which learned query optimisers use."""

from collections.abc import Sequence
from typing import Any, Literal, get_args

import torch
from torch import Tensor, nn
from torch.nn import functional

from bough.nn.children import Children
from bough.nn.engine import run_equations
from bough.nn.layer import TreeLayer
from bough.nn.registry import register
from bough.trees.forest import Forest

Activation = Literal["tanh", "relu", "leaky_relu", "elu", "gelu", "silu"]
Norm = Literal["none", "node", "tree"]


@register
class TreeConv(TreeLayer):
    """Tree convolution over each node and its children, with max-pooling over the subtree of a node.

        h_j^0 = x_j
        h_j^l = a(norm(W_t h_j^(l-1) + Σ_k ((1 - η_k) W_l + η_k W_r) h_k^(l-1) + b)),  l = 1 .. L
        m_j   = max(h_j^L, max_k m_k)                                  dynamic pooling

    a is the activation, tanh by default. η_k is the relative position of child k among the K
    children: (k - 1) / (K - 1), and 1/2 for an only child. With two children, W_l is for the left
    one and W_r for the right one, as in Neo and Bao (Marcus et al., 2019 and 2021). L layers see L
    levels below a node. A layer is computed for all nodes at once.

    Args:
        input_size: the width X of an input row.
        hidden_size: the width D of each layer's output, or a list of them, one per layer.
        layers: the number L of layers, if they have one width.
        activation: the name of a function of `torch.nn.functional`.
        norm: layer normalisation, with weights: "none", of each "node", or over all nodes of each "tree".
        dropout: the probability of dropping an entry of a layer's output while training.
        pooled: whether the first state is m. Without it, the first state is h^L, for `Forest.pool`.

    Shape:
        x (N, X), a forest of N nodes -> m (N, D), h^L, ..., h^1 (N, D) and h^0 (N, X); no m without `pooled`. The
        root's m is the pooled vector of its tree.

    Examples:
        >>> import torch, bough
        >>> forest = bough.Forest([bough.Tree(parents=[1, -1, 1]), bough.Tree(parents=[1, -1])])
        >>> m, *_ = bough.nn.TreeConv(300, 150)(torch.randn(5, 300), forest)
        >>> m[forest.roots].shape
        torch.Size([2, 150])
        >>> conv = bough.nn.TreeConv(30, (256, 128, 64), activation="leaky_relu", norm="tree", pooled=False)
        >>> h, *_ = conv(torch.randn(5, 30), forest)
        >>> forest.pool(h, "max").shape
        torch.Size([2, 64])
    """

    name = "tree-conv"
    reads = "dependency"
    shown = ("layers", "activation", "norm", "dropout", "pooled")

    def __init__(
        self,
        input_size: int,
        hidden_size: int | Sequence[int],
        *,
        layers: int = 3,
        activation: Activation = "tanh",
        norm: Norm = "none",
        dropout: float = 0.0,
        pooled: bool = True,
        **kwargs: Any,
    ) -> None:
        widths = [hidden_size] * layers if isinstance(hidden_size, int) else list(hidden_size)
        if not widths:
            raise ValueError(
                f"layers={layers}: at least 1" if layers < 1 else "hidden_size=(): at least one width"
            )
        for name, value, values in (("activation", activation, Activation), ("norm", norm, Norm)):
            if value not in get_args(values):
                raise ValueError(f"{name}={value!r}: one of {', '.join(map(repr, get_args(values)))}")
        if not 0 <= dropout < 1:
            raise ValueError(f"dropout={dropout}: at least 0, below 1")
        states = [*widths[::-1], input_size]
        super().__init__(input_size, ([widths[-1]] if pooled else []) + states, **kwargs)
        self.hidden_size, self.layers = hidden_size, len(widths)
        self.activation, self.norm, self.dropout, self.pooled = activation, norm, dropout, pooled
        for l, (width, d) in enumerate(zip([input_size, *widths[:-1]], widths, strict=True), start=1):
            self.weight(f"W_{l}", 3 * width, d, fan_in=3 * width)  # row blocks W_t, W_l, W_r
            self.weight(f"b_{l}", d, fan_in=3 * width)
        if norm != "none":
            self.norms = nn.ModuleList(nn.LayerNorm(d, **self._factory) for d in widths)
        self.reset_parameters()

    @property
    def shares(self) -> bool:
        return super().shares and self.norm != "tree" and not (self.training and self.dropout)

    def node(self, a: Tensor, below: Children) -> tuple[Tensor, ...]:
        if self.norm == "tree":
            raise ValueError("norm='tree' needs all nodes of a tree at once; use norm='node'")
        *m_k, _ = below.states[: 1 + self.pooled]
        h_k = below.states[self.pooled :][::-1]  # (E, X), then the output of each layer, (E, D)
        eta = relative_places(below.places, below.spread(below.count).squeeze(1)).to(a.dtype)
        outputs = [a]
        for l in range(self.layers):
            outputs.append(self._output(l, outputs[-1], below.sum(torch.lerp(*self._sides(l, h_k[l]), eta))))
        m = [_largest(outputs[-1], states, below) for states in m_k]
        return (*m, *outputs[::-1])

    def compose(self, a: Tensor, forest: Forest, edge_features: Tensor | None = None) -> tuple[Tensor, ...]:
        """Run each layer over all nodes at once, and then dynamic pooling level by level."""
        if edge_features is not None or forest.kinds is not None:
            return super().compose(a, forest, edge_features)  # by `node`, which does not read them
        self.check_weights()
        schedule = self.schedule(forest)

        def at_once(a: Tensor) -> tuple[Tensor, ...]:
            outputs = self._outputs(a, schedule)
            if not self.pooled:
                return tuple(outputs[::-1])
            m = run_equations(SubtreeMax(self.width), outputs[-1], schedule.with_own_inputs)
            return (*m, *outputs[::-1])

        return run_equations(
            self, a.to(self.b_1.dtype), schedule, at_once=at_once
        )  # autocast may have changed a

    def _outputs(self, a: Tensor, forest: Forest) -> list[Tensor]:
        """Return h^0, ..., h^L of the unique nodes, (U, X) and (U, D)."""
        children, parents = forest.children, forest.edge_parents
        siblings = torch.bincount(parents, minlength=forest.num_unique).index_select(0, parents)
        eta = relative_places(forest.edge_places, siblings).to(a.dtype)
        outputs = [a if forest.inputs_are_unique else a.index_select(0, forest.input_of)]
        for l in range(self.layers):
            h = outputs[-1]
            left, right = (rows.index_select(0, children) for rows in self._sides(l, h))
            sides = left.new_zeros(len(h), left.shape[1]).index_add(0, parents, torch.lerp(left, right, eta))
            outputs.append(self._output(l, h, sides, forest))
        return outputs

    def _sides(self, l: int, h: Tensor) -> tuple[Tensor, Tensor]:
        """Return W_l h and W_r h of layer l."""
        _, W_l, W_r = self.get_parameter(f"W_{l + 1}").chunk(3)
        return h @ W_l, h @ W_r

    def _output(self, l: int, h: Tensor, below: Tensor, forest: Forest | None = None) -> Tensor:
        """Return the output of layer l, from that of the layer before and the sum over the children."""
        W_t, b = self.get_parameter(f"W_{l + 1}").chunk(3)[0], self.get_parameter(f"b_{l + 1}")
        z = torch.addmm(b, h, W_t) + below
        if self.norm != "none":
            norm: Any = self.norms[l]
            if forest is None or self.norm == "node":
                z = norm(z)
            else:
                z = _standardised(z, forest, norm.eps) * norm.weight + norm.bias
        z = getattr(functional, self.activation)(z)
        return functional.dropout(z, self.dropout, self.training)


class SubtreeMax(TreeLayer):
    """m_j = max(x_j, max_k m_k): the maximum over each subtree."""

    def __init__(self, input_size: int) -> None:
        super().__init__(input_size, states=(input_size,))

    def node(self, a: Tensor, below: Children) -> tuple[Tensor, ...]:
        return (_largest(a, below.states[0], below),)


def _largest(h: Tensor, m_k: Tensor, below: Children) -> Tensor:
    return torch.maximum(h, below.max(m_k)) if len(m_k) else h


def relative_places(places: Tensor, siblings: Tensor) -> Tensor:
    """Return η (E, 1) from the place of each child (E,) and the number of its siblings, itself included (E,)."""
    eta = places / (siblings - 1).clamp_min(1)
    return torch.where(siblings == 1, torch.full_like(eta, 0.5), eta).unsqueeze(1)


def _standardised(z: Tensor, forest: Forest, eps: float) -> Tensor:
    """Return z (N, D) minus the mean of all nodes of its tree, divided by their standard deviation."""
    tree_of = forest.batch.index_select(0, forest.node_of)
    count = forest.ptr.diff() * z.shape[1]

    def mean(rows: Tensor) -> Tensor:
        sums = rows.new_zeros(len(forest)).index_add(0, tree_of, rows.sum(dim=1))
        return (sums / count).index_select(0, tree_of).unsqueeze(1)

    z = z - mean(z)
    return z * (mean(z.square()) + eps).rsqrt()
