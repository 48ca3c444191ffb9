"""What the layers cost, against the arithmetic alone and against plain recursion, as ratios in one run."""

from __future__ import annotations

import argparse
import json
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Table

from benchmarks.competitors import peer_figures
from benchmarks.constituency import SentimentStep, batch_of
from benchmarks.corpora import BATCH, Corpus, sick_shaped, sst_shaped
from benchmarks.dependency import RelatednessStep, pairs_of
from benchmarks.floors import relatedness_floor, sentiment_floor, shared_floor
from benchmarks.measure import best, by_equations, interleaved, spread
from benchmarks.scaling_curves import with_d, with_depth, with_trees
from benchmarks.whole_step import WholeStep
from bough.nn import kernels
from bough.nn.engine import one_thread

__all__ = ["FULL", "QUICK", "Effort", "run_bench"]

Figures = dict[str, Any]
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
    "recursion_speedup_equations": "node-at-a-time recursion, over the SST step by the equations",
    "build_share": "building a forest, over the SST step",
    "growth_ratio": "time per node in the largest batch, over the smallest",
    "trees_per_second": "SST trees per second, forests built",
    "pairs_per_second": "SICK pairs per second",
}


@dataclass(frozen=True)
class Effort:
    """How much is measured: more batches and rounds take longer and are less at the mercy of the machine."""

    batches: int = 24
    rounds: int = 7
    recursive_batches: int = 2
    recursive_rounds: int = 3
    trees: tuple[int, ...] = (25, 250, 2500)
    leaves: int = 1600  # of the trees whose depth grows
    combs: tuple[int, ...] = (100, 25, 4)
    widths: tuple[int, ...] = (75, 150, 300)
    growth_rounds: int = 3


FULL = Effort()
QUICK = Effort(2, 1, 1, 1, (5, 50), 40, (10, 2), (10, 20), 1)


