"""Claims about what the cited systems of Table 2 need of training: two classes, phrases, bounded weights."""

from __future__ import annotations

from pathlib import Path

import pytest

from bough.model.config import Config
from bough.model.model import Model
from bough.training.evaluate import evaluate
from bough.training.tasks import task_for
from bough.training.train import train
from quick_runs import quick


def test_neutral_phrases_without_a_label_leave_two_classes(mini: Path, tmp_path: Path) -> None:
    config = quick("sst2-rnn")
    three, two = (
        [label for tree in task_for(c, mini).read("train") for label in tree.labels or ()]
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
    free, bound_ = (Model.load(tmp_path / name).head.W_s.norm(dim=1) for name in ("free", "bound"))
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
        Config().with_settings(settings)
