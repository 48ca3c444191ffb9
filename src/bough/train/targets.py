"""Targets: read the labels of examples as classes, ratings, numbers or sets of labels."""

import math
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bough.data.examples import Example, Source
from bough.errors import DataError, FormatError
from bough.models.output_spec import OutputSpec, Trees

Values = NDArray[Any]
Task = Literal["classes", "numbers", "labels"]
Scale = Literal["linear", "log"]


class Target(ABC):
    """A kind of labels, as `values`: an array with one entry or one row per example."""

    pairs = False  # whether the labels are those of pairs

    @abstractmethod
    def read(self, examples: Sequence[Example], *, train: bool) -> Values:
        """Return the values of examples. Raise a FormatError or a DataError for a label that cannot be read.

        Only the examples of `train` may have new classes.
        """

    @abstractmethod
    def spec(self, values: Values, trees: Trees, where: str) -> tuple[OutputSpec, list[str]]:
        """Return the output spec of a model for the values of the training examples, and messages for the user.

        Raise a DataError if the values do not allow to train a model.
        """

    def strata(self, values: Values) -> NDArray[np.int64]:
        """Return (n,) the stratum of each example; dev and test get the same share of each."""
        return values

    def node_label(self, label: Any) -> Any:
        """Return the label of a node as the model predicts it."""
        raise NotImplementedError


class LabelIndex(Target):
    """Classes: one for each text, pair or tree; in trees with labels, for each labelled node."""

    def __init__(self, classes: Sequence[str] = (), *, pairs: bool = False) -> None:
        self.numbers = {name: number for number, name in enumerate(classes)}
        self.pairs = pairs

    def read(self, examples: Sequence[Example], *, train: bool) -> Values:
        found = []
        for example in examples:
            inner = [label for tree in example.trees for label in tree.labels or () if label is not None]
            if not example.label:
                raise FormatError(f"{example.where}: the root has no label, which is what is predicted")
            for name in (*map(str, inner), example.label):
                if name not in self.numbers and not train:
                    raise _unknown_label(name, example, sorted(self.numbers))
                self.numbers.setdefault(name, len(self.numbers))
            found.append(self.numbers[example.label])
        return np.array(found, dtype=np.int64)

    def spec(self, values: Values, trees: Trees, where: str) -> tuple[OutputSpec, list[str]]:
        names, counts = list(self.numbers), Counter(values.tolist())
        if len(counts) < 2:
            only = names[int(values[0])]
            raise DataError(f"{where}: one class only, {only!r}; there is nothing to tell apart")
        if len(counts) > len(values) / 2 and len(values) > 10:
            raise DataError(
                f"{where}: {len(counts):,} classes for {len(values):,} examples; is the label the right one? "
                "If the labels are numbers to be predicted, set the task to numbers."
            )
        try:  # classes that are numbers are sorted by size, others alphabetically
            classes, ordered = sorted(names, key=float), True
        except ValueError:
            classes, ordered = sorted(names), False
        single = [name for name in classes if counts[self.numbers[name]] == 1]
        messages = []
        if single:
            more = f" and {len(single) - 8} more" if len(single) > 8 else ""
            names_shown = ", ".join(map(repr, single[:8])) + more
            messages = [f"classes with one example, which is used for training only: {names_shown}"]
        return OutputSpec(tuple(classes), ordered=ordered, trees=trees, pairs=self.pairs), messages

    def encoded(self, values: Values, spec: OutputSpec) -> Values:
        """Return (n,) class numbers in the order of the model's classes."""
        self.numbers, before = {name: i for i, name in enumerate(spec.classes)}, self.numbers
        return np.array([self.numbers[name] for name in before])[values]

    def node_label(self, label: Any) -> int:
        return self.numbers[str(label)]


