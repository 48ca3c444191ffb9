"""Claims about the way from dev to the figure on test: which weights are read, on which sentences, by which words."""

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bough.data.vectors import load_vectors
from bough.models.config import Config
from bough.models.model import Model
from bough.outputs.classes import sentiment_classes
from bough.train.checkpoint import TrainingState
from bough.train.config import TrainConfig
from bough.train.loop import Event
from bough.train.optimizer import ModelOptimizer
from bough.trees.tree import Tree
from paper.config import PaperConfig
from paper.evaluate import evaluate
from paper.tasks import SentimentTask, sentiment_figures, word_counts
from paper.train import train
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
        train(config, tmp_path / "parts", data=mini, callback=stop_after_two)
    assert train(config, tmp_path / "parts", data=mini, resume=True) == whole
    assert contents(tmp_path / "whole") == contents(tmp_path / "parts")


# ----------------------------------------------------------------------------- the steps


def test_the_seed_drives_the_first_weights_and_the_order(mini: Path, tmp_path: Path) -> None:
    # one batch without dropout: neither the order nor what is drawn later makes a difference
    config = quick("sick-dependency").with_settings({"epochs": 1, "batch_size": 1000, "dropout": 0.0})
    for seed in (1, 2):
        train(config, tmp_path / str(seed), seed=seed, data=mini)
    one, other = (Model.load(tmp_path / str(seed)).layer.state_dict() for seed in (1, 2))
    assert all((one[name] - other[name]).abs().max() > 0.01 for name in one)
    model = Model(Config(), sentiment_classes(), [])
    orders = [
        TrainingState(ModelOptimizer(model, TrainConfig()), seed).rng.permutation(100).tolist()
        for seed in (1, 2)
    ]
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
    figures = sentiment_figures(p, gold, PaperConfig(task="sst5"))
    right = [0.30, 0.05, 0.35, 0.35, 0.20, 0.10, 0.20, 0.50, 0.10, 0.70]
    assert figures == pytest.approx({"binary": 6 / 8, "accuracy": 4 / 10, "loss": -np.log(right).mean()})


def test_in_the_binary_task_no_sentence_is_predicted_neutral() -> None:
    p, gold = (np.array(column) for column in zip(*THREE, strict=True))
    config = PaperConfig(task="sst2")
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


@pytest.mark.parametrize("name", ["sst2-cnn-non-static", "sst2-constituency-tuned"])
@pytest.mark.parametrize("split", ["dev", "test"])
def test_neutral_sentences_are_never_tested_in_the_binary_task(name: str, split: str, mini: Path) -> None:
    fine, task = (quick(each).build_task(mini) for each in ("sst5-constituency-tuned", name))
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
    model, task = Model.load(tmp_path), config.build_task(mini)
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
