"""The whole step of `bough train`: batching, loss, gradient, optimiser and word table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from bough.bench.corpora import BATCH, Corpus
from bough.model.model import Model
from bough.model.sentences import NO_SPANS, Sentence
from bough.training.optimisers import optimiser_for
from bough.training.recipes import load_recipe
from bough.training.tasks import RelatednessTask, SentimentTask, Task
from bough.training.tasks.pairs import Rated

_NOWHERE = Path()  # the examples are at hand


class WholeStep:
    """A recipe's model on a corpus, trained a batch at a time as the loop does."""

    def __init__(self, recipe: str, corpus: Corpus, ratings: Tensor | None = None) -> None:
        config = load_recipe(recipe)
        self.task: Task
        table = torch.randn(corpus.words, config.dimension) * 0.1
        self.model = Model(config, [str(word) for word in range(corpus.words - 1)], (), table).train()
        self.optimiser, self.rng = optimiser_for(self.model), np.random.default_rng(0)
        sentences = _sentences(corpus)
        if ratings is None:
            self.task = SentimentTask(config, _NOWHERE)
            self.examples: Sequence[object] = sentences
        else:
            self.task = RelatednessTask(config, _NOWHERE)
            pairs = zip(sentences[::2], sentences[1::2], ratings.tolist(), strict=True)
            self.examples = [Rated(*pair) for pair in pairs]

    def __call__(self, number: int) -> None:
        batch = self.examples[number * BATCH : (number + 1) * BATCH]
        loss = self.task.loss(self.model, batch, self.rng)
        loss.item()
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()


def _sentences(corpus: Corpus) -> list[Sentence]:
    labels = corpus.labels or [np.zeros(len(tree), dtype=np.int64) for tree in corpus.trees]
    bare = [tree.replace(tokens=None, labels=None, relations=None) for tree in corpus.trees]
    return [
        Sentence(tree, keys, own, NO_SPANS, digests)
        for tree, keys, own, digests in zip(bare, corpus.keys, labels, corpus.digests, strict=True)
    ]
