"""Query plans: predict the latency of a PostgreSQL plan from its tree, with `bough.fit`."""

import json
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import bough
from benchmarks.store import made_by, store
from benchmarks.tree_tasks import Data
from bough.data import find_data
from bough.data.paths import require
from bough.files import read_json

KEYS: dict[str, Any] = {
    "children": "Plans",
    "token": "Node Type",
    "categories": ("Join Type", "Relation Name", "Strategy"),
    "numbers": ("Total Cost", "Startup Cost", "Plan Rows", "Plan Width"),
}
Plans = tuple[list[bough.Tree], list[float]]  # trees, and their latencies in milliseconds
FIGURES = {"q_error_median": "median", "q_error_p90": "90th percentile", "q_error_p99": "99th percentile"}


def read(path: Path) -> Plans:
    """Read the plans of a file as trees, and their latencies in milliseconds."""
    require([path], "plans")
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    trees = [bough.Tree.from_nested(line["plan"], **KEYS) for line in lines]
    return trees, [float(line["ms"]) for line in lines]


def q_errors(predicted: Any, gold: Any) -> dict[str, float]:
    q = np.maximum(predicted / gold, gold / predicted)
    return {name: float(np.percentile(q, p)) for name, p in zip(FIGURES, (50, 90, 99), strict=True)}


def cost_figures(train: Plans, test: Plans) -> dict[str, float]:
    """Return the q-errors of the planner's cost, mapped to milliseconds by a line in logarithms."""

    def costs(trees: list[bough.Tree]) -> Any:
        return np.log([float(tree.features[tree.root, 0]) for tree in trees if tree.features is not None])

    slope, offset = np.polyfit(costs(train[0]), np.log(train[1]), 1)
    return q_errors(np.exp(slope * costs(test[0]) + offset), np.array(test[1]))


def plans(*, data: Data = None, seed: int = 1) -> None:
    """Measure the q-error of the latency of query plans, and the milliseconds per plan.

    The q-error is max(y / y', y' / y). Baselines are boosted trees that see no tree, and the
    planner's own cost with a linear fit in logarithms.
    """
    train, test = (read(find_data(data) / "plans" / f"{name}.jsonl") for name in ("train", "test"))
    trained = set(train[0])
    rows = [row for row, tree in enumerate(test[0]) if tree not in trained]
    unseen: Plans = [test[0][row] for row in rows], [test[1][row] for row in rows]
    with tempfile.TemporaryDirectory() as folder:
        out, started = Path(folder) / "plans", time.process_time()
        mine = bough.fit(*train, test=test, task="numbers", scale="log", seed=seed, out=out)
        seconds = time.process_time() - started
        baseline = read_json(out / "fit.json")["baseline"]
    systems = {
        "bough.fit": mine.evaluate(*test).figures,
        baseline["name"]: baseline["figures"]["test"],
        "the planner's cost, linear fit": cost_figures(train, test),
    }
    # without the plans that also occur in training
    systems |= {
        "bough.fit, unseen plans": mine.evaluate(*unseen).figures,
        "the planner's cost, unseen plans": cost_figures(train, unseen),
    }
    taken = []
    for tree in test[0][:200]:
        begun = time.perf_counter()
        mine(tree)
        taken.append(1000 * (time.perf_counter() - begun))
    found = {
        "seed": seed,
        "q_error": {name: {key: round(part[key], 3) for key in FIGURES} for name, part in systems.items()},
        "training_cpu_seconds": round(seconds),
        "milliseconds_per_plan": round(float(np.median(taken)), 2),
        "test_plans": len(test[0]),
        "unseen_test_plans": len(rows),
        "made_by": made_by(),
    }
    store("plans", found)
    title = f"q-error on {len(test[0])} test plans, {len(rows)} of them unseen; "
    title += f"{found['milliseconds_per_plan']} ms for a single plan"
    table = Table("system", *FIGURES.values(), title=title, title_justify="left")
    for name, part in systems.items():
        table.add_row(name, *(f"{part[key]:.2f}" for key in FIGURES))
    Console().print(table)
