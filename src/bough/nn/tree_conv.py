"""Tree-based convolution with dynamic pooling (Mou et al., 2016), which learned query optimisers use."""

from typing import Any

import torch
from torch import Tensor

from bough.nn.children import Children
from bough.nn.layer import TreeLayer
from bough.nn.registry import register


@register
class TreeConv(TreeLayer):
    """Tree convolution over each node and its children, with max-pooling over the subtree of a node.

        h_j^0 = x_j
        h_j^l = tanh(W_t h_j^(l-1) + W_l Σ_k (1 - η_k) h_k^(l-1) + W_r Σ_k η_k h_k^(l-1) + b),  l = 1 .. L
        m_j   = max(h_j^L, max_k m_k)                                  dynamic pooling

    η_k is the relative position of child k among the K children: (k - 1) / (K - 1), and 1/2 for an
    only child. With two children, W_l is for the left one and W_r for the right one, as in Neo and
    Bao (Marcus et al., 2019 and 2021). L layers see L levels below a node.

    Args:
        input_size: the width X of an input row.
        hidden_size: the width D of each layer's output.
        layers: the number L of layers.

    Shape:
        x (N, X), a forest of N nodes -> m (N, D), h^L, ..., h^1 (N, D) and h^0 (N, X). The root's m is the pooled
        vector of its tree.

    Examples:
        >>> import torch, bough
        >>> forest = bough.Forest([bough.Tree(parents=[1, -1, 1]), bough.Tree(parents=[1, -1])])
        >>> m, *_ = bough.nn.TreeConv(300, 150)(torch.randn(5, 300), forest)
        >>> m[forest.roots].shape
        torch.Size([2, 150])
    """

    name = "tree-conv"
    reads = "dependency"
    shown = ("layers",)

    def __init__(self, input_size: int, hidden_size: int, *, layers: int = 3, **kwargs: Any) -> None:
        if layers < 1:
            raise ValueError(f"layers={layers}: at least 1")
        x, d = input_size, hidden_size
        super().__init__(x, (d, *[d] * layers, x), **kwargs)
        self.hidden_size, self.layers = d, layers
        for l, width in enumerate((x, *[d] * (layers - 1))):
            self.weight(f"W_{l + 1}", 3 * width, d, fan_in=3 * width)  # row blocks W_t, W_l, W_r
            self.weight(f"b_{l + 1}", d, fan_in=3 * width)
        self.reset_parameters()

    def node(self, a: Tensor, below: Children) -> tuple[Tensor, ...]:
        m_k, *h_k = below.states  # (E, D), and the layers' outputs from the last to x
        siblings = below.spread(below.count)  # (E, 1)
        eta = below.places.unsqueeze(1).to(a.dtype) / (siblings - 1).clamp_min(1)
        eta = torch.where(siblings == 1, torch.full_like(eta, 0.5), eta)
        outputs = [a]
        for l, h in enumerate(reversed(h_k[1:])):
            right = below.sum(eta * h)  # (n, D)
            seen = torch.cat([outputs[-1], below.sum(h) - right, right], dim=1)
            W, b = self.get_parameter(f"W_{l + 1}"), self.get_parameter(f"b_{l + 1}")
            outputs.append(torch.tanh(below.addmm(b, seen, W)))
        m = torch.maximum(outputs[-1], below.max(m_k)) if len(m_k) else outputs[-1]
        return m, *outputs[::-1]
