"""scikit-learn compatible estimators, for `cross_val_score`, `GridSearchCV` and `Pipeline`."""

import contextlib
import inspect
import logging
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from bough.data.examples import is_missing, labelled_lists
from bough.train.fit import fit_sources
from bough.train.options import FitOptions
from bough.trees.tree import Tree

log = logging.getLogger(__name__)


def _texts(X: Any) -> list[Any]:
    return [item.item() if isinstance(item, np.generic) else item for item in X]


def _pairs(X: Any) -> list[tuple[Any, Any]]:
    rows = getattr(X, "values", X)  # of a data frame
    return [(a, b) if isinstance(a, Tree) else (str(a), str(b)) for a, b in rows]


# the options of `bough.fit`, under the names of scikit-learn
PARAMETERS = {"random_state" if o.name == "seed" else o.name: o.default for o in fields(FitOptions)}
PARAMETERS = {name: default for name, default in PARAMETERS.items() if name != "task"} | {"verbose": 0}


class _Fitted(BaseEstimator):  # type: ignore[misc]
    """Hold the options of `bough.fit` as parameters."""

    _items: Any = staticmethod(_texts)  # turns X into a list of texts, trees or pairs

    def __init__(self, **options: Any) -> None:
        for name, default in PARAMETERS.items():
            setattr(self, name, options.pop(name, default))
        for name in options:
            raise TypeError(f"{type(self).__name__} has no parameter {name!r}")

    __init__.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD),
            *(
                inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
                for name, default in PARAMETERS.items()
            ),
        ]
    )

    def _fit(self, items: Sequence[Any], labels: Sequence[Any], sample_weight: Any, task: str | None) -> None:
        given = self.get_params(deep=False) | {"task": task}
        del given["verbose"]
        options = FitOptions.given({"seed": given.pop("random_state"), **given})
        with tempfile.TemporaryDirectory(prefix="bough-fit-") as folder, _shown(self.verbose):
            sources = {"train": labelled_lists(items, labels, "X", sample_weight)}
            # facts about the data would come again with every fold, so they are no warnings here
            run = Path(folder) / "run"
            fitted, _ = fit_sources(sources, run, options, warn=log.info, baseline=False)
            self.pipeline_: Any = fitted

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


