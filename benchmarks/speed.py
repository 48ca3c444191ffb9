"""Measure the time of a training step against its matrix multiplications, recursion and plain torch."""

from __future__ import annotations

import platform
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

from benchmarks.corpora import BATCH, Corpus, sick_shaped, sst_shaped
from benchmarks.floors import relatedness_floor, sentiment_floor, shared_floor
from benchmarks.measure import (
    Figures,
    Work,
    best,
    by_equations,
    command,
    interleaved,
)
from benchmarks.steps import Batch, LevelsStep, RelatednessStep, SentimentStep, batch_of, pairs_of
from benchmarks.whole_step import WholeStep
from bough.nn import kernels
from bough.nn.engine import one_thread

RATIOS = {
    "floor_ratio": "SST step, over its bare matmuls",
    "train_floor_ratio": "the whole step of `python -m paper train`, over the same matmuls",
    "done_ratio": "SST step, over the matmuls that sharing leaves",
    "floor_ratio_unshared": "the same without sharing equal words",
    "recursion_speedup": "node-at-a-time recursion, over the SST step",
    "shared_floor_ratio": "SICK step, over its bare matmuls without sharing",
    "shared_train_floor_ratio": "the whole step of `python -m paper train`, over the same matmuls",
    "shared_done_ratio": "SICK step, over the matmuls that sharing leaves",
    "unshared_floor_ratio": "SICK step without sharing, over its bare matmuls",
    "equations_ratio": "SICK step by the layers' equations, over C",
    "busy_threads_ratio": "SICK training with a thread per core, over one thread, on a busy machine",
    "recursion_speedup_equations": "node-at-a-time recursion, over the SST step by the equations",
    "build_share": "building a forest, over the SST step",
    "growth_ratio": "time per node in the largest batch, over the smallest",
    "trees_per_second": "SST trees per second, forests built",
    "pairs_per_second": "SICK pairs per second",
}


@dataclass(frozen=True)
class Effort:
    """How much is measured. More batches and rounds take longer and vary less."""

    batches: int = 24
    rounds: int = 7
    recursive_batches: int = 2
    recursive_rounds: int = 3
    trees: tuple[int, ...] = (25, 2500)  # sizes of batches, for the time per node
    growth_rounds: int = 3


FULL = Effort()
QUICK = Effort(2, 1, 1, 1, (5, 50), 1)


