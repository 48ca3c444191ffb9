"""Claims about the way from dev to the figure on test: which weights are read, on which sentences, by which words."""

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from bough.data.vectors import load_vectors
from bough.model.config import Config
from bough.model.model import Model
from bough.model.purpose import Purpose
from bough.model.sentences import Sentence
from bough.nn.heads import Classifier
from bough.training.checkpoint import Progress
from bough.training.evaluate import ClassLine, class_report, evaluate
from bough.training.loop import Event, learn
from bough.training.tasks import MixedTask, SentimentTask, correlations, task_for, word_counts
from bough.training.tasks.sst import sentiment_figures
from bough.training.train import train
from bough.trees.tree import Tree
from quick_runs import contents, quick

SWAPPED = {"0": "4", "1": "3", "2": "0", "3": "1", "4": "2", "0|1": "3|4", "3|4": "2"}

# ---------------------------------------------------------------------------- the epoch


def test_the_test_split_is_read_with_the_best_epoch(mini: Path, tmp_path: Path) -> None:
    config = quick("sick-dependency").with_settings({"epochs": 4})
    whole = train(config, tmp_path / "whole", data=mini)
    dev = [json.loads(line) for line in (tmp_path / "whole" / "metrics.jsonl").read_text().splitlines()]
    best = max(range(4), key=lambda epoch: dev[epoch]["dev_pearson"]) + 1
    assert whole["epoch"] == best < 4
    assert train(config.with_settings({"epochs": best}), tmp_path / "best", data=mini) == whole
    weights = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("whole", "best")]
    assert weights[0] == weights[1]


def test_a_resumed_run_keeps_the_best_epoch_before_it(mini: Path, tmp_path: Path) -> None:
    config = quick("sick-dependency").with_settings({"epochs": 3})
    whole = train(config, tmp_path / "whole", data=mini)
    assert whole["epoch"] == 1

    def stop_after_two(event: Event) -> None:
        if event.dev is not None and event.epoch == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(config, tmp_path / "parts", data=mini, tell=stop_after_two)
    assert train(config, tmp_path / "parts", data=mini, resume=True) == whole
    assert contents(tmp_path / "whole") == contents(tmp_path / "parts")


def test_the_first_of_equal_epochs_is_kept() -> None:
    model = Model(Config(hidden=4, dimension=3), ["a"])
    progress = Progress.start(model, 1)
    for epoch, accuracy in enumerate((0.4, 0.5, 0.5, 0.3), 1):
        with torch.no_grad():
            for weight in (*model.parameters(), model.table):
                weight.fill_(epoch)
        progress.finish_epoch(0.0, {"accuracy": accuracy}, 0.0)
    progress.use_best()
    assert progress.best_epoch == 2
    assert progress.best_dev == {"accuracy": 0.5}
    assert all((tensor == 2).all() for tensor in model.state_dict().values())


# ----------------------------------------------------------------------------- the steps


class Slope:
    """One step an epoch down a slope of 1 on every bias of the head; remembers where they stood after each."""

    def __init__(self) -> None:
        self.after: list[float] = []
        self.training: list[bool] = []

    def sizes(self, examples: Sequence[Any]) -> Any:
        return np.ones(len(examples), dtype=np.int64)

    def batches(self, examples: Sequence[Any], rng: np.random.Generator) -> Any:
        return [np.arange(len(examples))]

    def loss(self, model: Model, batch: Any, rng: np.random.Generator) -> Tensor:
        assert isinstance(model.head, Classifier)
        self.training.append(model.training)
        return model.head.b_s.sum()

    def predict(self, model: Model, examples: Sequence[Any]) -> Any:
        assert isinstance(model.head, Classifier)
        model.eval()
        self.after.append(model.head.b_s[0].item())
        return np.zeros(len(examples))

    def metrics(self, predicted: Any, examples: Sequence[Any]) -> dict[str, float]:
        return {"accuracy": 0.0}


