"""The base class of outputs: what a kind of target has to say to be read, learned, predicted and shown."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar, Literal, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from bough.data.examples import Example, Source
from bough.errors import DataError, FormatError
from bough.nn import heads
from bough.outputs.report import Report

Array = NDArray[Any]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Scale = Literal["linear", "log"]
LOSS = "loss"


class HeadConfig(Protocol):
    """The settings that a head is built from; `bough.models.config.Config` has them."""

    @property
    def dropout(self) -> float: ...
    @property
    def similarity_hidden(self) -> int: ...
    @property
    def scale(self) -> int: ...
    @property
    def features(self) -> Any: ...
    @property
    def objective(self) -> Any: ...


@dataclass(frozen=True)
class TargetOptions:
    """What a user says about the labels; the default of each option is inferred from them.

    Args:
        task: the kind of output, by its name.
        scale: the scale of numbers.
        order: the classes in their order.
    """

    task: str | None = None
    scale: Scale | None = None
    order: tuple[str, ...] = ()


class Output(ABC):
    """A kind of target: reads labels, makes the head, its loss and its predictions, and measures and shows them.

    A subclass is a frozen dataclass in a file of this package; its fields are stored in
    `config.json` beside its `kind`. Encoded targets are an array with one entry or one row per
    example: class numbers, or rows of numbers, of 0 and 1, or of probabilities.

    Examples:
        >>> from bough.outputs import Classes
        >>> output = Classes(("bad", "good"))
        >>> output.as_dict()["kind"], output.metric, output.keys
        ('classes', 'accuracy', ('label', 'score', 'probabilities'))
    """

    kind: ClassVar[str] = ""  # the name in `--task` and in `config.json`
    metric: ClassVar[str] = ""  # the metric that chooses the epoch on dev
    titles: ClassVar[Mapping[str, str]] = {}  # the metrics as people read them
    errors: ClassVar[frozenset[str]] = frozenset()  # the metrics of which a lower value is better
    result: ClassVar[str] = "label"  # the key of a result that has the decision
    stratified_by: ClassVar[str] = "value"  # what `strata` are made of
    exclusive: ClassVar[bool] = False  # whether an example has one of several classes
    rates: ClassVar[bool] = False  # whether predictions for pairs are ratings, by which texts can be ranked
    probabilistic: ClassVar[bool] = True  # whether predictions have probabilities
    scale: Scale = "linear"
    classes: tuple[str, ...] = ()
    ordered: bool = False  # whether the classes form a scale
    pairs: bool = False  # whether an example is two texts or trees

    # ------------------------------------------------------------------ labels

    @classmethod
    @abstractmethod
    def from_labels(cls, source: Source, options: TargetOptions) -> tuple[Self, list[str]]:
        """Return the output that the training labels determine, and messages for the user.

        Raise a FormatError or a DataError if a label cannot be read, or if nothing can be learned from them.
        """

    @classmethod
    def suggestion(cls, source: Source) -> str:
        """Return a message that suggests this kind for the labels; an empty string if another is as good."""
        return ""

    @abstractmethod
    def encode(self, examples: Sequence[Example]) -> Array:
        """Return the targets of examples. Raise an error that names the line of a label that cannot be read."""

    @abstractmethod
    def encode_node(self, label: Any) -> Any:
        """Return the label of a node as a tree carries it: a class number, or a tuple of numbers."""

    def strata(self, examples: Sequence[Example], targets: Array) -> Ints:
        """Return (n,) the stratum of each training example; dev and test get the same share of each."""
        return targets

    def doubts(self, targets: Array) -> tuple[int, str] | None:
        """Return the index of the first doubtful target, and the reason, if there is any."""
        return None

    def undefined(self, targets: Array) -> str:
        """Return why `metric` cannot be computed for these targets; an empty string if it can."""
        return ""

    def class_weights(self, given: str | Mapping[str, float] | None, targets: Array) -> Floats | None:
        """Return (K,) the weights of the classes in the loss, or None for equal weights."""
        if given is not None:
            raise ValueError(f"class_weight {given!r} is for one class per example, not for {self.kind}")
        return None

    # ------------------------------------------------------------------ training

    @abstractmethod
    def head(self, width: int, config: HeadConfig) -> nn.Module:
        """Return a new head for vectors of a width, or for pairs of them."""

    @abstractmethod
    def targets(self, encoded: Sequence[Any] | Array) -> Array:
        """Return encoded labels as the loss reads them: (k,) class numbers or ratings, or (k, T) rows."""

    @abstractmethod
    def loss(
        self,
        head: nn.Module,
        vectors: Sequence[Tensor],
        targets: Tensor,
        rows: Tensor | None = None,
        weights: Tensor | None = None,
    ) -> Tensor:
        """Return the sum of the losses of nodes, or the mean of those of pairs.

        `vectors` are the states of nodes, of which node k has row `rows[k]`, or the vectors of the
        left and of the right trees. `weights` are those of the nodes or pairs.
        """

    @abstractmethod
    def predict(self, head: nn.Module, *vectors: Tensor) -> Array:
        """Return the predictions for vectors, one row for each."""

    @abstractmethod
    def metrics(self, predicted: Array, targets: Array) -> Report:
        """Return the metrics of predictions."""

    def epoch_metrics(self, predicted: Array, targets: Array) -> dict[str, float]:
        """Return the metrics of an epoch on dev; they include the loss, or an error, by which it can be chosen."""
        return self.metrics(predicted, targets).figures

    def with_thresholds(self, predicted: Array, targets: Array) -> Self:
        """Return the output with the thresholds that are best for these predictions, if it has thresholds."""
        return self

    def calibrate(
        self, head: nn.Module, predicted: Mapping[str, Array], targets: Mapping[str, Array]
    ) -> tuple[Self, dict[str, Array], dict[str, Any]]:
        """Calibrate on the split `dev`; return the output, the predictions by split, and facts for the report."""
        return self, dict(predicted), {}

    # ------------------------------------------------------------------ results

    @abstractmethod
    def decide(self, predicted: Array) -> list[Any]:
        """Return the decision for each row: the label, the labels, the number or the rating."""

    def decide_targets(self, targets: Array) -> list[Any]:
        """Return the true decision for each target, as `decide` returns the predicted one."""
        return self.decide(targets)

    @property
    @abstractmethod
    def keys(self) -> tuple[str, ...]:
        """The keys of a result, in order."""

    @abstractmethod
    def fields(self, predicted: Array, digits: int | None = None) -> list[dict[str, Any]]:
        """Return the result for each row as plain values, rounded to `digits` if given."""

    @abstractmethod
    def text(self, fields: Mapping[str, Any]) -> str:
        """Return a result as people read it."""

    @property
    def cells(self) -> list[str]:
        """The columns of a table of results, before those of the probabilities."""
        return [key for key in self.keys if key != "probabilities"]

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The names of the columns of predictions: classes, labels, numbers or steps of a scale."""

    @property
    def headline(self) -> str:
        """The metric that a report shows first."""
        return self.metric

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of the scale of ratings."""
        return 1.0, 5.0

    @property
    def title(self) -> str:
        """The heading of a report."""
        return f"{self.kind[0].upper()}{self.kind[1:]}{' of pairs' if self.pairs else ''}"

    @abstractmethod
    def describe(self) -> str:
        """Return a short description, such as "3 classes: 'a', 'b', 'c'"."""

    # ------------------------------------------------------------------ baseline

    @abstractmethod
    def baseline(self, targets: Array, *, structured: bool) -> tuple[str, Any]:
        """Return the name of the simple model to compare with, and an unfitted estimator of scikit-learn.

        With `structured` its features are counts and sums of numbers, otherwise words.
        """

    def baseline_targets(self, targets: Array) -> Array:
        """Return the targets that the estimator learns."""
        return targets

    @abstractmethod
    def baseline_predictions(self, estimator: Any, items: Any) -> Array:
        """Return the predictions of a fitted estimator, in the form of `predict`."""

    # ------------------------------------------------------------------ storage

    def as_dict(self) -> dict[str, Any]:
        """Return the kind and the fields for `config.json`."""
        return {"kind": self.kind, **asdict(self)}  # type: ignore[call-overload]

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """Return the output with these fields. Raise a ValueError for an unknown one."""
        known = {field.name for field in fields(cls)}  # type: ignore[arg-type]
        if unknown := sorted(stored.keys() - known):
            raise ValueError(f"output: unknown key {unknown[0]!r}; {cls.kind} has {', '.join(sorted(known))}")
        return cls(**stored)


def pair_head(width: int, outputs: int, config: HeadConfig) -> heads.PairClassifier:
    """Return a head that maps the vectors of pairs to a number of outputs."""
    hidden, dropout = config.similarity_hidden, config.dropout
    return heads.PairClassifier(width, outputs, hidden=hidden, dropout=dropout)


def as_tuples(output: Output, *names: str) -> None:
    """Convert fields of an output to tuples; JSON has lists."""
    for name in names:
        object.__setattr__(output, name, tuple(getattr(output, name)))


def check_names(what: str, names: Sequence[Any], least: int) -> None:
    """Raise a ValueError unless these are at least so many different strings."""
    if not all(isinstance(name, str) for name in names):
        raise ValueError(f"{what} {tuple(names)}: each must be a string")
    if len(names) < least or len({*names}) < len(names):
        raise ValueError(f"{what} {tuple(names)}: at least {least}, each once")


def unknown_label(name: str, where: str, known: Sequence[str]) -> DataError:
    """Return the error for a label that is not in the training examples."""
    shown = ", ".join(map(repr, known[:8]))
    return DataError(f"{where}: the label {name!r} is not in the training examples: {shown}")


def constant_label(where: str, what: str) -> DataError:
    """Return the error for labels that are all the same."""
    return DataError(f"{where}: every {what}; a model needs labels that differ")


def read_number(value: Any, where: str, what: str) -> float:
    """Return a label as a float. Raise a FormatError if it is not a finite number."""
    if isinstance(value, bool):
        return float(value)
    if not is_number(value):
        raise FormatError(f"{where}: the {what} {value!r} is not a number")
    return float(value)


def is_number(value: Any) -> bool:
    """Return whether a label is a finite number, or its text."""
    try:
        return not isinstance(value, bool) and bool(np.isfinite(float(value)))
    except (TypeError, ValueError):
        return False
