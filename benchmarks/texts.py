"""Labelled texts: the accuracy of `bough.fit` on questions (TREC) and on sentences of reviews (SST)."""

import tempfile
import time
from pathlib import Path
from typing import Any, Literal

from rich.console import Console
from rich.table import Table

import bough
from benchmarks.store import made_by, store, stored
from benchmarks.tree_tasks import Data, Show
from bough.data import find_data
from bough.data.paths import require
from bough.files import read_json
from paper.sst import load_sst, words_of

Corpus = Literal["trec", "trec-fine", "sst"]


def read(data: Path, corpus: Corpus) -> dict[str, Any]:
    """Return the arguments of `bough.fit` with the texts and labels of a corpus."""
    if corpus != "sst":
        train, test = (data / "trec" / f"{split}.csv" for split in ("train", "test"))
        require([train, test], "trec")
        return {"texts": train, "test": test, "labels": "fine" if corpus == "trec-fine" else "label"}
    lists = {}
    for split in ("train", "dev", "test"):
        trees = load_sst(data, split)
        roots = [int(str((tree.labels or ())[tree.root])) for tree in trees]
        lists[split] = [" ".join(words_of(tree)) for tree in trees], roots
    return {
        "texts": lists["train"][0],
        "labels": lists["train"][1],
        "dev": lists["dev"],
        "test": lists["test"],
    }


def texts(
    *,
    corpus: Corpus = "trec",
    trees: Literal["parsed", "balanced"] = "parsed",
    seed: int = 1,
    data: Data = None,
    show: Show = False,
) -> None:
    """Measure the accuracy of `bough.fit` with its defaults on questions or on sentences of reviews."""
    runs = stored("texts").get("runs", [])
    if not show:
        folder, started = find_data(data), time.process_time()
        with tempfile.TemporaryDirectory() as temporary:
            out = Path(temporary) / "run"
            shape = trees if trees == "balanced" else None  # None: phrases by the built-in parser
            bough.fit(**read(folder, corpus), trees=shape, seed=seed, data=folder, out=out)
            facts = read_json(out / "fit.json")
        run: dict[str, Any] = {"corpus": corpus, "trees": trees, "seed": seed}
        runs = [line for line in runs if {key: line[key] for key in run} != run]
        for split in ("dev", "test"):
            run[split] = round(100 * facts["scores"][split]["figures"]["accuracy"], 1)
            run[f"{split}, baseline"] = round(100 * facts["baseline"]["figures"][split]["accuracy"], 1)
        run |= {"start": facts["init_from"] or "random weights", "vectors": facts["vectors"]}
        run |= {"cpu_seconds": round(time.process_time() - started), "made_by": made_by()}
        runs = sorted([*runs, run], key=lambda line: (line["corpus"], line["trees"], line["seed"]))
        store("texts", {"runs": runs})
    columns = ("corpus", "trees", "seed", "dev", "test", "dev, baseline", "test, baseline", "start")
    table = Table(*columns, title="accuracy in percent", title_justify="left")
    for line in runs:
        table.add_row(*(str(line[column]) for column in columns))
    Console().print(table)
