"""The recursive networks that Table 2 cites: RNN (RAE in the table), RNTN, MV-RNN, DRNN."""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from bough import Forest
from bough.nn import Children, TreeLayer, register

NOISE = 0.1  # noise in the DRNN's maps between nodes, as a share of the usual initial weights


class BinaryTreeLayer(TreeLayer):
    """A layer for trees with at most two children per node, which reads x at leaves only.

    `kwargs` go to `TreeLayer`: device, dtype and, for a layer that has it, recurrent_dropout.
    """

    reads = "constituency"

    def __init__(self, input_size: int, states: Sequence[int], **kwargs: Any) -> None:
        super().__init__(input_size, states, **kwargs)
        self.leaf_inputs = True

    def check(self, forest: Forest) -> None:
        forest.check_arity(2)


@register
class RecursiveNetwork(BinaryTreeLayer):
    """Recursive neural network (Socher et al., 2013): the state of a node is one map of its children's states.

        h_j = tanh(x_j) at a leaf
        h_j = tanh(W [h_1; h_2] + b) at an inner node

    W is initialized to [I, I] plus noise, so that a node is near the sum of its children at first.

    Args:
        input_size: X, which is also the width of the states.

    Shape:
        x (N, X), a forest of N nodes with at most two children each -> h (N, X); x is read at leaves only.

    Examples:
        >>> import torch, bough, paper.layers
        >>> forest = bough.Forest([bough.Tree(parents=[-1, 0, 0])])  # two words below a node
        >>> paper.layers.RecursiveNetwork(50)(torch.randn(3, 50), forest).shape
        torch.Size([3, 50])
    """

    name = "rnn"

    def __init__(self, input_size: int, **kwargs: Any) -> None:
        d = input_size
        super().__init__(d, (d,), **kwargs)
        self.weight("W", 2 * d, d, fan_in=4 * d)  # row blocks h_1, h_2
        self.weight("b", d, fan_in=4 * d)
        self.reset_parameters()

    @torch.no_grad()
    def reset_parameters(self) -> None:
        super().reset_parameters()
        self.W.add_(torch.eye(self.input_size, dtype=self.W.dtype, device=self.W.device).repeat(2, 1))

    def at_leaf(self, a: Tensor, below: Children) -> tuple[Tensor]:
        return (torch.tanh(a),)

    def node(self, a: None, below: Children) -> tuple[Tensor]:
        (h_k,) = below.states
        h = below.slots(h_k, 2).flatten(1)  # (n, 2X), [h_1; h_2]
        return (torch.tanh(torch.addmm(self.b, h, self.W)),)


@register
class RNTN(RecursiveNetwork):
    """Recursive neural tensor network (Socher et al., 2013): products of the children's states go through a tensor.

        h_j = tanh(x_j) at a leaf
        h_j = tanh(zᵀ V z + W z + b) at an inner node, z = [h_1; h_2]; entry k of zᵀ V z is zᵀ V_k z

    Shape: as for `RecursiveNetwork`.

    Examples:
        >>> import torch, bough, paper.layers
        >>> forest = bough.Forest([bough.Tree(parents=[-1, 0, 0])])  # two words below a node
        >>> paper.layers.RNTN(25)(torch.randn(3, 25), forest).shape
        torch.Size([3, 25])
    """

    name = "rntn"

    def __init__(self, input_size: int, **kwargs: Any) -> None:
        super().__init__(input_size, **kwargs)
        d = input_size
        self.weight("V", 4 * d * d, d, fan_in=16 * d * d)  # V[:, k] is V_k, row by row
        self.reset_parameters()

    def node(self, a: None, below: Children) -> tuple[Tensor]:
        (h_k,) = below.states
        z = below.slots(h_k, 2).flatten(1)  # (n, 2X), [h_1; h_2]
        products = (z.unsqueeze(2) * z.unsqueeze(1)).flatten(1)  # (n, 4X²)
        return (torch.tanh(torch.addmm(torch.addmm(self.b, z, self.W), products, self.V)),)


@register
class MVRNN(BinaryTreeLayer):
    """MV-RNN (Socher et al., 2012): a node has a vector h, and a matrix H that multiplies its sibling's h.

        h_j = tanh(a), H_j = I + R at a leaf, where x_j = [a; R row by row]
        h_j = tanh(W [H_2 h_1; H_1 h_2] + b), H_j = W_M [H_1; H_2] at an inner node

    W is initialized to [I, I] and W_M to [I, I] / 2, both plus noise.

    Args:
        input_size: X = D + D², one vector and one matrix per word.

    Shape:
        x (N, X), a forest of N nodes with at most two children each -> h (N, D), H (N, D²); x is read at leaves
        only.

    Examples:
        >>> import torch, bough, paper.layers
        >>> forest = bough.Forest([bough.Tree(parents=[-1, 0, 0])])  # two words below a node
        >>> h, H = paper.layers.MVRNN(10 + 10 * 10)(torch.randn(3, 110), forest)
        >>> h.shape, H.shape
        (torch.Size([3, 10]), torch.Size([3, 100]))
    """

    name = "mv-rnn"

    def __init__(self, input_size: int, **kwargs: Any) -> None:
        d = (math.isqrt(1 + 4 * input_size) - 1) // 2
        if d < 1 or d + d * d != input_size:
            wanted = f"d + d², {d + d * d} or {(d + 1) * (d + 2)} for example"
            raise ValueError(f"input_size={input_size}: a vector and a square matrix per word, so {wanted}")
        super().__init__(input_size, (d, d * d), **kwargs)
        self.weight("W", 2 * d, d, fan_in=4 * d)  # row blocks H_2 h_1, H_1 h_2
        self.weight("b", d, fan_in=4 * d)
        self.weight("W_M", d, 2 * d, fan_in=16 * d)
        self.reset_parameters()

    @torch.no_grad()
    def reset_parameters(self) -> None:
        super().reset_parameters()
        unit = torch.eye(self.width, dtype=self.W.dtype, device=self.W.device)
        self.W.add_(unit.repeat(2, 1))
        self.W_M.add_(0.5 * unit.repeat(1, 2))

    def at_leaf(self, a: Tensor, below: Children) -> tuple[Tensor, Tensor]:
        h, R = a.split(list(self.states), dim=1)
        return torch.tanh(h), R + torch.eye(self.width, dtype=R.dtype, device=R.device).flatten()

    def node(self, a: None, below: Children) -> tuple[Tensor, Tensor]:
        d = self.width
        h_k, H_k = (below.slots(state, 2) for state in below.states)
        H = H_k.unflatten(2, (d, d))  # (n, 2, D, D)
        crossed = torch.matmul(H.flip(1), h_k.unsqueeze(3)).flatten(1)  # (n, 2D), [H_2 h_1; H_1 h_2]
        h = torch.tanh(torch.addmm(self.b, crossed, self.W))
        return h, torch.matmul(self.W_M, H.flatten(1, 2)).flatten(1)


