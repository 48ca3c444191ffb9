"""The task and the optimizer of a parser for the training loop."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import asdict

import numpy as np
import torch
from torch import Tensor, nn

from bough.train.optimizer import Optimizer
from bough.train.parser.config import Config
from bough.train.parser.evaluation import count_correct, scores_of
from bough.train.parser.examples import Example
from bough.train.parser.learner import Learner, build_parser
from bough.train.tasks import Floats, Indices

AVERAGE_EVERY = 4  # steps; the decay is raised to this power
MAX_GRAD_NORM = 5.0
MOST = 64  # sentences of a batch
Examples = Sequence[Example]
Rng = np.random.Generator


class ParserTask:
    """The task of a parser. Dev is scored with the averaged weights, compressed as they are saved."""

    def __init__(self, config: Config) -> None:
        self.config = config

    def start(self, examples: Examples, model: Learner) -> None:
        """Do nothing."""

    def sizes(self, examples: Examples) -> Indices:
        """Return (n,) the number of words of each sentence."""
        return np.array([len(example.tokens) for example in examples], dtype=np.int64)

    def batches(self, examples: Examples, rng: Rng) -> list[Indices]:
        """Return batches of sentences of equal length and about `batch_tokens` words, in random order."""
        chosen = rng.permutation(len(examples))
        lengths = self.sizes(examples)[chosen]
        batches: list[Indices] = []
        for length in np.unique(lengths).tolist():
            group = chosen[lengths == length]
            size = max(1, min(MOST, self.config.batch_tokens // (length + 2)))
            batches += [group[start : start + size] for start in range(0, len(group), size)]
        return [batches[i] for i in rng.permutation(len(batches))]

    def loss(self, model: Learner, batch: Examples, rng: Rng, whole: Examples | None = None) -> Tensor:
        """Return the sum of all losses, divided by the number of words of the batch."""
        words = sum(len(example.tokens) for example in whole or batch)
        return torch.stack(list(model(batch).values())).sum() / words

    def predict(self, model: Learner, examples: Examples) -> Floats:
        """Return (n, 10) the counts of `count_correct`."""
        return count_correct(build_parser(model), examples)

    def metrics(self, predicted: Floats, examples: Examples) -> dict[str, float]:
        """Return the scores for which the sentences have trees."""
        scores = asdict(scores_of(predicted))
        return {name: scores[name] for name in ("brackets", "heads", "relations") if scores[name] is not None}

    def score(self, metrics: dict[str, float]) -> float:
        """Return the mean of bracket F1 and UAS, or the one that there is."""
        found = [metrics[name] for name in ("brackets", "heads") if name in metrics]
        return sum(found) / len(found)


class ParserOptimizer(Optimizer):
    """Adam with clipped gradients, a linear warm-up, a cosine schedule, and a running average of the weights.

    The average is a submodule of the network, `learner.average`, so that checkpoints contain it.
    """

    model: Learner

    def __init__(self, learner: Learner, config: Config) -> None:
        self.config = config
        trained = list(learner.parameters())
        learner.average = copy.deepcopy(learner).requires_grad_(False)
        adam = torch.optim.Adam(trained, lr=config.learning_rate, betas=(0.9, 0.95), fused=True)
        super().__init__(learner, adam)

    def lr_scale(self, step: int, steps_per_epoch: int) -> float:
        """Return the factor on the learning rate: it rises over `warmup` steps, then falls to 0.02."""
        done = step / steps_per_epoch / self.config.epochs
        cosine = 0.5 * (1 + math.cos(math.pi * done))
        return min(1.0, (step + 1) / self.config.warmup) * (0.02 + 0.98 * cosine)

    @torch.no_grad()
    def step(self, scale: float = 1.0) -> None:
        trained = self.weights.param_groups[0]["params"]
        nn.utils.clip_grad_norm_(trained, MAX_GRAD_NORM)
        super().step(scale)
        done = int(self.weights.state[trained[0]]["step"])
        if done % AVERAGE_EVERY == 0:
            decay = min(self.config.average**AVERAGE_EVERY, 1 - 1 / (1 + done / 10))
            assert self.model.average is not None
            for mean, now in zip(self.model.average.parameters(), trained, strict=True):
                mean.lerp_(now, 1 - decay)
