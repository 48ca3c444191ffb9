"""Claims about outputs that one can check by hand: encoded labels, decisions, losses, and folders of format 2."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import bough
from bough.data.examples import Example, labelled_lists
from bough.errors import DataError
from bough.models.batching import prepare_all
from bough.models.config import Config
from bough.models.model import Model
from bough.outputs import Classes, Labels, Numbers, Output, Ratings, choose_output, read_output
from bough.outputs.base import TargetOptions
from bough.train.config import TrainConfig
from bough.train.tasks import NodesTask, TreeTask
from small_models import model_of

TWO = Classes(("bad", "good"))


def labelled(*values: Any, item: Any = "a text") -> list[Example]:
    return [Example(f"line {number}", (item,), str(value), value) for number, value in enumerate(values, 1)]


# ------------------------------------------------------------------------------- labels


def test_number_of_a_class_is_its_place_among_the_classes() -> None:
    numbers = Classes(("2", "10"), ordered=True)
    assert numbers.encode(labelled(10, 2, 10)).tolist() == [1, 0, 1]


def test_unknown_label_inside_a_tree_is_named_with_its_line() -> None:
    tree = bough.Tree([-1, 0], tokens=["a", "b"], labels=["good", "fair"])
    with pytest.raises(DataError, match="line 1: the label 'fair' is not in the training examples"):
        TWO.encode(labelled("good", item=tree))


def test_distribution_is_encoded_as_probabilities_that_sum_to_1() -> None:
    encoded = TWO.encode(labelled({"good": 3, "bad": 1}, "bad", {"good": 0.5, "bad": 0.5}))
    assert encoded.tolist() == [[0.25, 0.75], [1, 0], [0.5, 0.5]]


def test_class_beside_distributions_has_all_of_the_probability() -> None:
    assert TWO.targets([(0.25, 0.75), 1]).tolist() == [[0.25, 0.75], [0, 1]]


def test_labels_in_a_text_are_parted_by_semicolons_or_bars() -> None:
    output = Labels(("bad", "good", "old"), (0.5,) * 3)
    assert output.encode(labelled("good; old", "bad|old", ["good"], "")).tolist() == [
        [0, 1, 1],
        [1, 0, 1],
        [0, 1, 0],
        [0, 0, 0],
    ]


def test_many_different_whole_numbers_are_numbers_and_few_are_classes() -> None:
    texts = [f"thing {number}" for number in range(60)]
    many, few = (labelled_lists(texts, [number % size for number in range(60)]) for size in (30, 4))
    assert choose_output(many, TargetOptions())[0].kind == "numbers"
    assert choose_output(few, TargetOptions())[0].kind == "classes"


# --------------------------------------------------------------------------- predictions


def test_labels_are_those_above_their_own_thresholds() -> None:
    output, p = Labels(("bad", "good"), (0.2, 0.7)), np.array([[0.3, 0.6], [0.1, 0.8]])
    assert output.decide(p) == [["bad"], ["good"]]
    assert [result["labels"] for result in output.fields(p)] == [["bad"], ["good"]]
    assert output.metrics(p, np.array([[1.0, 0.0], [0.0, 1.0]])).figures["exact"] == 1


def test_thresholds_of_labels_are_fitted_on_dev_alone() -> None:
    p = {"dev": np.array([[0.2, 0.6], [0.1, 0.9]]), "test": np.array([[0.9, 0.1], [0.8, 0.2]])}
    gold = {split: np.array([[1.0, 0.0], [0.0, 1.0]]) for split in p}
    output, predicted, _ = Labels(("bad", "good"), (0.5, 0.5)).calibrate(torch.nn.Identity(), p, gold)
    assert output.decide(p["dev"]) == [["bad"], ["good"]]
    assert output == Labels(("bad", "good"), (0.5, 0.5)).with_thresholds(p["dev"], gold["dev"])
    assert predicted == p


def test_temperature_of_classes_is_fitted_on_dev_alone_and_divides_the_weights() -> None:
    rng, head = np.random.default_rng(0), bough.nn.Classifier(3, classes=2)
    sure = np.array([[0.99, 0.01], [0.01, 0.99]])[rng.integers(2, size=60)]
    gold = {"dev": rng.integers(2, size=60), "test": sure.argmax(axis=1)}
    before = head.W_s.detach().clone()
    output, predicted, facts = TWO.calibrate(head, {"dev": sure, "test": sure}, gold)
    assert facts["temperature"] > 2
    torch.testing.assert_close(head.W_s.detach() * facts["temperature"], before)
    assert output == TWO
    assert predicted["test"].max() < 0.95
    assert TWO.calibrate(head, {"dev": sure}, {"dev": gold["test"]})[2]["temperature"] < 1.5


@pytest.mark.parametrize("pairs", [False, True])
def test_rating_is_the_mean_of_the_steps(pairs: bool) -> None:
    output = Ratings(-2, 10, pairs=pairs)
    head = output.head(4, Config(scale=4))
    with torch.no_grad():
        predicted = output.predict(head.eval(), *(torch.randn(3, 4) for _ in range(1 + pairs)))
    for row, result in zip(predicted, output.fields(predicted), strict=True):
        assert list(result["probabilities"]) == ["-2", "2", "6", "10"]
        mean = sum(float(step) * p for step, p in result["probabilities"].items())
        assert result["score"] == row[0] == pytest.approx(mean, abs=1e-5)


def test_rating_of_a_cosine_is_on_the_scale_of_the_ratings() -> None:
    head, one = bough.nn.CosineSimilarity(classes=5), torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    other = torch.tensor([[2.0, 0.0], [0.0, 2.0]])
    with torch.no_grad():
        assert Ratings(0, 1).predict(head, one, other).tolist() == [[1.0], [0.0]]


# --------------------------------------------------------------------------------- losses


def test_loss_of_distributions_is_the_mean_cross_entropy() -> None:
    p, targets = np.array([[0.2, 0.8], [0.6, 0.4]]), np.array([[0.25, 0.75], [1.0, 0.0]])
    loss = -(0.25 * np.log(0.2) + 0.75 * np.log(0.8) + np.log(0.6)) / 2
    assert TWO.metrics(p, targets).figures["loss"] == pytest.approx(loss)


def test_distribution_is_learned_with_all_of_its_probabilities() -> None:
    head, h = bough.nn.Classifier(3, classes=2), torch.randn(2, 3)
    targets = torch.tensor([[0.25, 0.75], [0.5, 0.5]])
    by_hand = -(targets * head(h).log_softmax(dim=1)).sum()
    torch.testing.assert_close(TWO.loss(head, (h,), targets), by_hand)


@pytest.mark.parametrize("loss_over", ["trees", "nodes"])
def test_losses_of_the_parts_of_a_batch_add_up_to_that_of_the_batch(loss_over: Any) -> None:
    config = TrainConfig(hidden_size=4, embedding_size=3, loss_over=loss_over, dropout=0.0)
    model, task = model_of(config.for_model(), TWO).eval(), NodesTask(config, TWO)
    trees = [bough.Tree([-1, *[0] * n], tokens=["a"] * (n + 1), labels=[n % 2] * (n + 1)) for n in (1, 2, 2)]
    batch, rng = prepare_all(trees, model), np.random.default_rng(0)
    parts = task.loss(model, batch[:1], rng, batch) + task.loss(model, batch[1:], rng, batch)
    torch.testing.assert_close(parts, task.loss(model, batch, rng))


def test_weight_of_a_distribution_is_the_mean_of_the_weights_of_its_classes() -> None:
    task = TreeTask(TrainConfig(), TWO, np.array([1.0, 5.0]))
    weights = task.weights(np.array([1.0, 2.0]), np.array([[0.25, 0.75], [1.0, 0.0]]), torch.zeros(1))
    assert weights is not None
    assert weights.tolist() == [4, 2]


def test_loss_of_an_epoch_does_not_depend_on_how_sure_the_model_is() -> None:
    rng = np.random.default_rng(0)
    p = rng.dirichlet([1.0, 1.0], size=50)
    gold = (rng.random(50) < p[:, 1]).astype(np.int64)
    surer = p**2 / (p**2).sum(axis=1, keepdims=True)
    losses = [TWO.epoch_metrics(predicted, gold)["loss"] for predicted in (p, surer)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)


# ------------------------------------------------------------------------- folders of format 2


FORMAT_2: list[tuple[dict[str, Any], Output]] = [
    ({"classes": ["2", "10"], "ordered": True}, Classes(("2", "10"), ordered=True)),
    ({"classes": ["bad", "good"], "ordered": False, "pairs": True}, Classes(("bad", "good"), pairs=True)),
    ({"classes": ["bad", "good"], "thresholds": [0.2, 0.7]}, Labels(("bad", "good"), (0.2, 0.7))),
    (
        {"classes": [], "numbers": ["ms"], "means": [1.5], "spreads": [2.0], "scale": "log"},
        Numbers(("ms",), (1.5,), (2.0,), "log"),
    ),
    ({"classes": [], "numbers": ["ms"], "means": [1.5], "spreads": [2.0]}, Numbers(("ms",), (1.5,), (2.0,))),
    ({"classes": [], "ratings": [0.0, 1.0]}, Ratings(0, 1)),
]
OLD = {"ordered": False, "ratings": [1.0, 5.0]}  # always stored in format 2


@pytest.mark.parametrize(("stored", "output"), FORMAT_2)
def test_output_of_format_2_is_read(stored: dict[str, Any], output: Output) -> None:
    assert read_output(OLD | stored) == output


@pytest.mark.parametrize(("stored", "output"), FORMAT_2)
def test_folder_of_format_2_is_read(stored: dict[str, Any], output: Output, tmp_path: Path) -> None:
    small = Config(hidden_size=4, embedding_size=3, similarity_hidden=3)
    model = model_of(small, output, trees="whole")
    model.save(tmp_path, card="")
    facts = json.loads((tmp_path / "config.json").read_text())
    task = "pairs" if output.pairs else output.kind
    facts |= {"format": 2, "output": {**OLD, **stored, "trees": facts.pop("trees")}}
    facts["config"] |= {"task": task}
    (tmp_path / "config.json").write_text(json.dumps(facts))
    again = Model.load(tmp_path)
    assert (again.output, again.trees) == (model.output, "whole")
    assert all(
        torch.equal(one, other)
        for one, other in zip(again.state_dict().values(), model.state_dict().values(), strict=True)
    )
