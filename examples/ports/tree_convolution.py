"""Tree convolution over query plans with normalisation and pooling, after Bao (Marcus et al., 2021).

Three convolutions read a node and its children, W_l for the left child and W_r for the right one. Each is followed by
normalisation over all numbers of a plan, so that plans of any size are comparable, and by a leaky ReLU a:

    z_j = W_t h_j + W_l h_left(j) + W_r h_right(j) + b,   h'_j = a(g ⊙ (z_j - mean) / std + b_n)
    y   = w · a(V max_j h_j + b_v) + b_w

The mean and the standard deviation are those of the plan's own nodes. Programs that pad plans to one size often count
the padding as nodes, and then score a plan differently alone and in a batch; a forest has no padding.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

import bough


class PlanScorer(nn.Module):
    """y of each plan, such as its latency"""

    def __init__(self, input_size: int, widths: Sequence[int] = (256, 128, 64), hidden: int = 32) -> None:
        super().__init__()
        self.convolution = bough.nn.TreeConv(
            input_size, widths, activation="leaky_relu", norm="tree", pooled=False
        )
        self.hidden, self.output = nn.Linear(widths[-1], hidden), nn.Linear(hidden, 1)

    def forward(self, x: Tensor, forest: bough.Forest) -> Tensor:
        h, *_ = self.convolution(x, forest)
        hidden = functional.leaky_relu(self.hidden(forest.pool(h, "max")))
        return torch.as_tensor(self.output(hidden)).squeeze(1)
