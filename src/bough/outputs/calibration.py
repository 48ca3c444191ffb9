"""Calibrate probabilities: the temperature of classes, the thresholds of several labels."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
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
    from scipy.optimize import minimize_scalar
    from scipy.special import log_softmax

    logits = np.log(predicted.clip(1e-30))
    little = 1 / (len(gold) + 2)
    targets = np.full(predicted.shape, little / max(predicted.shape[1] - 1, 1))
    targets[np.arange(len(gold)), gold] = 1 - little

    def losses(log_t: float) -> Floats:
        per_example: Floats = -(targets * log_softmax(logits / np.exp(log_t), axis=1)).sum(axis=1)
        return per_example

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
    thresholds = []
    for p, y in zip(predicted.T, gold.T > 0, strict=True):
        tried = np.array([0.5, *np.linspace(0.05, 0.95, 19)])
        chosen = p[None] > tried[:, None]  # (20, n)
        f1 = 2 * (chosen & y).sum(axis=1) / np.maximum(chosen.sum(axis=1) + y.sum(), 1)
        thresholds.append(float(tried[f1.argmax()]) if y.any() else 0.5)
    return tuple(thresholds)
