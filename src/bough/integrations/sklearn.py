"""scikit-learn compatible estimators: `cross_val_score`, `GridSearchCV` and `Pipeline` work with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from bough.train.fit import fit
from bough.train.source import blank


class _Fitted(BaseEstimator):  # type: ignore[misc]
    """Hold the options of `bough.fit` as parameters."""

    def __init__(
        self,
        trees: str | None = None,
        recipe: str | None = None,
        settings: Mapping[str, Any] | None = None,
        epochs: int | None = None,
        vectors: str | None = None,
        encoder: str | None = None,
        parser: str = "builtin",
        data: str | None = None,
        seed: int = 1,
    ) -> None:
        self.trees, self.recipe, self.settings, self.epochs = trees, recipe, settings, epochs
        self.vectors, self.encoder, self.parser, self.data, self.seed = vectors, encoder, parser, data, seed

    def _fit(self, items: Sequence[Any], labels: Sequence[Any]) -> None:
        self.pipeline_ = fit(
            items,
            labels,
            trees=self.trees,
            recipe=self.recipe,
            settings=self.settings,
            epochs=self.epochs,
            vectors=self.vectors,
            encoder=self.encoder,
            parser=self.parser,
            data=self.data,
            seed=self.seed,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


class TreeLSTMClassifier(ClassifierMixin, _Fitted):  # type: ignore[misc]
    """Classify texts or `Tree`s, as a scikit-learn estimator; `classes_` are the labels as given.

    Args:
        trees: "constituency", "dependency" or "none", a chain of words; else what the recipe says.
        recipe: a recipe's name or file.
        settings: values that override the recipe's.
        epochs: the number of epochs; else training stops once the loss on dev has stopped falling.
        vectors: "auto", a GloVe set's name or file, or "shipped".
        encoder: a pretrained encoder whose states stand for the words, by its folder or name.
        parser: a name that `bough.text.get_parser` knows.
        data: the data folder, for word vectors.
        seed: random seed for the split, shuffling, initialization and dropout.

    Examples:
        >>> from bough.sklearn import TreeLSTMClassifier
        >>> texts = [f"day {i} was {word}" for i in range(20) for word in ("fine", "dull")]
        >>> model = TreeLSTMClassifier(trees="none", vectors="shipped", epochs=2).fit(texts, [1, 0] * 20)
        >>> model.predict_proba(["the day was fine"]).shape
        (1, 2)
    """

    def fit(self, X: Any, y: Any) -> TreeLSTMClassifier:
        """Fit to texts or trees X and their classes y."""
        texts, labels = _texts(X), _labels(y)
        check_consistent_length(texts, labels)
        self.classes_, places = np.unique(labels, return_inverse=True)
        names, numbers = [str(label) for label in self.classes_.tolist()], places.tolist()
        spoken = {number for text, number in zip(texts, numbers, strict=True) if not blank(text)}
        for number, name in enumerate(names):
            if number not in spoken:
                raise ValueError(f"the class {name!r} has empty texts only; leave it out, or give it others")
        self._fit(texts, [names[number] for number in numbers])
        self._columns = [self.pipeline_.classes.index(name) for name in names]
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return (n, classes) probabilities in the order of `classes_`."""
        check_is_fitted(self, "pipeline_")
        rows = np.array([result.probabilities for result in self.pipeline_(_texts(X))], dtype=np.float64)
        return rows.reshape(-1, len(self.pipeline_.classes))[:, self._columns]

    def predict(self, X: Any) -> Any:
        """Return (n,) the likeliest class of each."""
        places = self.predict_proba(X).argmax(axis=1)
        return self.classes_[places]


class TreeLSTMPairRegressor(RegressorMixin, _Fitted):  # type: ignore[misc]
    """Rate pairs of texts, as a scikit-learn estimator; X is a list of pairs or an array with two columns.

    The arguments are those of `TreeLSTMClassifier`.

    Examples:
        >>> from bough.sklearn import TreeLSTMPairRegressor
        >>> pairs = [(f"{i} dogs run", f"{i} {word} run") for i in range(20) for word in ("dogs", "men")]
        >>> model = TreeLSTMPairRegressor(trees="none", vectors="shipped", epochs=2).fit(pairs, [5.0, 2.5] * 20)
        >>> model.predict([("a dog runs", "a cat runs")]).shape
        (1,)
    """

    def fit(self, X: Any, y: Any) -> TreeLSTMPairRegressor:
        """Fit to pairs of texts X (n, 2) and their ratings y (n,)."""
        self._fit(_pairs(X), _labels(y).astype(np.float64).tolist())
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return (n,) ratings."""
        check_is_fitted(self, "pipeline_")
        return np.array([result.score for result in self.pipeline_.compare_all(_pairs(X))])


def _texts(X: Any) -> list[Any]:
    return [item.item() if isinstance(item, np.generic) else item for item in X]


def _labels(y: Any) -> NDArray[Any]:
    """Return (n,) labels; raise a ValueError that says where one is missing."""
    given = getattr(y, "values", y)  # of a data frame
    for place, label in enumerate(given):
        if blank(label):
            raise ValueError(f"y[{place}] is {label!r}; give it a label, or leave the example out")
    labels: NDArray[Any] = column_or_1d(np.asarray(given))
    return labels


def _pairs(X: Any) -> list[tuple[str, str]]:
    rows = getattr(X, "values", X)  # of a data frame
    return [(str(a), str(b)) for a, b in rows]
