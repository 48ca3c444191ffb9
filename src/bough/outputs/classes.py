"""One of several classes."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from bough.data.examples import Example, Source
from bough.errors import DataError, FormatError
from bough.nn import heads
from bough.outputs import calibration
from bough.outputs.base import (
    Array,
    Floats,
    HeadConfig,
    Ints,
    Output,
    TargetOptions,
    as_tuples,
    check_names,
    constant_label,
    pair_head,
    unknown_label,
)
from bough.outputs.report import Report, class_report

SENTIMENT = ("very negative", "negative", "neutral", "positive", "very positive")
POLARITIES = ("negative", "neutral", "positive")
OF_SENTIMENT = (-1, -1, 0, 1, 1)  # the polarity of each class of SENTIMENT


@dataclass(frozen=True)
class Classes(Output):
    """One class for each text, pair or tree; in trees with labels, for each labelled node.

    The decision is the most probable class. If the classes have polarities, it is the most probable
    class of the polarity with the largest sum, so that two degrees of negative together can win
    against neutral.

    Args:
        classes: the names of the classes, in the order of the head's rows.
        ordered: whether the classes form a scale.
        polarity: -1, 0 or 1 for each class, if it is negative, neutral or positive; empty if they are not.
        pairs: whether the classes are those of pairs.

    Examples:
        >>> import numpy as np
        >>> from bough.outputs import Classes
        >>> from bough.outputs.classes import sentiment_classes
        >>> p = np.array([[0.3, 0.25, 0.4, 0.05, 0.0]])
        >>> sentiment_classes().decide(p), Classes(("a", "b", "c", "d", "e")).decide(p)
        (['very negative'], ['c'])
    """

    kind: ClassVar[str] = "classes"
    metric: ClassVar[str] = "accuracy"
    titles: ClassVar[Mapping[str, str]] = {"accuracy": "accuracy", "f1": "macro F1", "loss": "loss"}
    errors: ClassVar[frozenset[str]] = frozenset({"loss"})
    stratified_by: ClassVar[str] = "class"
    exclusive: ClassVar[bool] = True

    classes: tuple[str, ...] = field()  # the base class has none
    ordered: bool = False
    polarity: tuple[int, ...] = ()
    pairs: bool = False

    def __post_init__(self) -> None:
        as_tuples(self, "classes", "polarity")
        check_names("classes", self.classes, 2)
        if self.polarity and (len(self.polarity) != len(self.classes) or not {*self.polarity} <= {-1, 0, 1}):
            raise ValueError(f"polarity {self.polarity}: -1, 0 or 1 for each of {len(self.classes)} classes")

    # ------------------------------------------------------------------ labels

    @classmethod
    def from_labels(cls, source: Source, options: TargetOptions) -> tuple[Self, list[str]]:
        where, labels = source.name, [_names(example) for example in source.examples]
        names = list(_order_of_appearance(source.examples))
        counts = Counter(own[0] for own in labels if len(own) == 1)
        soft = any(len(own) > 1 for own in labels)
        if len(names if soft else counts) < 2:
            raise constant_label(where, f"label is {names[0]!r}")
        if len(counts) > len(labels) / 2 and len(labels) > 10:
            raise DataError(
                f"{where}: {len(counts):,} classes for {len(labels):,} examples; is the label the right one? "
                "If the labels are numbers to be predicted, set the task to numbers."
            )
        classes, ordered = _sorted(names, options.order, where)
        single = [name for name in classes if counts[name] == 1]
        messages = []
        if single:
            more = f" and {len(single) - 8} more" if len(single) > 8 else ""
            names_shown = ", ".join(map(repr, single[:8])) + more
            messages = [f"classes with one example, which is used for training only: {names_shown}"]
        return cls(tuple(classes), ordered=ordered, pairs=source.pairs), messages

    def encode(self, examples: Sequence[Example]) -> Array:
        index = {name: number for number, name in enumerate(self.classes)}
        for example in examples:
            for name in (*_inner_names(example), *_names(example)):
                if name not in index:
                    raise unknown_label(name, example.where, sorted(self.classes))
        if any(isinstance(example.value, Mapping) for example in examples):
            return np.stack([self._distribution(example) for example in examples])
        return np.array([index[example.label] for example in examples], dtype=np.int64)

    def _distribution(self, example: Example) -> Floats:
        """Return (K,) the probabilities of a label that is a distribution over the classes, or of one class."""
        shares = example.value if isinstance(example.value, Mapping) else {example.label: 1.0}
        p = np.array([float(shares.get(name, 0.0)) for name in self.classes])
        if not (np.isfinite(p).all() and (p >= 0).all() and p.sum() > 0):
            raise FormatError(
                f"{example.where}: the label {example.value!r}; give probabilities of 0 or more"
            )
        return np.asarray(p / p.sum())

    def encode_node(self, label: Any) -> int:
        return self.classes.index(str(label))

    def strata(self, examples: Sequence[Example], targets: Array) -> Ints:
        order = {name: number for number, name in enumerate(_order_of_appearance(examples))}
        return np.array([order[self.classes[number]] for number in _hard(targets).tolist()])

    def class_weights(self, given: str | Mapping[str, float] | None, targets: Array) -> Floats | None:
        """Return (K,) the weights of the classes: n / (K n_k) for "balanced", or those of a mapping, else 1."""
        if given is None:
            return None
        if given == "balanced":
            counts = np.bincount(_hard(targets), minlength=len(self.classes))
            weights: Floats = len(targets) / (len(self.classes) * np.maximum(counts, 1))
            return weights
        if isinstance(given, str):
            raise ValueError(f"class_weight {given!r}: 'balanced', or a weight for each class")
        for name, weight in given.items():
            if str(name) not in self.classes or not 0 <= float(weight) < np.inf:
                known = ", ".join(self.classes[:8])
                raise ValueError(f"class_weight {name!r}: {weight!r}; the classes are {known}")
        return np.array([float(given.get(name, 1.0)) for name in self.classes])

    # ------------------------------------------------------------------ training

    def head(self, width: int, config: HeadConfig) -> nn.Module:
        if self.pairs:
            return pair_head(width, len(self.classes), config)
        return heads.Classifier(width, len(self.classes), dropout=config.dropout)

    def targets(self, encoded: Sequence[Any] | Array) -> Array:
        soft = any(isinstance(label, tuple) for label in encoded)
        if not soft:
            return np.array(encoded, dtype=np.int64)
        one_hot = np.eye(len(self.classes), dtype=np.float32)
        rows = [label if isinstance(label, tuple) else one_hot[label] for label in encoded]
        return np.array(rows, dtype=np.float32)

    def loss(
        self,
        head: nn.Module,
        vectors: Sequence[Tensor],
        targets: Tensor,
        rows: Tensor | None = None,
        weights: Tensor | None = None,
    ) -> Tensor:
        if isinstance(head, heads.Classifier) and targets.dim() == 1:
            return head.loss(vectors[0], targets, rows, weights)
        logits = head(*(side if rows is None else side.index_select(0, rows) for side in vectors))
        losses = functional.cross_entropy(logits, targets.to(_type_for(targets, logits)), reduction="none")
        losses = losses if weights is None else losses * weights
        return losses.sum() / len(losses) if self.pairs else losses.sum()

    def predict(self, head: nn.Module, *vectors: Tensor) -> Array:
        return cast(Array, head(*vectors).softmax(dim=1).cpu().numpy())

    def metrics(self, predicted: Array, targets: Array) -> Report:
        return class_report(
            self.classes, self.choose(predicted), _hard(targets), mean_loss(predicted, targets), self.titles
        )

    def epoch_metrics(self, predicted: Array, targets: Array) -> dict[str, float]:
        """Return the metrics of an epoch on dev; for single texts and trees, after temperature scaling."""
        if not self.pairs:
            t = calibration.fit_temperature(predicted, _hard(targets), shown=False)
            predicted = calibration.with_temperature(predicted, t)
        return self.metrics(predicted, targets).figures

    def calibrate(
        self, head: nn.Module, predicted: Mapping[str, Array], targets: Mapping[str, Array]
    ) -> tuple[Self, dict[str, Array], dict[str, Any]]:
        """Divide the logits by the temperature that is fitted on dev."""
        gold = {split: _hard(own) for split, own in targets.items()}
        t = calibration.fit_temperature(predicted["dev"], gold["dev"])
        scaled = {split: calibration.with_temperature(p, t) for split, p in predicted.items()}
        errors = {
            split: {
                "before": calibration.calibration_error(predicted[split], gold[split]),
                "after": calibration.calibration_error(scaled[split], gold[split]),
            }
            for split in predicted
        }
        with torch.no_grad():
            for weight in head.last_weights():  # type: ignore[operator]
                weight.div_(t)
        return self, scaled, {"temperature": t, "calibration": errors}

    # ------------------------------------------------------------------ results

    def choose(self, predicted: Array) -> Ints:
        """Return (...) the number of the predicted class for probabilities (..., K)."""
        if not self.polarity:
            return np.asarray(predicted.argmax(axis=-1))
        # (polarities, K) whether each polarity has each class
        members = np.array([[own == sign for own in self.polarity] for sign in sorted({*self.polarity})])
        sign = (predicted @ members.T).argmax(axis=-1)
        return np.asarray(np.where(members[sign], predicted, -1.0).argmax(axis=-1))

    def decide(self, predicted: Array) -> list[Any]:
        return [self.classes[number] for number in self.choose(predicted).tolist()]

    def decide_targets(self, targets: Array) -> list[Any]:
        return [self.classes[number] for number in _hard(targets).tolist()]

    @property
    def title(self) -> str:
        return f"{len(self.classes)} {super().title.lower()}"

    @property
    def keys(self) -> tuple[str, ...]:
        return ("label", *(("polarity",) if self.polarity else ()), "score", "probabilities")

    @property
    def cells(self) -> list[str]:
        return ["label", "score"]

    @property
    def names(self) -> tuple[str, ...]:
        return self.classes

    def fields(self, predicted: Array, digits: int | None = None) -> list[dict[str, Any]]:
        shown = predicted if digits is None else predicted.round(digits)
        scores = predicted.max(axis=-1)
        if self.polarity:
            scores = predicted @ np.array(self.polarity, dtype=np.float64)
        elif self.ordered and not self.pairs:
            scores = predicted @ np.linspace(-1.0, 1.0, len(self.classes))
        scores = scores if digits is None else scores.round(digits)
        numbers = self.choose(predicted).tolist()
        results = []
        for number, score, row in zip(numbers, scores.tolist(), shown.tolist(), strict=True):
            result = {"label": self.classes[number], "score": score}
            if self.polarity:
                result = {
                    "label": result["label"],
                    "polarity": POLARITIES[1 + self.polarity[number]],
                    **result,
                }
            results.append({**result, "probabilities": dict(zip(self.classes, row, strict=True))})
        return results

    def text(self, fields: Mapping[str, Any]) -> str:
        return str(fields["label"])

    def describe(self) -> str:
        shown = ", ".join(map(repr, self.classes[:6])) + (", ..." if len(self.classes) > 6 else "")
        return f"{len(self.classes)} classes: {shown}"

    # ------------------------------------------------------------------ baseline

    def baseline(self, targets: Array, *, structured: bool) -> tuple[str, Any]:
        from sklearn.dummy import DummyClassifier
        from sklearn.ensemble import HistGradientBoostingClassifier
        from sklearn.linear_model import LogisticRegression

        if len(np.unique(_hard(targets))) == 1:
            return "the most frequent class", DummyClassifier()
        if structured:
            return "boosted trees", HistGradientBoostingClassifier(random_state=0)
        return "logistic regression", LogisticRegression(C=10.0, max_iter=200)

    def baseline_targets(self, targets: Array) -> Array:
        return _hard(targets)

    def baseline_predictions(self, estimator: Any, items: Any) -> Array:
        predicted = np.zeros((len(items), len(self.classes)))
        predicted[:, estimator.classes_] = estimator.predict_proba(items)
        return predicted


def sentiment_classes() -> Classes:
    """Return the five classes of the Stanford Sentiment Treebank, which form a scale and have polarities."""
    return Classes(SENTIMENT, ordered=True, polarity=OF_SENTIMENT)


def mean_loss(predicted: Array, targets: Array) -> float:
    """Return the mean negative log-likelihood of classes (n,), or the cross-entropy with distributions (n, K)."""
    if targets.ndim == 1:
        return float(-np.log(predicted[np.arange(len(targets)), targets].clip(1e-30)).mean())
    return float(-(targets * np.log(predicted.clip(1e-30))).sum(axis=1).mean())


def _hard(targets: Array) -> Ints:
    """Return (n,) class numbers; of distributions (n, K) the most probable class."""
    return targets if targets.ndim == 1 else np.asarray(targets.argmax(axis=1))


def _type_for(targets: Tensor, logits: Tensor) -> torch.dtype:
    return targets.dtype if targets.dim() == 1 else logits.dtype


def _names(example: Example) -> list[str]:
    """Return the class of an example, or the classes of a distribution. Raise a FormatError if there is none."""
    if isinstance(example.value, Mapping):
        return [str(name) for name in example.value]
    if not example.label:
        raise FormatError(f"{example.where}: the root has no label, which is what is predicted")
    return [example.label]


def _inner_names(example: Example) -> list[str]:
    return [str(label) for tree in example.trees for label in tree.labels or () if label is not None]


def _order_of_appearance(examples: Sequence[Example]) -> dict[str, None]:
    """Return the names of the classes in the order in which they occur, those of inner nodes included."""
    return dict.fromkeys(name for example in examples for name in (*_inner_names(example), *_names(example)))


def _sorted(names: Sequence[str], order: Sequence[str], where: str) -> tuple[list[str], bool]:
    """Return the classes in their order, and whether they form a scale."""
    if order:
        if {*order} != {*names}:
            odd = sorted({*order} ^ {*names})[0]
            raise DataError(
                f"{where}: order {','.join(order)} and the labels differ in {odd!r}; name each class once"
            )
        return list(order), True
    try:  # classes that are numbers are sorted by size, others alphabetically
        return sorted(names, key=float), True
    except ValueError:
        return sorted(names), False
