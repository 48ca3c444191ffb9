"""Ratings on a scale, such as how related two sentences are (Sec. 4.2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from bough.data.examples import Example, Source
from bough.nn import heads
from bough.outputs.base import (
    Array,
    Floats,
    HeadConfig,
    Ints,
    Output,
    TargetOptions,
    constant_label,
    read_number,
)
from bough.outputs.report import Report


@dataclass(frozen=True)
class Ratings(Output):
    """A rating of each pair, text or tree, on any scale.

    The head has K evenly spaced steps of the scale, whose probabilities give the expected rating; a
    model that rates by the cosine has no probabilities. A row of predictions is the rating, and
    after it the probability of each step.

    Args:
        low: the lowest rating of the training examples.
        high: the highest one.
        pairs: whether an example is a pair.

    Examples:
        >>> import numpy as np
        >>> from bough.outputs import Ratings
        >>> Ratings(1, 5).decide(np.array([[3.0, 0.5, 0.5]]))
        [3.0]
    """

    kind: ClassVar[str] = "ratings"
    metric: ClassVar[str] = "pearson"
    result: ClassVar[str] = "score"
    titles: ClassVar[Mapping[str, str]] = {
        "pearson": "Pearson's r",
        "spearman": "Spearman's rho",
        "mse": "mean squared error",
    }
    errors: ClassVar[frozenset[str]] = frozenset({"mse"})
    rates: ClassVar[bool] = True

    low: float = 1.0
    high: float = 5.0
    pairs: bool = True

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            object.__setattr__(self, name, float(getattr(self, name)))
        if not self.low < self.high:
            raise ValueError(f"ratings from {self.low} to {self.high}: from a smaller number to a larger one")

    @classmethod
    def from_labels(cls, source: Source, options: TargetOptions) -> tuple[Self, list[str]]:
        values = [read_number(example.label, example.where, "rating") for example in source.examples]
        low, high = min(values), max(values)
        if low == high:
            raise constant_label(source.name, f"rating is {low:g}")
        return cls(low, high, pairs=source.pairs), [f"ratings from {low:g} to {high:g}"]

    def encode(self, examples: Sequence[Example]) -> Array:
        values = [read_number(example.label, example.where, "rating") for example in examples]
        return np.array(values, dtype=np.float64)

    def encode_node(self, label: Any) -> float:
        return read_number(label, "a node", "rating")

    def strata(self, examples: Sequence[Example], targets: Array) -> Ints:
        tenths = (targets - targets.min()) / max(float(np.ptp(targets)), 1e-12) * 10
        strata: Ints = np.minimum(tenths, 9).astype(np.int64)
        return strata

    def doubts(self, targets: Array) -> tuple[int, str] | None:
        beyond = np.flatnonzero((targets < self.low) | (targets > self.high)).tolist()
        if not beyond:
            return None
        return beyond[0], f"{len(beyond)} ratings beyond those of training, {self.low:g} to {self.high:g}"

    def undefined(self, targets: Array) -> str:
        if np.ptp(targets) > 0:
            return ""
        return (
            f"every rating is {targets[0]:g}, so there is no r; the epoch is chosen by the mean squared error"
        )

    def head(self, width: int, config: HeadConfig) -> nn.Module:
        if not self.pairs:
            return heads.Classifier(width, config.scale, dropout=config.dropout)
        if config.features == "cosine":
            return heads.CosineSimilarity(classes=config.scale)
        hidden, loss = config.similarity_hidden, config.objective
        return heads.Similarity(
            width, hidden=hidden, classes=config.scale, features=config.features, objective=loss
        )

    def targets(self, encoded: Sequence[Any] | Array) -> Array:
        return np.array(encoded, dtype=np.float64)[:, None] if not self.pairs else np.array(encoded)

    def loss(
        self,
        head: nn.Module,
        vectors: Sequence[Tensor],
        targets: Tensor,
        rows: Tensor | None = None,
        weights: Tensor | None = None,
    ) -> Tensor:
        steps: int = head.classes  # type: ignore[assignment]
        y = self._step(targets, steps).to(torch.float32)
        if isinstance(head, heads.Similarity | heads.CosineSimilarity):
            left, right = vectors
            return head.loss(left, right, y, weights)
        logits = head(vectors[0] if rows is None else vectors[0].index_select(0, rows))
        goal = heads.target_distribution(y.squeeze(1).clamp(1, steps), steps).to(logits)
        losses = functional.kl_div(logits.log_softmax(dim=1), goal, reduction="none").sum(dim=1)
        return (losses if weights is None else losses * weights).sum()

    def predict(self, head: nn.Module, *vectors: Tensor) -> Array:
        raw = head(*vectors)
        if isinstance(head, heads.CosineSimilarity):
            ratings = self._rating(raw.double().cpu().numpy(), head.classes)
            return np.asarray(ratings)[:, None]
        log_p = raw if self.pairs else raw.log_softmax(dim=1)
        p = log_p.exp()
        y = p @ torch.arange(1.0, p.shape[1] + 1, dtype=p.dtype, device=p.device)
        ratings = self._rating(y.double().cpu().numpy(), p.shape[1])
        return np.concatenate([ratings[:, None], p.double().cpu().numpy()], axis=1)

    def metrics(self, predicted: Array, targets: Array) -> Report:
        figures = correlations(predicted.reshape(len(targets), -1)[:, 0], targets)
        return Report(figures, [], len(targets), titles=self.titles)

    def decide(self, predicted: Array) -> list[Any]:
        ratings: list[float] = predicted[:, 0].tolist()
        return ratings

    @property
    def keys(self) -> tuple[str, ...]:
        return "score", "probabilities"

    @property
    def names(self) -> tuple[str, ...]:
        return ()

    @property
    def ends(self) -> tuple[float, float]:
        return self.low, self.high

    def step_names(self, steps: int) -> tuple[str, ...]:
        """Return the ratings of the K steps."""
        return tuple(f"{self._rating(step, steps):g}" for step in range(1, steps + 1))

    def fields(self, predicted: Array, digits: int | None = None) -> list[dict[str, Any]]:
        rows = (predicted if digits is None else predicted.round(digits)).tolist()
        names = self.step_names(predicted.shape[1] - 1)
        return [{"score": rating, "probabilities": dict(zip(names, p, strict=True))} for rating, *p in rows]

    def text(self, fields: Mapping[str, Any]) -> str:
        return f"{fields['score']:.2f} of {self.high:g}"

    def describe(self) -> str:
        return f"ratings {self.low:g} to {self.high:g}"

    def baseline(self, targets: Array, *, structured: bool) -> tuple[str, Any]:
        from sklearn.ensemble import HistGradientBoostingRegressor
        from sklearn.linear_model import Ridge

        if structured:
            return "boosted trees", HistGradientBoostingRegressor(random_state=0)
        return "ridge regression", Ridge()

    def baseline_predictions(self, estimator: Any, items: Any) -> Array:
        return np.asarray(estimator.predict(items), dtype=np.float64).reshape(-1, 1)

    def _rating(self, step: Any, steps: int) -> Any:
        """Convert a number, an array or a tensor from the head's scale of 1 to `steps` to ratings."""
        low, high = self.low, self.high
        return step if (low, high) == (1, steps) else low + (step - 1) / (steps - 1) * (high - low)

    def _step(self, rating: Any, steps: int) -> Any:
        """Convert ratings to the head's scale of 1 to `steps`."""
        low, high = self.low, self.high
        return rating if (low, high) == (1, steps) else 1 + (rating - low) / (high - low) * (steps - 1)


def correlations(predicted: Floats, gold: Floats) -> dict[str, float]:
    """Return Pearson's r, Spearman's rho and the mean squared error; a correlation is 0 if one side is constant."""
    from scipy import stats

    related = np.ptp(predicted) > 0 and np.ptp(gold) > 0
    return {
        "pearson": float(stats.pearsonr(predicted, gold).statistic) if related else 0.0,
        "spearman": float(stats.spearmanr(predicted, gold).statistic) if related else 0.0,
        "mse": float(((predicted - gold) ** 2).mean()),
    }
