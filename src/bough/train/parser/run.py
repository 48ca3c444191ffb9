"""Train a parser on treebanks into a folder: its task and its optimizer for the training loop."""

import copy
import logging
import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from bough.errors import DataError
from bough.files import write_json
from bough.text.builtin.parser import BuiltinParser
from bough.train.checkpoint import TrainingState
from bough.train.loop import Callback, learn
from bough.train.optimizer import Optimizer
from bough.train.parser.config import Config
from bough.train.parser.evaluation import count_correct, scores_of
from bough.train.parser.examples import Example, read_treebanks
from bough.train.parser.learner import Learner, build_learner, build_parser
from bough.train.run_folder import lock_run_folder
from bough.train.tasks import Floats, Indices, Rng

log = logging.getLogger(__name__)
AVERAGE_EVERY = 4  # steps; the decay is raised to this power
MAX_GRAD_NORM = 5.0
MOST = 64  # sentences of a batch
Examples = Sequence[Example]


def train_parser(
    treebanks: Sequence[Path | str],
    dev: Sequence[Path | str],
    out: Path | str,
    *,
    vectors: Path | str | None = None,
    config: Config | None = None,
    resume: bool = False,
    callback: Callback = lambda event: None,
) -> BuiltinParser:
    """Train a parser on treebanks of any language, write the best one to a folder, and return it.

    After each epoch, the averaged and compressed weights are scored on the dev sentences. The first
    epoch with the best mean of bracket F1 and UAS is saved.

    Args:
        treebanks: files of bracketed trees or CoNLL-U; see `read_treebanks`.
        dev: files of the same kinds, to choose the epoch on.
        out: the folder for the parser, `metrics.jsonl` and the checkpoint.
        vectors: a file of word vectors in GloVe's format; None for none.
        config: sizes, weights of the losses and optimizer.
        resume: whether to continue an interrupted run after its last finished epoch.
        callback: is called with every event of the run.

    Raises:
        DataError: if no sentence is short enough, or if dev has a kind of trees that the treebanks lack.
    """
    config, folder = config or Config(), Path(out)
    examples, held_out = read_treebanks(treebanks), read_treebanks(dev)
    kept = [example for example in examples if len(example.tokens) <= config.longest]
    if not kept:
        raise DataError(f"every sentence to train on has more than {config.longest} words (`longest`)")
    for gold, kind in (("spans", "phrase trees"), ("heads", "heads")):
        if any(getattr(one, gold) for one in held_out) and not any(getattr(one, gold) for one in kept):
            raise DataError(f"the dev sentences have {kind}, and no treebank to train on has any")
    files = {"treebanks": list(map(str, treebanks)), "dev": list(map(str, dev))}
    run = {"config": asdict(config), **files, "vectors": str(vectors or "")}
    lock_run_folder(folder, run, resume)
    message = "%d sentences to train on, %d longer than %d words left out"
    log.info(message, len(kept), len(examples) - len(kept), config.longest)
    learner = build_learner(config, None if vectors is None else Path(vectors), kept)
    write_json(folder / "run.json", run)
    task, state = ParserTask(config), TrainingState(ParserOptimizer(learner, config), config.seed)
    state.restore(folder)
    learn(folder, task, config, state, {"train": kept, "dev": held_out}, callback)
    state.use_best()
    parser = build_parser(learner)
    parser.save(folder)
    return parser


class ParserTask:
    """The task of a parser. Dev is scored with the averaged weights, compressed as saved."""

    def __init__(self, config: Config) -> None:
        self.config = config

    def sizes(self, examples: Examples) -> Indices:
        """Return (n,) the number of words of each sentence."""
        return np.array([len(example.tokens) for example in examples], dtype=np.int64)

    def batches(self, examples: Examples, rng: Rng) -> list[Indices]:
        """Return batches of sentences of equal length, about `batch_tokens` words each."""
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
        """Return the factor on the learning rate: it rises for `warmup` steps, then falls."""
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