@register
class DRNN(BinaryTreeLayer):
    """Deep recursive network (Irsoy and Cardie, 2014): recursive networks stacked over the same binary tree.

        h_1 = ReLU(W_L h_1(left) + W_R h_1(right) + b_1); for a word, h_1 is x, which has other maps W_L, W_R and V_2
        h_i = ReLU(W_L^i h_i(left) + W_R^i h_i(right) + V_i h_{i-1} + b_i) for i = 2 .. layers; a word has no children

    The maps between nodes are initialized near I / 2, so that a node is near the mean of its children at first.

    Args:
        input_size: the width X of an input row.
        hidden_size: the width D of a state.
        layers: the number of stacked layers, at least two, because a word has no state in the first.
        recurrent_dropout: the probability of dropping an entry of an inner node's states while training.

    Shape:
        x (N, X), a forest of N nodes with at most two children each -> the top h (N, D), the layers below it,
        and the messages W_L h_1 and W_R h_1 to the parent; x is read at leaves only.

    Examples:
        >>> import torch, bough, paper.layers
        >>> forest = bough.Forest([bough.Tree(parents=[-1, 0, 0])])  # two words below a node
        >>> top, *rest = paper.layers.DRNN(50, 40, layers=3)(torch.randn(3, 50), forest)
        >>> top.shape
        torch.Size([3, 40])
    """

    name = "drnn"
    W_1: nn.Parameter
    b_1: nn.Parameter

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        layers: int = 4,
        recurrent_dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        if layers < 2:
            raise ValueError(f"layers={layers}: at least 2")
        x, d = input_size, hidden_size
        # h of the layers from the top to the second, then both messages of the first layer
        super().__init__(x, (d,) * (layers + 1), recurrent_dropout=recurrent_dropout, **kwargs)
        self.layers, self.hidden_size = layers, d
        self.weight("W_x", 2 * d, x, fan_in=x)  # row blocks left, right
        self.weight("V_x", d, x, fan_in=x)
        self.weight("W_1", d, 2 * d, fan_in=d)  # column blocks left, right
        self.weight("b_1", d, fan_in=d)
        for i in range(2, layers + 1):
            self.weight(f"W_{i}", 2 * d, d, fan_in=d)  # row blocks left, right
            self.weight(f"V_{i}", d, d, fan_in=d)
            self.weight(f"b_{i}", d, fan_in=d)
        self.reset_parameters()

    @torch.no_grad()
    def reset_parameters(self) -> None:
        super().reset_parameters()
        half = 0.5 * torch.eye(self.hidden_size, dtype=self.W_1.dtype, device=self.W_1.device)
        self.W_1.mul_(NOISE).add_(half.repeat(1, 2))
        for i in range(2, self.layers + 1):
            self._map("W", i).mul_(NOISE).add_(half.repeat(2, 1))

    def input_map(self, x: Tensor) -> Tensor:
        """(M, X) -> (M, 3D): messages of a word as a left and a right child, and the second layer's input."""
        return functional.linear(x, torch.cat([self.W_x, self.V_x]))

    def at_leaf(self, a: Tensor, below: Children) -> tuple[Tensor, ...]:
        left, right, v = a.chunk(3, dim=1)
        found = [torch.relu(v + self._map("b", 2))]
        for i in range(3, self.layers + 1):
            found.append(torch.relu(torch.addmm(self._map("b", i), found[-1], self._map("V", i))))
        return *found[::-1], left, right

    def node(self, a: None, below: Children) -> tuple[Tensor, ...]:
        *upper, left, right = (below.slots(state, 2) for state in below.states)  # (n, 2, D)
        h = below.drop(torch.relu(left[:, 0] + right[:, 1] + self.b_1))
        messages = (h @ self.W_1).chunk(2, dim=1)
        found: list[Tensor] = []
        for i, children in enumerate(reversed(upper), 2):
            z = torch.addmm(self._map("b", i), children.flatten(1), self._map("W", i))
            h = below.drop(torch.relu(torch.addmm(z, h, self._map("V", i))))
            found.append(h)
        return *found[::-1], *messages

    def _map(self, name: str, layer: int) -> nn.Parameter:
        return self.get_parameter(f"{name}_{layer}")