class Ratings(Target):
    """Ratings of pairs, on any scale."""

    pairs = True

    def read(self, examples: Sequence[Example], *, train: bool) -> Values:
        found = [read_number(example.label, example.where, "rating") for example in examples]
        return np.array(found, dtype=np.float64)

    def spec(self, values: Values, trees: Trees, where: str) -> tuple[OutputSpec, list[str]]:
        low, high = float(values.min()), float(values.max())
        if low == high:
            raise DataError(f"{where}: every rating is {low:g}; there is nothing to tell apart")
        return OutputSpec(ratings=(low, high), trees=trees), [f"ratings from {low:g} to {high:g}"]

    def strata(self, values: Values) -> NDArray[np.int64]:
        tenths = (values - values.min()) / max(float(np.ptp(values)), 1e-12) * 10
        strata: NDArray[np.int64] = np.minimum(tenths, 9).astype(np.int64)
        return strata


class Numbers(Target):
    """One or several numbers of each text or tree; in trees with labels, of labelled nodes."""

    def __init__(self, scale: Scale = "linear", name: str = "value", count: int = 0) -> None:
        self.scale, self.name, self.count = scale, name, count

    def read(self, examples: Sequence[Example], *, train: bool) -> Values:
        found = [self.node_label(example.value, example.where) for example in examples]
        return np.array(found, dtype=np.float64)

    def node_label(self, label: Any, where: str = "a node") -> tuple[float, ...]:
        several = list(label) if isinstance(label, (list, tuple, np.ndarray)) else [label]
        numbers = tuple(read_number(one, where, "label") for one in several)
        self.count = self.count or len(numbers)
        if len(numbers) != self.count:
            raise FormatError(f"{where}: {len(numbers)} numbers; the first example has {self.count}")
        if self.scale == "log" and min(numbers) <= 0:
            raise FormatError(f"{where}: the label {min(numbers):g}; the scale log needs numbers above 0")
        return numbers

    def spec(self, values: Values, trees: Trees, where: str) -> tuple[OutputSpec, list[str]]:
        if (values.min(axis=0) == values.max(axis=0)).any():
            raise DataError(f"{where}: every label is {values[0, 0]:g}; there is nothing to predict")
        scaled = np.log(values) if self.scale == "log" else values
        names = [self.name] if self.count == 1 else [f"{self.name} {place}" for place in range(self.count)]
        means, spreads = (tuple(found.tolist()) for found in (scaled.mean(axis=0), scaled.std(axis=0)))
        low, high = values.min(), values.max()
        messages = [f"numbers from {low:g} to {high:g}, scale {self.scale}"]
        if self.scale == "linear" and low > 0 and high > 1000 * low:
            messages.append("they span decades; the scale log predicts their logarithms")
        spec = OutputSpec(numbers=tuple(names), scale=self.scale, means=means, spreads=spreads, trees=trees)
        return spec, messages

    def strata(self, values: Values) -> NDArray[np.int64]:
        # tenths of the examples, sorted by the first number
        ranks = np.argsort(np.argsort(values[:, 0], kind="stable"), kind="stable")
        strata: NDArray[np.int64] = ranks * 10 // len(ranks)
        return strata


class LabelSets(Target):
    """Several labels at once: a list of names, or a text with `;` or `|` between them."""

    def __init__(self, classes: Sequence[str] = ()) -> None:
        self.classes = tuple(classes)

    def read(self, examples: Sequence[Example], *, train: bool) -> Values:
        sets = [self._names(example.value) for example in examples]
        if train:
            self.classes = tuple(sorted({name for names in sets for name in names}))
        for example, names in zip(examples, sets, strict=True):
            for name in names - {*self.classes}:
                raise _unknown_label(name, example, self.classes)
        return np.array([[float(name in names) for name in self.classes] for names in sets])

    def _names(self, value: Any) -> set[str]:
        some = value if isinstance(value, (list, tuple, set, frozenset)) else re.split("[;|]", str(value))
        return {name for name in (str(one).strip() for one in some) if name}

    def node_label(self, label: Any) -> tuple[float, ...]:
        names = self._names(label)
        return tuple(float(name in names) for name in self.classes)

    def spec(self, values: Values, trees: Trees, where: str) -> tuple[OutputSpec, list[str]]:
        count = len(self.classes)
        if count < 2:
            raise DataError(f"{where}: {count} label; several labels need at least two")
        spec = OutputSpec(classes=self.classes, thresholds=(0.5,) * count, trees=trees)
        return spec, [f"{count} labels, {values.sum(axis=1).mean():.1f} for each example"]

    def strata(self, values: Values) -> NDArray[np.int64]:
        # the rarest label of each example
        rarity = values.sum(axis=0)
        rarest = np.where(values > 0, -rarity, -np.inf).argmax(axis=1)
        return np.where(values.any(axis=1), rarest, len(rarity))


