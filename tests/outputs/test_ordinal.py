"""Classes in an order: thresholds between neighbours, metrics of steps, and how an order is known."""

import numpy as np
import pytest
import torch
from sklearn.metrics import cohen_kappa_score

from bough.data.examples import labelled_lists
from bough.errors import DataError
from bough.outputs import choose_output
from bough.outputs.base import TargetOptions
from bough.outputs.ordinal import CumulativeLogits, Ordinal

ORDINAL = TargetOptions(task="ordinal")


def output_of(labels: list[object], options: TargetOptions = ORDINAL) -> Ordinal:
    texts = [f"text {number}" for number in range(len(labels))]
    output, _ = choose_output(labelled_lists(texts, labels), options)
    assert isinstance(output, Ordinal)
    return output


def test_probabilities_are_differences_of_neighbouring_logistic_functions() -> None:
    head = CumulativeLogits(torch.nn.Linear(3, 1), 4).double()
    with torch.no_grad():
        head.gaps.copy_(torch.tensor([0.3, -0.7]))
    x = torch.randn(5, 3, dtype=torch.float64)
    gaps = torch.nn.functional.softplus(head.gaps)
    thresholds = torch.stack([head.first, head.first + gaps[0], head.first + gaps.sum()])
    above = torch.sigmoid(head.score(x) - thresholds)
    one, zero = torch.ones(5, 1, dtype=torch.float64), torch.zeros(5, 1, dtype=torch.float64)
    expected = torch.cat([one, above], dim=1) - torch.cat([above, zero], dim=1)
    torch.testing.assert_close(head(x).exp(), expected)


def test_gradient_is_finite_far_from_the_thresholds() -> None:
    head = CumulativeLogits(torch.nn.Identity(), 3)
    score = torch.tensor([[-80.0], [80.0]], requires_grad=True)
    torch.nn.functional.nll_loss(head(score), torch.tensor([2, 0])).backward()
    assert score.grad is not None
    assert score.grad.isfinite().all()


def test_metrics_of_steps_are_those_by_hand() -> None:
    gold, chosen = np.array([0, 0, 1, 2, 2]), np.array([0, 2, 1, 1, 2])
    figures = Ordinal(("low", "middle", "high"), ordered=True).metrics(np.eye(3)[chosen], gold).figures
    assert figures["accuracy"] == pytest.approx(3 / 5)
    assert figures["steps"] == pytest.approx((2 + 1) / 5)
    assert figures["kappa"] == pytest.approx(cohen_kappa_score(gold, chosen, weights="quadratic"))


def test_numbers_are_in_the_order_of_their_size() -> None:
    assert output_of([10, 2, 1, 2, 10, 1]).classes == ("1", "2", "10")


def test_words_of_a_known_scale_are_in_its_order() -> None:
    assert output_of(["high", "low", "middle", "low"]).classes == ("low", "middle", "high")


def test_order_names_the_order_of_other_words() -> None:
    options = TargetOptions(task="ordinal", order=("cold", "warm", "hot"))
    assert output_of(["hot", "cold", "warm", "hot"], options).classes == ("cold", "warm", "hot")


def test_words_in_no_known_order_are_refused_with_the_way_out() -> None:
    with pytest.raises(DataError, match="in no known order; name them from the lowest to the highest"):
        output_of(["hot", "cold", "warm"])


def test_stars_without_a_task_are_classes_with_a_suggestion() -> None:
    source = labelled_lists([f"text {n}" for n in range(30)], [1 + n % 5 for n in range(30)])
    output, messages = choose_output(source, TargetOptions())
    assert output.kind == "classes"
    assert "the labels 1, 2, 3, 4, 5 are in an order, which the task ordinal uses" in messages


def test_report_is_headed_by_the_classes_in_their_order() -> None:
    stars = Ordinal(("1", "2", "3"), ordered=True)
    assert stars.title == "3 classes in order"
    assert stars.describe() == "3 classes in order: '1', '2', '3'"
