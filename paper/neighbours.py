"""Table 4: the nearest sentences, by the cosine of mean vectors and by the Tree-LSTM."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough import Tree
from bough.errors import FormatError
from bough.files import read_json, write_json
from bough.models.batching import prepare
from bough.models.model import Model
from bough.train.tasks import RatedPair
from paper import published as paper
from paper.document import MISSING, Cell, Table
from paper.plan import CODE, EARLIER, Run
from paper.sst import words_of
from paper.tasks import Task

FILE = "neighbours.json"
SAMPLE, SAMPLE_SEED, TOP = 1000, 0, 3


def stored_neighbours(out: Path, data: Path, run: Run, *, earlier: bool = True) -> dict[str, Any] | None:
    """Return the stored Table 4 of this run, or None. It is stored so that a report needs no model.

    With `earlier`, the model may be that of an earlier version of the code.
    """
    try:
        stored = read_json(out / FILE)
    except FormatError:
        return None
    for code in (CODE, *(EARLIER if earlier else ())):
        if stored.get("key") == _key(run, data, code):
            return {**stored, "earlier": code != CODE}
    return None


def find_neighbours(out: Path, folder: Path, data: Path, run: Run) -> dict[str, Any]:
    """Rank the sample with the model in `folder`. Store and return the result."""
    facts = {"key": _key(run, data), "sample": SAMPLE, "sample_seed": SAMPLE_SEED, "model": run.name}
    queries = ranked(Model.load(folder), run.config().build_task(data), paper.QUERIES)
    stored = {**facts, "credit": paper.SICK_CREDIT, "queries": queries}
    write_json(out / FILE, stored)
    return stored


def ranked(model: Model, task: Task, queries: Sequence[str], sample: int = SAMPLE) -> list[dict[str, Any]]:
    """Return the nearest sentences for each query, or none if SICK has no parse of the query."""
    splits = {split: distinct(task.trees(task.read(split))) for split in ("test", "dev", "train")}
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
            ratings = task.predict(model, [RatedPair(sentence, other, 0.0) for other in rest])
            entry["model"] = _top(others, ratings)
        found.append(entry)
    return found


def distinct(trees: Iterable[Tree]) -> dict[str, Tree]:
    """Return the first tree of each lower-cased text."""
    found: dict[str, Tree] = {}
    for tree in trees:
        found.setdefault(" ".join(words_of(tree)).lower(), tree)
    return found


def _top(texts: Sequence[str], scores: NDArray[np.float64]) -> list[list[Any]]:
    order = sorted(range(len(texts)), key=lambda i: (-scores[i], texts[i]))[:TOP]
    return [[texts[i], round(float(scores[i]), 4)] for i in order]


def _key(run: Run, data: Path, code: int = CODE) -> str:
    return f"{run.key(data, code)}-{SAMPLE}-{SAMPLE_SEED}-{TOP}"


def table4(stored: dict[str, Any] | None) -> Table:
    """Return Table 4: our nearest sentences beside the paper's. The samples differ."""
    rows: list[tuple[Cell, ...]] = []
    found = {entry["query"]: entry for entry in stored["queries"]} if stored else {}
    for published in paper.TABLE4:
        rows.append((Cell(published["query"]),))
        entry = found.get(published["query"], {"cosine": [], "model": []})
        for place in range(TOP):
            row = []
            for way in ("cosine", "model"):
                ours = entry[way][place : place + 1]
                row.append(Cell("{1:.2f} {0}".format(*ours[0])) if ours else MISSING)
            theirs = [published[way][place] for way in ("cosine", "model")]
            rows.append((*row, *(Cell(f"{score:.2f} {text}") for text, score in theirs)))
    sample = "ours is missing"
    if stored:
        sample = f"ours of {stored['sample']:,} with seed {stored['sample_seed']}"
    by = ", trained by an earlier version of the code" if stored and stored["earlier"] else ""
    notes = (
        f"Each draws its own sample of sentences of SICK's test split ({sample}), the query left out. "
        f"Cosine: of mean word vectors. Model: the rating, 1 to 5, that a Dependency Tree-LSTM predicts (seed 1{by}).",
        f"Sentences from {paper.SICK_CREDIT}; the paper's columns as printed by {paper.AUTHORS}.",
    )
    header = ("ours, by cosine", "ours, by model", "paper, by cosine", "paper, by model")
    return Table("Table 4. The nearest sentences", header, tuple(rows), notes)
