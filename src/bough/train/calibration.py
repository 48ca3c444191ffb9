"""Calibrate a model on dev: the temperature of classes, the thresholds of several labels."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from bough.models.batching import PreparedTree
from bough.models.metrics import class_figures
from bough.models.model import Model
from bough.nn.heads import PairClassifier
from bough.train.tasks import ClassesTask, Floats

BINS = 15
FEWEST = 20  # with fewer examples, no temperature is fitted
_WIDEST = 3.0  # the largest absolute value of the logarithm of a temperature


def fit_temperature(predicted: Floats, gold: NDArray[np.int64], *, shown: bool = True) -> float:
    """Return the temperature T that minimises the loss of softmax(log p / T).

    T is 1 for fewer than 20 examples, and if the mean loss falls by no more than one standard
    error. With `shown=False` both conditions are dropped. The targets are smoothed as in Platt
    scaling, so that T is not 0 for a small dev set without errors.

    Shape: predicted (n, K), gold (n,).
    """
    logits = np.log(predicted.clip(1e-30))
    little = 1 / (len(gold) + 2)
    targets = np.full(predicted.shape, little / max(predicted.shape[1] - 1, 1))
    targets[np.arange(len(gold)), gold] = 1 - little

    def losses(log_t: float) -> Floats:
        found: Floats = -(targets * log_softmax(logits / np.exp(log_t), axis=1)).sum(axis=1)
        return found

    best = minimize_scalar(lambda t: losses(t).mean(), bounds=(-_WIDEST, _WIDEST), method="bounded").x
    gains = losses(0.0) - losses(best)
    least = gains.std() / len(gold) ** 0.5 if shown else 0.0
    enough = len(gold) >= FEWEST or not shown
    return float(np.exp(best)) if enough and gains.mean() > least else 1.0


def with_temperature(predicted: Floats, t: float) -> Floats:
    """Return probabilities (n, K) after temperature scaling with `t`."""
    powers: Floats = predicted.clip(1e-30) ** (1 / t)
    powers /= powers.sum(axis=1, keepdims=True)
    return powers


def calibration_error(predicted: Floats, gold: NDArray[np.int64]) -> float:
    """Return the expected calibration error: confidence against accuracy, over fifteen bins."""
    sure, right = predicted.max(axis=1), predicted.argmax(axis=1) == gold
    bins = np.minimum((sure * BINS).astype(np.int64), BINS - 1)
    apart = [abs(sure[bins == b].sum() - right[bins == b].sum()) for b in range(BINS)]
    return float(sum(apart) / len(gold))


def fit_thresholds(predicted: Floats, gold: NDArray[np.float64]) -> tuple[float, ...]:
    """Return the threshold with the best F1 for each label; predicted (n, K), gold (n, K) 0 or 1."""
    found = []
    for p, y in zip(predicted.T, gold.T > 0, strict=True):
        tried = np.array([0.5, *np.linspace(0.05, 0.95, 19)])
        chosen = p[None] > tried[:, None]  # (20, n)
        f1 = 2 * (chosen & y).sum(axis=1) / np.maximum(chosen.sum(axis=1) + y.sum(), 1)
        found.append(float(tried[f1.argmax()]) if y.any() else 0.5)
    return tuple(found)


class CalibratedTask(ClassesTask):
    """The task of classes, with the loss on dev after temperature scaling, as for the final model."""

    def metrics(self, predicted: Floats, examples: Sequence[PreparedTree]) -> dict[str, float]:
        """Return accuracy, macro F1 of the classes that occur, and loss after temperature scaling."""
        gold = np.array([sentence.label for sentence in examples])
        return class_figures(with_temperature(predicted, fit_temperature(predicted, gold, shown=False)), gold)


@torch.no_grad()
def apply_temperature(model: Model, t: float) -> None:
    """Divide the logits of a model by a temperature, by dividing the weights of its head."""
    last = ("W_p", "b_p") if isinstance(model.head, PairClassifier) else ("W_s", "b_s")
    for name in last:
        getattr(model.head, name).div_(t)
