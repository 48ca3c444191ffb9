"""The whole step of `python -m paper train`: batching, loss, gradient, optimizer and word table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from benchmarks.corpora import BATCH, Corpus
from bough.models.batching import NO_SPANS, Sentence
from bough.models.model import Model
from bough.train.optimizer import ModelOptimizer
from bough.train.tasks import Rated
from paper.recipes import load_recipe
from paper.tasks import RelatednessTask, SentimentTask, Task

_NOWHERE = Path()  # the examples are at hand


class WholeStep:
    """A recipe's model on a corpus, trained a batch at a time as the loop does."""

    def __init__(self, recipe: str, corpus: Corpus, ratings: Tensor | None = None) -> None:
        config = load_recipe(recipe)
        self.task: Task
        table = torch.randn(corpus.words, config.embedding_size) * 0.1
        words = [str(word) for word in range(corpus.words - 1)]
        self.model = Model(config.for_model(), config.purpose, words, (), table).train()
        self.optimizer, self.rng = ModelOptimizer(self.model, config), np.random.default_rng(0)
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
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


def _sentences(corpus: Corpus) -> list[Sentence]:
    labels = corpus.labels or [np.zeros(len(tree), dtype=np.int64) for tree in corpus.trees]
    bare = [tree.replace(tokens=None, labels=None, relations=None) for tree in corpus.trees]
    return [
        Sentence(tree, keys, own, NO_SPANS, digests)
        for tree, keys, own, digests in zip(bare, corpus.keys, labels, corpus.digests, strict=True)
    ]