@pytest.mark.parametrize(
    ("settings", "steps"),
    [
        ({}, [1, 1 / 2**0.5, 1 / 3**0.5, 1 / 4**0.5, 1 / 5**0.5]),
        ({"reset": 2}, [1, 1 / 2**0.5, 1, 1 / 2**0.5, 1]),
        ({"reset": 1, "decay": 0.5}, [1, 1 / 2, 1 / 4, 1 / 8, 1 / 16]),
    ],
)
def test_adagrad_starts_again_at_a_reset_and_the_rate_decays(
    settings: dict[str, Any], steps: list[float], tmp_path: Path
) -> None:
    config = Config(hidden=4, dimension=3, epochs=5, rate=0.1, l2=0.0).with_settings(settings)
    model, task = Model(config, ["a"]), Slope()
    assert isinstance(model.head, Classifier)
    start = model.head.b_s[0].item()
    learn(tmp_path, task, Progress.start(model, 1), {"train": [0], "dev": [0]}, lambda event: None)
    assert -np.diff([start, *task.after]) == pytest.approx([0.1 * step for step in steps], rel=1e-4)


def test_dropout_is_on_in_every_epoch(tmp_path: Path) -> None:
    model, task = Model(Config(hidden=4, dimension=3, epochs=3), ["a"]), Slope()
    learn(tmp_path, task, Progress.start(model, 1), {"train": [0], "dev": [0]}, lambda event: None)
    assert task.training == [True] * 3


def test_the_seed_drives_the_first_weights_and_the_order(mini: Path, tmp_path: Path) -> None:
    # one batch without dropout: neither the order nor what is drawn later makes a difference
    config = quick("sick-dependency").with_settings({"epochs": 1, "batch": 1000, "dropout": 0.0})
    for seed in (1, 2):
        train(config, tmp_path / str(seed), seed=seed, data=mini)
    one, other = (Model.load(tmp_path / str(seed)).encoder.state_dict() for seed in (1, 2))
    assert all((one[name] - other[name]).abs().max() > 0.01 for name in one)
    orders = [Progress.start(Model(Config(), []), seed).rng.permutation(100).tolist() for seed in (1, 2)]
    assert orders[0] != orders[1]


# ---------------------------------------------------------------------------- the figures

FIVE = [  # the probabilities of the five classes, and the right one
    ([0.40, 0.00, 0.00, 0.30, 0.30], 4),  # 0.40 < 0.60: positive, right, although class 0 is the likeliest
    ([0.05, 0.30, 0.15, 0.25, 0.25], 0),  # 0.35 < 0.50: positive, wrong
    ([0.10, 0.35, 0.15, 0.10, 0.30], 1),  # 0.45 > 0.40: negative, right, although class 4 is likelier than 0
    ([0.30, 0.10, 0.05, 0.35, 0.20], 3),  # 0.40 < 0.55: positive, right, although class 0 is likelier than 4
    ([0.05, 0.10, 0.60, 0.20, 0.05], 3),  # 0.15 < 0.25: positive, right, although neutral is the likeliest
    ([0.05, 0.10, 0.60, 0.20, 0.05], 1),  # 0.15 < 0.25: positive, wrong
    ([0.20, 0.10, 0.50, 0.10, 0.10], 0),  # 0.30 > 0.20: negative, right, although neutral is the likeliest
    ([0.10, 0.10, 0.50, 0.20, 0.10], 2),  # neutral: left out
    ([0.60, 0.10, 0.10, 0.10, 0.10], 2),  # neutral: left out
    ([0.00, 0.10, 0.10, 0.10, 0.70], 4),  # 0.10 < 0.80: positive, right
]
THREE = [  # negative, neutral, positive, and the right one
    ([0.30, 0.50, 0.20], 0),  # negative, right
    ([0.20, 0.50, 0.30], 2),  # positive, right
    ([0.20, 0.50, 0.30], 0),  # positive, wrong
    ([0.12, 0.80, 0.08], 2),  # negative, wrong
    ([0.60, 0.10, 0.30], 0),  # negative, right
    ([0.60, 0.10, 0.30], 2),  # negative, wrong
    ([0.10, 0.20, 0.70], 2),  # positive, right
    ([0.15, 0.10, 0.75], 2),  # positive, right
    ([0.45, 0.00, 0.55], 2),  # positive, right
    ([0.06, 0.90, 0.04], 0),  # negative, right
]


