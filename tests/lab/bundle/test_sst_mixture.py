"""Claims about training on several sources: coarse labels as sums, shares of a step, turns of classes, calibration."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch

from bough.errors import FormatError
from bough.models.batching import PreparedTree
from bough.models.model import Model
from bough.nn.heads import Classifier
from bough.train.word_vectors import Words
from bundle.config import BundleConfig, shares
from bundle.sst_mixture import MixedTask, calibrate, load_extra
from paper.evaluate import evaluate
from paper.tasks import SentimentTask
from paper.train import train
from paper.vocabulary import OFTEN, written_vocabulary
from quick_runs import quick


@pytest.fixture
def task(mini: Path) -> MixedTask:
    found = quick("sentiment").build_task(mini)
    assert isinstance(found, MixedTask)
    return found


@pytest.fixture
def model(task: MixedTask, mini: Path) -> Model:
    words = sorted({token.lower() for tree in task.read("train") for token in tree.tokens or () if token})
    torch.manual_seed(0)
    return Model(task.config.for_model(), task.config.output, words, (), torch.randn(len(words) + 1, 300))


def test_a_step_has_the_share_of_every_source_and_its_classes_take_turns(
    task: MixedTask, model: Model
) -> None:
    examples = task.to_learn(task.read("train"), model)
    steps = task.batches(examples, np.random.default_rng(1))
    names = [name for name, _ in task.groups]
    assert sorted(i for step in steps for i in step if examples[i].label < 5) == list(range(40))
    for step in steps:
        labels = [examples[i].label for i in step if examples[i].label >= 5]
        for name, count in shares(task.config.mix).items():
            own = [label for label in labels if names[label - 5] == name]
            times = [own.count(5 + g) for g, source in enumerate(names) if source == name]
            assert sum(times) == count
            assert max(times) - min(times) <= 1


def test_the_loss_of_a_coarse_label_is_that_of_the_sum_and_of_its_side(task: MixedTask, model: Model) -> None:
    examples = task.prepare(task.read("dev"), model)
    model.eval()
    fine, coarse = (
        next(e for e in examples if e.label < 5),
        next(e for e in examples if e.label >= 5 and task.groups[e.label - 5][1] == (3, 4)),
    )
    rng = np.random.default_rng(0)
    together = task.loss(model, [fine, coarse], rng)
    alone = SentimentTask(task.config, task.data).loss(model, [fine], rng)
    p = task.predict(model, [coarse])[0]
    right, side = np.log(p[3] + p[4]), np.log((p[3] + p[4]) / (1 - p[2]))
    of_text = task.config.mix_weight * (right + task.config.polar_weight * side)
    assert together.item() == pytest.approx(alone.item() - of_text, rel=1e-4)


def test_calibration_lowers_the_loss_on_dev_and_keeps_what_is_likeliest_in_a_class(
    task: MixedTask, model: Model
) -> None:
    dev = task.prepare(task.read("dev"), model)
    model.eval()
    assert isinstance(model.head, Classifier)
    with torch.no_grad():
        model.head.W_s.mul_(30)
    before = task.metrics(task.predict(model, dev), dev)["loss"]
    calibrate(model, task, dev)
    assert task.metrics(task.predict(model, dev), dev)["loss"] < before


def test_the_saved_model_is_the_one_calibrated_on_dev(mini: Path, tmp_path: Path) -> None:
    result = train(quick("sentiment"), tmp_path, data=mini)
    assert evaluate(tmp_path, "dev", data=mini, settings=BundleConfig).figures == pytest.approx(result["dev"])
    model, task = Model.load(tmp_path), quick("sentiment").build_task(mini)
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


def _loss_of_sources(task: MixedTask, model: Model, dev: Sequence[PreparedTree]) -> float:
    """Return the mean over the sources of the mean loss among the classes that the source has."""
    losses: dict[str, list[float]] = {}
    for p, sentence in zip(task.predict(model, dev), dev, strict=True):
        label = sentence.label
        source, right = ("", (label,)) if label < 5 else task.groups[label - 5]
        known = {k for name, classes in task.groups if name == source for k in classes} or range(5)
        losses.setdefault(source, []).append(-np.log(p[[*right]].sum() / p[[*known]].sum()))
    return float(np.mean([np.mean(values) for values in losses.values()]))


def test_every_source_has_figures(mini: Path, tmp_path: Path) -> None:
    result = train(quick("sentiment"), tmp_path / "run", data=mini)
    assert {"accuracy", "binary", "goemotions_f1", "xed_f1", "newsmtsc_f1", "loss"} <= set(result["test"])
    losses = [value for name, value in result["dev"].items() if name.endswith("_loss")]
    assert result["dev"]["loss"] == pytest.approx(np.mean(losses))


def test_a_source_that_is_not_there_and_a_label_that_is_none_are_named(mini: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="python -m bundle prepare"):
        load_extra(mini, "tweets", "train", 5)
    file = tmp_path / "extra" / "mine" / "train.txt"
    file.parent.mkdir(parents=True)
    file.write_text("(3|4 (# so) (# good))\n(5 (# so) (# bad))\n")
    with pytest.raises(FormatError, match="tree 2: the label '5'"):
        load_extra(tmp_path, "mine", "train", 5)


@pytest.mark.parametrize("mix", ["goemotions", "a:0", "a:1 a:2", "a:x"])
def test_a_mix_that_cannot_be_read_is_an_error(mix: str) -> None:
    with pytest.raises(ValueError, match="mix = "):
        quick("sentiment").with_settings({"mix": mix})


def test_words_stand_by_frequency_and_only_frequent_strangers_have_a_row(mini: Path) -> None:
    config = quick("sentiment")
    words = Words(config, mini, 1, {"the": 1})
    assert words.path is not None
    one, other, *_ = (line.split()[0] for line in words.path.read_text().splitlines() if line[0].isalpha())
    counts = {one: 5, other: 9, "qzxq": OFTEN, "qqzz": OFTEN - 1, f"{one}-{other}": 1, f"{other}!!!": 1}
    vocabulary, rows = written_vocabulary(words, counts, [])
    assert vocabulary[:2] == [other, one]
    assert "qzxq" in vocabulary
    assert "qqzz" not in vocabulary
    found = dict(zip(vocabulary, rows, strict=True))
    assert found[f"{one}-{other}"] == pytest.approx((found[one] + found[other]) / 2)
