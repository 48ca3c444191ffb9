"""Small models of every kind, each fitted once per process: numbers, several labels, classes of pairs, trees."""

import json
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import bough
from bough.data.examples import TreeColumns
from bough.data.labelled import open_labelled
from bough.train.fit import fit_sources
from bough.train.options import FitOptions
from small_fits import QUICK

TEXTS = [f"{n} days {word}" for n in range(20) for word in ("late", "early")]
PLANS: list[dict[str, Any]] = [
    {
        "op": "join" if n % 2 else "sort",
        "cost": float(n),
        "parts": [{"op": "scan", "cost": n / 2}] * (1 + n % 3),
    }
    for n in range(40)
]
WITHOUT_PARSER: dict[str, Any] = {"trees": "none", "settings": QUICK, "epochs": 2}


@cache
def folder_of(kind: str) -> Path:
    """The folder of a fitted model."""
    folder = Path(mkdtemp(prefix=f"bough-test-{kind}-")) / kind
    fitted(kind).save(folder)
    return folder


@cache
def fitted(kind: str) -> Any:
    """The pipeline of a model that predicts numbers, labels, classes, classes of pairs, or a number of trees."""
    if kind == "numbers":
        return bough.fit(TEXTS, [n / 2 for n in range(40)], **WITHOUT_PARSER)
    if kind == "labels":
        labels = [["late", "long"] if n % 4 == 0 else ["late"] if n % 2 == 0 else [] for n in range(40)]
        return bough.fit(TEXTS, labels, task="labels", **WITHOUT_PARSER)
    if kind == "classes":
        return bough.fit(TEXTS, ["too late", "in time"] * 20, **WITHOUT_PARSER)
    if kind == "pairs":
        pairs = [(f"{n} dogs run", f"{n} {word} run") for n in range(20) for word in ("dogs", "men")]
        return bough.fit(pairs, ["same", "other"] * 20, **WITHOUT_PARSER)
    assert kind == "trees"
    rows = "".join(
        json.dumps({"id": n, "plan": plan, "ms": 2 * plan["cost"] + 1}) + "\n" for n, plan in enumerate(PLANS)
    )
    file = Path(mkdtemp(prefix="bough-test-plans-")) / "plans.jsonl"
    file.write_text(rows)
    columns = TreeColumns("plan", "parts", "op", numbers=("cost",))
    source = {"train": open_labelled(file, label="ms", tree=columns)}
    return fit_sources(source, file.parent / "run", FitOptions(settings=QUICK, epochs=2))[0]
