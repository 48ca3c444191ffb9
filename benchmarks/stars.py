"""The stars of reviews, fitted as classes, as numbers and as classes in an order."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
from cyclopts import Parameter
from rich.console import Console
from rich.table import Table

import bough
from benchmarks.store import Store, made_by
from benchmarks.store import store as write_figures
from bough.data import find_data
from bough.data.tables import rows_with
from bough.outputs import outputs

TASKS = ("classes", "numbers", "ordinal")
FIGURES = {"accuracy": "accuracy", "steps": "mean error in steps", "kappa": "quadratic weighted kappa"}


def stars(
    *,
    data: Path | None = None,
    seeds: Annotated[int, Parameter(help="Number of fits.")] = 1,
    store: Store = False,
) -> None:
    """Fit the stars of reviews from their titles three ways, and compare them on the same tenth of the titles.

    The reviews are those of `opinions/amazon.csv` in the data folder, with 1, 2, 4 or 5 stars. A
    predicted number counts as the nearest class.
    """
    path = find_data(data) / "opinions" / "amazon.csv"
    titles = dict.fromkeys(
        (row["title"].strip(), row["rating"]) for row in rows_with(path, ("title", "rating"))
    )
    pairs = [pair for pair in titles if pair[0]]
    held_out = np.random.default_rng(0).permutation(len(pairs)) < len(pairs) // 10
    train, test = ([p for p, h in zip(pairs, held_out, strict=True) if h == part] for part in (False, True))
    names = tuple(sorted({stars for _, stars in pairs}, key=float))
    ordinal: Any = outputs()["ordinal"]
    measure = ordinal(names, ordered=True)
    gold = np.array([names.index(stars) for _, stars in test])
    values = np.array([float(name) for name in names])
    figures: dict[str, Any] = {}
    for task in TASKS:
        runs = []
        for seed in range(1, seeds + 1):
            mine = bough.fit(*zip(*train, strict=True), task=task, seed=seed, data=data)
            predicted = np.array([float(label) for label in mine.predict([title for title, _ in test])])
            nearest = np.abs(predicted[:, None] - values).argmin(axis=1)
            runs.append(measure.metrics(np.eye(len(names))[nearest], gold).figures)
        figures[task] = {name: round(float(np.mean([run[name] for run in runs])), 4) for name in FIGURES}
    table = Table(
        "fitted as", *FIGURES.values(), title=f"{len(test):,} titles of reviews, {len(train):,} learned"
    )
    for task, row in figures.items():
        table.add_row(task, *(f"{row[name]:.3f}" for name in FIGURES))
    Console().print(table)
    if store:
        sizes = {"train": len(train), "test": len(test), "seeds": seeds}
        write_figures("stars", {**sizes, **figures, "made_by": made_by()})
