"""The output of a model: classes, labels, numbers or ratings."""

import math
from dataclasses import asdict, dataclass, fields
from functools import cache
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

SENTIMENT = ("very negative", "negative", "neutral", "positive", "very positive")
POLARITIES = ("negative", "neutral", "positive")
Trees = Literal["sentences", "joined", "sentence", "whole", "chain", "balanced", "given"]


@dataclass(frozen=True)
class OutputSpec:
    """The output of a model; `output` in `config.json` of a model folder.

    A model with neither `classes` nor `numbers` predicts ratings of pairs.

    Args:
        classes: the names of the classes, in the order of the head's rows.
        ordered: whether the classes form a scale.
        ratings: the ends of the scale of ratings.
        trees: the trees that the model reads: one per sentence ("sentences"), one per sentence and
            one that joins them for the text ("joined"), one for a text that is a single sentence
            ("sentence"), only the joined one ("whole"), a chain or a balanced tree of words without
            a parser ("chain", "balanced"), or trees instead of texts ("given").
        pairs: whether the classes are those of pairs.
        thresholds: one per class, if several classes at once are predicted: those with a higher probability.
        numbers: the names of predicted numbers.
        scale: "linear", or "log" for numbers whose logarithms are predicted.
        means, spreads: the mean and the standard deviation of each number, or of its logarithm.
    """

    classes: tuple[str, ...] = ()
    ordered: bool = False
    ratings: tuple[float, float] = (1.0, 5.0)
    trees: Trees = "sentences"
    pairs: bool = False
    thresholds: tuple[float, ...] = ()
    numbers: tuple[str, ...] = ()
    scale: Literal["linear", "log"] = "linear"
    means: tuple[float, ...] = ()
    spreads: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        for name in ("classes", "numbers", "thresholds", "means", "spreads"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        low, high = self.ratings
        object.__setattr__(self, "ratings", (float(low), float(high)))
        if not all(isinstance(name, str) for name in (*self.classes, *self.numbers)):
            raise ValueError(f"classes {self.classes}: names, each a text")
        if len(self.classes) == 1 or len({*self.classes}) < len(self.classes):
            raise ValueError(f"classes {self.classes}: at least two, each once")
        if self.thresholds and len(self.thresholds) != len(self.classes):
            raise ValueError(f"{len(self.thresholds)} thresholds for {len(self.classes)} classes; one each")
        if not len(self.numbers) == len(self.means) == len(self.spreads):
            raise ValueError(f"numbers {self.numbers}: a mean and a spread for each")
        finite = all(map(math.isfinite, (*self.means, *self.spreads)))
        if not finite or min(self.spreads, default=1) <= 0:
            raise ValueError(f"means {self.means}, spreads {self.spreads}: finite, and a spread above 0")
        if not low < high:
            raise ValueError(f"ratings {self.ratings}: from a smaller number to a larger one")
        if self.trees not in get_args(Trees):
            raise ValueError(f"trees {self.trees!r}: one of {', '.join(map(repr, get_args(Trees)))}")
        if self.scale not in ("linear", "log"):
            raise ValueError(f"scale {self.scale!r}: 'linear' or 'log'")

    @property
    def kind(self) -> Literal["classes", "labels", "numbers", "ratings"]:
        """The kind of output: one class, several labels at once, numbers, or a rating."""
        if self.numbers:
            return "numbers"
        return "labels" if self.thresholds else "classes" if self.classes else "ratings"

    def standardised(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (..., T) standardised numbers, as the head predicts them."""
        values = np.log(values) if self.scale == "log" else values
        found: NDArray[np.float64] = (values - np.array(self.means)) / np.array(self.spreads)
        return found

    def restored(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (..., T) numbers from standardised ones."""
        values = values * np.array(self.spreads) + np.array(self.means)
        return np.exp(values.clip(-700, 700)) if self.scale == "log" else values

    def as_dict(self) -> dict[str, Any]:
        """Return values for `config.json`, without most of those that are defaults."""
        usual = {field.name: field.default for field in fields(self)}
        always = ("classes", "ordered", "ratings", "trees")
        return {k: v for k, v in asdict(self).items() if k in always or v != usual[k]}

    def rating(self, place: Any, steps: int) -> Any:
        """Convert a number, an array or a tensor from the head's scale of 1 to `steps` to ratings."""
        low, high = self.ratings
        return place if (low, high) == (1, steps) else low + (place - 1) / (steps - 1) * (high - low)

    def place(self, rating: Any, steps: int) -> Any:
        """Convert ratings to the head's scale of 1 to `steps`."""
        low, high = self.ratings
        return rating if (low, high) == (1, steps) else 1 + (rating - low) / (high - low) * (steps - 1)


@cache
def polarities(classes: tuple[str, ...]) -> dict[str, tuple[int, ...]] | None:
    """Return the indices of the classes of each polarity; None if a class has no polarity.

    >>> polarities(("bad", "good")), polarities(("negative", "positive"))
    (None, {'negative': (0,), 'positive': (1,)})
    """
    signs = [name.lower().split()[-1:] for name in classes]
    if not signs or not all(sign and sign[0] in POLARITIES for sign in signs):
        return None
    found = {sign: tuple(k for k, own in enumerate(signs) if own == [sign]) for sign in POLARITIES}
    return {sign: indices for sign, indices in found.items() if indices}


def likeliest(classes: tuple[str, ...], p: NDArray[np.floating[Any]]) -> NDArray[np.int64]:
    """Return (...) the number of the predicted class for probabilities (..., K).

    It is the most probable class. If the classes have polarities, it is the most probable class of
    the polarity with the largest sum, so that two degrees of negative together can win against
    neutral.

    >>> likeliest(SENTIMENT, np.array([0.3, 0.25, 0.4, 0.05, 0.0])), likeliest(("a", "b"), np.array([0.4, 0.6]))
    (array(0), array(1))
    """
    signs = polarities(classes)
    if signs is None or len(signs) == len(classes):
        return np.asarray(p.argmax(axis=-1))
    # (polarities, K) whether each polarity has each class
    of_sign = np.array([[k in indices for k in range(len(classes))] for indices in signs.values()])
    sign = (p @ of_sign.T).argmax(axis=-1)
    return np.asarray(np.where(of_sign[sign], p, -1.0).argmax(axis=-1))
