"""The paper's two tasks: the sentiment of phrases on SST, and the relatedness of pairs on SICK."""

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol
from zlib import crc32

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bough import Tree
from bough.errors import DataError
from bough.models.batching import NO_SPANS, UNLABELLED, PreparedTree, part, prepare_all
from bough.models.config import Config
from bough.models.model import Model
from bough.outputs.classes import mean_loss
from bough.outputs.ratings import correlations
from bough.train.tasks import (
    Floats,
    Indices,
    Learnable,
    NodesTask,
    PairsTask,
    RatedPair,
    pieces,
    shuffled,
)
from bough.trees.builders import chain, subtree
from paper.config import PaperConfig
from paper.parses import NONE, PAPER, Parse, choose_trees
from paper.sick import Pair, load_sick, sick_files
from paper.sst import load_sst, sst_files, words_of

# the labels of the binary task without the class neutral
POLAR: Mapping[Hashable, int | None] = {None: None, 0: 0, 1: None, 2: 1}


class Task(Learnable, Protocol):
    """The examples of one data set: `read` returns trees, `prepare` turns them into what `loss` and `predict` take.

    `to_learn` prepares the training split, which may have other examples. `finish` may calibrate
    the chosen model on dev before test is read. `figures` returns the metrics of the test split.
    """

    config: PaperConfig
    data: Path  # the data folder
    trees_by: str  # whose trees it reads, see `paper.parses`

    def read(self, split: str) -> list[Any]: ...
    def files(self, split: str) -> list[Path]: ...
    def trees(self, examples: Sequence[Any]) -> Iterator[Tree]: ...
    def prepare(self, examples: Sequence[Any], model: Model) -> list[Any]: ...

    def to_learn(self, examples: Sequence[Any], model: Model) -> list[Any]:
        return self.prepare(examples, model)

    def finish(self, model: Model, dev: Sequence[Any]) -> None:
        return  # a subclass may calibrate the model

    def figures(self, model: Model, predicted: Floats, examples: Sequence[Any]) -> dict[str, float]:
        return self.metrics(predicted, examples)


def read_some(task: Task, split: str) -> list[Any]:
    """Return the examples of a split. Raise a DataError if there are none."""
    examples = task.read(split)
    if not examples:
        raise DataError(f"{task.files(split)[0]}: no examples for {split}")
    return examples


def word_counts(task: Task, examples: Sequence[Any]) -> Counter[str]:
    return Counter(token for tree in task.trees(examples) for token in tree.tokens or () if token is not None)


class RelatednessTask(PairsTask, Task):
    """SICK: two sentences and how related they are, 1 to 5 (Sec. 4.2)."""

    def __init__(self, config: PaperConfig, data: Path) -> None:
        super().__init__(config, config.output)
        self.config: PaperConfig = config
        self.data = data
        self.parse = "dependency" if config.system else parse_for(config, "dependency")
        self.trees_by = choose_trees(config.trees, data, "sick", self.parse)
        if config.reads_words and self.trees_by != PAPER:
            self.trees_by = NONE  # the words are in the official text

    def read(self, split: str) -> list[Pair]:
        check, scale = self.config.source == "data", self.config.scale
        pairs = load_sick(self.data, split, parse=self.parse, trees=self.trees_by, check=check, scale=scale)
        return pairs[: self.config.max_examples or None]

    def files(self, split: str) -> list[Path]:
        return sick_files(self.data, split, self.parse, self.trees_by)

    def trees(self, examples: Sequence[Pair]) -> Iterator[Tree]:
        return (tree for pair in examples for tree in (pair.left, pair.right))

    def prepare(self, examples: Sequence[Pair], model: Model) -> list[RatedPair]:
        sides = zip(*((pair.left, pair.right) for pair in examples), strict=True)
        left, right = (prepare_all(side, model) for side in sides)
        return [RatedPair(a, b, pair.score) for a, b, pair in zip(left, right, examples, strict=True)]

    def predict(self, model: Model, examples: Sequence[RatedPair]) -> Floats:
        """Return (n,) the ratings."""
        return super().predict(model, examples)[:, 0]

    def metrics(self, predicted: Floats, examples: Sequence[RatedPair]) -> dict[str, float]:
        """Return Pearson's r, Spearman's rho and the mean squared error."""
        return correlations(predicted, np.array([pair.rating for pair in examples]))


