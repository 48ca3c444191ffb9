"""Claims about the training loop: which epoch it keeps, when AdaGrad starts again, and that dropout is on."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from bough.models.model import Model
from bough.nn.heads import Classifier
from bough.outputs import Classes
from bough.outputs.classes import SENTIMENT
from bough.train.checkpoint import TrainingState
from bough.train.config import TrainConfig
from bough.train.loop import learn
from bough.train.optimizer import ModelOptimizer

SPEC = Classes(SENTIMENT)


def test_the_first_of_equal_epochs_is_kept() -> None:
    config = TrainConfig(hidden_size=4, embedding_size=3)
    model = Model(config.for_model(), SPEC, ["a"])
    state = TrainingState(ModelOptimizer(model, config), 1)
    for epoch, accuracy in enumerate((0.4, 0.5, 0.5, 0.3), 1):
        with torch.no_grad():
            for weight in (*model.parameters(), model.table):
                weight.fill_(epoch)
        state.finish_epoch(0.0, {"accuracy": accuracy}, accuracy, 0.0)
    state.use_best()
    assert state.best_epoch == 2
    assert state.best_dev == {"accuracy": 0.5}
    assert all((tensor == 2).all() for tensor in model.state_dict().values())


class Slope:
    """One step an epoch down a slope of 1 on every bias of the head; remembers where they stood after each."""

    def __init__(self) -> None:
        self.after: list[float] = []
        self.training: list[bool] = []
        self.threads: list[int] = []

    def sizes(self, examples: Sequence[Any]) -> Any:
        return np.ones(len(examples), dtype=np.int64)

    def batches(self, examples: Sequence[Any], rng: np.random.Generator) -> Any:
        return [np.arange(len(examples))]

    def loss(self, model: Model, batch: Any, rng: np.random.Generator, whole: Any = None) -> Tensor:
        assert isinstance(model.head, Classifier)
        self.training.append(model.training)
        self.threads.append(torch.get_num_threads())
        return torch.as_tensor(model.head.b_s.sum())

    def predict(self, model: Model, examples: Sequence[Any]) -> Any:
        assert isinstance(model.head, Classifier)
        model.eval()
        self.after.append(model.head.b_s[0].item())
        return np.zeros(len(examples))

    def metrics(self, predicted: Any, examples: Sequence[Any]) -> dict[str, float]:
        return {"accuracy": 0.0}

    def score(self, metrics: dict[str, float]) -> float:
        return metrics["accuracy"]


def test_small_batches_are_trained_with_one_thread(tmp_path: Path) -> None:
    config, task, before = (
        TrainConfig(hidden_size=4, embedding_size=3, epochs=2),
        Slope(),
        torch.get_num_threads(),
    )
    state = TrainingState(ModelOptimizer(Model(config.for_model(), SPEC, ["a"]), config), 1)
    torch.set_num_threads(2)
    try:
        learn(tmp_path, task, config, state, {"train": [0], "dev": [0]}, lambda event: None)
        assert task.threads == [1, 1]
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize(
    ("settings", "steps"),
    [
        ({}, [1, 1 / 2**0.5, 1 / 3**0.5, 1 / 4**0.5, 1 / 5**0.5]),
        ({"adagrad_reset_every": 2}, [1, 1 / 2**0.5, 1, 1 / 2**0.5, 1]),
        ({"adagrad_reset_every": 1, "lr_decay": 0.5}, [1, 1 / 2, 1 / 4, 1 / 8, 1 / 16]),
    ],
)
def test_adagrad_starts_again_at_a_reset_and_the_rate_decays(
    settings: dict[str, Any], steps: list[float], tmp_path: Path
) -> None:
    config = TrainConfig(
        hidden_size=4, embedding_size=3, epochs=5, learning_rate=0.1, weight_decay=0.0
    ).with_settings(settings)
    model, task = Model(config.for_model(), SPEC, ["a"]), Slope()
    assert isinstance(model.head, Classifier)
    start = model.head.b_s[0].item()
    learn(
        tmp_path,
        task,
        config,
        TrainingState(ModelOptimizer(model, config), 1),
        {"train": [0], "dev": [0]},
        lambda event: None,
    )
    assert -np.diff([start, *task.after]) == pytest.approx([0.1 * step for step in steps], rel=1e-4)


def test_dropout_is_on_in_every_epoch(tmp_path: Path) -> None:
    config = TrainConfig(hidden_size=4, embedding_size=3, epochs=3)
    model, task = Model(config.for_model(), SPEC, ["a"]), Slope()
    learn(
        tmp_path,
        task,
        config,
        TrainingState(ModelOptimizer(model, config), 1),
        {"train": [0], "dev": [0]},
        lambda event: None,
    )
    assert task.training == [True] * 3