def test_of_five_classes_the_binary_figure_compares_the_sums_of_two_and_two() -> None:
    p, gold = (np.array(column) for column in zip(*FIVE, strict=True))
    figures = sentiment_figures(p, gold, Config(task="sst5"))
    right = [0.30, 0.05, 0.35, 0.35, 0.20, 0.10, 0.20, 0.50, 0.10, 0.70]
    assert figures == pytest.approx({"binary": 6 / 8, "accuracy": 4 / 10, "loss": -np.log(right).mean()})


def test_in_the_binary_task_no_sentence_is_predicted_neutral() -> None:
    p, gold = (np.array(column) for column in zip(*THREE, strict=True))
    config = Config(task="sst2")
    right = [0.30, 0.30, 0.20, 0.08, 0.60, 0.30, 0.70, 0.75, 0.55, 0.06]
    expected = pytest.approx({"binary": 7 / 10, "loss": -np.log(right).mean()})
    assert sentiment_figures(p, gold, config) == expected
    two = config.with_settings({"neutral": "unlabelled"})
    assert sentiment_figures(p[:, [0, 2]], gold // 2, two) == expected


def test_the_table_by_class_of_the_binary_task_has_no_neutral(mini: Path, tmp_path: Path) -> None:
    train(quick("sst2-constituency-tuned"), tmp_path, data=mini)
    report = evaluate(tmp_path, data=mini)
    assert {line.name for line in report.classes} <= {"negative", "positive"}
    right = sum(line.recall * line.examples for line in report.classes)
    assert report.figures["binary"] == pytest.approx(right / report.examples)


def test_the_figures_of_pairs_are_those_by_hand() -> None:
    # from their means: -2, -1, 1, 2 and 2.25, 0.25, -0.75, -1.75
    found = correlations(np.array([1.0, 2.0, 4.0, 5.0]), np.array([5.0, 3.0, 2.0, 1.0]))
    pearson = -(4.5 + 0.25 + 0.75 + 3.5) / (10 * 8.75) ** 0.5
    assert found == pytest.approx({"pearson": pearson, "spearman": -1.0, "mse": (16 + 1 + 4 + 16) / 4})


@pytest.mark.parametrize("ratings", [(1.0, 5.0), (0.0, 1.0), (-2.0, 10.0)])
def test_the_ends_of_the_head_s_scale_are_those_of_the_ratings(ratings: tuple[float, float]) -> None:
    purpose, (low, high) = Purpose(ratings=ratings), ratings
    assert [purpose.rating(place, 5) for place in (1, 3, 5)] == [low, (low + high) / 2, high]
    assert [purpose.place(rating, 5) for rating in (low, (low + high) / 2, high)] == [1, 3, 5]


def test_the_figures_of_classes_are_those_by_hand() -> None:
    gold, chosen = np.array([0, 0, 0, 1, 2]), np.array([0, 0, 1, 1, 0])
    p = np.full((5, 4), 0.1)
    p[np.arange(5), chosen] = 0.7
    report = class_report("abcd", p, gold)
    assert report.confusion == [[2, 1, 0, 0], [0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]]
    assert report.classes == [
        ClassLine("a", examples=3, predicted=3, precision=2 / 3, recall=2 / 3),
        ClassLine("b", examples=1, predicted=2, precision=1 / 2, recall=1.0),
        ClassLine("c", examples=1, predicted=0, precision=0.0, recall=0.0),
    ]
    loss = -(3 * np.log(0.7) + 2 * np.log(0.1)) / 5
    assert report.figures == pytest.approx({"accuracy": 3 / 5, "f1": (2 / 3 + 2 / 3 + 0) / 3, "loss": loss})


@pytest.mark.parametrize("name", ["sst2-cnn-non-static", "sst2-constituency-tuned"])
@pytest.mark.parametrize("split", ["dev", "test"])
def test_neutral_sentences_are_never_tested_in_the_binary_task(name: str, split: str, mini: Path) -> None:
    fine, task = (task_for(quick(each), mini) for each in ("sst5-constituency-tuned", name))
    assert isinstance(task, SentimentTask)
    signs = [np.sign(label - 2) for label in _roots(fine.read(split))]
    assert 0 in signs
    positive = 1 if task.config.neutral == "unlabelled" else 2
    assert _roots(task.read(split)) == [0 if sign < 0 else positive for sign in signs if sign]


def _roots(trees: Sequence[Tree]) -> list[Any]:
    return [(tree.labels or ())[tree.root] for tree in trees]


# ------------------------------------------------------------------------------ the words


@pytest.mark.parametrize("name", ["sst5-constituency-tuned", "sick-dependency", "sentiment"])
def test_words_that_training_has_not_keep_the_vectors_of_the_file(
    name: str, mini: Path, tmp_path: Path
) -> None:
    config = quick(name)
    train(config, tmp_path, data=mini)
    model, task = Model.load(tmp_path), task_for(config, mini)
    met = {word.lower() for word in word_counts(task, task.read("train"))}
    for split in ("dev", "test"):
        words = [word for word in word_counts(task, task.read(split)) if word.lower() not in met]
        assert words
        met.update(word.lower() for word in words)
        vectors = load_vectors(mini / "glove" / "glove.6B.300d.txt", words)
        assert vectors.found.all()
        assert np.array_equal(model.table[model.ids(words)].numpy(), vectors.rows)


# ------------------------------------------------------------------------------- the test


@pytest.fixture
def relabelled(mini: Path, tmp_path: Path) -> Path:
    """The small data folder with other labels and ratings in its test splits."""
    folder = shutil.copytree(mini, tmp_path / "relabelled")
    for file in (*folder.glob("sst/trees/test.txt"), *folder.glob("extra/*/test.txt")):
        text = re.sub(
            r"^\((\S+)", lambda found: f"({SWAPPED[found[1]]}", file.read_text(), flags=re.MULTILINE
        )
        file.write_text(text)
    for file in folder.glob("*/test/sim.txt"):
        file.write_text("".join(f"{6 - float(line):.1f}\n" for line in file.read_text().split()))
    return folder


@pytest.mark.parametrize("name", ["sst5-constituency-tuned", "sick-dependency", "sentiment"])
def test_the_labels_of_test_change_its_figures_alone(
    name: str, mini: Path, relabelled: Path, tmp_path: Path
) -> None:
    one, other = (train(quick(name), tmp_path / f"run-{data.name}", data=data) for data in (mini, relabelled))
    assert one.pop("test") != other.pop("test")
    assert one == other
    first, second = (contents(tmp_path / f"run-{data.name}") for data in (mini, relabelled))
    for file in ("model.safetensors", "vocab.txt", "metrics.jsonl", "run.json"):
        assert first[file] == second[file]


def test_the_saved_model_is_the_one_calibrated_on_dev(mini: Path, tmp_path: Path) -> None:
    result = train(quick("sentiment"), tmp_path, data=mini)
    assert evaluate(tmp_path, "dev", data=mini).figures == pytest.approx(result["dev"])
    model = Model.load(tmp_path)
    task = task_for(model.config, mini)
    assert isinstance(task, MixedTask)
    assert isinstance(model.head, Classifier)
    dev = task.prepare(task.read("dev"), model)
    least = _loss_of_sources(task, model, dev)
    W_s, b_s = model.head.W_s, model.head.b_s
    hotter, cooler = [(0.9 * W_s, 0.9 * b_s), (1.1 * W_s, 1.1 * b_s)]
    shifted = [(W_s, b_s + sign * 0.1 * torch.eye(5)[k]) for k in range(5) for sign in (-1, 1)]
    for weights, biases in (hotter, cooler, *shifted):
        model.head.W_s, model.head.b_s = torch.nn.Parameter(weights), torch.nn.Parameter(biases)
        assert _loss_of_sources(task, model, dev) > least


def _loss_of_sources(task: MixedTask, model: Model, dev: Sequence[Sentence]) -> float:
    """Return the mean over the sources of the mean loss among the classes that the source has."""
    losses: dict[str, list[float]] = {}
    for p, sentence in zip(task.predict(model, dev), dev, strict=True):
        label = sentence.label
        source, right = ("", (label,)) if label < 5 else task.groups[label - 5]
        known = {k for name, classes in task.groups if name == source for k in classes} or range(5)
        losses.setdefault(source, []).append(-np.log(p[[*right]].sum() / p[[*known]].sum()))
    return float(np.mean([np.mean(values) for values in losses.values()]))
