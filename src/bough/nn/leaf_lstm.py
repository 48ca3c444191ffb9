"""A Constituency Tree-LSTM over leaves that know their sentence: an LSTM reads the words first, both ways."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from bough.nn.chain import LSTM
from bough.nn.dropout import drawn_for, kept
from bough.nn.encoder import Encoder
from bough.nn.nary import NaryTreeLSTM
from bough.nn.registry import register
from bough.trees.forest import Forest
from bough.trees.shapes import chain


@register
class LeafLSTMTree(Encoder):
    """Tree-LSTM whose leaves are the states of a bidirectional LSTM over the leaves of the tree.

    v = [LSTM→(x) ; LSTM←(x)],  h = NaryTreeLSTM(v)

    Args:
        input_size: X.
        hidden_size: D; each direction of the LSTM is D / 2 wide, rounded up.
        arity: the most children that a node has.
        leaf_dropout: the share of v's entries to drop while training.
        recurrent_dropout: the share of entries of u to drop in the Tree-LSTM while training.
        forget_bias: added to the initial biases of the Tree-LSTM's forget gates.
        device: of the weights.
        dtype: of the weights.

    Shape:
        x (N, X), a forest of N nodes -> h (N, D); x counts at leaves alone.

    Examples:
        >>> import torch
        >>> from bough import Forest, Tree
        >>> from bough.nn import LeafLSTMTree
        >>> layer = LeafLSTMTree(300, 150)
        >>> layer(torch.randn(3, 300), Forest([Tree(parents=[2, 2, -1])])).shape
        torch.Size([3, 150])
    """

    name = "leaf-lstm"
    reads = "constituency"

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        arity: int = 2,
        *,
        leaf_dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        forget_bias: float = 0.0,
        device: Any = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        if not 0 <= leaf_dropout < 1:
            raise ValueError(f"leaf_dropout={leaf_dropout}: at least 0, below 1")
        super().__init__(input_size, hidden_size)
        self.leaf_dropout = leaf_dropout
        half, made = -(-hidden_size // 2), {"device": device, "dtype": dtype}
        self.words = LSTM(input_size, half, bidirectional=True, tied=False, **made)
        self.tree = NaryTreeLSTM(
            2 * half, hidden_size, arity, recurrent_dropout=recurrent_dropout, forget_bias=forget_bias, **made
        )

    @property
    def shares(self) -> bool:
        return False  # equal phrases stand in different sentences

    def input_nodes(self, forest: Forest) -> Tensor:
        """(M,) the leaves, tree after tree, each tree's from left to right."""
        starts = np.cumsum([0, *map(len, forest.trees)])
        rows = [start + tree.leaves for start, tree in zip(starts, forest.trees, strict=False)]
        return torch.from_numpy(np.concatenate([*rows, np.zeros(0, np.int64)])).to(forest.device)

    def rows(self, x: Tensor, forest: Forest) -> tuple[Tensor, Tensor]:
        forest = forest.unshared
        chains = Forest([chain(len(tree.leaves)) for tree in forest.trees]).to(forest.device)
        v, _ = self.words.encode(x.index_select(0, chains.inputs), chains)  # (M, D)
        if self.training and self.leaf_dropout:
            v = v * kept(v, drawn_for(forest, self.input_nodes), v.shape[1], self.leaf_dropout)
        place = torch.empty(forest.size, dtype=torch.int64, device=x.device)
        place[self.input_nodes(forest)] = torch.arange(len(v), device=x.device)
        return self.tree.rows(v.index_select(0, place[self.tree.input_nodes(forest)]), forest)
