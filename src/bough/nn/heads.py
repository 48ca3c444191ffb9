"""What the paper puts on top: a classifier for nodes (Sec. 4.1), a similarity for pairs (Sec. 4.2)."""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from bough.nn.base import UniformInit
from bough.nn.dropout import dropout_mask, mask
from bough.nn.engine import without_autocast
from bough.nn.kernels.losses import node_loss, pair_loss

FAR = 4.0  # spreads from the mean, beyond which a feature counts as no further


class Classifier(UniformInit):
    """Softmax over the classes of a node's state, after dropout (Sec. 4.1).

        p(y | {x}_j) = softmax(W_s h_j + b_s)

    Args:
        hidden_size: the width D of a state.
        classes: the number K of classes.
        dropout: the probability of dropping an entry of h while training; each node has its own mask.
        device: where the weights are made.
        dtype: their type.

    Shape:
        h (N, D) -> logits (N, K).

    Examples:
        >>> import torch, bough
        >>> head = bough.nn.Classifier(150, classes=5)
        >>> head(torch.randn(7, 150)).softmax(dim=1).shape
        torch.Size([7, 5])
        >>> loss = head.loss(torch.randn(7, 150), torch.tensor([0, 1, 2, 3, 4, 0, 1]))
        >>> loss.dim()
        0
    """

    W_s: nn.Parameter
    b_s: nn.Parameter

    def __init__(
        self,
        hidden_size: int,
        classes: int,
        *,
        dropout: float = 0.0,
        device: Any = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(device=device, dtype=dtype)
        if not 0 <= dropout < 1:
            raise ValueError(f"dropout={dropout}: at least 0, below 1")
        self.hidden_size, self.classes, self.dropout = hidden_size, classes, dropout
        self.weight("W_s", classes, hidden_size, fan_in=hidden_size)
        self.weight("b_s", classes, fan_in=hidden_size)
        self.reset_parameters()

    def extra_repr(self) -> str:
        return f"{self.hidden_size}, classes={self.classes}, dropout={self.dropout}"

    def forward(self, h: Tensor) -> Tensor:
        """(N, D) -> logits (N, K)."""
        self.check_weights()
        if self.training and self.dropout:
            h = h * dropout_mask(h, h.shape[0], h.shape[1], self.dropout)  # every node its own mask
        return functional.linear(h, self.W_s, self.b_s)

    def loss(self, h: Tensor, labels: Tensor, rows: Tensor | None = None) -> Tensor:
        """Return the sum of the nodes' negative log-likelihoods; labels (N,) are 0..K-1.

        With `rows` (N,), node k's state is h[rows[k]]: nodes that share a state need no copy of it.
        """
        self._check(h, labels, rows)
        if rows is None:
            rows = torch.arange(len(labels), device=h.device)
        h = h.to(self.W_s.dtype)  # autocast may have made it another
        drop = self.dropout if self.training else 0.0
        keep = mask(h, len(rows), h.shape[1], drop) if drop else None
        compiled = node_loss(h, self.W_s, self.b_s, rows, labels, keep, 1 / (1 - drop))
        if compiled is not None:
            return compiled
        with without_autocast(h.device):
            if keep is None:  # nodes that share a state share its logits
                logits = functional.linear(h, self.W_s, self.b_s).index_select(0, rows)  # (N, K)
            else:
                picked = h.index_select(0, rows) * keep / (1 - drop)  # (N, D)
                logits = functional.linear(picked, self.W_s, self.b_s)
            return functional.cross_entropy(logits, labels, reduction="sum")

    def _check(self, h: Tensor, labels: Tensor, rows: Tensor | None) -> None:
        self.check_weights()
        if h.dim() != 2 or h.shape[1] != self.hidden_size:
            raise ValueError(f"h is {tuple(h.shape)}; the classifier takes (nodes, {self.hidden_size})")
        if rows is not None and (rows.dim() != 1 or rows.dtype != torch.int64):
            raise ValueError(f"rows are {tuple(rows.shape)} {rows.dtype}; they must be (nodes,) torch.int64")
        wanted = (len(h) if rows is None else len(rows),)
        if labels.shape != wanted or labels.dtype != torch.int64:
            raise ValueError(
                f"labels are {tuple(labels.shape)} {labels.dtype}; they must be {wanted} torch.int64"
            )
        if len(labels) and not 0 <= int(labels.min()) <= int(labels.max()) < self.classes:
            raise ValueError(
                f"labels from {int(labels.min())} to {int(labels.max())}; there are 0..{self.classes - 1}"
            )


class Similarity(UniformInit):
    """How related two sentence vectors are, on a scale of 1 to K (Sec. 4.2).

        h_× = h_L ⊙ h_R,  h_+ = |h_L - h_R|
        h_s = σ(W_× h_× + W_+ h_+ + W_f f + b_h)
        p   = softmax(W_p h_s + b_p),  y = Σ_i i p_i

    Args:
        hidden_size: the width D of a sentence vector.
        hidden: the width of h_s.
        classes: K, the largest rating.
        features: "both", or only the "product" h_× or the "difference" h_+.
        objective: "kl" to the sparse target distribution, or "mse" of y.
        beside: the number F of features f that a pair has beside its vectors; the paper has none. They are centred
            and scaled by what `settle` has seen.
        device: where the weights are made.
        dtype: their type.

    Shape:
        h_L, h_R (B, D), f (B, F) -> log p (B, K).

    Examples:
        >>> import torch, bough
        >>> head, left, right = bough.nn.Similarity(150), torch.randn(2, 150), torch.randn(2, 150)
        >>> head.score(head(left, right)).shape
        torch.Size([2])
        >>> loss = head.loss(left, right, torch.tensor([1.0, 4.2]))
        >>> loss.dim()
        0
    """

    W_h: nn.Parameter
    b_h: nn.Parameter
    W_p: nn.Parameter
    b_p: nn.Parameter
    W_f: nn.Parameter
    centre: Tensor
    spread: Tensor

    def __init__(
        self,
        hidden_size: int,
        *,
        hidden: int = 50,
        classes: int = 5,
        features: Literal["both", "product", "difference"] = "both",
        objective: Literal["kl", "mse"] = "kl",
        beside: int = 0,
        device: Any = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(device=device, dtype=dtype)
        if classes < 2:
            raise ValueError(f"classes={classes}: a scale has at least 2")
        if features not in ("both", "product", "difference"):
            raise ValueError(f"features={features!r}: 'both', 'product' or 'difference'")
        if objective not in ("kl", "mse"):
            raise ValueError(f"objective={objective!r}: 'kl' or 'mse'")
        self.hidden_size, self.hidden, self.classes = hidden_size, hidden, classes
        self.features, self.objective, self.beside = features, objective, beside
        width = hidden_size * (2 if features == "both" else 1)
        self.weight("W_h", hidden, width, fan_in=width)  # column blocks W_×, W_+
        self.weight("b_h", hidden, fan_in=width)
        self.weight("W_p", classes, hidden, fan_in=hidden)
        self.weight("b_p", classes, fan_in=hidden)
        if beside:
            self.weight("W_f", hidden, beside, fan_in=width)
            self.register_buffer("centre", torch.zeros(beside, device=device, dtype=dtype))
            self.register_buffer("spread", torch.ones(beside, device=device, dtype=dtype))
        ratings = torch.arange(1.0, classes + 1, device=device, dtype=dtype)
        self.register_buffer("scale", ratings, persistent=False)
        self.reset_parameters()

    def extra_repr(self) -> str:
        parts = f"{self.hidden_size}, hidden={self.hidden}, classes={self.classes}"
        return f"{parts}, features={self.features!r}, objective={self.objective!r}"

    @torch.no_grad()
    def settle(self, f: Tensor) -> None:
        """Take the mean and the spread of each feature from those of training, f (n, F)."""
        self.centre.copy_(f.mean(dim=0))
        self.spread.copy_(f.std(dim=0).clamp_min(1e-3))

    def forward(self, left: Tensor, right: Tensor, f: Tensor | None = None) -> Tensor:
        """Two of (B, D), and (B, F) beside them -> log p (B, K); without f every feature has its usual value."""
        self._check(left, right)
        parts = []
        if self.features != "difference":
            parts.append(left * right)
        if self.features != "product":
            parts.append((left - right).abs())
        a = functional.linear(torch.cat(parts, dim=1), self.W_h, self.b_h)
        if f is not None:
            if f.shape != (len(left), self.beside):
                raise ValueError(f"f is {tuple(f.shape)}; the similarity takes ({len(left)}, {self.beside})")
            f = ((f - self.centre) / self.spread).clamp(-FAR, FAR)  # (B, F)
            a = a + functional.linear(f, self.W_f)
        h_s = torch.sigmoid(a)
        return functional.log_softmax(functional.linear(h_s, self.W_p, self.b_p), dim=1)

    def score(self, log_p: Tensor) -> Tensor:
        """(B, K) -> (B,) the expected rating."""
        assert isinstance(self.scale, Tensor)
        return log_p.exp() @ self.scale

    def loss(self, left: Tensor, right: Tensor, y: Tensor, f: Tensor | None = None) -> Tensor:
        """The mean over the pairs of the objective; y (B,) lies in [1, K]."""
        self._check(left, right)
        if y.shape != left.shape[:1] or not y.is_floating_point():
            raise ValueError(f"y is {tuple(y.shape)} {y.dtype}; give one float rating per pair")
        if f is None:
            weights = (self.W_h, self.b_h, self.W_p, self.b_p)
            compiled = pair_loss(left, right, y, *weights, features=self.features, objective=self.objective)
            if compiled is not None:
                return compiled
        log_p = self(left, right, f)
        target = target_distribution(y, self.classes)
        if self.objective == "mse":
            return functional.mse_loss(self.score(log_p), y)
        # NOTE(paper): the released program divides the divergence by K too, and so trains at a fifth of the rate.
        return functional.kl_div(log_p, target, reduction="batchmean") / self.classes

    def _check(self, left: Tensor, right: Tensor) -> None:
        self.check_weights()
        if left.shape != right.shape or left.dim() != 2 or left.shape[1] != self.hidden_size:
            shapes = f"{tuple(left.shape)} and {tuple(right.shape)}"
            raise ValueError(f"{shapes}; the similarity takes two of (pairs, {self.hidden_size})")


def target_distribution(y: Tensor, classes: int) -> Tensor:
    """(B,) in [1, K] -> (B, K), the sparse p with Σ_i i p_i = y: at most two neighbours share the mass."""
    fits = (y >= 1) & (y <= classes)  # which a NaN does not
    if not bool(fits.all()):
        wrong = y[~fits][0].item()
        raise ValueError(f"a rating of {wrong:g}; the scale goes from 1 to {classes}")
    floor = y.floor()
    low = (floor.long() - 1).clamp(max=classes - 2)  # y = K is all on the last class, from the pair below it
    high = y - (low + 1)
    p = y.new_zeros(len(y), classes)
    p.scatter_(1, low.unsqueeze(1), (1 - high).unsqueeze(1))
    return p.scatter_(1, (low + 1).unsqueeze(1), high.unsqueeze(1))
