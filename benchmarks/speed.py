"""Compare a training step with its matrix multiplications, recursion and plain torch."""

import json
import platform
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

from benchmarks import steps
from benchmarks.corpora import BATCH, Corpus, sick_shaped, sst_shaped
from benchmarks.measure import AsJson, Figures, Work, best_seconds, by_equations
from benchmarks.store import Store, made_by, store
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
    """Extent of the measurement. More batches and rounds take longer and vary less."""

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

    `data` is a folder with SST and SICK. Without it, the data folder of the library is searched,
    and random trees of the same shapes replace a data set that is not there. `data` and
    `pairs_data` of the result say which were used.
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

    `trees_per_second` includes the time to build the forests. `done_ratio` compares with the
    matmuls that are left when equal words and phrases are computed once.
    """
    contenders = step_contenders(steps.SentimentStep(corpus.words), corpus, effort)
    contenders["train"] = steps.WholeStep("sst5-constituency-tuned", corpus)
    contenders["build"] = lambda number: corpus.batch(number * BATCH).forest.children
    taken = best_seconds(contenders, effort.batches, effort.rounds)
    return {
        "floor_ratio": taken["step"] / taken["bare"],
        "floor_ratio_unshared": taken["unshared"] / taken["bare"],
        "done_ratio": taken["step"] / taken["left"],
        "train_floor_ratio": taken["train"] / taken["bare"],
        "trees_per_second": effort.batches * BATCH / (taken["step"] + taken["build"]),
        "build_share": taken["build"] / taken["step"],
    }


def step_contenders(
    system: steps.SentimentStep | steps.RelatednessStep, corpus: Corpus, effort: Effort
) -> dict[str, Work]:
    """Return a step with and without sharing, its bare matmuls, and those that sharing leaves."""
    starts = range(0, effort.batches * BATCH, BATCH)
    shared = [corpus.batch(start) for start in starts]
    plain = [corpus.batch(start, shared=False) for start in starts]
    floor, arity = (steps.sentiment_floor, 2) if corpus.ratings is None else (steps.relatedness_floor, 0)
    bare, left = [floor(b.forest) for b in plain], [steps.shared_floor(b.forest, arity) for b in shared]
    return {
        "step": lambda number: system.step(shared[number]),
        "unshared": lambda number: system.step(plain[number]),
        "bare": lambda number: bare[number].run(),
        "left": lambda number: left[number].run(),
    }


def recursion_figures(corpus: Corpus, effort: Effort) -> Figures:
    """Return the time of recursion over that of a step on SST, by kernels and by equations."""
    batches = [corpus.batch(start * BATCH) for start in range(effort.recursive_batches)]
    system = steps.SentimentStep(corpus.words)
    contenders: dict[str, Work] = {
        "step": lambda number: system.step(batches[number]),
        "equations": by_equations(lambda number: system.step(batches[number])),
        "recursion": lambda number: system.recursive_step(batches[number]),
    }
    taken = best_seconds(contenders, effort.recursive_batches, effort.recursive_rounds)
    return {
        "recursion_speedup": taken["recursion"] / taken["step"],
        "recursion_speedup_equations": taken["recursion"] / taken["equations"],
    }


def relatedness_figures(data: Path | None, effort: Effort) -> Figures:
    """Return the figures of a step on SICK over its unshared matmuls, and of plain torch."""
    corpus = sick_shaped(data, effort.batches * BATCH)
    contenders, gated, by_levels = (
        step_contenders(steps.RelatednessStep(corpus.words, **how), corpus, effort)
        for how in ({}, {"output_gate": True}, {"by_levels": True})
    )
    contenders["train"] = whole = steps.WholeStep("sick-dependency", corpus)
    contenders["equations"] = by_equations(contenders["step"])
    taken = best_seconds(contenders, effort.batches, effort.rounds)
    peers = {
        "bough, equal phrases once": gated["step"],
        "bough, nothing shared": gated["unshared"],
        "plain torch by levels": by_levels["unshared"],
    }
    theirs = best_seconds(peers, effort.batches, effort.recursive_rounds)
    return {
        "pairs_data": corpus.source,
        "shared_floor_ratio": taken["step"] / taken["bare"],
        "unshared_floor_ratio": taken["unshared"] / taken["bare"],
        "shared_done_ratio": taken["step"] / taken["left"],
        "shared_train_floor_ratio": taken["train"] / taken["bare"],
        "equations_ratio": taken["equations"] / taken["step"],
        "busy_threads_ratio": whole.busy_ratio(effort.recursive_rounds),
        "pairs_per_second": effort.batches * BATCH / taken["step"],
        # trees per second of each implementation; schedules and forests are built beforehand
        "peers": {name: 2 * effort.batches * BATCH / seconds for name, seconds in theirs.items()},
    }


def growth(corpus: Corpus, effort: Effort) -> Figures:
    """Return the time per node in the largest batch, over that in the smallest.

    Nothing is shared, because a larger batch would share more.
    """
    system, most = steps.SentimentStep(corpus.words), max(effort.trees)

    def per_node(size: int) -> float:
        starts = np.linspace(0, most - size, min(most // size, 10)).astype(int).tolist()
        batches = [corpus.batch(start, size, shared=False) for start in starts]
        step: dict[str, Work] = {"step": lambda number: system.step(batches[number])}
        taken = best_seconds(step, len(batches), effort.growth_rounds)["step"]
        return taken / sum(batch.forest.num_nodes for batch in batches)

    return {"growth_ratio": per_node(most) / per_node(min(effort.trees))}


def speed(*, data: Path | None = None, as_json: AsJson = False, keep: Store = False) -> None:
    """Compare a training step with its matrix multiplications, recursion and plain torch, on one thread.

    Parameters
    ----------
    data
        Data folder; without data, random trees of the same shapes.
    """
    result = run_bench(data)
    if keep:
        store("speed", {**result, "made_by": made_by()})
    if as_json:
        print(json.dumps(result, indent=2))
        return
    title = f"one thread, {result['data']} and {result['pairs_data']} trees, torch {result['torch']}"
    title += f"\nlayers by {result['layers_by']}"
    table = Table("what", "figure", title=title, title_justify="left")
    for key, meaning in RATIOS.items():
        table.add_row(meaning, f"{result[key]:,.0f}" if "per_second" in key else f"{result[key]:.2f}")
    for peer, rate in result["peers"].items():
        table.add_row(f"SICK trees per second, Child-Sum: {peer}", f"{rate:,.0f}")
    Console().print(table)
