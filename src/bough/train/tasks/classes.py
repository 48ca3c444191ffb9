"""Nodes in classes: every labelled phrase is classified, and the whole tree is what counts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from bough.models.batching import UNLABELLED, Sentence, collate, part
from bough.models.metrics import class_figures
from bough.models.model import Model
from bough.nn.heads import Classifier
from bough.train.config import TrainConfig
from bough.train.tasks.task import Floats, Indices, of_like_length, pieces, shuffled, sizes_of
from bough.trees.forest import Forest


class ClassesTask:
    """Trees whose nodes, the root or any others, have classes."""

    metric = "accuracy"
    of_phrases = False  # whether a sequential model learns phrases as examples of their own

    def __init__(self, config: TrainConfig) -> None:
        self.config = config

    def start(self, examples: Sequence[Sentence], model: Model) -> None:
        """Do nothing: a classifier needs nothing of its training examples before the first step."""

    def batches(self, examples: Sequence[Sentence], rng: np.random.Generator) -> list[Indices]:
        if self.config.encoder:
            return of_like_length(self.sizes(examples), self.config.batch_size, rng)
        return shuffled(len(examples), self.config.batch_size, rng)

    def sizes(self, examples: Sequence[Sentence]) -> Indices:
        """(n,) nodes of each."""
        return sizes_of(examples)

    def loss(
        self,
        model: Model,
        batch: Sequence[Sentence],
        rng: np.random.Generator,
        whole: Sequence[Sentence] | None = None,
    ) -> Tensor:
        """Return the loss of all labelled phrases, or for a sequential model of the sentence and some phrases."""
        assert isinstance(model.head, Classifier)
        trees, nodes, roots = self._counts(model, batch if whole is None else whole)
        if self._in_parts(model):
            batch = [each for one in batch for each in with_spans(one, self.config.spans, rng)]
        forest, ids = collate(batch, model)
        x = model.look_up(forest, ids)
        at_nodes = np.concatenate([sentence.labels for sentence in batch])
        labelled = np.flatnonzero(at_nodes != UNLABELLED)
        labels = torch.from_numpy(at_nodes[labelled]).to(x.device)
        states, row_of = self._states(model, x, forest)
        rows = row_of.index_select(0, torch.from_numpy(labelled).to(x.device))
        loss = model.head.loss(states, labels, rows)
        if self.config.loss_over == "trees":
            # NOTE(paper): not the mean over labelled nodes, 1/m, but their sum over the number of trees.
            return loss / trees
        loss = loss / max(1, nodes)
        if self.config.root_weight:
            some = [place for place, sentence in enumerate(batch) if _counted_root(sentence)]
            gold = torch.tensor([batch[place].label for place in some], dtype=torch.int64, device=x.device)
            of_roots = row_of.index_select(0, forest.roots)[
                torch.tensor(some, dtype=torch.int64, device=x.device)
            ]
            loss = loss + self.config.root_weight * model.head.loss(states, gold, of_roots) / max(1, roots)
        return loss

    def _counts(self, model: Model, batch: Sequence[Sentence]) -> tuple[int, int, int]:
        """Return the numbers of trees, labelled nodes and labelled roots that the loss is divided by."""
        spans = 0
        if self._in_parts(model):
            spans = sum(min(self.config.spans, len(sentence.spans)) for sentence in batch)
        nodes = sum(int(np.count_nonzero(sentence.labels != UNLABELLED)) for sentence in batch)
        return len(batch) + spans, nodes + spans, sum(_counted_root(sentence) for sentence in batch)

    def _states(self, model: Model, x: Tensor, forest: Forest) -> tuple[Tensor, Tensor]:
        """States (R, D), and per node (N,) the row that holds its state, or its sentence's if phrases have none."""
        if model.layer.phrases:
            return model.states(x, forest)
        return model.sentences(x, forest), forest.tree_of

    def _in_parts(self, model: Model) -> bool:
        """Whether the phrases of a sentence are trees of their own, because they are not nodes of its tree."""
        return (not model.layer.phrases or self.config.shape == "balanced") and not self.of_phrases

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

    @torch.no_grad()
    def phrase_accuracy(self, model: Model, examples: Sequence[Sentence]) -> float:
        """Of every labelled phrase, whole sentences among them."""
        model.eval()
        rng, hits, total = np.random.default_rng(0), 0, 0
        for group in pieces(examples):
            own = [each for one in group for each in with_spans(one, len(one.spans), rng)]
            forest, words = collate(own, model)
            states, row_of = self._states(model, model.look_up(forest, words), forest)
            at_nodes = torch.from_numpy(np.concatenate([sentence.labels for sentence in own])).to(
                row_of.device
            )
            labelled = (at_nodes != UNLABELLED).nonzero().squeeze(1)
            said = model.head(states).argmax(dim=1).index_select(0, row_of.index_select(0, labelled))
            hits += int((said == at_nodes[labelled]).sum())
            total += len(labelled)
        return hits / max(1, total)

    def metrics(self, predicted: Floats, examples: Sequence[Sentence]) -> dict[str, float]:
        """Accuracy of the root's class, the mean F1 of the classes that occur, and the root's loss."""
        return class_figures(predicted, np.array([sentence.label for sentence in examples]))


def _counted_root(sentence: Sentence) -> bool:
    return not sentence.inner and sentence.label != UNLABELLED


def with_spans(sentence: Sentence, count: int, rng: np.random.Generator) -> list[Sentence]:
    """A sentence and `count` of the labelled phrases inside it, as sequences of their own."""
    # NOTE(paper): the released program passes no gradient from the sampled spans to the forward LSTM; here all get it.
    picked = sentence.spans
    if len(picked) > count:
        picked = picked[rng.choice(len(picked), size=count, replace=False)]
    return [sentence, *(part(sentence, start, end, label) for start, end, label in picked.tolist())]
