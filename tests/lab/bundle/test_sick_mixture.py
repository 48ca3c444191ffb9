"""Claims about training on SICK beside other pairs: shares of a step, figures by source, features in one place."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from bough.models.batching import prepare_all
from bough.models.bundled import load_model
from bough.models.model import Model
from bough.nn.heads import Similarity
from bough.pipelines import RelatednessPipeline, load
from bough.train.tasks import set_rarity
from bundle.config import shares
from bundle.sick_mixture import JoinedTask
from paper.train import train
from quick_runs import quick


@pytest.fixture
def task(mini: Path) -> JoinedTask:
    found = quick("relatedness").build_task(mini)
    assert isinstance(found, JoinedTask)
    return found


@pytest.fixture
def model(task: JoinedTask) -> Model:
    words = sorted({str(t).lower() for tree in task.trees(task.read("train")) for t in tree.tokens or ()})
    torch.manual_seed(0)
    return Model(task.config.for_model(), task.config.purpose, words, (), torch.randn(len(words) + 1, 300))


def test_a_step_has_the_share_of_every_source_and_each_goes_round(task: JoinedTask, model: Model) -> None:
    examples = task.to_learn(task.read("train"), model)
    steps = task.batches(examples, np.random.default_rng(1))
    own = [i for step in steps for i in step if not examples[i].source]
    assert sorted(own) == [i for i, pair in enumerate(examples) if not pair.source]
    for name, count in shares(task.config.mix).items():
        assert all(sum(examples[i].source == name for i in step) == count for step in steps)
        drawn = [i for step in steps for i in step if examples[i].source == name]
        times = [drawn.count(i) for i, pair in enumerate(examples) if pair.source == name]
        assert max(times) - min(times) <= 1


def test_every_source_has_its_figure_and_the_loss_is_of_both_halves(task: JoinedTask, model: Model) -> None:
    examples = task.prepare(task.read("dev"), model)
    figures = task.metrics(np.linspace(1, 5, len(examples)), examples)
    assert {f"{name}_pearson" for name in shares(task.config.mix)} < figures.keys()
    assert figures["loss"] == pytest.approx((figures["mse"] + figures["beside_mse"]) / 2)
    alone = [pair for pair in examples if not pair.source]
    assert "loss" not in task.metrics(np.linspace(1, 5, len(alone)), alone)


def test_rare_words_weigh_more_and_unseen_ones_most(model: Model) -> None:
    often, seldom, never = model.words[:3]
    set_rarity(model, {often: 90, seldom.upper(): 2}, 100)
    rarity = [float(model.rarity[model.index[word]]) for word in (often, seldom, never)]
    assert 0 < rarity[0] < rarity[1] < rarity[2] == 1
    model.add_words(["quite-new"], torch.zeros(1, 300))
    assert len(model.rarity) == len(model.table)


def test_trained_stored_and_loaded_it_says_the_same_of_trees_and_of_pairs(mini: Path, tmp_path: Path) -> None:
    config = quick("relatedness")
    result = train(config, tmp_path / "run", data=mini, recipe="relatedness")
    assert "beside_pearson" in result["test"]
    stored = json.loads((tmp_path / "run" / "config.json").read_text())
    assert stored["config"]["pair_features"] is True
    model = load_model(tmp_path / "run")
    assert isinstance(model.head, Similarity)
    assert float(model.head.spread.min()) > 0
    task = config.build_task(mini)
    pairs = task.read("test")[:8]
    said = task.predict(model, task.prepare(pairs, model))
    pipeline = load(tmp_path / "run")
    assert isinstance(pipeline, RelatednessPipeline)
    for pair, score in zip(pairs, said.tolist(), strict=True):
        result_ = pipeline.compare(None, None, trees=(pair.left, pair.right))
        assert result_.score == pytest.approx(score, abs=1e-4)
    left, right = (prepare_all([tree], model)[0] for tree in (pairs[0].left, pairs[0].right))
    assert left.side is not None
    assert right.side is not None