class SentimentTask(NodesTask, Task):
    """SST: every labelled node is classified; the root is the sentence (Sec. 4.1)."""

    def __init__(self, config: PaperConfig, data: Path) -> None:
        super().__init__(config, config.output)
        self.config: PaperConfig = config
        self.metric = "binary" if config.task == "sst2" else "accuracy"
        self.data = data
        self.parse = parse_for(config, "constituency")
        self.trees_by = choose_trees(config.trees, data, "sst", self.parse)
        self.of_phrases = config.examples == "phrases" or bool(config.system)

    def read(self, split: str) -> list[Tree]:
        task: Literal["fine", "binary"] = "binary" if self.config.task == "sst2" else "fine"
        neutral = self.of_phrases and split == "train"  # phrases of neutral sentences are examples too
        trees = load_sst(
            self.data,
            split,
            task=task,
            parse=self.parse,
            trees=self.trees_by,
            neutral=neutral,
            check=self.config.source == "data",
        )
        if self.config.neutral == "unlabelled":
            trees = [tree.replace(labels=[POLAR[label] for label in tree.labels or ()]) for tree in trees]
        return trees[: self.config.max_examples or None]

    def files(self, split: str) -> list[Path]:
        return sst_files(self.data, split, self.parse, self.trees_by)

    def trees(self, examples: Sequence[Tree]) -> Iterator[Tree]:
        return iter(examples)

    def prepare(self, examples: Sequence[Tree], model: Model) -> list[PreparedTree]:
        return prepare_all(examples, model)

    def to_learn(self, examples: Sequence[Tree], model: Model) -> list[PreparedTree]:
        if self.of_phrases:
            return phrases(examples, model)
        return self.prepare(examples, model) + phrases_alone(examples, model, self.config.extra_phrases)

    def batches(self, examples: Sequence[PreparedTree], rng: np.random.Generator) -> list[Indices]:
        if self.of_phrases:
            return alike(np.array([len(phrase.keys) for phrase in examples]), self.config.batch_size, rng)
        return super().batches(examples, rng)

    def loss(
        self,
        model: Model,
        batch: Sequence[PreparedTree],
        rng: np.random.Generator,
        whole: Sequence[PreparedTree] | None = None,
    ) -> Tensor:
        """Return the loss of all labelled nodes, or of the sentences and sampled phrases."""
        every = batch if whole is None else whole
        # the numbers of trees, of labelled nodes and of labelled roots that the loss is divided by
        trees, nodes = len(every), sum(tree.labelled for tree in every)
        roots = sum(map(_counted_root, every))
        # labelled phrases that are no nodes of the tree are sampled as trees of their own
        if (not model.layer.phrases or self.config.shape == "balanced") and not self.of_phrases:
            spans = sum(min(self.config.spans, len(tree.spans)) for tree in every)
            trees, nodes = trees + spans, nodes + spans
            batch = [each for tree in batch for each in with_spans(tree, self.config.spans, rng)]
        labelled = self.labelled_nodes(model, batch)
        states, labels = labelled.states, torch.from_numpy(labelled.labels).to(labelled.states.device)
        loss: Tensor = model.head.loss(states, labels, labelled.rows)
        if self.config.loss_over == "trees":
            # NOTE(paper): not the mean over labelled nodes, 1/m, but their sum over the number of trees.
            return loss / trees
        loss = loss / max(1, nodes)
        if self.config.root_weight:
            counted = [index for index, sentence in enumerate(batch) if _counted_root(sentence)]
            gold = torch.tensor(
                [batch[index].label for index in counted], dtype=torch.int64, device=states.device
            )
            of_roots = labelled.row_of[labelled.forest.roots[counted]]
            loss = loss + self.config.root_weight * model.head.loss(states, gold, of_roots) / max(1, roots)
        return loss

    @torch.no_grad()
    def phrase_accuracy(self, model: Model, examples: Sequence[PreparedTree]) -> float:
        """Return the accuracy on all labelled phrases, including whole sentences."""
        model.eval()
        rng, hits, total = np.random.default_rng(0), 0, 0
        for group in pieces(examples):
            phrases_too = [each for tree in group for each in with_spans(tree, len(tree.spans), rng)]
            labelled = self.labelled_nodes(model, phrases_too)
            chosen = model.head(labelled.states).argmax(dim=1).index_select(0, labelled.rows).cpu().numpy()
            hits += int((chosen == labelled.labels).sum())
            total += len(chosen)
        return hits / max(1, total)

    def figures(self, model: Model, predicted: Floats, examples: Sequence[PreparedTree]) -> dict[str, float]:
        """Return `metrics`, and for a model over a transformer also the accuracy of all phrases."""
        found = self.metrics(predicted, examples)
        return found if model.encoder is None else {**found, "phrases": self.phrase_accuracy(model, examples)}

    def metrics(self, predicted: Floats, examples: Sequence[PreparedTree]) -> dict[str, float]:
        """Return accuracy and loss at the root, and for five classes the derived binary accuracy."""
        return sentiment_figures(predicted, np.array([sentence.label for sentence in examples]), self.config)


