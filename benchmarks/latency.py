"""Measure the time of one tree at a time (`Tree`, `Forest`, a layer), over ten steps of torch's `LSTMCell`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import cycle
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor, nn

from benchmarks.measure import Figures, Work, best, by_equations, command, interleaved
from benchmarks.recursion import recursive
from bough import Forest, Tree
from bough.nn import ChildSumTreeLSTM, StateCache, kernels
from bough.nn.engine import one_thread

SIZES, WIDTH, STEPS = (10, 40, 200), 128, 10
TREES = 10  # trees that are timed together, because one is too short to time


def random_parents(size: int, draw: np.random.Generator) -> list[int]:
    """Return the parents of a random recursive tree whose nodes have random numbers, like the words of a sentence."""
    above = [-1, *(int(draw.integers(0, node)) for node in range(1, size))]
    place = draw.permutation(size).tolist()
    parents = [-1] * size
    for node, parent in enumerate(above[1:], start=1):
        parents[place[node]] = place[parent]
    return parents


class OneTree:
    """Trees of one size, each computed alone by a Child-Sum Tree-LSTM.

    Args:
        size: nodes of a tree.
        batches: the number of batches of `TREES` different trees.
        seed: the seed of the trees, the inputs and the weights.
    """

    def __init__(self, size: int, batches: int, seed: int = 0) -> None:
        draw = np.random.default_rng(seed)
        torch.manual_seed(seed)
        self.parents = [random_parents(size, draw) for _ in range(batches * TREES)]
        self.forests = [Forest([Tree(parents)]) for parents in self.parents]
        self.x, self.layer = torch.randn(size, WIDTH), ChildSumTreeLSTM(WIDTH, WIDTH)
        self.cached, self.edits = StateCache(self.layer, max_entries=50 * size), self.edited()

    def new(self, parents: list[int]) -> Tensor:
        return self.layer(self.x, Forest([Tree(parents)]))[0]  # type: ignore[no-any-return]

    def recursion(self, parents: list[int]) -> Tensor:
        return recursive(self.layer, self.x, [Tree(parents)])[0]

    def kept(self, forest: Forest) -> Tensor:
        return self.layer(self.x, forest)[0]  # type: ignore[no-any-return]

    def edited(self) -> Iterator[Tensor]:
        """Return endless inputs of the first tree that differ in the row of one leaf."""
        leaf = min({*range(len(self.parents[0]))} - {*self.parents[0]})
        inputs = [self.x.clone() for _ in range(500)]  # more than the cache remembers
        for x in inputs:
            x[leaf] = torch.randn(WIDTH)
        return cycle(inputs)

    def changed(self, parents: list[int]) -> Tensor:
        """Compute a tree of which only the input of one leaf is new to the cache."""
        return self.cached(next(self.edits), Forest([Tree(parents)]))[0]

    def contenders(self) -> dict[str, Work]:
        """Return the work to time, by name."""
        return {
            "new tree": one_by_one(self.new, self.parents),
            "one leaf changed, StateCache": one_by_one(self.changed, self.parents[:1] * len(self.parents)),
            "kept forest": one_by_one(self.kept, self.forests),
            "new tree, and backward": one_by_one(self.new, self.parents, backward=True),
            "new tree, equations": by_equations(one_by_one(self.new, self.parents)),
            "new tree, equations, and backward": by_equations(
                one_by_one(self.new, self.parents, backward=True)
            ),
            "recursion in torch": one_by_one(self.recursion, self.parents),
            "recursion in torch, and backward": one_by_one(self.recursion, self.parents, backward=True),
        }


def one_by_one(compute: Callable[[Any], Tensor], trees: list[Any], *, backward: bool = False) -> Work:
    """Return the work of one batch of trees, one after the other, with or without the gradients of all weights."""

    def work(batch: int) -> None:
        with torch.set_grad_enabled(backward):
            for tree in trees[batch * TREES : (batch + 1) * TREES]:
                h = compute(tree)
                if backward:
                    h.sum().backward()

    return work


def lstm_cell() -> Work:
    """Return ten steps of torch's `LSTMCell` per tree, at batch 1 and without a gradient."""
    cell, rows = nn.LSTMCell(WIDTH, WIDTH), torch.randn(STEPS, 1, WIDTH).unbind()

    def work(batch: int) -> None:
        with torch.no_grad():
            for _ in range(TREES):
                state = (torch.zeros(1, WIDTH), torch.zeros(1, WIDTH))
                for x in rows:
                    state = cell(x, state)

    return work


def run_latency(batches: int = 5, rounds: int = 15) -> Figures:
    """Return microseconds of processor time per tree, and their ratios to ten steps of `LSTMCell`, by size and name."""
    microseconds, ratios = dict[str, dict[str, float]](), dict[str, dict[str, float]]()
    with one_thread():
        for size in SIZES:
            contenders = {f"{STEPS} steps of LSTMCell": lstm_cell(), **OneTree(size, batches).contenders()}
            seconds = [best(each) for each in interleaved([*contenders.values()], batches, rounds)]
            key = f"{size} nodes"
            microseconds[key] = {
                name: second / batches / TREES * 1e6 for name, second in zip(contenders, seconds, strict=True)
            }
            steps = microseconds[key][f"{STEPS} steps of LSTMCell"]
            ratios[key] = {name: round(each / steps, 3) for name, each in microseconds[key].items()}
    return {
        "width": WIDTH,
        "torch": torch.__version__,
        "layers_by": kernels.why(),
        "microseconds": microseconds,
        "ratios": ratios,
    }


def show(result: Figures) -> None:
    """Print the figures as a table."""
    title = (
        f"Child-Sum {result['width']}, one thread, torch {result['torch']}, layers by {result['layers_by']}"
    )
    table = Table(
        "one tree, µs of processor time (over LSTMCell's)",
        *result["ratios"],
        title=title,
        title_justify="left",
    )
    for name in next(iter(result["ratios"].values())):
        cells = [
            f"{result['microseconds'][size][name]:,.0f} ({result['ratios'][size][name]:.2f})"
            for size in result["ratios"]
        ]
        table.add_row(name, *cells)
    Console().print(table)


def main() -> None:
    """Run the command."""
    command("latency", run_latency, show)


if __name__ == "__main__":
    main()
