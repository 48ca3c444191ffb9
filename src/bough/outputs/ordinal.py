"""One of several classes that are in an order, such as 1 to 5 stars."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from bough.data.examples import Source
from bough.errors import DataError
from bough.nn import heads
from bough.outputs.base import (
    Array,
    HeadConfig,
    TargetOptions,
    is_number,
    pair_head,
)
from bough.outputs.classes import Classes
from bough.outputs.report import Report

MOST = 10  # different whole numbers that may be steps of a scale
ORDERS = (
    "very negative, negative, neutral, positive, very positive",
    "very bad, bad, okay, good, very good",
    "terrible, bad, okay, good, great",
    "poor, fair, good, very good, excellent",
    "very low, low, medium, high, very high",
    "low, middle, high",
    "small, medium, large",
    "never, rarely, sometimes, often, always",
    "strongly disagree, disagree, neutral, agree, strongly agree",
    "very dissatisfied, dissatisfied, neutral, satisfied, very satisfied",
)


class CumulativeLogits(nn.Module):
    """Ordinal regression: one slope, and a threshold between each class and the next.

        P(y > k) = σ(s - b_k),  b_1 < b_2 < ... < b_{K-1}

    Args:
        score: the module that computes s (N, 1).
        classes: the number K of classes.

    Shape:
        the inputs of `score` -> log p (N, K).
    """

    def __init__(self, score: nn.Module, classes: int) -> None:
        super().__init__()
        self.score = score
        self.first = nn.Parameter(torch.tensor(-1.0))
        self.gaps = nn.Parameter(torch.zeros(classes - 2))

    def forward(self, *vectors: Tensor) -> Tensor:
        """Return log p (N, K)."""
        gaps = functional.softplus(self.gaps)  # (K - 2,), above 0
        above = self.score(*vectors) - torch.cat(
            [self.first.view(1), self.first + gaps.cumsum(0)]
        )  # (N, K - 1)
        # log (σ(a) - σ(b)) = log σ(a) + log σ(-b) + log (1 - exp(b - a)), without a difference of near numbers
        higher = functional.pad(functional.logsigmoid(above), (1, 0))
        lower = functional.pad(functional.logsigmoid(-above), (0, 1))
        between = functional.pad(torch.log(-torch.expm1(-gaps)), (1, 1))
        return higher + lower + between


@dataclass(frozen=True)
class Ordinal(Classes):
    """Classes in an order: their probabilities come from one number and a threshold between any two neighbours.

    Args:
        classes: the names of the classes, from the lowest to the highest.
        ordered: whether the classes form a scale, which they do.
        polarity: -1, 0 or 1 for each class, if it is negative, neutral or positive.
        pairs: whether the classes are those of pairs.

    Examples:
        >>> import numpy as np
        >>> from bough.outputs import outputs
        >>> stars = outputs()["ordinal"](("1", "2", "3"), ordered=True)
        >>> p, gold = np.array([[0.7, 0.2, 0.1], [0.6, 0.3, 0.1]]), np.array([0, 2])
        >>> stars.metrics(p, gold).figures["steps"]
        1.0
    """

    kind: ClassVar[str] = "ordinal"
    titles: ClassVar[Mapping[str, str]] = {
        "accuracy": "accuracy",
        "steps": "mean absolute error in steps",
        "kappa": "quadratic weighted kappa",
        "f1": "macro F1",
        "loss": "loss",
    }
    errors: ClassVar[frozenset[str]] = frozenset({"steps", "loss"})

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.classes) < 3:
            raise ValueError(f"classes {self.classes}: an order has at least 3; set the task to classes")

    @classmethod
    def from_labels(cls, source: Source, options: TargetOptions) -> tuple[Self, list[str]]:
        order = options.order or _order_of([example.label for example in source.examples])
        if not order:
            example = source.examples[0].label
            reason = f"{example!r} and the other labels are in no known order"
            raise DataError(f"{source.name}: {reason}; name them from the lowest to the highest with order")
        output, messages = super().from_labels(source, replace(options, order=tuple(order)))
        return output, [f"classes in the order {', '.join(output.classes)}", *messages]

    @classmethod
    def suggestion(cls, source: Source) -> str:
        order = [] if source.pairs else _order_of([example.label for example in source.examples])
        if not 3 <= len(order) <= MOST:
            return ""
        return f"the labels {', '.join(order)} are in an order, which the task ordinal uses"

    @property
    def title(self) -> str:
        return f"{len(self.classes)} classes in order{' of pairs' if self.pairs else ''}"

    def describe(self) -> str:
        return f"{len(self.classes)} classes in order: {', '.join(map(repr, self.classes))}"

    def head(self, width: int, config: HeadConfig) -> nn.Module:
        score: nn.Module = heads.Regressor(width, dropout=config.dropout)
        if self.pairs:
            score = pair_head(width, 1, config)
        return CumulativeLogits(score, len(self.classes))

    def metrics(self, predicted: Array, targets: Array) -> Report:
        """Return accuracy, mean absolute error in steps, quadratic weighted kappa, macro F1 and loss."""
        report = super().metrics(predicted, targets)
        counts = np.array(report.confusion)
        steps = np.abs(np.subtract.outer(np.arange(len(counts)), np.arange(len(counts))))
        by_chance = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
        expected = float((steps**2 * by_chance).sum())
        kappa = 1 - float((steps**2 * counts).sum()) / expected if expected else 0.0
        figures = {
            "accuracy": report.figures["accuracy"],
            "steps": float((steps * counts).sum() / counts.sum()),
        }
        return replace(report, figures={**figures, "kappa": kappa, **report.figures})

    def epoch_metrics(self, predicted: Array, targets: Array) -> dict[str, float]:
        return self.metrics(predicted, targets).figures

    def calibrate(
        self, head: nn.Module, predicted: Mapping[str, Array], targets: Mapping[str, Array]
    ) -> tuple[Self, dict[str, Array], dict[str, Any]]:
        """Return everything unchanged: the slope and the thresholds are the scale of the logits already."""
        return self, dict(predicted), {}


def _order_of(labels: Sequence[str]) -> list[str]:
    """Return the different labels in their order, if they are whole numbers or the words of a known scale."""
    names = {*labels}
    if all(is_number(name) and float(name) % 1 == 0 for name in names):
        return sorted(names, key=float)
    for order in ORDERS:
        steps = order.split(", ")
        if len(names) > 2 and {name.casefold() for name in names} <= {*steps}:
            return sorted(names, key=lambda name: steps.index(name.casefold()))
    return []
