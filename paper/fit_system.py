"""Fit a system without a layer, which has no epochs, and write the folder of its run."""

import platform
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bough.data import fingerprint
from bough.files import write_json, write_text
from bough.models.settings import nearest
from bough.outputs.ratings import correlations
from bough.train.run_folder import predictions_text, record_run, versions
from bough.train.tasks import Floats
from paper.published import SYSTEM_DIFFERENCES
from paper.systems import PARAGRAPH_VEC, SYSTEMS, Fitted, FittedParagraphs
from paper.tasks import Task, read_some, sentiment_figures

FIGURES = {
    "accuracy": "accuracy, five classes",
    "binary": "accuracy, negative or positive",
    "pearson": "Pearson's r",
    "spearman": "Spearman's rho",
    "mse": "mean squared error",
    "loss": "loss of the sentence",
}


def run_system(out: Path, task: Task, run: dict[str, Any]) -> dict[str, Any]:
    """Fit the system that the task's configuration names, and write the folder of the run. Return its `test.json`.

    Nothing is chosen on dev, which is only reported. The test split is read once, after the fit.
    """
    started = time.perf_counter()
    fitted = fit_system(task, run["seed"])
    vectors, learnt = "random", "Learnt from the phrases of the Stanford Sentiment Treebank."
    files = [file for split in ("train", "dev") for file in task.files(split)]
    if isinstance(fitted, Fitted):
        vectors = fitted.vectors.name.split(".txt")[0]
        files.append(task.data / "wordnet")
        learnt = "Learnt from SICK's training pairs (CC BY-NC-SA 3.0, so for non-commercial use), "
        learnt += f"with WordNet 3.0 and {vectors}."
    facts = {**run, "vectors": vectors, "coverage": "", "versions": versions(task.config)}
    facts["trees"] = task.trees_by
    record_run(out, {**facts, "data": fingerprint(files, data=task.data)})
    dev, _ = score_system(fitted, task, read_some(task, "dev"))
    test, predicted = score_system(fitted, task, read_some(task, "test"))
    result = {"test": test, "dev": dev, "epoch": 0, "vectors": vectors}
    differences = "".join(f"- {line}\n" for line in SYSTEM_DIFFERENCES[task.config.system])
    card = f"# {task.config.about}\n\n{learnt} How it differs from the original:\n\n{differences}\n"
    write_text(out / "README.md", f"{card}{figures_table(result)}\n")
    write_results(out, result, predicted, time.perf_counter() - started)
    return result


def write_results(out: Path, result: dict[str, Any], predicted: Floats, seconds: float) -> None:
    """Write the time of a run, its predictions and its `test.json`."""
    write_json(out / "timing.json", {"seconds": round(seconds, 1), "machine": platform.processor()})
    write_text(out / "predictions.txt", predictions_text(predicted))
    write_json(out / "test.json", result)  # last, because a run with this file is finished


def figures_table(result: Mapping[str, Any]) -> str:
    """Return a table of the metrics of a run on dev and on test."""
    derived = "accuracy" in {**result["dev"], **result["test"]}
    rows = []
    for name, title in FIGURES.items():
        values = [result[split].get(name) for split in ("dev", "test")]
        if any(value is not None for value in values):
            title += " (derived from the five)" if derived and name == "binary" else ""
            shown = ["-" if value is None else f"{value:.4f}" for value in values]
            rows.append(f"| {title} | {' | '.join(shown)} |")
    return "\n".join(["| figure | dev | test |", "|---|---|---|", *rows])


def fit_system(task: Task, seed: int) -> Fitted | FittedParagraphs:
    """Return the system that the task's configuration names, fitted on the training split."""
    config = task.config
    names = [PARAGRAPH_VEC.name] if config.task != "sick" else list(SYSTEMS)
    if config.system not in names:
        known = ", ".join(map(repr, names))
        raise ValueError(f"system = {config.system!r}: one of {known}{nearest(config.system, names)}")
    train = read_some(task, "train")
    if config.task == "sick":
        return SYSTEMS[config.system].fit(train, seed, task.data, config.vectors)
    classes = len(config.output.classes)
    return PARAGRAPH_VEC.fit(train, classes, seed, size=config.hidden_size, epochs=config.epochs)


def score_system(
    fitted: Fitted | FittedParagraphs, task: Task, examples: Sequence[Any]
) -> tuple[dict[str, float], Floats]:
    """Return metrics, and ratings (n,) of pairs or probabilities (n, K) of trees."""
    predicted = fitted.predict(examples)
    if task.config.task == "sick":
        return correlations(predicted, np.array([pair.score for pair in examples])), predicted
    gold = np.array([tree.labels[tree.root] for tree in examples])
    return sentiment_figures(predicted, gold, task.config), predicted
