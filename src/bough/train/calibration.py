"""Probabilities that mean something: one temperature, fitted on dev, and how far off they are before and after."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from bough.models.batching import Sentence
from bough.models.metrics import class_figures
from bough.models.model import Model
from bough.nn.heads import Classifier
from bough.train.tasks import ClassesTask, Floats

BINS = 15
_WIDEST = 3.0  # of the logarithm of a temperature


def temperature(predicted: Floats, gold: NDArray[np.int64]) -> float:
    """The T for which softmax(log p / T) makes the right classes likeliest; 1 where there is nothing to fit.

    n examples say little of chances below 1 / n: as in Platt's method each class gets a little of every target, so that
    a few examples that are all right do not make a model as sure as can be.
    """
    logits = np.log(predicted.clip(1e-30))
    little = 1 / (len(gold) + 2)
    targets = np.full(predicted.shape, little / max(predicted.shape[1] - 1, 1))
    targets[np.arange(len(gold)), gold] = 1 - little

    def loss(log_t: float) -> float:
        return float(-(targets * log_softmax(logits / np.exp(log_t), axis=1)).sum(axis=1).mean())

    found = minimize_scalar(loss, bounds=(-_WIDEST, _WIDEST), method="bounded")
    return float(np.exp(found.x)) if loss(found.x) < loss(0.0) else 1.0


def cooled(predicted: Floats, t: float) -> Floats:
    """Probabilities (n, K) at another temperature."""
    powers: Floats = predicted.clip(1e-30) ** (1 / t)
    powers /= powers.sum(axis=1, keepdims=True)
    return powers


def calibration_error(predicted: Floats, gold: NDArray[np.int64]) -> float:
    """The expected calibration error: how far confidence and accuracy are apart, over fifteen bins of confidence."""
    sure, right = predicted.max(axis=1), predicted.argmax(axis=1) == gold
    bins = np.minimum((sure * BINS).astype(np.int64), BINS - 1)
    apart = [abs(sure[bins == b].sum() - right[bins == b].sum()) for b in range(BINS)]
    return float(sum(apart) / len(gold))


class CalibratedTask(ClassesTask):
    """Classes whose loss is that at the best temperature: being too sure is mended in the end, being wrong is not."""

    def metrics(self, predicted: Floats, examples: Sequence[Sentence]) -> dict[str, float]:
        """Accuracy, the mean F1 of the classes that occur, and the loss once it is calibrated."""
        gold = np.array([sentence.label for sentence in examples])
        return class_figures(cooled(predicted, temperature(predicted, gold)), gold)


@torch.no_grad()
def cool(model: Model, t: float) -> None:
    """Divide the logits by the temperature, once and for all: in the head's own weights."""
    assert isinstance(model.head, Classifier)
    model.head.W_s.div_(t)
    model.head.b_s.div_(t)
