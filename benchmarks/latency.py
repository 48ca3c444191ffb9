"""Measure the time of one tree at a time over that of ten steps of torch's `LSTMCell`."""

import json
from collections.abc import Callable
from itertools import cycle
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor, nn

from benchmarks.measure import AsJson, Figures, Work, best_seconds, by_equations
from benchmarks.recursion import recursive
from benchmarks.store import Store, made_by, store
from bough import Forest, Tree
from bough.nn import ChildSumTreeLSTM, StateCache, kernels
from bough.nn.engine import one_thread

SIZES, WIDTH, STEPS = (10, 40, 200), 128, 10
CELL = f"{STEPS} steps of LSTMCell"
TREES = 10  # trees that are timed together, because one is too short to time


def random_parents(size: int, draw: np.random.Generator) -> list[int]:
    """Return the parents of a random tree with random node numbers, like a sentence's words."""
    above = [int(draw.integers(0, node)) for node in range(1, size)]
    number, parents = draw.permutation(size), np.full(size, -1)
    parents[number[1:]] = number[above]
    return parents.tolist()


def contenders(size: int, batches: int, seed: int = 0) -> dict[str, Work]:
    """Return the work to time, by name: batches of `TREES` different trees, each computed alone."""
    draw = np.random.default_rng(seed)
    torch.manual_seed(seed)
    trees = [random_parents(size, draw) for _ in range(batches * TREES)]
    forests = [Forest([Tree(parents)]) for parents in trees]
    x, layer = torch.randn(size, WIDTH), ChildSumTreeLSTM(WIDTH, WIDTH)
    cached = StateCache(layer, max_entries=50 * size)
    leaf = min({*range(size)} - {*trees[0]})
    edited = [x.clone() for _ in range(500)]  # more than the cache remembers
    for one in edited:
        one[leaf] = torch.randn(WIDTH)
    edits = cycle(edited)

    def new(parents: list[int]) -> Tensor:
        return layer(x, Forest([Tree(parents)]))[0]  # type: ignore[no-any-return]

    def changed(parents: list[int]) -> Tensor:
        return cached(next(edits), Forest([Tree(parents)]))[0]

    def kept(forest: Forest) -> Tensor:
        return layer(x, forest)[0]  # type: ignore[no-any-return]

    def recursion(parents: list[int]) -> Tensor:
        return recursive(layer, x, [Tree(parents)])[0]

    return {
        CELL: lstm_cell(),
        "new tree": one_by_one(new, trees),
        "one leaf changed, StateCache": one_by_one(changed, trees[:1] * len(trees)),
        "kept forest": one_by_one(kept, forests),
        "new tree, and backward": one_by_one(new, trees, backward=True),
        "new tree, equations": by_equations(one_by_one(new, trees)),
        "new tree, equations, and backward": by_equations(one_by_one(new, trees, backward=True)),
        "recursion in torch": one_by_one(recursion, trees),
        "recursion in torch, and backward": one_by_one(recursion, trees, backward=True),
    }


def one_by_one(compute: Callable[[Any], Tensor], trees: list[Any], *, backward: bool = False) -> Work:
    """Return the work of one batch of trees, one after the other, with or without gradients."""

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
    """Return microseconds per tree, and their ratios to ten steps of `LSTMCell`, by size and name."""
    microseconds, ratios = dict[str, dict[str, float]](), dict[str, dict[str, float]]()
    with one_thread():
        for size in SIZES:
            taken = best_seconds(contenders(size, batches), batches, rounds)
            key = f"{size} nodes"
            microseconds[key] = {name: seconds / batches / TREES * 1e6 for name, seconds in taken.items()}
            ratios[key] = {name: round(seconds / taken[CELL], 3) for name, seconds in taken.items()}
    facts: Figures = {"width": WIDTH, "torch": torch.__version__, "layers_by": kernels.why()}
    return facts | {"microseconds": microseconds, "ratios": ratios}


def latency(*, as_json: AsJson = False, keep: Store = False) -> None:
    """Compare one tree at a time with steps of torch's LSTMCell and with recursion."""
    result = run_latency()
    if keep:
        store("latency", {**result, "made_by": made_by()})
    if as_json:
        print(json.dumps(result, indent=2))
    else:
        show(result)


def show(result: Figures) -> None:
    title = f"Child-Sum {WIDTH}, one thread, torch {result['torch']}, layers by {result['layers_by']}"
    ratios, heading = result["ratios"], "one tree, µs of processor time (over LSTMCell's)"
    table = Table(heading, *ratios, title=title, title_justify="left")
    for name in next(iter(ratios.values())):
        cells = [f"{result['microseconds'][size][name]:,.0f} ({ratios[size][name]:.2f})" for size in ratios]
        table.add_row(name, *cells)
    Console().print(table)