def run_bench(data: Path | None = None, *, effort: Effort = FULL) -> Figures:
    """Measure a training step, as ratios of processor time on one thread.

    `data` is a folder with SST and SICK. Without it, the data folder of the library is searched, and random trees of
    the same shapes replace a data set that is not there. `data` and `pairs_data` of the result say which were used.
    """
    started = time.perf_counter()
    with one_thread(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        corpus = sst_shaped(data, max(*effort.trees, effort.batches * BATCH))
        figures: Figures = {"data": corpus.source, "torch": torch.__version__, "machine": platform.machine()}
        figures["layers_by"] = kernels.why()
        figures |= sentiment_figures(corpus, effort)
        figures |= recursion_figures(corpus, effort)
        figures |= relatedness_figures(data, effort)
        figures |= growth(corpus, effort)
    return figures | {"seconds": time.perf_counter() - started}


def sentiment_figures(corpus: Corpus, effort: Effort) -> Figures:
    """Return the figures of a step on SST, with and without sharing, over its bare matmuls.

    `trees_per_second` includes the time to build the forests. `done_ratio` compares with the matmuls that are left
    when equal words and phrases are computed once.
    """
    starts = range(0, effort.batches * BATCH, BATCH)
    shared = [batch_of(corpus, start, BATCH) for start in starts]
    plain = [batch_of(corpus, start, BATCH, shared=False) for start in starts]
    system, whole = SentimentStep(corpus.words), WholeStep("sst5-constituency-tuned", corpus)
    floors, left = [sentiment_floor(b.forest) for b in plain], [shared_floor(b.forest, 2) for b in shared]
    contenders: list[Work] = [
        lambda number: system.step(shared[number]),
        lambda number: system.step(plain[number]),
        lambda number: floors[number].run(),
        lambda number: left[number].run(),
        lambda number: corpus.forest(starts[number], BATCH, shared=True).children,
        whole,
    ]
    seconds = interleaved(contenders, effort.batches, effort.rounds)
    step, unshared, bare, done, build, trained = (best(taken) for taken in seconds)
    return {
        "floor_ratio": step / bare,
        "floor_ratio_unshared": unshared / bare,
        "done_ratio": step / done,
        "train_floor_ratio": trained / bare,
        "trees_per_second": effort.batches * BATCH / (step + build),
        "build_share": build / step,
    }


def recursion_figures(corpus: Corpus, effort: Effort) -> Figures:
    """Return the time of recursion over that of the step on SST, by the fastest path and by the equations."""
    batches = [batch_of(corpus, start * BATCH, BATCH) for start in range(effort.recursive_batches)]
    system = SentimentStep(corpus.words)
    contenders: list[Work] = [
        lambda number: system.step(batches[number]),
        by_equations(lambda number: system.step(batches[number])),
        lambda number: system.recursive_step(batches[number]),
    ]
    seconds = interleaved(contenders, effort.recursive_batches, effort.recursive_rounds)
    step, equations, recursion = (best(taken) for taken in seconds)
    return {
        "recursion_speedup": recursion / step,
        "recursion_speedup_equations": recursion / equations,
    }


def relatedness_figures(data: Path | None, effort: Effort) -> Figures:
    """Return the figures of a step on SICK's pairs over its bare matmuls without sharing, and of plain torch."""
    corpus, ratings = sick_shaped(data, effort.batches * BATCH)
    starts = range(0, effort.batches * BATCH, BATCH)
    shared = [pairs_of(corpus, ratings, start, BATCH, shared=True) for start in starts]
    plain = [pairs_of(corpus, ratings, start, BATCH, shared=False) for start in starts]
    system, whole = RelatednessStep(corpus.words), WholeStep("sick-dependency", corpus, ratings)
    floors, left = [relatedness_floor(b.forest) for b in plain], [shared_floor(b.forest, 0) for b in shared]
    contenders: list[Work] = [
        lambda number: system.step(shared[number]),
        by_equations(lambda number: system.step(shared[number])),
        lambda number: system.step(plain[number]),
        lambda number: floors[number].run(),
        lambda number: left[number].run(),
        whole,
    ]
    seconds = interleaved(contenders, effort.batches, effort.rounds)
    step, equations, unshared, bare, done, trained = (best(taken) for taken in seconds)
    return {
        "pairs_data": corpus.source,
        "shared_floor_ratio": step / bare,
        "unshared_floor_ratio": unshared / bare,
        "shared_done_ratio": step / done,
        "shared_train_floor_ratio": trained / bare,
        "equations_ratio": equations / step,
        "busy_threads_ratio": whole.busy_ratio(effort.recursive_rounds),
        "pairs_per_second": effort.batches * BATCH / step,
        "peers": peer_figures(plain, shared, corpus.words, effort.recursive_rounds),
    }


def peer_figures(
    plain: Sequence[Batch], shared: Sequence[Batch], words: int, rounds: int
) -> dict[str, float]:
    """Return trees per second of each implementation. Schedules and forests are built beforehand."""
    system = RelatednessStep(words, output_gate=True)
    contenders: dict[str, Work] = {
        "bough, equal phrases once": lambda number: system.step(shared[number]),
        "bough, nothing shared": lambda number: system.step(plain[number]),
        "plain torch by levels": LevelsStep(plain, words),
    }
    seconds = interleaved(list(contenders.values()), len(plain), rounds)
    trees = sum(len(batch.forest) for batch in plain)
    return {name: trees / best(taken) for name, taken in zip(contenders, seconds, strict=True)}


def growth(corpus: Corpus, effort: Effort) -> Figures:
    """Return the time per node in the largest batch, over that in the smallest.

    Nothing is shared, because a larger batch would share more.
    """
    system, most = SentimentStep(corpus.words), max(effort.trees)

    def per_node(size: int) -> float:
        starts = np.linspace(0, most - size, min(most // size, 10)).astype(int).tolist()
        batches = [batch_of(corpus, start, size, shared=False) for start in starts]
        works: list[Work] = [lambda number: system.step(batches[number])]
        (taken,) = interleaved(works, len(batches), effort.growth_rounds)
        return best(taken) / sum(batch.forest.num_nodes for batch in batches)

    return {"growth_ratio": per_node(most) / per_node(min(effort.trees))}


def show(result: Figures) -> None:
    """Print the figures as tables."""
    title = f"one thread, {result['data']} and {result['pairs_data']} trees, torch {result['torch']}"
    title += f"\nlayers by {result['layers_by']}"
    table = Table("what", "figure", title=title, title_justify="left")
    for key, meaning in RATIOS.items():
        table.add_row(meaning, f"{result[key]:,.0f}" if "per_second" in key else f"{result[key]:.2f}")
    for peer, speed in result["peers"].items():
        table.add_row(f"SICK trees per second, Child-Sum: {peer}", f"{speed:,.0f}")
    Console().print(table)


def main() -> None:
    """Run the command."""
    command("speed", run_bench, show, reads_data=True)


if __name__ == "__main__":
    main()
