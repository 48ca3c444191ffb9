"""Table 4: the nearest sentences, by the cosine of mean word vectors and by the Dependency Tree-LSTM."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough import Tree
from bough.errors import FormatError
from bough.files import read_json, write_json
from bough.models.batching import prepare
from bough.models.model import Model
from bough.train.tasks import Rated
from paper import published as paper
from paper.document import MISSING, Cell, Table
from paper.plan import TABLE4_RUN, Run
from paper.tasks import Task

SAMPLE, SAMPLE_SEED, TOP = 1000, 0, 3
Found = list[dict[str, Any]]


def neighbours_path(out: Path) -> Path:
    """Where Table 4 is kept, so that a report needs no model."""
    return out / "neighbours.json"


def stored_neighbours(out: Path, data: Path, run: Run = TABLE4_RUN) -> dict[str, Any] | None:
    """Table 4 as it was found with this very model, or None."""
    try:
        stored = read_json(neighbours_path(out))
    except FormatError:
        return None
    return stored if stored.get("key") == _key(run, data) else None


def find_neighbours(out: Path, folder: Path, data: Path, run: Run = TABLE4_RUN) -> dict[str, Any]:
    """Rank the sample with the model in `folder`, and store what came out."""
    model = Model.load(folder)
    stored = {
        "key": _key(run, data),
        "sample": SAMPLE,
        "sample_seed": SAMPLE_SEED,
        "model": run.name,
        "credit": paper.SICK_CREDIT,
        "queries": ranked(model, run.config().build_task(data), paper.QUERIES),
    }
    write_json(neighbours_path(out), stored)
    return stored


def ranked(model: Model, task: Task, queries: Sequence[str], sample: int = SAMPLE) -> Found:
    """For each query the nearest sentences of the sample, itself left out; nothing if SICK has no parse of it."""
    splits = {split: distinct(list(task.trees(task.read(split)))) for split in ("test", "dev", "train")}
    parsed = {**splits["train"], **splits["dev"], **splits["test"]}
    texts = sorted(splits["test"])
    chosen = np.random.default_rng(SAMPLE_SEED).permutation(len(texts))[:sample]
    pool = [texts[i] for i in sorted(chosen)]
    found = []
    for query in queries:
        entry: dict[str, Any] = {"query": query, "cosine": [], "model": []}
        if query in parsed:
            others = [text for text in pool if text != query]
            trees = [parsed[query], *(splits["test"][text] for text in others)]
            means = [model.table[model.ids(tree.tokens or ())].double().mean(dim=0).numpy() for tree in trees]
            asked, *rows = (mean / np.linalg.norm(mean) for mean in means)
            entry["cosine"] = _top(others, np.stack(rows) @ asked)
            sentence, *rest = (prepare(tree, model) for tree in trees)
            ratings = task.predict(model, [Rated(sentence, other, 0.0) for other in rest])
            entry["model"] = _top(others, ratings)
        found.append(entry)
    return found


def distinct(trees: Sequence[Tree]) -> dict[str, Tree]:
    """Lower-cased text -> the first tree of it."""
    found: dict[str, Tree] = {}
    for tree in trees:
        assert tree.tokens is not None
        found.setdefault(" ".join(str(tree.tokens[node]) for node in tree.words).lower(), tree)
    return found


def _top(texts: Sequence[str], scores: NDArray[np.float64]) -> list[list[Any]]:
    order = sorted(range(len(texts)), key=lambda i: (-scores[i], texts[i]))[:TOP]
    return [[texts[i], round(float(scores[i]), 4)] for i in order]


def _key(run: Run, data: Path) -> str:
    return f"{run.key(data)}-{SAMPLE}-{SAMPLE_SEED}-{TOP}"


def table4(stored: dict[str, Any] | None) -> Table:
    """Ours beside the paper's, query by query; the samples differ, so the sentences may."""
    rows: list[tuple[Cell, ...]] = []
    found = {entry["query"]: entry for entry in stored["queries"]} if stored else {}
    for query, *published in paper.TABLE4:
        rows.append((Cell(query),))
        entry = found.get(query, {"cosine": [], "model": []})
        ours = [[*entry[way], *[None] * (TOP - len(entry[way]))] for way in ("cosine", "model")]
        for a, b, *theirs in zip(*ours, *published, strict=True):
            own = [MISSING if one is None else Cell(f"{one[1]:.2f} {one[0]}") for one in (a, b)]
            rows.append((*own, *(Cell(f"{score:.2f} {text}", tone="muted") for text, score in theirs)))
    sample = (
        f"ours of {stored['sample']:,} with seed {stored['sample_seed']}" if stored else "ours is missing"
    )
    notes = (
        f"Each draws its own sample of sentences of SICK's test split ({sample}), the query left out. "
        "Cosine: of mean word vectors. Model: the rating, 1 to 5, that a Dependency Tree-LSTM predicts (seed 1).",
        f"Sentences from {paper.SICK_CREDIT}; the paper's columns as printed by {paper.AUTHORS}.",
    )
    header = ("ours, by cosine", "ours, by model", "paper, by cosine", "paper, by model")
    return Table("Table 4. The nearest sentences", header, tuple(rows), notes)
