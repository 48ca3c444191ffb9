"""Sentiment on SST: every labelled phrase is classified, and the whole sentence is what counts."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from bough.data import load_sst, sst_files
from bough.model.config import Config
from bough.model.model import Model
from bough.model.sentences import NO_SPANS, UNLABELLED, Sentence, collate, phrases, prepare_all
from bough.nn.heads import Classifier
from bough.training.tasks.task import Floats, Indices, alike, cut, parse_for, pieces, shuffled
from bough.trees.schedule import chain
from bough.trees.tree import Tree

POLAR: Mapping[Hashable, int | None] = {None: None, 0: 0, 1: None, 2: 1}  # of the binary task's three classes


class SentimentTask:
    """SST: every labelled node is classified; the root is the sentence (Sec. 4.1)."""

    def __init__(self, config: Config, data: Path) -> None:
        self.config, self.data = config, data
        self.parse = parse_for(config, "constituency")
        self.of_phrases = config.examples == "phrases"

    def read(self, split: str) -> list[Tree]:
        trees = load_sst(
            self.data,
            split,
            task="binary" if self.config.task == "sst2" else "fine",
            parse=self.parse,
            check=self.config.source == "data",
        )
        if self.config.neutral == "unlabelled":
            trees = [tree.replace(labels=[POLAR[label] for label in tree.labels or ()]) for tree in trees]
        return cut(trees, self.config.limit)

    def files(self, split: str) -> list[Path]:
        return sst_files(self.data, split, self.parse)

    def trees(self, examples: Sequence[Tree]) -> Iterator[Tree]:
        return iter(examples)

    def prepare(self, examples: Sequence[Tree], model: Model) -> list[Sentence]:
        return prepare_all(examples, model)

    def to_learn(self, examples: Sequence[Tree], model: Model) -> list[Sentence]:
        return phrases(examples, model) if self.of_phrases else self.prepare(examples, model)

    def batches(self, examples: Sequence[Sentence], rng: np.random.Generator) -> list[Indices]:
        if self.of_phrases:
            return alike(np.array([len(phrase.keys) for phrase in examples]), self.config.batch, rng)
        return shuffled(len(examples), self.config.batch, rng)

    def loss(self, model: Model, batch: Sequence[Sentence], rng: np.random.Generator) -> Tensor:
        """Of a batch: every labelled phrase of it, or for a sequential model the sentence and some of them."""
        assert isinstance(model.head, Classifier)
        if not model.encoder.phrases and not self.of_phrases:
            batch = [part for sentence in batch for part in with_spans(sentence, self.config.spans, rng)]
        forest, ids = collate(batch, model)
        x = model.look_up(forest, ids)
        at_nodes = np.concatenate([sentence.labels for sentence in batch])
        labelled = np.flatnonzero(at_nodes != UNLABELLED)
        labels = torch.from_numpy(at_nodes[labelled]).to(x.device)
        if not model.encoder.phrases:
            loss = model.head.loss(model.sentences(x, forest), labels)
        else:
            states, row_of = model.states(x, forest)
            rows = row_of.index_select(0, torch.from_numpy(labelled).to(x.device))
            loss = model.head.loss(states, labels, rows)
        # NOTE(paper): not the mean over labelled nodes, 1/m, but their sum over the number of trees.
        return loss / len(batch)

    @torch.no_grad()
    def predict(self, model: Model, examples: Sequence[Sentence]) -> Floats:
        """(n, K) the probabilities of each sentence's classes."""
        model.eval()
        parts = []
        for group in pieces(examples):
            forest, ids = collate(group, model)
            logits = model.head(model.sentences(model.look_up(forest, ids), forest))
            parts.append(logits.softmax(dim=1).double().cpu().numpy())
        return np.concatenate(parts)

    def metrics(self, predicted: Floats, examples: Sequence[Sentence]) -> dict[str, float]:
        """Accuracy of the root's class, its loss, and for five classes the binary accuracy derived from them."""
        gold = np.array([sentence.label for sentence in examples])
        loss = -np.log(predicted[np.arange(len(gold)), gold].clip(1e-30)).mean()
        if self.config.task == "sst2":
            # neutral is a class inside sentences only, if at all
            chosen = np.where(predicted[:, -1] > predicted[:, 0], predicted.shape[1] - 1, 0)
            return {"binary": float((chosen == gold).mean()), "loss": float(loss)}
        figures = {"accuracy": float((predicted.argmax(axis=1) == gold).mean())}
        polar = gold != 2
        positive = predicted[:, 3] + predicted[:, 4] > predicted[:, 0] + predicted[:, 1]
        if polar.any():
            figures["binary"] = float((positive == (gold > 2))[polar].mean())
        return {**figures, "loss": float(loss)}


def with_spans(sentence: Sentence, count: int, rng: np.random.Generator) -> list[Sentence]:
    """A sentence and `count` of the labelled phrases inside it, as sequences of their own."""
    # NOTE(paper): the released program passes no gradient from the sampled spans to the forward LSTM; here all get it.
    picked = sentence.spans
    if len(picked) > count:
        picked = picked[rng.choice(len(picked), size=count, replace=False)]
    parts = [sentence]
    for start, end, label in picked.tolist():
        labels = np.full(end - start, UNLABELLED, dtype=np.int64)
        labels[-1] = label
        parts.append(Sentence(chain(end - start), sentence.keys[start:end], labels, NO_SPANS))
    return parts
