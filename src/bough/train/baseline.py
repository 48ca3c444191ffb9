"""The plain baseline beside every fitted classifier: a bag of words with logistic regression."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import log_softmax

from bough.train.dataset import PackedTrees

L2 = 1.0  # as scikit-learn's C = 1
MOST = 50_000  # examples to learn from, drawn by chance: enough for a yardstick


def bag_of_words(train: PackedTrees, test: PackedTrees, classes: int) -> float:
    """Accuracy on `test` of multinomial logistic regression on which words, in lower case, occur in `train`."""
    index: dict[str, int] = {}
    x, y = _matrix(train, index, np.random.default_rng(0).permutation(len(train))[:MOST], grow=True)
    z, gold = _matrix(test, index, np.arange(len(test)), grow=False)
    weights = _fitted(x, y, classes)
    return float((np.asarray(z @ weights).argmax(axis=1) == gold).mean())


def _matrix(
    trees: PackedTrees, index: dict[str, int], places: NDArray[np.int64], *, grow: bool
) -> tuple[sparse.csr_matrix, NDArray[np.int64]]:
    """(examples, words + 1) of ones, the first column everybody's; and the classes of the roots."""
    columns: list[int] = []
    ends = [0]
    labels = []
    for words, label in _bags(trees, places):
        if grow:
            for word in words:
                index.setdefault(word, len(index) + 1)
        columns += [0, *(index[word] for word in words if word in index)]
        ends.append(len(columns))
        labels.append(label)
    values = np.ones(len(columns))
    matrix = sparse.csr_matrix((values, columns, ends), shape=(len(labels), len(index) + 1), dtype=np.float64)
    return matrix, np.array(labels)


def _bags(trees: PackedTrees, places: NDArray[np.int64]) -> Iterator[tuple[set[str], int]]:
    for place in np.sort(places).tolist():
        tree = trees[place]
        assert tree.tokens is not None
        assert tree.labels is not None
        label = tree.labels[tree.root]
        assert isinstance(label, int)
        yield {token.lower() for token in tree.tokens if token is not None}, label


def _fitted(x: sparse.csr_matrix, y: NDArray[np.int64], classes: int) -> NDArray[np.float64]:
    shape = (x.shape[1], classes)
    right = np.eye(classes)[y]

    def loss(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        w = flat.reshape(shape)
        penalised = w.copy()
        penalised[0] = 0.0  # the intercept is free
        log_p = log_softmax(np.asarray(x @ w), axis=1)
        value = -float((log_p * right).sum()) + L2 / 2 * float((penalised**2).sum())
        slope = np.asarray(x.T @ (np.exp(log_p) - right)) + L2 * penalised
        return value, slope.ravel()

    found = minimize(loss, np.zeros(shape).ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 200})
    weights: NDArray[np.float64] = found.x.reshape(shape)
    return weights