def run_bench(
    data: Path | None = None, *, effort: Effort = FULL, tell: Callable[[str], None] = lambda what: None
) -> Figures:
    """Every figure of `python -m benchmarks speed`, by name; ratios are of CPU seconds in this run and one thread.

    `data` is a folder with SST and SICK; without it they are looked for in the usual places, and where they
    are not found random trees of the same shapes stand in, as `data` and `pairs_data` of the result say.
    `growth_ratio` is the time per node in the largest batch over that in the smallest. `tell` is called with
    what is measured next.
    """
    started = time.perf_counter()
    with one_thread(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        corpus = sst_shaped(data, max(*effort.trees, effort.batches * BATCH))
        figures: Figures = {"data": corpus.source, "torch": torch.__version__, "machine": platform.machine()}
        figures["layers_by"] = kernels.why()
        tell("a training step on SST's trees, and its matmuls alone")
        figures |= sentiment_figures(corpus, effort)
        tell("the same, one node at a time")
        figures |= recursion_figures(corpus, effort)
        tell("a training step on SICK's pairs, and its matmuls alone")
        figures |= relatedness_figures(data, effort)
        tell("growth with the number of trees")
        growth = with_trees(corpus, effort.trees, effort.growth_rounds)
        figures |= {
            "growth_trees": growth,
            "growth_ratio": growth[-1]["us_per_node"] / growth[0]["us_per_node"],
        }
        tell("growth with depth")
        figures["growth_depth"] = with_depth(effort.leaves, effort.combs, effort.growth_rounds)
        tell("growth with d")
        figures["growth_d"] = with_d(corpus, effort.widths, effort.growth_rounds)
    return figures | {"seconds": time.perf_counter() - started}


def sentiment_figures(corpus: Corpus, effort: Effort) -> Figures:
    """A step with and without sharing against the bare matmuls, and what building its forest adds.

    `trees_per_second` is that of steps with sharing, the building of their forests included; `done_ratio` is over
    the matmuls that are left when equal words and phrases are computed once.
    """
    starts = range(0, effort.batches * BATCH, BATCH)
    shared = [batch_of(corpus, start, BATCH) for start in starts]
    plain = [batch_of(corpus, start, BATCH, shared=False) for start in starts]
    system, whole = SentimentStep(corpus.words), WholeStep("sst5-constituency-tuned", corpus)
    floors, left = [sentiment_floor(b.forest) for b in plain], [shared_floor(b.forest, 2) for b in shared]
    step, unshared, bare, done, build, trained = interleaved(
        [
            lambda number: system.step(shared[number]),
            lambda number: system.step(plain[number]),
            lambda number: floors[number].run(),
            lambda number: left[number].run(),
            lambda number: corpus.forest(starts[number], BATCH, shared=True).slots(2),
            whole,
        ],
        effort.batches,
        effort.rounds,
    )
    per_batch = 1000 / effort.batches
    return {
        "floor_ratio": best(step) / best(bare),
        "floor_ratio_spread": spread(step, bare),
        "floor_ratio_unshared": best(unshared) / best(bare),
        "done_ratio": best(step) / best(done),
        "train_floor_ratio": best(trained) / best(bare),
        "trees_per_second": effort.batches * BATCH / (best(step) + best(build)),
        "step_ms": best(step) * per_batch,
        "floor_ms": best(bare) * per_batch,
        "build_ms": best(build) * per_batch,
        "build_share": best(build) / best(step),
    }


def recursion_figures(corpus: Corpus, effort: Effort) -> Figures:
    """The same step against recursion, on the same batches: the fastest way, and the equations."""
    batches = [batch_of(corpus, start * BATCH, BATCH) for start in range(effort.recursive_batches)]
    system = SentimentStep(corpus.words)
    step, equations, recursion = interleaved(
        [
            lambda number: system.step(batches[number]),
            by_equations(lambda number: system.step(batches[number])),
            lambda number: system.recursive_step(batches[number]),
        ],
        effort.recursive_batches,
        effort.recursive_rounds,
    )
    trees = effort.recursive_batches * BATCH
    return {
        "recursion_speedup": best(recursion) / best(step),
        "recursion_speedup_spread": spread(recursion, step),
        "recursion_speedup_equations": best(recursion) / best(equations),
        "recursion_trees_per_second": trees / best(recursion),
    }


def relatedness_figures(data: Path | None, effort: Effort) -> Figures:
    """A step on pairs with and without sharing, against the bare matmuls without; and other people's."""
    corpus, ratings = sick_shaped(data, effort.batches * BATCH)
    starts = range(0, effort.batches * BATCH, BATCH)
    shared = [pairs_of(corpus, ratings, start, BATCH, shared=True) for start in starts]
    plain = [pairs_of(corpus, ratings, start, BATCH, shared=False) for start in starts]
    system = RelatednessStep(corpus.words)
    whole = WholeStep("sick-dependency", corpus, ratings)
    floors, left = [relatedness_floor(b.forest) for b in plain], [shared_floor(b.forest, 0) for b in shared]
    step, equations, unshared, bare, done, trained = interleaved(
        [
            lambda number: system.step(shared[number]),
            by_equations(lambda number: system.step(shared[number])),
            lambda number: system.step(plain[number]),
            lambda number: floors[number].run(),
            lambda number: left[number].run(),
            whole,
        ],
        effort.batches,
        effort.rounds,
    )
    units = sum(batch.forest.num_unique for batch in shared) / sum(batch.forest.size for batch in shared)
    return {
        "pairs_data": corpus.source,
        "shared_floor_ratio": best(step) / best(bare),
        "shared_floor_ratio_spread": spread(step, bare),
        "unshared_floor_ratio": best(unshared) / best(bare),
        "shared_done_ratio": best(step) / best(done),
        "shared_train_floor_ratio": best(trained) / best(bare),
        "equations_ratio": best(equations) / best(step),
        "pairs_per_second": effort.batches * BATCH / best(step),
        "distinct_share": units,
        "peers": peer_figures(plain, shared, corpus.words, effort.recursive_rounds),
    }


def show(result: Figures) -> None:
    """Print the figures as tables."""
    console = Console()
    title = f"one thread, {result['data']} and {result['pairs_data']} trees, torch {result['torch']}"
    title += f"\nlayers by {result['layers_by']}"
    table = Table("what", "figure", title=title, title_justify="left")
    for key, meaning in RATIOS.items():
        table.add_row(meaning, f"{result[key]:,.0f}" if "per_second" in key else f"{result[key]:.2f}")
    for peer, speed in result["peers"].items():
        table.add_row(f"SICK trees per second, Child-Sum: {peer}", f"{speed:,.0f}")
    console.print(table)
    for key, name in (("growth_trees", "trees"), ("growth_depth", "depth"), ("growth_d", "d")):
        console.print(_growth(f"growth with {name}", result[key]))


def _growth(title: str, lines: list[dict[str, Any]]) -> Table:
    table = Table(*(name.replace("_", " ") for name in lines[0]), title=title, title_justify="left")
    for line in lines:
        table.add_row(*(f"{cell:,.1f}" if isinstance(cell, float) else f"{cell:,}" for cell in line.values()))
    return table


def main() -> None:
    """Read the arguments, measure, show."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks speed",
        description="Measure the speed of the layers, as ratios in one run.",
    )
    parser.add_argument(
        "--data", type=Path, help="data folder; without data, random trees of the same shapes"
    )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    given = parser.parse_args()
    with Console(stderr=True).status("starting") as status:
        result = run_bench(given.data, tell=status.update)
    if given.json:
        print(json.dumps(result, indent=2))
    else:
        show(result)


if __name__ == "__main__":
    main()
