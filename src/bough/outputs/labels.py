"""Several labels at once."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self, cast

import numpy as np
from torch import Tensor, nn
from torch.nn import functional

from bough.data.examples import Example, Source
from bough.errors import DataError
from bough.nn import heads
from bough.outputs.base import (
    Array,
    HeadConfig,
    Ints,
    Output,
    TargetOptions,
    as_tuples,
    check_names,
    pair_head,
    unknown_label,
)
from bough.outputs.calibration import fit_thresholds
from bough.outputs.report import Report, class_lines


@dataclass(frozen=True)
class Labels(Output):
    """Any number of labels for each text, pair or tree: a list of names, or a text with `;` or `|` between them.

    The decision is the labels whose probability is above their thresholds, which are fitted on dev.

    Args:
        classes: the names of the labels, in the order of the head's rows.
        thresholds: one for each label.
        pairs: whether the labels are those of pairs.

    Examples:
        >>> import numpy as np
        >>> from bough.outputs import Labels
        >>> Labels(("billing", "delivery"), (0.5, 0.3)).decide(np.array([[0.2, 0.4], [0.9, 0.8]]))
        [['delivery'], ['billing', 'delivery']]
    """

    kind: ClassVar[str] = "labels"
    metric: ClassVar[str] = "micro_f1"
    result: ClassVar[str] = "labels"
    stratified_by: ClassVar[str] = "class"
    titles: ClassVar[Mapping[str, str]] = {
        "micro_f1": "micro F1",
        "macro_f1": "macro F1",
        "exact": "all labels right",
        "loss": "loss",
    }
    errors: ClassVar[frozenset[str]] = frozenset({"loss"})

    classes: tuple[str, ...] = field()  # the base class has none
    thresholds: tuple[float, ...]
    pairs: bool = False

    def __post_init__(self) -> None:
        as_tuples(self, "classes", "thresholds")
        check_names("labels", self.classes, 2)
        if len(self.thresholds) != len(self.classes):
            raise ValueError(f"{len(self.thresholds)} thresholds for {len(self.classes)} labels; one each")

    @classmethod
    def from_labels(cls, source: Source, options: TargetOptions) -> tuple[Self, list[str]]:
        sets = [_names(example.value) for example in source.examples]
        names = tuple(sorted({name for own in sets for name in own}))
        if len(names) < 2:
            raise DataError(f"{source.name}: {len(names)} label; several labels need at least two")
        mean = np.array([len(own) for own in sets]).mean()
        message = f"{len(names)} labels, {mean:.1f} for each example"
        return cls(names, (0.5,) * len(names), pairs=source.pairs), [message]

    def encode(self, examples: Sequence[Example]) -> Array:
        for example in examples:
            for name in sorted(_names(example.value) - {*self.classes}):
                raise unknown_label(name, example.where, self.classes)
        return np.array([self.encode_node(example.value) for example in examples])

    def encode_node(self, label: Any) -> tuple[float, ...]:
        names = _names(label)
        return tuple(float(name in names) for name in self.classes)

    def strata(self, examples: Sequence[Example], targets: Array) -> Ints:
        # the rarest label of each example
        rarity = targets.sum(axis=0)
        rarest = np.where(targets > 0, -rarity, -np.inf).argmax(axis=1)
        return np.where(targets.any(axis=1), rarest, len(rarity))

    def head(self, width: int, config: HeadConfig) -> nn.Module:
        if self.pairs:
            return pair_head(width, len(self.classes), config)
        return heads.MultiLabelClassifier(width, len(self.classes), dropout=config.dropout)

    def targets(self, encoded: Sequence[Any] | Array) -> Array:
        rows = np.array(encoded, dtype=np.float64).reshape(len(encoded), len(self.classes))
        return rows.astype(np.float32)

    def loss(
        self,
        head: nn.Module,
        vectors: Sequence[Tensor],
        targets: Tensor,
        rows: Tensor | None = None,
        weights: Tensor | None = None,
    ) -> Tensor:
        if weights is not None:
            weights = weights[:, None].expand(-1, targets.shape[1])
        if isinstance(head, heads.MultiLabelClassifier):
            return head.loss(vectors[0], targets, rows, weights)
        logits = head(*vectors)
        total = functional.binary_cross_entropy_with_logits(
            logits, targets.to(logits.dtype), weights, reduction="sum"
        )
        return total / len(targets)

    def predict(self, head: nn.Module, *vectors: Tensor) -> Array:
        return cast(Array, head(*vectors).double().sigmoid().cpu().numpy())

    def metrics(self, predicted: Array, targets: Array) -> Report:
        chosen, gold = predicted > np.array(self.thresholds), targets > 0
        right, said, there = (chosen & gold).sum(axis=0), chosen.sum(axis=0), gold.sum(axis=0)
        f1 = 2 * right / np.maximum(said + there, 1)
        p, y = predicted.clip(1e-7, 1 - 1e-7), gold.astype(np.int64)
        figures = {
            "micro_f1": float(2 * right.sum() / max(said.sum() + there.sum(), 1)),
            "macro_f1": float(f1[there > 0].mean()) if there.any() else 0.0,
            "exact": float((chosen == gold).all(axis=1).mean()),
            "loss": float(-(y * np.log(p) + (1 - y) * np.log(1 - p)).sum(axis=1).mean()),
        }
        lines = class_lines(self.classes, there, said, right)
        return Report(figures, lines, len(targets), titles=self.titles)

    def with_thresholds(self, predicted: Array, targets: Array) -> Self:
        return replace(self, thresholds=fit_thresholds(predicted, targets))

    def calibrate(
        self, head: nn.Module, predicted: Mapping[str, Array], targets: Mapping[str, Array]
    ) -> tuple[Self, dict[str, Array], dict[str, Any]]:
        """Fit the thresholds on dev."""
        return self.with_thresholds(predicted["dev"], targets["dev"]), dict(predicted), {}

    def decide(self, predicted: Array) -> list[Any]:
        above = (predicted > np.array(self.thresholds)).tolist()
        return [[name for name, holds in zip(self.classes, row, strict=True) if holds] for row in above]

    @property
    def title(self) -> str:
        return f"{len(self.classes)} {super().title.lower()}"

    @property
    def keys(self) -> tuple[str, ...]:
        return "labels", "probabilities"

    @property
    def names(self) -> tuple[str, ...]:
        return self.classes

    def fields(self, predicted: Array, digits: int | None = None) -> list[dict[str, Any]]:
        shown = (predicted if digits is None else predicted.round(digits)).tolist()
        return [
            {"labels": labels, "probabilities": dict(zip(self.classes, row, strict=True))}
            for labels, row in zip(self.decide(predicted), shown, strict=True)
        ]

    def text(self, fields: Mapping[str, Any]) -> str:
        return ", ".join(fields["labels"]) or "no label"

    def describe(self) -> str:
        shown = ", ".join(map(repr, self.classes[:6])) + (", ..." if len(self.classes) > 6 else "")
        return f"{len(self.classes)} labels: {shown}"

    def baseline(self, targets: Array, *, structured: bool) -> tuple[str, Any]:
        from sklearn.ensemble import HistGradientBoostingClassifier
        from sklearn.linear_model import LogisticRegression
        from sklearn.multiclass import OneVsRestClassifier

        if structured:
            return "boosted trees", OneVsRestClassifier(HistGradientBoostingClassifier(random_state=0))
        return "logistic regression", OneVsRestClassifier(LogisticRegression(C=10.0, max_iter=200))

    def baseline_predictions(self, estimator: Any, items: Any) -> Array:
        return np.asarray(estimator.predict_proba(items))


def _names(value: Any) -> set[str]:
    """Return the names in a list, or in a text with `;` or `|` between them."""
    parts = value if isinstance(value, (list, tuple, set, frozenset)) else re.split("[;|]", str(value))
    return {name for name in (str(part).strip() for part in parts) if name}