def _counted_root(sentence: PreparedTree) -> bool:
    return not sentence.inner and sentence.label != UNLABELLED


def with_spans(sentence: PreparedTree, count: int, rng: np.random.Generator) -> list[PreparedTree]:
    """Return a sentence and at most `count` random labelled phrases, as trees of their own."""
    # NOTE(paper): the released program passes no gradient from the sampled spans to the forward LSTM; here all get it.
    picked = sentence.spans
    if len(picked) > count:
        picked = picked[rng.choice(len(picked), size=count, replace=False)]
    return [sentence, *(part(sentence, start, end, label) for start, end, label in picked.tolist())]


def sentiment_classes(predicted: Floats, config: PaperConfig) -> Indices:
    """Return (n,) the most probable classes; in the binary task never neutral."""
    if config.task == "sst2":
        return np.where(predicted[:, -1] > predicted[:, 0], predicted.shape[1] - 1, 0)
    return np.asarray(predicted.argmax(axis=1))


def sentiment_figures(predicted: Floats, gold: Indices, config: PaperConfig) -> dict[str, float]:
    """Return the metrics of `SentimentTask` for probabilities (n, K) and gold classes (n,)."""
    loss, right = mean_loss(predicted, gold), float((sentiment_classes(predicted, config) == gold).mean())
    if config.task == "sst2":
        return {"binary": right, "loss": loss}
    figures = {"accuracy": right}
    polar = gold != 2
    positive = predicted[:, 3] + predicted[:, 4] > predicted[:, 0] + predicted[:, 1]
    if polar.any():
        figures["binary"] = float((positive == (gold > 2))[polar].mean())
    return {**figures, "loss": loss}


def parse_for(config: Config, usual: Parse) -> Parse:
    """Return the kind of trees that the layer reads, or `usual` for one that reads words."""
    return usual if config.kind.reads == "words" else config.kind.reads


def alike(lengths: NDArray[np.int64], batch: int, rng: np.random.Generator) -> list[Indices]:
    """Return batches of examples of equal length, in random order."""
    groups = [np.flatnonzero(lengths == length) for length in np.unique(lengths)]
    found = [group[chosen] for group in groups for chosen in shuffled(len(group), batch, rng)]
    return [found[i] for i in rng.permutation(len(found))]


def phrases(trees: Sequence[Tree], model: Model) -> list[PreparedTree]:
    """Return every distinct labelled phrase of the trees as a chain of words, with the first label of the phrase.

    All out-of-vocabulary words count as one word, as in the model.
    """
    found: dict[bytes, PreparedTree] = {}
    chains: dict[int, Tree] = {}
    for tree in trees:
        ids = model.ids(words_of(tree))
        for (start, end), label in zip(tree.spans.tolist(), tree.labels or (), strict=True):
            keys = ids[start:end]
            if label is not None and keys.tobytes() not in found:
                if end - start not in chains:
                    chains[end - start] = chain(end - start)
                at_words = np.full(end - start, UNLABELLED, dtype=np.int64)
                at_words[-1] = label
                found[keys.tobytes()] = PreparedTree(chains[end - start], keys, at_words, NO_SPANS)
    return list(found.values())


def phrases_alone(trees: Sequence[Tree], model: Model, count: int) -> list[PreparedTree]:
    """Return `count` distinct phrases of two words or more, chosen by a hash of their words."""
    found: dict[tuple[str, ...], tuple[Tree, int]] = {}
    for tree in trees:
        words, labels = words_of(tree), tree.labels or ()
        for node, (start, end) in enumerate(tree.spans.tolist()):
            if end - start > 1 and node != tree.root and labels[node] is not None:
                found.setdefault(tuple(words[start:end]), (tree, node))
    # the order of the checksums is random but always the same
    ranked = sorted(found, key=lambda words: crc32(" ".join(words).encode()))
    return prepare_all([subtree(*found[words]) for words in ranked[:count]], model)
