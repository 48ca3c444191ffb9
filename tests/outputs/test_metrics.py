"""Claims about the figures of classes and of ratings: they are those that one gets by hand."""

import numpy as np
import pytest

from bough.outputs import Classes, ClassLine, Ratings
from bough.outputs.ratings import correlations


def test_the_figures_of_pairs_are_those_by_hand() -> None:
    # from their means: -2, -1, 1, 2 and 2.25, 0.25, -0.75, -1.75
    found = correlations(np.array([1.0, 2.0, 4.0, 5.0]), np.array([5.0, 3.0, 2.0, 1.0]))
    pearson = -(4.5 + 0.25 + 0.75 + 3.5) / (10 * 8.75) ** 0.5
    assert found == pytest.approx({"pearson": pearson, "spearman": -1.0, "mse": (16 + 1 + 4 + 16) / 4})


@pytest.mark.parametrize("ratings", [(1.0, 5.0), (0.0, 1.0), (-2.0, 10.0)])
def test_the_ends_of_the_head_s_scale_are_those_of_the_ratings(ratings: tuple[float, float]) -> None:
    output, (low, high) = Ratings(*ratings), ratings
    assert [output._rating(step, 5) for step in (1, 3, 5)] == [low, (low + high) / 2, high]
    assert [output._step(rating, 5) for rating in (low, (low + high) / 2, high)] == [1, 3, 5]


def test_the_figures_of_classes_are_those_by_hand() -> None:
    gold, chosen = np.array([0, 0, 0, 1, 2]), np.array([0, 0, 1, 1, 0])
    p = np.full((5, 4), 0.1)
    p[np.arange(5), chosen] = 0.7
    report = Classes(tuple("abcd")).metrics(p, gold)
    assert report.confusion == [[2, 1, 0, 0], [0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]]
    assert report.classes == [
        ClassLine("a", examples=3, predicted=3, precision=2 / 3, recall=2 / 3),
        ClassLine("b", examples=1, predicted=2, precision=1 / 2, recall=1.0),
        ClassLine("c", examples=1, predicted=0, precision=0.0, recall=0.0),
    ]
    loss = -(3 * np.log(0.7) + 2 * np.log(0.1)) / 5
    assert report.figures == pytest.approx({"accuracy": 3 / 5, "f1": (2 / 3 + 2 / 3 + 0) / 3, "loss": loss})
