"""The whole training step of `python -m paper train`: batching, loss, gradient, optimizer and word table."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from benchmarks.corpora import BATCH, Corpus
from bough.models.batching import NO_SPANS, PreparedTree
from bough.models.model import Model
from bough.train.checkpoint import TrainingState
from bough.train.loop import learn
from bough.train.optimizer import ModelOptimizer
from bough.train.tasks import RatedPair
from paper.recipes import load_recipe
from paper.tasks import Task


class WholeStep:
    """Train the model of a recipe on a corpus, one batch at a time as the training loop does."""

    def __init__(self, recipe: str, corpus: Corpus) -> None:
        config = self.config = load_recipe(recipe)
        self.task: Task = config.build_task(Path())  # it reads no files here
        table = torch.randn(corpus.words, config.embedding_size) * 0.1
        words = [str(word) for word in range(corpus.words - 1)]
        self.model = Model(config.for_model(), config.output_spec, words, (), table).train()
        self.optimizer, self.rng = ModelOptimizer(self.model, config), np.random.default_rng(0)
        labels = corpus.labels or [np.zeros(len(tree), dtype=np.int64) for tree in corpus.trees]
        bare = [tree.replace(tokens=None, labels=None, relations=None) for tree in corpus.trees]
        parts = zip(bare, corpus.keys, labels, corpus.digests, strict=True)
        sentences = [PreparedTree(tree, keys, own, NO_SPANS, digests) for tree, keys, own, digests in parts]
        self.examples: Sequence[object] = sentences
        if corpus.ratings is not None:
            pairs = zip(sentences[::2], sentences[1::2], corpus.ratings.tolist(), strict=True)
            self.examples = [RatedPair(*pair) for pair in pairs]

    def __call__(self, number: int) -> None:
        batch = self.examples[number * BATCH : (number + 1) * BATCH]
        loss = self.task.loss(self.model, batch, self.rng)
        loss.item()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def busy_ratio(self, rounds: int) -> float:
        """Return the time of training with a thread per core over that with one thread, while every core is busy.

        Both are wall-clock times, medians of the rounds. One process per core runs an endless loop meanwhile.
        """
        examples = {"train": self.examples, "dev": self.examples[:1]}
        cores, seconds, before = os.cpu_count() or 1, dict[int, list[float]](), torch.get_num_threads()
        busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(cores)]
        try:
            for _ in range(rounds):
                for threads in (1, cores):
                    state = TrainingState(self.optimizer, 0, epoch=self.config.epochs - 1)
                    torch.set_num_threads(threads)
                    with tempfile.TemporaryDirectory() as out:
                        start = time.perf_counter()
                        learn(Path(out), self.task, self.config, state, examples, lambda event: None)
                        seconds.setdefault(threads, []).append(time.perf_counter() - start)
        finally:
            torch.set_num_threads(before)
            for process in busy:
                process.kill()
                process.wait()
        return float(np.median(seconds[cores]) / np.median(seconds[1]))