class _Classifier(ClassifierMixin, _Fitted):  # type: ignore[misc]
    """Keep the labels as they are given, and the columns of the pipeline in their order."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit to texts, trees or pairs X and classes y; `sample_weight` (n,) is optional."""
        items, labels = self._items(X), _labels(y)
        check_consistent_length(items, labels)
        self.classes_ = np.unique(labels)
        names = [str(label) for label in labels.tolist()]
        spoken = {name for item, name in zip(items, names, strict=True) if not is_missing(item)}
        if silent := sorted({*names} - spoken):
            raise ValueError(f"the class {silent[0]!r} has empty texts only; leave it out, or give it others")
        self._fit(items, names, sample_weight, "classes")
        known = self.pipeline_.model.output.classes
        self._columns = [known.index(str(label)) for label in self.classes_.tolist()]
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return (n, classes) probabilities in the order of `classes_`."""
        check_is_fitted(self, "pipeline_")
        p: NDArray[np.float64] = self.pipeline_.predict_proba(self._items(X))
        return p[:, self._columns]

    def predict(self, X: Any) -> Any:
        """Return (n,) the likeliest class of each."""
        places = self.predict_proba(X).argmax(axis=1)  # raises an error unless it is fitted
        return self.classes_[places]


class _Regressor(RegressorMixin, _Fitted):  # type: ignore[misc]
    """Predict numbers, one or several."""

    _task: str | None = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit to texts, trees or pairs X and numbers y; `sample_weight` (n,) is optional."""
        self._fit(self._items(X), _labels(y).astype(np.float64).tolist(), sample_weight, self._task)
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return (n,), or (n, T), the predicted numbers."""
        check_is_fitted(self, "pipeline_")
        return np.array(self.pipeline_.predict(self._items(X)))


class TreeLSTMClassifier(_Classifier):
    """Classify texts or `Tree`s, as a scikit-learn estimator; `classes_` are the labels as given.

    Args:
        trees: "constituency", "dependency", "balanced" or "none", a chain of words. Default: the recipe's.
        hidden_size: the width of the layer.
        epochs: the number of epochs. Default: stop when the loss on dev no longer falls.
        learning_rate: the step size of the optimiser.
        batch_size: the examples of a step.
        class_weight: "balanced", or a weight for each class by name.
        vectors: "auto", a GloVe set's name or file, or "bundled".
        encoder: a transformer whose hidden states replace the word vectors, by its folder or name.
        layer: the name of a registered layer.
        recipe: a recipe's name or file.
        settings: other values that override the recipe's.
        parser: a name that `bough.text.get_parser` knows.
        data: the data folder, for word vectors.
        device: where to train.
        random_state: random seed for the split, shuffling, initialization and dropout.
        verbose: 1 shows facts about the data on stderr.
        init_from: the name of a bundled model, or a folder, to start from; "none" for random weights.
        scale: "linear", or "log" for numbers that span decades; only `TreeLSTMRegressor` uses it.
        order: the classes in their order, if they form a scale.

    Examples:
        >>> from bough.sklearn import TreeLSTMClassifier
        >>> texts = [f"day {i} was {word}" for i in range(40) for word in ("fine", "dull")]
        >>> model = TreeLSTMClassifier(trees="none", vectors="bundled", epochs=6).fit(texts, [1, 0] * 40)
        >>> model.score(["this day was fine", "that was dull"], [1, 0])
        1.0
    """


class TreeLSTMRegressor(_Regressor):
    """Predict numbers of texts or `Tree`s, as a scikit-learn estimator.

    Takes the arguments of `TreeLSTMClassifier` but `class_weight`.

    Examples:
        >>> from bough.sklearn import TreeLSTMRegressor
        >>> texts = [f"{n} days {word}" for n in range(20) for word in ("late", "early")]
        >>> model = TreeLSTMRegressor(trees="none", vectors="bundled", epochs=2).fit(texts, [n / 2 for n in range(40)])
        >>> model.predict(["3 days late"]).shape
        (1,)
    """

    _task = "numbers"


class TreeLSTMPairClassifier(_Classifier):
    """Classify pairs of texts or trees, as a scikit-learn estimator; X is a list, or an array with two columns.

    The arguments are those of `TreeLSTMClassifier`.

    Examples:
        >>> from bough.sklearn import TreeLSTMPairClassifier
        >>> pairs = [(f"{i} dogs run", f"{i} {word} run") for i in range(20) for word in ("dogs", "men")]
        >>> model = TreeLSTMPairClassifier(trees="none", vectors="bundled", epochs=2).fit(pairs, ["same", "other"] * 20)
        >>> model.predict_proba([("a dog runs", "a cat runs")]).shape
        (1, 2)
    """

    _items = staticmethod(_pairs)


class TreeLSTMPairRegressor(_Regressor):
    """Rate pairs of texts or trees, as a scikit-learn estimator; X is a list, or an array with two columns.

    Takes the arguments of `TreeLSTMClassifier` but `class_weight`.

    Examples:
        >>> from bough.sklearn import TreeLSTMPairRegressor
        >>> pairs = [(f"{i} dogs run", f"{i} {word} run") for i in range(20) for word in ("dogs", "men")]
        >>> model = TreeLSTMPairRegressor(trees="none", vectors="bundled", epochs=2).fit(pairs, [5.0, 2.5] * 20)
        >>> model.predict([("a dog runs", "a cat runs")]).shape
        (1,)
    """

    _items = staticmethod(_pairs)


@contextlib.contextmanager
def _shown(verbose: int) -> Iterator[None]:
    """Show what is logged at level INFO within the block, if that is asked for."""
    logger, handler = logging.getLogger("bough"), logging.StreamHandler()
    before = logger.level
    if verbose:
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


def _labels(y: Any) -> NDArray[Any]:
    """Return (n,) labels, or (n, T) numbers. Raise a ValueError that says where one is missing."""
    given = getattr(y, "values", y)  # of a data frame
    for place, label in enumerate(given):
        if is_missing(label):
            raise ValueError(f"y[{place}] is {label!r}; give it a label, or leave the example out")
    labels = np.asarray(given)
    return labels if labels.ndim == 2 and labels.shape[1] > 1 else column_or_1d(labels)
