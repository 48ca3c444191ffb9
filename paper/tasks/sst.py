"""Sentiment on SST: every labelled phrase is classified, and the whole sentence is what counts."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from bough import Tree
from bough.models.batching import Sentence, prepare_all
from bough.models.metrics import root_loss
from bough.models.model import Model
from bough.train.tasks import ClassesTask, Floats, Indices
from paper.config import PaperConfig
from paper.sst import load_sst, sst_files
from paper.tasks.examples import alike, cut, parse_for, phrases, phrases_alone

POLAR: Mapping[Hashable, int | None] = {None: None, 0: 0, 1: None, 2: 1}  # of the binary task's three classes


class SentimentTask(ClassesTask):
    """SST: every labelled node is classified; the root is the sentence (Sec. 4.1)."""

    def __init__(self, config: PaperConfig, data: Path) -> None:
        super().__init__(config)
        self.config: PaperConfig = config
        self.metric = "binary" if config.task == "sst2" else "accuracy"
        self.data = data
        self.parse = parse_for(config, "constituency")
        self.of_phrases = config.examples == "phrases" or bool(config.system)

    def read(self, split: str) -> list[Tree]:
        trees = load_sst(
            self.data,
            split,
            task="binary" if self.config.task == "sst2" else "fine",
            parse=self.parse,
            neutral=self.of_phrases and split == "train",  # the phrases of neutral sentences are examples too
            check=self.config.source == "data",
        )
        if self.config.neutral == "unlabelled":
            trees = [tree.replace(labels=[POLAR[label] for label in tree.labels or ()]) for tree in trees]
        return cut(trees, self.config.max_examples)

    def files(self, split: str) -> list[Path]:
        return sst_files(self.data, split, self.parse)

    def trees(self, examples: Sequence[Tree]) -> Iterator[Tree]:
        return iter(examples)

    def prepare(self, examples: Sequence[Tree], model: Model) -> list[Sentence]:
        return prepare_all(examples, model)

    def to_learn(self, examples: Sequence[Tree], model: Model) -> list[Sentence]:
        if self.of_phrases:
            return phrases(examples, model)
        return self.prepare(examples, model) + phrases_alone(examples, model, self.config.extra_phrases)

    def batches(self, examples: Sequence[Sentence], rng: np.random.Generator) -> list[Indices]:
        if self.of_phrases:
            return alike(np.array([len(phrase.keys) for phrase in examples]), self.config.batch_size, rng)
        return super().batches(examples, rng)

    def finish(self, model: Model, dev: Sequence[Sentence]) -> None:
        """Do nothing; a subclass may calibrate the model."""

    def figures(self, model: Model, predicted: Floats, examples: Sequence[Sentence]) -> dict[str, float]:
        """Those of `metrics`, and with contextual leaves the accuracy of all phrases."""
        found = self.metrics(predicted, examples)
        return found if model.encoder is None else {**found, "phrases": self.phrase_accuracy(model, examples)}

    def metrics(self, predicted: Floats, examples: Sequence[Sentence]) -> dict[str, float]:
        """Accuracy of the root's class, its loss, and for five classes the binary accuracy derived from them."""
        return sentiment_figures(predicted, np.array([sentence.label for sentence in examples]), self.config)


def sentiment_figures(predicted: Floats, gold: Indices, config: PaperConfig) -> dict[str, float]:
    """What `SentimentTask.metrics` gives; predicted (n, K), gold (n,)."""
    loss = root_loss(predicted, gold)
    if config.task == "sst2":
        # neutral is a class inside sentences only, if at all
        chosen = np.where(predicted[:, -1] > predicted[:, 0], predicted.shape[1] - 1, 0)
        return {"binary": float((chosen == gold).mean()), "loss": loss}
    figures = {"accuracy": float((predicted.argmax(axis=1) == gold).mean())}
    polar = gold != 2
    positive = predicted[:, 3] + predicted[:, 4] > predicted[:, 0] + predicted[:, 1]
    if polar.any():
        figures["binary"] = float((positive == (gold > 2))[polar].mean())
    return {**figures, "loss": loss}