CLASSES = 20  # labels that are at most so many different whole numbers are classes
NEARLY_ALL = 0.9  # if so many labels are numbers, the others are mistakes


def choose_target(source: Source, task: Task | None, scale: Scale | None) -> tuple[Target, list[str]]:
    """Return the target for the labels of the training examples, and messages for the user.

    Without a `task`, lists of names are several labels, lists of numbers are numbers, and numbers
    are classes if they are whole and few. Pairs have classes if their labels are names, or 0 and 1,
    else ratings. Raise a ValueError for a task or a scale that is not possible, and a DataError if
    nearly all labels are numbers.
    """
    examples, first = source.examples, source.examples[0]
    name = source.columns.label or "value"
    if source.pairs:
        if task in ("numbers", "labels"):
            raise ValueError(f"the task is {task}, but pairs have ratings or classes")
        # 0 and 1 are the usual names of two classes, such as duplicates
        rated = _is_number(first.label) and {example.label for example in examples} != {"0", "1"}
        return (Ratings() if task is None and rated else LabelIndex(pairs=True)), []
    if scale == "log" and task not in (None, "numbers"):
        raise ValueError(f"the scale log is for numbers; the task is {task}")
    listed = isinstance(first.value, (list, tuple, np.ndarray))
    if task == "labels" or (task is None and listed and not _is_number(next(iter(first.value), ""))):
        return LabelSets(), []
    if task == "numbers" or scale is not None or (task is None and listed):
        return Numbers(scale or "linear", name), []
    values = np.array([float(example.label) for example in examples if _is_number(example.label)])
    if task is None and len(values) >= NEARLY_ALL * len(examples):
        distinct = len(np.unique(values))
        if distinct > CLASSES or (values % 1).any():
            for other in (example for example in examples if not _is_number(example.label)):
                raise DataError(
                    f"{other.where}: the label {other.label!r} is not a number, but nearly all others are; leave it "
                    "empty, which leaves the example out, or set the task to classes"
                )
            why = f"the labels are {distinct:,} different numbers: fitting numbers; the task classes makes them classes"
            return Numbers("linear", name), [why]
    return LabelIndex(), []


def target_for(spec: OutputSpec) -> Target:
    """Return the target whose values are compared with the predictions of a model."""
    if spec.kind == "numbers":
        return Numbers(spec.scale, count=len(spec.numbers))
    if spec.kind == "labels":
        return LabelSets(spec.classes)
    return LabelIndex(spec.classes, pairs=spec.pairs) if spec.classes else Ratings()


def _unknown_label(name: str, example: Example, known: Sequence[str]) -> DataError:
    shown = ", ".join(map(repr, known[:8]))
    return DataError(f"{example.where}: the label {name!r} is not in the training examples: {shown}")


def read_number(value: Any, where: str, what: str) -> float:
    """Return a label as a float. Raise a FormatError if it is not a finite number."""
    if not isinstance(value, bool) and not _is_number(value):
        raise FormatError(f"{where}: the {what} {value!r} is not a number")
    return float(value)


def _is_number(value: Any) -> bool:
    try:
        return not isinstance(value, bool) and math.isfinite(float(value))
    except (TypeError, ValueError):
        return False
