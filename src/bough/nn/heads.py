"""Heads: classes (Sec. 4.1), labels and numbers of nodes; similarity (Sec. 4.2) and classes of pairs."""

from typing import Any, ClassVar, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from bough.nn.base import UniformInit
from bough.nn.dropout import dropout_mask, mask
from bough.nn.engine import without_autocast
from bough.nn.kernels.losses import node_loss, pair_loss

# the rating, on a scale from 0 to 1, from which a pair is a positive example for `CosineSimilarity`
RELATED = 0.8


class _NodeHead(UniformInit):
    """Affine map W_s h + b_s of the states h (N, D) of nodes, after dropout."""

    shown: ClassVar[tuple[str, ...]] = ("dropout",)

    def __init__(self, hidden_size: int, outputs: int, dropout: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not 0 <= dropout < 1:
            raise ValueError(f"dropout={dropout}: at least 0, below 1")
        self.hidden_size, self.dropout = hidden_size, dropout
        self.weight("W_s", outputs, hidden_size, fan_in=hidden_size)
        self.weight("b_s", outputs, fan_in=hidden_size)
        self.reset_parameters()

    def last_weights(self) -> tuple[Tensor, Tensor]:
        """Return the weight and the bias that the outputs are linear in."""
        return self.W_s, self.b_s

    def forward(self, h: Tensor) -> Tensor:
        """Return logits (N, K) or numbers (N, T), from h (N, D)."""
        self.check_weights()
        h = h.to(self.W_s.dtype)  # autocast may have changed it
        if self.training and self.dropout:
            h = h * dropout_mask(h, h.shape[0], h.shape[1], self.dropout)
        return functional.linear(h, self.W_s, self.b_s)


class Classifier(_NodeHead):
    """Softmax classifier of the states of nodes, after dropout (Sec. 4.1).

        p(y | {x}_j) = softmax(W_s h_j + b_s)

    Args:
        hidden_size: the width D of a state.
        classes: the number K of classes.
        dropout: the probability of dropping an entry of h while training; each node has its own mask.

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

    shown = ("classes", "dropout")

    def __init__(self, hidden_size: int, classes: int, *, dropout: float = 0.0, **kwargs: Any) -> None:
        super().__init__(hidden_size, classes, dropout, **kwargs)
        self.classes = classes

    def loss(
        self, h: Tensor, labels: Tensor, rows: Tensor | None = None, weights: Tensor | None = None
    ) -> Tensor:
        """Return the sum of the nodes' negative log-likelihoods; labels (N,) are 0..K-1.

        With `rows` (N,), the state of node k is h[rows[k]]. `weights` (N,) are factors of the nodes' losses.
        """
        self._check(h, labels, rows)
        if rows is None:
            rows = torch.arange(len(labels), device=h.device)
        h = h.to(self.W_s.dtype)  # autocast may have changed it
        drop = self.dropout if self.training else 0.0
        keep = mask(h, len(rows), h.shape[1], drop) if drop else None
        if weights is None:
            compiled = node_loss(h, self.W_s, self.b_s, rows, labels, keep, 1 / (1 - drop))
            if compiled is not None:
                return compiled
        with without_autocast(h.device):
            if keep is None:  # nodes that share a state share its logits
                logits = functional.linear(h, self.W_s, self.b_s).index_select(0, rows)  # (N, K)
            else:
                picked = h.index_select(0, rows) * keep / (1 - drop)  # (N, D)
                logits = functional.linear(picked, self.W_s, self.b_s)
            if weights is None:
                return functional.cross_entropy(logits, labels, reduction="sum")
            return (functional.cross_entropy(logits, labels, reduction="none") * weights).sum()

    def _check(self, h: Tensor, labels: Tensor, rows: Tensor | None) -> None:
        self.check_weights()
        if h.dim() != 2 or h.shape[1] != self.hidden_size:
            raise ValueError(f"h is {tuple(h.shape)}; the classifier takes (nodes, {self.hidden_size})")
        if rows is not None and (rows.dim() != 1 or rows.dtype != torch.int64):
            raise ValueError(f"rows are {tuple(rows.shape)} {rows.dtype}; they must be (nodes,) torch.int64")
        wanted = (len(h) if rows is None else len(rows),)
        if labels.shape != wanted or labels.dtype != torch.int64:
            found = f"{tuple(labels.shape)} {labels.dtype}"
            raise ValueError(f"labels are {found}; they must be {wanted} torch.int64")
        low, high = (int(labels.min()), int(labels.max())) if len(labels) else (0, 0)
        if not 0 <= low <= high < self.classes:
            raise ValueError(f"labels from {low} to {high}; there are 0..{self.classes - 1}")


class MultiLabelClassifier(Classifier):
    """Multi-label classifier of the states of nodes: a sigmoid for each class, after dropout.

        p_k = σ(W_s h_j + b_s)_k

    Args:
        hidden_size: the width D of a state.
        classes: the number K of classes.
        dropout: the probability of dropping an entry of h while training.

    Shape:
        h (N, D) -> logits (N, K).

    Examples:
        >>> import torch, bough
        >>> head = bough.nn.MultiLabelClassifier(150, classes=3)
        >>> head.loss(torch.randn(2, 150), torch.tensor([[1.0, 0.0, 1.0], [0.0, 0.0, 0.0]])).dim()
        0
    """

    def loss(
        self, h: Tensor, labels: Tensor, rows: Tensor | None = None, weights: Tensor | None = None
    ) -> Tensor:
        """Return the sum of the nodes' binary cross-entropies; labels (N, K) are 0 or 1, weights (N, K)."""
        logits = self(h if rows is None else h.index_select(0, rows))
        return functional.binary_cross_entropy_with_logits(logits, labels, weights, reduction="sum")


class Regressor(_NodeHead):
    """Regression from the states of nodes, after dropout, with the Huber loss.

        y = W_s h_j + b_s

    Args:
        hidden_size: the width D of a state.
        numbers: the number T of outputs.
        dropout: the probability of dropping an entry of h while training.

    Shape:
        h (N, D) -> (N, T).

    Examples:
        >>> import torch, bough
        >>> head = bough.nn.Regressor(150)
        >>> head(torch.randn(7, 150)).shape
        torch.Size([7, 1])
    """

    def __init__(self, hidden_size: int, numbers: int = 1, *, dropout: float = 0.0, **kwargs: Any) -> None:
        super().__init__(hidden_size, numbers, dropout, **kwargs)

    def loss(self, h: Tensor, y: Tensor, rows: Tensor | None = None, weights: Tensor | None = None) -> Tensor:
        """Return the sum of the nodes' Huber losses; y (N, T) are standardised numbers, weights (N, 1)."""
        found = self(h if rows is None else h.index_select(0, rows))
        losses = functional.huber_loss(found, y, reduction="none")
        return losses.sum() if weights is None else (losses * weights).sum()


class _PairHead(UniformInit):
    """Hidden layer over features of two vectors, followed by K classes."""

    def __init__(self, hidden_size: int, columns: int, hidden: int, classes: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.hidden_size, self.hidden, self.classes = hidden_size, hidden, classes
        self.weight("W_h", hidden, columns, fan_in=columns)
        self.weight("b_h", hidden, fan_in=columns)
        self.weight("W_p", classes, hidden, fan_in=hidden)
        self.weight("b_p", classes, fan_in=hidden)

    def last_weights(self) -> tuple[Tensor, Tensor]:
        """Return the weight and the bias that the outputs are linear in."""
        return self.W_p, self.b_p

    def _check(self, left: Tensor, right: Tensor) -> None:
        self.check_weights()
        if left.shape != right.shape or left.dim() != 2 or left.shape[1] != self.hidden_size:
            shapes = f"{tuple(left.shape)} and {tuple(right.shape)}"
            raise ValueError(f"{shapes}; {type(self).__name__} takes two of (pairs, {self.hidden_size})")


class PairClassifier(_PairHead):
    """Classifier of pairs of vectors, such as entailment or duplicates.

        h_s = ReLU(W_h [h_L ⊙ h_R; |h_L - h_R|; h_L; h_R] + b_h)
        p   = softmax(W_p h_s + b_p)

    Args:
        hidden_size: the width D of a vector.
        classes: the number K of classes.
        hidden: the width of h_s.
        dropout: the probability of dropping an entry of h_s while training.

    Shape:
        h_L, h_R (B, D) -> logits (B, K).

    Examples:
        >>> import torch, bough
        >>> head = bough.nn.PairClassifier(150, classes=3)
        >>> head(torch.randn(2, 150), torch.randn(2, 150)).shape
        torch.Size([2, 3])
    """

    shown = ("classes", "hidden", "dropout")

    def __init__(
        self, hidden_size: int, classes: int, *, hidden: int = 100, dropout: float = 0.0, **kwargs: Any
    ) -> None:
        if not 0 <= dropout < 1:
            raise ValueError(f"dropout={dropout}: at least 0, below 1")
        super().__init__(hidden_size, 4 * hidden_size, hidden, classes, **kwargs)
        self.dropout = dropout
        self.reset_parameters()

    def forward(self, left: Tensor, right: Tensor) -> Tensor:
        """Return logits (B, K), from two (B, D)."""
        self._check(left, right)
        both = torch.cat([left * right, (left - right).abs(), left, right], dim=1)  # (B, 4D)
        h_s = functional.relu(functional.linear(both, self.W_h, self.b_h))
        return functional.linear(functional.dropout(h_s, self.dropout, self.training), self.W_p, self.b_p)


class Similarity(_PairHead):
    """Relatedness of two sentence vectors, on a scale from 1 to K (Sec. 4.2).

        h_× = h_L ⊙ h_R,  h_+ = |h_L - h_R|
        h_s = σ(W_× h_× + W_+ h_+ + b_h)
        p   = softmax(W_p h_s + b_p),  y = Σ_i i p_i

    Args:
        hidden_size: the width D of a sentence vector.
        hidden: the width of h_s.
        classes: K, the largest rating.
        features: "both", only the "product" h_×, or only the "difference" h_+.
        objective: "kl" for the divergence from the sparse target distribution, "mse" for the squared error of y.

    Shape:
        h_L, h_R (B, D) -> log p (B, K).

    Examples:
        >>> import torch, bough
        >>> head, left, right = bough.nn.Similarity(150), torch.randn(2, 150), torch.randn(2, 150)
        >>> head.score(head(left, right)).shape
        torch.Size([2])
        >>> loss = head.loss(left, right, torch.tensor([1.0, 4.2]))
        >>> loss.dim()
        0
    """

    shown = ("hidden", "classes", "features", "objective")
    scale: Tensor

    def __init__(
        self,
        hidden_size: int,
        *,
        hidden: int = 50,
        classes: int = 5,
        features: Literal["both", "product", "difference"] = "both",
        objective: Literal["kl", "mse"] = "kl",
        **kwargs: Any,
    ) -> None:
        if classes < 2:
            raise ValueError(f"classes={classes}: a scale has at least 2")
        if features not in ("both", "product", "difference"):
            raise ValueError(f"features={features!r}: 'both', 'product' or 'difference'")
        if objective not in ("kl", "mse"):
            raise ValueError(f"objective={objective!r}: 'kl' or 'mse'")
        columns = hidden_size * (2 if features == "both" else 1)  # blocks W_×, W_+
        super().__init__(hidden_size, columns, hidden, classes, **kwargs)
        self.features, self.objective = features, objective
        ratings = torch.arange(1.0, classes + 1, **kwargs)
        self.register_buffer("scale", ratings, persistent=False)
        self.reset_parameters()

    def forward(self, left: Tensor, right: Tensor) -> Tensor:
        """Return log p (B, K), from two (B, D)."""
        self._check(left, right)
        parts = []
        if self.features != "difference":
            parts.append(left * right)
        if self.features != "product":
            parts.append((left - right).abs())
        h_s = torch.sigmoid(functional.linear(torch.cat(parts, dim=1), self.W_h, self.b_h))
        return functional.log_softmax(functional.linear(h_s, self.W_p, self.b_p), dim=1)

    def score(self, log_p: Tensor) -> Tensor:
        """Return the expected ratings (B,), from log p (B, K)."""
        return log_p.exp() @ self.scale

    def loss(self, left: Tensor, right: Tensor, y: Tensor, weights: Tensor | None = None) -> Tensor:
        """Return the mean of the objective over the pairs, each times its weight (B,); y (B,) is in [1, K]."""
        self._check(left, right)
        if y.shape != left.shape[:1] or not y.is_floating_point():
            raise ValueError(f"y is {tuple(y.shape)} {y.dtype}; give one float rating per pair")
        if weights is None:
            own = (self.W_h, self.b_h, self.W_p, self.b_p)
            compiled = pair_loss(left, right, y, *own, features=self.features, objective=self.objective)
            if compiled is not None:
                return compiled
        log_p = self(left, right)
        target = target_distribution(y, self.classes)
        if self.objective == "mse":
            losses = functional.mse_loss(self.score(log_p), y, reduction="none")
        else:
            # NOTE(paper): the released program also divides by K, so the learning rate is a fifth in effect.
            losses = functional.kl_div(log_p, target, reduction="none").sum(dim=1) / self.classes
        return losses.mean() if weights is None else (losses * weights).mean()


class CosineSimilarity(UniformInit):
    """Relatedness of two sentence vectors from their cosine, on a scale from 1 to K.

        y = 1 + (K - 1) (a cos(h_L, h_R) + b),  at least 1 and at most K

    Since y depends on the cosine only, any vector index finds the most related sentences. The loss
    is the squared error of (y - 1) / (K - 1), plus, for each pair whose rating is at least 0.8 on
    this scale, the cross-entropy of its right sentence among all right sentences of the batch:

        -log exp(cos(h_L, h_R) / τ) / Σ_i exp(cos(h_L, h_i) / τ)

    Args:
        classes: K, the largest rating.
        negatives: the weight of the cross-entropy.
        temperature: τ.
        device: where the weights are made.
        dtype: their type.

    Shape:
        h_L, h_R (B, D) -> y (B,).

    Examples:
        >>> import torch, bough
        >>> head = bough.nn.CosineSimilarity()
        >>> head(torch.tensor([[1.0, 1.0], [1.0, 0.0]]), torch.tensor([[2.0, 2.0], [0.0, 3.0]])).round().tolist()
        [5.0, 1.0]
    """

    shown = ("classes", "negatives", "temperature")

    def __init__(
        self,
        *,
        classes: int = 5,
        negatives: float = 0.1,
        temperature: float = 0.05,
        device: Any = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(device=device, dtype=dtype)
        if classes < 2:
            raise ValueError(f"classes={classes}: a scale has at least 2")
        self.classes, self.negatives, self.temperature = classes, negatives, temperature
        self.a = nn.Parameter(torch.ones((), device=device, dtype=dtype))
        self.b = nn.Parameter(torch.zeros((), device=device, dtype=dtype))

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Set a = 1 and b = 0."""
        self.a.fill_(1.0)
        self.b.fill_(0.0)

    def forward(self, left: Tensor, right: Tensor) -> Tensor:
        """Return the ratings (B,), from two (B, D)."""
        return self.rating(functional.cosine_similarity(left, right))

    def rating(self, cosines: Tensor) -> Tensor:
        """Return the ratings of cosines."""
        return (1 + (self.classes - 1) * (self.a * cosines + self.b)).clamp(1, self.classes)

    def loss(self, left: Tensor, right: Tensor, y: Tensor, weights: Tensor | None = None) -> Tensor:
        """Return the mean squared error plus the cross-entropy of the related pairs; y (B,) is in [1, K].

        The losses of a pair are multiplied by its weight (B,).
        """
        weights = torch.ones_like(y) if weights is None else weights
        if left.shape != right.shape or left.dim() != 2 or y.shape != left.shape[:1]:
            shapes = f"{tuple(left.shape)}, {tuple(right.shape)} and {tuple(y.shape)}"
            raise ValueError(f"{shapes}; the similarity takes two of (pairs, D) and (pairs,) ratings")
        left, right = (functional.normalize(side, dim=1) for side in (left, right))
        cosines = left @ right.T  # (B, B)
        place = (y - 1) / (self.classes - 1)
        losses = functional.mse_loss(self.a * cosines.diagonal() + self.b, place, reduction="none")
        loss = (losses * weights).mean()
        related = (place >= RELATED).nonzero().squeeze(1)
        if self.negatives and len(related):
            among = cosines.index_select(0, related) / self.temperature
            losses = functional.cross_entropy(among, related, reduction="none")
            loss = loss + self.negatives * (losses * weights[related]).mean()
        return loss


def target_distribution(y: Tensor, classes: int) -> Tensor:
    """Return the sparse p (B, K) with Σ_i i p_i = y, where at most two neighbours are not 0; y (B,) is in [1, K]."""
    fits = (y >= 1) & (y <= classes)  # False for a NaN
    if not bool(fits.all()):
        raise ValueError(f"a rating of {y[~fits][0].item():g}; the scale goes from 1 to {classes}")
    # for y = K, the last two classes: all mass is on the last
    low = (y.floor().long() - 1).clamp(max=classes - 2)
    high = y - (low + 1)
    p = y.new_zeros(len(y), classes)
    p.scatter_(1, low.unsqueeze(1), (1 - high).unsqueeze(1))
    return p.scatter_(1, (low + 1).unsqueeze(1), high.unsqueeze(1))
