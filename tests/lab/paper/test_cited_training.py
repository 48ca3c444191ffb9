"""Claims about what the cited systems of Table 2 need of training: two classes, phrases, bounded weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bough.models.model import Model
from paper.config import PaperConfig
from paper.evaluate import evaluate
from paper.recipes import load_recipe
from paper.train import train
from quick_runs import quick


def test_neutral_phrases_without_a_label_leave_two_classes(mini: Path, tmp_path: Path) -> None:
    config = quick("sst2-rnn").with_settings({"neutral": "unlabelled"})
    three, two = (
        [label for tree in c.build_task(mini).read("train") for label in tree.labels or ()]
        for c in (config.with_settings({"neutral": "class"}), config)
    )
    assert [{0: 0, 1: None, 2: 1}[label] for label in three] == two
    train(config, tmp_path, data=mini)
    assert Model.load(tmp_path).head.classes == 2
    report = evaluate(tmp_path, data=mini)
    assert {line.name for line in report.classes} <= {"negative", "positive"}
    right = sum(line.recall * line.examples for line in report.classes)
    assert report.figures["binary"] == pytest.approx(right / report.examples)


def test_max_norm_bounds_a_class_s_weights(mini: Path, tmp_path: Path) -> None:
    for name, bound in (("free", 0.0), ("bound", 0.1)):
        train(quick("sst5-rnn").with_settings({"max_norm": bound}), tmp_path / name, data=mini)
    free, bound_ = (
        Model.load(tmp_path / name).head.get_parameter("W_s").norm(dim=1) for name in ("free", "bound")
    )
    assert free.max() > 0.2
    assert bound_.max() <= 0.1 + 1e-6


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"neutral": "unlabelled"}, "neutral = 'unlabelled' is for task = 'sst2'; here it is 'sst5'"),
        ({"examples": "phrases"}, "is for SST and a layer that reads words"),
        ({"task": "sick", "max_norm": "3"}, "max_norm = 3.0 is for a classifier"),
    ],
)
def test_settings_that_make_no_sense_are_named(settings: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        PaperConfig().with_settings(settings)


def test_phrases_are_distinct_and_have_their_labels(mini: Path) -> None:
    config = quick("sst5-cnn-non-static").with_settings({"lowercase": False})
    task = config.build_task(mini)
    trees = task.read("train")
    words = sorted({str(token) for tree in trees for token in tree.tokens or () if token})
    model = Model(config.for_model(), config.output, words)
    known: dict[Any, Any] = {}
    for tree in trees:
        tokens = [str(tree.tokens[node]) for node in tree.words]
        for (start, end), label in zip(tree.spans.tolist(), tree.labels, strict=True):
            known.setdefault(tuple(tokens[start:end]), label)
    found = {
        tuple(words[key - 1] for key in phrase.keys): phrase.label for phrase in task.to_learn(trees, model)
    }
    assert found == known
    assert len(task.to_learn(trees, model)) == len(known)


def test_batches_of_phrases_have_one_length_each_and_every_phrase_once(mini: Path) -> None:
    config = quick("sst5-cnn-non-static")
    task = config.build_task(mini)
    phrases = task.to_learn(task.read("train"), Model(config.for_model(), config.output, []))
    rng = np.random.default_rng(0)
    first, second = (task.batches(phrases, rng) for _ in range(2))
    assert sorted(np.concatenate(first)) == list(range(len(phrases)))
    assert all(len({len(phrases[i].keys) for i in batch}) == 1 for batch in first)
    assert max(map(len, first)) <= config.batch_size
    assert [batch.tolist() for batch in first] != [batch.tolist() for batch in second]


@pytest.mark.parametrize(
    ("recipe", "phrases"),
    [
        ("sst5-cnn-non-static", 156_817),
        ("sst2-cnn-non-static", 77_195),
    ],  # the latter of neutral sentences too
)
def test_the_treebank_has_as_many_phrases_as_kim_s_program_reads(
    data: Path, recipe: str, phrases: int
) -> None:
    config = load_recipe(recipe)
    task = config.build_task(data)
    trees = task.read("train")
    words = sorted({str(token).lower() for tree in trees for token in tree.tokens or () if token})
    assert len(task.to_learn(trees, Model(config.for_model(), config.output, words))) == phrases


def test_two_channels_hold_the_same_vectors_until_one_learns(mini: Path, tmp_path: Path) -> None:
    train(quick("sst5-cnn-multichannel"), tmp_path, data=mini)
    model = Model.load(tmp_path)
    tuned, fixed = model.table[1:].chunk(2, dim=1)
    moved = (tuned != fixed).any(dim=1)
    assert 0 < moved.sum() < len(moved)  # words of dev and test alone stay
