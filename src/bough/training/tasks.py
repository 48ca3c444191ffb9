"""The two tasks of the paper: what an example is, what its loss, what a prediction, how it is scored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bough.data import DataError, find_data, load_sick, load_sst, sick_files, sst_files
from bough.model.config import Config
from bough.model.examples import UNLABELLED, Sentence, chain, collate, prepare_all
from bough.model.model import Model
from bough.nn.heads import Classifier, Similarity
from bough.trees.tree import Tree

Parse = Literal["constituency", "dependency"]
Floats = NDArray[np.float64]
AT_ONCE = 256  # sentences scored as one forest
DEMO = Path(__file__).parents[1] / "data" / "demo"


class Task(Protocol):
    """Examples of one kind: `read` gives trees, `prepare` what `loss` and `predict` take."""

    def read(self, split: str) -> list[Any]: ...
    def files(self, split: str) -> list[Path]: ...
    def trees(self, examples: Sequence[Any]) -> Iterator[Tree]: ...
    def prepare(self, examples: Sequence[Any], model: Model) -> list[Any]: ...
    def loss(self, model: Model, batch: Sequence[Any], rng: np.random.Generator) -> Tensor: ...
    def predict(self, model: Model, examples: Sequence[Any]) -> Floats: ...
    def metrics(self, predicted: Floats, examples: Sequence[Any]) -> dict[str, float]: ...


def task_for(config: Config, data: Path | str | None) -> Task:
    """The task that a configuration names, on the data it names."""
    if config.task == "sick":
        return Relatedness(config, find_data(data))
    return Sentiment(config, DEMO if config.source == "demo" else find_data(data))


def read_some(task: Task, split: str) -> list[Any]:
    """The examples of a split; none at all is a DataError."""
    examples = task.read(split)
    if not examples:
        raise DataError(f"{task.files(split)[0]}: no examples for {split}")
    return examples


def word_counts(task: Task, examples: Sequence[Any]) -> Counter[str]:
    """How often each word occurs."""
    return Counter(token for tree in task.trees(examples) for token in tree.tokens or () if token is not None)


def _cut(examples: list[Any], limit: int) -> list[Any]:
    return examples[:limit] if limit else examples


class Sentiment:
    """SST: every labelled node is classified; the root is the sentence (Sec. 4.1)."""

    def __init__(self, config: Config, data: Path) -> None:
        self.config, self.data = config, data
        self.parse: Parse = "dependency" if config.encoder == "dependency" else "constituency"

    def read(self, split: str) -> list[Tree]:
        trees = load_sst(
            self.data,
            split,
            task="binary" if self.config.task == "sst2" else "fine",
            parse=self.parse,
            check=self.config.source == "data",
        )
        return _cut(trees, self.config.limit)

    def files(self, split: str) -> list[Path]:
        return sst_files(self.data, split, self.parse)

    def trees(self, examples: Sequence[Tree]) -> Iterator[Tree]:
        return iter(examples)

    def prepare(self, examples: Sequence[Tree], model: Model) -> list[Sentence]:
        return prepare_all(examples, model)

    def loss(self, model: Model, batch: Sequence[Sentence], rng: np.random.Generator) -> Tensor:
        """Of a batch: every labelled phrase of it, or for a sequential model the sentence and some of them."""
        assert isinstance(model.head, Classifier)
        if self.config.encoder == "lstm":
            batch = [part for sentence in batch for part in with_spans(sentence, self.config.spans, rng)]
        forest, ids = collate(batch, model)
        x = model.look_up(forest, ids)
        at_nodes = np.concatenate([sentence.labels for sentence in batch])
        labelled = np.flatnonzero(at_nodes != UNLABELLED)
        labels = torch.from_numpy(at_nodes[labelled]).to(x.device)
        if self.config.encoder == "lstm":
            loss = model.head.loss(model.sentences(x, forest), labels)
        else:
            states, row_of = model.states(x, forest)
            loss = model.head.loss(
                states, labels, row_of.index_select(0, torch.from_numpy(labelled).to(x.device))
            )
        # NOTE(paper): not the mean over labelled nodes, 1/m, but their sum over the number of trees.
        return loss / len(batch)

    @torch.no_grad()
    def predict(self, model: Model, examples: Sequence[Sentence]) -> Floats:
        """(n, K) the probabilities of each sentence's classes."""
        model.eval()
        parts = []
        for start in range(0, len(examples), AT_ONCE):
            forest, ids = collate(examples[start : start + AT_ONCE], model)
            logits = model.head(model.sentences(model.look_up(forest, ids), forest))
            parts.append(logits.softmax(dim=1).double().cpu().numpy())
        return np.concatenate(parts)

    def metrics(self, predicted: Floats, examples: Sequence[Sentence]) -> dict[str, float]:
        """Accuracy of the root's class, its loss, and for five classes the binary accuracy derived from them."""
        gold = np.array([sentence.label for sentence in examples])
        loss = -np.log(predicted[np.arange(len(gold)), gold].clip(1e-30)).mean()
        if self.config.task == "sst2":
            chosen = np.where(
                predicted[:, 2] > predicted[:, 0], 2, 0
            )  # neutral is a class inside sentences only
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
    none = np.zeros((0, 3), dtype=np.int64)
    parts = [sentence]
    for start, end, label in picked.tolist():
        labels = np.full(end - start, UNLABELLED, dtype=np.int64)
        labels[-1] = label
        parts.append(Sentence(chain(end - start), sentence.keys[start:end], labels, none))
    return parts


