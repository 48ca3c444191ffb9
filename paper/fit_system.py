"""A run of a system without a layer: it learns in its own way, so no epochs; the folder is like any other run's."""

from __future__ import annotations

import platform
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bough.data import fingerprint
from bough.files import write_json, write_text
from bough.models.metrics import Floats, correlations
from bough.models.settings import nearest
from bough.train.run_folder import claim_data, predictions_text, versions
from paper.card import figures_table
from paper.config import PaperConfig
from paper.systems import PARAGRAPH_VEC, SYSTEMS, Fitted, FittedParagraphs
from paper.tasks import Task, read_some, sentiment_figures


def fit_system(out: Path, task: Task, config: PaperConfig, run: dict[str, Any]) -> dict[str, Any]:
    """Fit the system that the configuration names; what `test.json` then holds is returned.

    Nothing is chosen here: dev is only reported, and test is read once, after the fit.
    """
    started = time.perf_counter()
    train, dev = (read_some(task, split) for split in ("train", "dev"))
    fitted, name = _fitted(config, task, train, run["seed"])
    files = [file for split in ("train", "dev") for file in task.files(split)]
    files += [task.data / "wordnet"] if config.task == "sick" else []
    facts = {**run, "vectors": name, "coverage": "", "versions": versions(config)}
    facts["data"] = fingerprint(files, data=task.data)
    claim_data(out, facts)
    figures, _ = score_system(fitted, config, dev)
    test, predicted = score_system(fitted, config, read_some(task, "test"))
    result = {"test": test, "dev": figures, "epoch": 0, "vectors": name}
    fitted.save(out)
    write_text(out / "README.md", _card(fitted, result))
    seconds = round(time.perf_counter() - started, 1)
    write_json(out / "timing.json", {"seconds": seconds, "machine": platform.processor()})
    write_text(out / "predictions.txt", predictions_text(predicted))
    write_json(out / "test.json", result)  # last: a run that has it is finished
    return result


def score_system(
    fitted: Fitted | FittedParagraphs, config: PaperConfig, examples: Sequence[Any]
) -> tuple[dict[str, float], Floats]:
    """Return figures and predictions of a fitted system: ratings (n,) of pairs, or probabilities (n, K) of trees."""
    predicted = fitted.predict(examples)
    if config.task == "sick":
        return correlations(predicted, np.array([pair.score for pair in examples])), predicted
    gold = np.array([tree.labels[tree.root] for tree in examples])
    return sentiment_figures(predicted, gold, config), predicted


def _fitted(
    config: PaperConfig, task: Task, train: list[Any], seed: int
) -> tuple[Fitted | FittedParagraphs, str]:
    """The system after learning, and the name of its vectors."""
    names = [PARAGRAPH_VEC.name] if config.task != "sick" else list(SYSTEMS)
    if config.system not in names:
        known = ", ".join(map(repr, names))
        raise ValueError(f"system = {config.system!r}: one of {known}{nearest(config.system, names)}")
    if config.task != "sick":
        classes = len(config.purpose.classes)
        paragraphs = PARAGRAPH_VEC.fit(train, classes, seed, size=config.hidden_size, epochs=config.epochs)
        return paragraphs, "random"
    ratings = [pair.score for pair in train]
    fitted = SYSTEMS[config.system].fit(train, ratings, seed, data=task.data, vectors=config.vectors)
    return fitted, fitted.vectors.name.split(".txt")[0]


def _card(fitted: Fitted | FittedParagraphs, result: dict[str, Any]) -> str:
    differences = "".join(f"- {line}\n" for line in fitted.system.differences)
    learnt = (
        f"Learnt from SICK's training pairs (CC BY-NC-SA 3.0, so for non-commercial use), with WordNet 3.0 and "
        f"{result['vectors']}."
        if isinstance(fitted, Fitted)
        else "Learnt from the phrases of the Stanford Sentiment Treebank."
    )
    return (
        f"# {fitted.system.about}\n\n{learnt} How it differs from the original:\n\n{differences}\n"
        f"{figures_table(result)}\n"
    )
