"""Claims about `smooth`: the weights that are measured and kept are a mean that follows those that learn."""

from pathlib import Path

import pytest
import torch

from bough.model.config import Config
from bough.model.model import Model
from bough.training.checkpoint import FOLLOW, Progress
from bough.training.train import train
from quick_runs import quick


def progress(smooth: float) -> Progress:
    return Progress.start(Model(Config(smooth=smooth, hidden=2, dimension=3), ["a"]), seed=1)


def test_the_mean_follows_the_weights() -> None:
    run, an_epoch = progress(2.0), 4 * FOLLOW
    weight = run.model.head.get_parameter("b_s")
    expected = None
    for step in range(an_epoch):
        with torch.no_grad():
            weight.fill_(step)
        run.count_step(step, an_epoch)
        if step % FOLLOW == FOLLOW - 1:
            expected = float(step) if expected is None else expected + (step - expected) / 8
    with run.smoothed():
        assert weight.tolist() == pytest.approx([expected] * 5)
    assert weight.tolist() == [an_epoch - 1] * 5


def test_without_it_nothing_is_remembered() -> None:
    run = progress(0.0)
    run.count_step(FOLLOW - 1, FOLLOW)
    assert not run.mean


def test_dev_and_the_kept_model_are_those_of_the_mean(mini: Path, tmp_path: Path) -> None:
    settings = {"epochs": 2, "batch": 1}
    plain, smooth = (
        train(
            quick("sst5-constituency-tuned").with_settings({**settings, "smooth": value}),
            tmp_path / f"{value}",
            data=mini,
        )
        for value in (0.0, 1.0)
    )
    assert plain["dev"] != smooth["dev"]
    first, second = (Model.load(tmp_path / f"{value}").head.get_parameter("W_s") for value in (0.0, 1.0))
    assert not torch.equal(first, second)