class Relatedness:
    """SICK: two sentences and how related they are, 1 to 5 (Sec. 4.2)."""

    def __init__(self, config: Config, data: Path) -> None:
        self.config, self.data = config, data
        self.parse: Parse = "constituency" if config.encoder == "constituency" else "dependency"

    def read(self, split: str) -> list[Any]:
        check = self.config.source == "data"
        pairs = load_sick(self.data, split, parse=self.parse, check=check, scale=self.config.scale)
        return _cut(pairs, self.config.limit)

    def files(self, split: str) -> list[Path]:
        return sick_files(self.data, split, self.parse)

    def trees(self, examples: Sequence[Any]) -> Iterator[Tree]:
        return (tree for pair in examples for tree in (pair.left, pair.right))

    def prepare(self, examples: Sequence[Any], model: Model) -> list[tuple[Sentence, Sentence, float]]:
        sides = [prepare_all([getattr(pair, side) for pair in examples], model) for side in ("left", "right")]
        return [(*pair, example.score) for *pair, example in zip(*sides, examples, strict=True)]

    def _vectors(self, model: Model, batch: Sequence[Any]) -> tuple[Tensor, ...]:
        forest, ids = collate([*(left for left, _, _ in batch), *(right for _, right, _ in batch)], model)
        return model.sentences(model.look_up(forest, ids), forest).chunk(2)

    def loss(self, model: Model, batch: Sequence[Any], rng: np.random.Generator) -> Tensor:
        """Of a batch of pairs."""
        assert isinstance(model.head, Similarity)
        left, right = self._vectors(model, batch)
        if self.config.dropout and model.training:
            left, right = (torch.nn.functional.dropout(side, self.config.dropout) for side in (left, right))
        y = torch.tensor([score for _, _, score in batch], device=left.device)
        return model.head.loss(left, right, y)

    @torch.no_grad()
    def predict(self, model: Model, examples: Sequence[Any]) -> Floats:
        """(n,) the predicted ratings."""
        assert isinstance(model.head, Similarity)
        model.eval()
        parts = []
        for start in range(0, len(examples), AT_ONCE):
            left, right = self._vectors(model, examples[start : start + AT_ONCE])
            parts.append(model.head.score(model.head(left, right)).double().cpu().numpy())
        return np.concatenate(parts)

    def metrics(self, predicted: Floats, examples: Sequence[Any]) -> dict[str, float]:
        """Pearson's r, Spearman's rho and the mean squared error; no correlation, 0, where one side is constant."""
        from scipy import stats

        gold = np.array([score for _, _, score in examples])
        related = np.ptp(predicted) > 0 and np.ptp(gold) > 0
        return {
            "pearson": float(stats.pearsonr(predicted, gold).statistic) if related else 0.0,
            "spearman": float(stats.spearmanr(predicted, gold).statistic) if related else 0.0,
            "mse": float(((predicted - gold) ** 2).mean()),
        }
