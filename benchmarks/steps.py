"""Training steps to time on SST and SICK, and their matrix multiplications alone."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from benchmarks.corpora import BATCH, Batch, Corpus
from benchmarks.recursion import climb, nary
from bough import Forest
from bough.models.batching import NO_SPANS, PreparedTree
from bough.models.model import Model
from bough.nn import ChildSumTreeLSTM, Classifier, NaryTreeLSTM, Similarity
from bough.train.checkpoint import TrainingState
from bough.train.loop import learn
from bough.train.optimizer import ModelOptimizer, adagrad
from bough.train.tasks import RatedPair
from paper.recipes import load_recipe
from paper.tasks import Task

X, D = 300, 150  # widths of an input and of a state
CLASSES, SCALE, HIDDEN = 5, 5, 50  # SST's classes, SICK's ratings, and the width of the similarity's h_s
Shape = tuple[int, int, int]  # (m, k, n) of a product of an (m, k) and a (k, n) matrix


class SentimentStep:
    """Run forward, the loss of every node, backward to weights and word vectors, and AdaGrad."""

    def __init__(self, words: int, d: int = D, x: int = X) -> None:
        self.layer, self.head = NaryTreeLSTM(x, d, leaf="affine"), Classifier(d, CLASSES)
        self.table = torch.randn(words, x) * 0.1
        self.optimizer = adagrad([*self.layer.parameters(), *self.head.parameters()])

    def step(self, batch: Batch) -> None:
        forest = batch.forest
        ids = batch.ids.index_select(0, self.layer.input_nodes(forest))
        rows = self.table.index_select(0, ids).requires_grad_()
        h, _ = self.layer.compose(self.layer.input_map(rows), forest)  # (U, D)
        self._learn(self.head.loss(h, batch.targets, forest.unique_of), batch)

    def recursive_step(self, batch: Batch) -> None:
        """Run the step one node at a time."""
        rows = self.table.index_select(0, batch.ids).requires_grad_()
        h, _ = climb(nary(self.layer), rows, batch.forest.trees)
        self._learn(functional.cross_entropy(self.head(h), batch.targets, reduction="sum"), batch)

    def _learn(self, losses: Tensor, batch: Batch) -> None:
        self.optimizer.zero_grad()
        (losses / len(batch.forest)).backward()
        self.optimizer.step()


class RelatednessStep:
    """Run forward, the loss of pairs, backward to the weights, and AdaGrad; word vectors are fixed."""

    def __init__(
        self, words: int, d: int = D, x: int = X, *, output_gate: bool = False, by_levels: bool = False
    ) -> None:
        self.layer = ByLevels() if by_levels else ChildSumTreeLSTM(x, d, output_gate=output_gate)
        self.head = Similarity(d, hidden=HIDDEN, classes=SCALE)
        self.table = torch.randn(words, x) * 0.1
        self.optimizer = adagrad([*self.layer.parameters(), *self.head.parameters()])

    def step(self, batch: Batch) -> None:
        forest, roots = batch.forest, batch.forest.roots
        if isinstance(self.layer, ByLevels):
            sentences = self.layer(self.table.index_select(0, batch.ids), forest).index_select(0, roots)
        else:
            rows = self.table.index_select(0, batch.ids.index_select(0, self.layer.input_nodes(forest)))
            h, _ = self.layer.compose(self.layer.input_map(rows), forest)  # (U, D)
            sentences = h.index_select(0, forest.unique_of.index_select(0, roots))  # (2 * pairs, D)
        loss = self.head.loss(sentences[::2], sentences[1::2], batch.targets)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


class ByLevels(nn.Module):
    """The Child-Sum Tree-LSTM in plain torch: a loop over levels, `index_add`, autograd."""

    def __init__(self) -> None:
        super().__init__()
        self.W_iou, self.U_iou = nn.Linear(X, 3 * D), nn.Linear(D, 3 * D, bias=False)
        self.W_f, self.U_f = nn.Linear(X, D), nn.Linear(D, D, bias=False)

    def forward(self, x: Tensor, forest: Forest) -> Tensor:
        iou_x, f_x = (layer(x).index_select(0, forest.node_of) for layer in (self.W_iou, self.W_f))
        h, c = x.new_zeros(0, D), x.new_zeros(0, D)
        for (start, end), edges in zip(forest.slices, forest.edge_slices, strict=True):
            children, parents = forest.children[edges], forest.edge_parents[edges] - start
            h_k, c_k = h[children], c[children]
            h_sum = x.new_zeros(end - start, D).index_add(0, parents, h_k)
            i, o, u = (iou_x[start:end] + self.U_iou(h_sum)).chunk(3, dim=1)
            f = torch.sigmoid(f_x[start:end][parents] + self.U_f(h_k))
            below = x.new_zeros(end - start, D).index_add(0, parents, f * c_k)
            cell = torch.sigmoid(i) * torch.tanh(u) + below
            h, c = torch.cat([h, torch.sigmoid(o) * torch.tanh(cell)]), torch.cat([c, cell])
        return h.index_select(0, forest.unique_of)


class WholeStep:
    """Train the model of a recipe on a corpus, one batch at a time as the training loop does."""

    def __init__(self, recipe: str, corpus: Corpus) -> None:
        config = self.config = load_recipe(recipe)
        self.task: Task = config.build_task(Path())  # it reads no files here
        table = torch.randn(corpus.words, config.embedding_size) * 0.1
        words = [str(word) for word in range(corpus.words - 1)]
        self.model = Model(config.for_model(), config.output, words, (), table).train()
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


class Matmuls:
    """Products of random (m, k) and (k, n) matrices, computed in order."""

    def __init__(self, shapes: list[Shape]) -> None:
        sizes = {size for m, k, n in shapes for size in ((m, k), (k, n))}
        matrices = {size: torch.randn(size) for size in sorted(sizes)}
        self.pairs = [(matrices[m, k], matrices[k, n]) for m, k, n in shapes]

    @torch.no_grad()
    def run(self) -> None:
        for left, right in self.pairs:
            torch.mm(left, right)


def sentiment_floor(forest: Forest, d: int = D, x: int = X) -> Matmuls:
    """Return the matmuls of a step on SST: the affine leaves, the gates level by level, the classifier.

    Each map has three: forward, and backward to its input and to its weights.
    """
    inner = forest.num_unique - forest.num_unique_leaves
    levels = forest.level_sizes[1:]
    maps = [(forest.num_unique_leaves, x, 2 * d), (forest.num_unique, d, CLASSES)]
    shapes = [(n, 2 * d, 5 * d) for n in levels] + [(n, 5 * d, 2 * d) for n in reversed(levels)]
    return Matmuls([*_trained(maps), *shapes, (2 * d, inner, 5 * d)])


def relatedness_floor(forest: Forest, d: int = D, x: int = X) -> Matmuls:
    """Return the matmuls of a step on SICK. Fixed vectors get no gradient: the input map has two."""
    inner, edges, pairs = forest.num_unique - forest.num_unique_leaves, len(forest.children), len(forest) // 2
    head = [(pairs, 2 * d, HIDDEN), (pairs, HIDDEN, SCALE)]
    levels = list(zip(forest.level_sizes, forest.edge_sizes, strict=True))[1:]
    shapes = [(forest.num_unique, x, 3 * d), (3 * d, forest.num_unique, x)]
    for nodes, children in levels:
        shapes += [(nodes, d, 2 * d), (children, d, d)]
    for nodes, children in reversed(levels):
        shapes += [(nodes, 2 * d, d), (children, d, d)]
    return Matmuls([*shapes, (d, inner, 2 * d), (d, edges, d), *_trained(head)])


def shared_floor(forest: Forest, arity: int, d: int = D, x: int = X) -> Matmuls:
    """Return the matmuls of a compiled step, which computes every distinct input and every distinct child once.

    The forest shares equal subtrees. `arity` is 2 for the step on SST and 0 for the step on SICK.
    """
    counts = [count for count in first_read(forest, arity) if count]
    gates = (5 if arity else 3) * d  # u, i, f_1, f_2, o; without an output gate u, i, f
    shapes = [(n, d, gates) for n in counts] + [(n, gates, d) for n in reversed(counts)]
    shapes.append((d, sum(counts), gates))
    if arity:  # the word vectors are trained too
        return Matmuls(
            [*shapes, *_trained([(forest.num_unique_leaves, x, 2 * d), (forest.num_nodes, d, CLASSES)])]
        )
    inputs, pairs = len(forest.inputs), len(forest) // 2
    head = [(pairs, 2 * d, HIDDEN), (pairs, HIDDEN, SCALE)]
    return Matmuls([*shapes, (inputs, x, 3 * d), (3 * d, inputs, x), *_trained(head)])


def first_read(forest: Forest, arity: int) -> list[int]:
    """Return for each level the number of new children (and slots, if `arity` is not 0)."""
    places = forest.edge_places.numpy() if arity else np.zeros(len(forest.children), dtype=np.int64)
    keys = forest.children.numpy() * max(arity, 1) + places
    _, some = np.unique(keys, return_index=True)  # edges are sorted by level, so the first is the lowest
    bounds = [part.stop for part in forest.edge_slices]
    counts: list[int] = np.diff(np.searchsorted(np.sort(some), [0, *bounds])).tolist()
    return counts


def _trained(maps: list[Shape]) -> list[Shape]:
    """Return the matmuls of maps of m rows from k to n columns: forward and both gradients."""
    return [shape for m, k, n in maps for shape in ((m, k, n), (m, n, k), (n, m, k))]
