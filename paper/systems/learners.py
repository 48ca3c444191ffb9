"""Learners of a number from measures: settings for scikit-learn, and two small things it does not have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from paper.systems.baselines import module
from paper.systems.sentence import Floats


class Regressor(Protocol):
    """What scikit-learn calls a regressor."""

    def fit(self, x: Floats, y: Floats) -> Any:
        """Learn from rows of measures (n, k) and what they should give (n,)."""

    def predict(self, x: Floats) -> Floats:
        """(m,) for rows (m, k)."""


Learner = Callable[[int], Regressor]  # from a seed


class LogLinear:
    """Ratings 1 to K as classes of a log-linear model, whose expected rating is predicted.

    A rating between two whole numbers counts for both, for the nearer one more.
    """

    def __init__(self, strength: float) -> None:
        self.strength = strength

    def fit(self, x: Floats, y: Floats) -> None:
        """See `Regressor`."""
        low = np.clip(np.floor(y), 1, max(1.0, np.ceil(y.max()) - 1))
        classes, weights = np.concatenate([low, low + 1]), np.concatenate([1 - (y - low), y - low])
        logistic = module("sklearn.linear_model").LogisticRegression(C=self.strength, max_iter=2000)
        self._model = module("sklearn.pipeline").make_pipeline(_scaler(), logistic)
        self._model.fit(
            np.concatenate([x, x]), classes.astype(np.int64), logisticregression__sample_weight=weights
        )

    def predict(self, x: Floats) -> Floats:
        """See `Regressor`."""
        return np.asarray(self._model.predict_proba(x) @ self._model.classes_)


class Mean:
    """Several learners' predictions averaged."""

    def __init__(self, members: Sequence[Regressor]) -> None:
        self.members = members

    def fit(self, x: Floats, y: Floats) -> None:
        """See `Regressor`."""
        for member in self.members:
            member.fit(x, y)

    def predict(self, x: Floats) -> Floats:
        """See `Regressor`."""
        return np.asarray(np.mean([member.predict(x) for member in self.members], axis=0))


def log_linear(strength: float) -> Learner:
    """A log-linear model; the seed changes nothing."""
    return lambda seed: LogLinear(strength)


def bagged_trees(bags: int, leaf: int) -> Learner:
    """Regression trees with at least `leaf` pairs per leaf, each grown on a bag of the pairs."""

    def learner(seed: int) -> Regressor:
        tree = module("sklearn.tree").DecisionTreeRegressor(min_samples_leaf=leaf)
        return _regressor(
            "ensemble", "BaggingRegressor", estimator=tree, n_estimators=bags, random_state=seed
        )

    return learner


def forest(trees: int, **settings: Any) -> Learner:
    """A random forest."""
    return lambda seed: _regressor(
        "ensemble", "RandomForestRegressor", n_estimators=trees, random_state=seed, **settings
    )


def boosting(**settings: Any) -> Learner:
    """Gradient boosting of histogram trees."""
    return lambda seed: _regressor("ensemble", "HistGradientBoostingRegressor", random_state=seed, **settings)


def support_vectors(**settings: Any) -> Learner:
    """Support vector regression with a radial kernel on standardised measures; the seed changes nothing."""

    def learner(seed: int) -> Regressor:
        pipeline: Regressor = module("sklearn.pipeline").make_pipeline(
            _scaler(), _regressor("svm", "SVR", **settings)
        )
        return pipeline

    return learner


def mean_of(*learners: Learner) -> Learner:
    """The mean of several."""
    return lambda seed: Mean([learner(seed) for learner in learners])


def _regressor(room: str, name: str, **settings: Any) -> Regressor:
    made: Regressor = getattr(module(f"sklearn.{room}"), name)(**settings)
    return made


def _scaler() -> Any:
    return module("sklearn.preprocessing").StandardScaler()
