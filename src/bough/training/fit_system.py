"""A run of a feature system: measures and a learner of its own, so no epochs; the folder is like any other run's."""

from __future__ import annotations

import platform
import time
from pathlib import Path
from typing import Any

from bough.data import fingerprint
from bough.measures import SYSTEMS
from bough.measures.system import System
from bough.model.card import figures_table
from bough.model.settings import nearest
from bough.storage import write_json, write_text
from bough.training.measured import scored
from bough.training.run_folder import claim_data, predictions_text, versions
from bough.training.tasks import RelatednessTask, read_some


def fit_system(out: Path, task: RelatednessTask, run: dict[str, Any]) -> dict[str, Any]:
    """Fit the system that the task's configuration names; what `test.json` then holds is returned.

    Nothing is chosen here: dev is only reported, and test is read once, after the fit.
    """
    started = time.perf_counter()
    system = _named(task.config.system)
    train, dev = (read_some(task, split) for split in ("train", "dev"))
    seed, vectors = run["seed"], task.config.vectors
    fitted = system.fit(train, [pair.score for pair in train], seed, data=task.data, vectors=vectors)
    files = [file for split in ("train", "dev") for file in task.files(split)]
    name = fitted.vectors.name.split(".txt")[0]
    facts = {**run, "vectors": name, "coverage": "", "versions": versions()}
    facts["data"] = fingerprint([*files, task.data / "wordnet"], data=task.data)
    claim_data(out, facts)
    figures, _ = scored(fitted, dev)
    test, predicted = scored(fitted, read_some(task, "test"))
    result = {"test": test, "dev": figures, "epoch": 0, "vectors": name}
    fitted.save(out)
    write_text(out / "README.md", _card(system, result))
    seconds = round(time.perf_counter() - started, 1)
    write_json(out / "timing.json", {"seconds": seconds, "machine": platform.processor()})
    write_text(out / "predictions.txt", predictions_text(predicted))
    write_json(out / "test.json", result)  # last: a run that has it is finished
    return result


def _named(name: str) -> System:
    if name not in SYSTEMS:
        known = ", ".join(map(repr, SYSTEMS))
        raise ValueError(f"system = {name!r}: one of {known}{nearest(name, SYSTEMS)}")
    return SYSTEMS[name]


def _card(system: System, result: dict[str, Any]) -> str:
    departures = "".join(f"- {line}\n" for line in system.departures)
    return (
        f"# {system.about}\n\nLearnt from SICK's training pairs (CC BY-NC-SA 3.0, so for non-commercial use), with "
        f"WordNet 3.0 and {result['vectors']}. Where it departs from the original:\n\n{departures}\n"
        f"{figures_table(result)}\n"
    )
