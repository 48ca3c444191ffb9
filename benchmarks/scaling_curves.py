"""How a step's time and memory grow: with the trees of a batch, with their depth, with d."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.constituency import Batch, SentimentStep, batch_of
from benchmarks.corpora import BATCH, Corpus, combs
from benchmarks.measure import best, interleaved, peak_bytes
from bough.nn.kernels.buffers import forget_buffers

Row = dict[str, float]


def with_trees(corpus: Corpus, sizes: Sequence[int], rounds: int) -> list[Row]:
    """Batches of the same trees, small and large, nothing shared: larger ones would share more."""
    system, most = SentimentStep(corpus.words), max(sizes)
    rows: list[Row] = []
    for size in sizes:
        starts = np.linspace(0, most - size, min(most // size, 10)).astype(int).tolist()
        batches = [batch_of(corpus, start, size, shared=False) for start in starts]
        rows.append({"trees": size, **_cost(system, batches, rounds)})
    return rows


def with_depth(leaves: int, trees: Sequence[int], rounds: int) -> list[Row]:
    """The same number of nodes as many shallow or a few deep trees, down to a single node per level."""
    system = SentimentStep(leaves + 1)
    rows: list[Row] = []
    for count in trees:
        shapes = combs(count, leaves // count)
        keys = [np.where(tree.degrees == 0, 1 + np.arange(len(tree)) % leaves, 0) for tree in shapes]
        labels = [np.zeros(len(tree), dtype=np.int64) for tree in shapes]
        batch = batch_of(Corpus("combs", shapes, keys, labels, leaves + 1), 0, count, shared=False)
        levels = {"levels": len(batch.forest.level_sizes)}
        rows.append({"trees": count, **levels, **_cost(system, [batch], rounds)})
    return rows


def with_d(corpus: Corpus, widths: Sequence[int], rounds: int) -> list[Row]:
    """The paper's batches with wider and narrower states."""
    batches = [
        batch_of(corpus, start, BATCH, shared=False) for start in range(0, min(len(corpus.trees), 250), BATCH)
    ]
    return [{"d": d, **_cost(SentimentStep(corpus.words, d), batches, rounds)} for d in widths]


def _cost(system: SentimentStep, batches: Sequence[Batch], rounds: int) -> Row:
    """Time over all batches, memory of the first."""
    nodes = sum(batch.forest.size for batch in batches)
    (seconds,) = interleaved([lambda number: system.step(batches[number])], len(batches), rounds)
    system.optimizer.zero_grad()  # so that the measured step frees nothing it did not allocate
    forget_buffers()  # those of the steps before would not show
    peak = peak_bytes(lambda: system.step(batches[0]))
    return {
        "nodes": nodes / len(batches),
        "us_per_node": best(seconds) / nodes * 1e6,
        "peak_mb": peak / 2**20,
        "bytes_per_node": peak / batches[0].forest.size,
    }
