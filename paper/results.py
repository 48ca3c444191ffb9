"""Read and write the results of finished runs, one small file each, and gather them by system."""

import base64
import logging
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.errors import FormatError
from bough.files import read_json, write_json
from paper.figures import by_length
from paper.parses import NONE, PAPER
from paper.plan import CODE, EARLIER, TOGETHER, Run, planned
from paper.recipes import load_recipe
from paper.tasks import sentiment_figures

log = logging.getLogger(__name__)

Result = dict[str, Any]
ENCODER = "+encoder="  # part of the name of a system over a transformer
TOGETHER_NAME = "+together"  # end of the name of an ensemble of all seeds of a system
STEPS = 65535  # a probability is stored in 16 bits
FIELDS = (
    "key", "system", "recipe", "settings", "seed", "vectors", "test", "dev", "epoch", "seconds", "versions",
    "by_length",
)  # fmt: skip


def result_path(out: Path, run: Run) -> Path:
    return out / "runs" / f"{run.name}.json"


def finished(out: Path, run: Run, data: Path, *, earlier: bool = False) -> Result | None:
    """Return the result of a run, or None if it is missing, partial or outdated.

    With `earlier`, the result may be that of an earlier version of the code.
    """
    path = result_path(out, run)
    result = _read(path) if path.exists() else None
    if result is None or run.made_by(result["key"], data) not in (CODE, *(EARLIER if earlier else ())):
        return None
    return result


def all_finished(out: Path, data: Path, overrides: Mapping[str, str] | None = None) -> list[Result]:
    """Return every valid result by name, with the version of the code that made it as `code`.

    Partial results and those of other settings or data are left out with a warning.
    """
    results = []
    for path in sorted((out / "runs").glob("*.json")):
        if (result := _read(path)) is None:
            continue
        run = Run(result["recipe"], result["seed"], tuple(result["settings"].items()))
        try:
            code = planned(run, overrides).made_by(result["key"], data)
        except ValueError:  # its recipe does not exist any more
            code = None
        if code is not None:
            results.append({**result, "code": code})
        else:
            log.warning("%s: made with another recipe, data or code; left out", path)
    return results


def _read(path: Path) -> Result | None:
    try:
        result = read_json(path)
        if missing := [name for name in FIELDS if name not in result]:
            raise FormatError(f"no {', '.join(missing)}", where=str(path))
    except FormatError as error:
        log.warning("%s; the run counts as not done", error)
        return None
    return result


def collect(out: Path, run: Run, work: Path, data: Path) -> Result:
    """Write the result file of a run from the folder of its training. Return the result."""
    facts, test, timing = (read_json(work / name) for name in ("run.json", "test.json", "timing.json"))
    predicted = np.loadtxt(work / "predictions.txt", ndmin=2)
    result: Result = {"key": run.key(data), "system": run.system, "recipe": run.recipe}
    result |= {"settings": dict(run.settings), "seed": run.seed, "vectors": test["vectors"]}
    result |= {
        "trees": facts["trees"],
        "coverage": facts["coverage"],
        "test": test["test"],
        "dev": test["dev"],
    }
    result |= {"epoch": test["epoch"], "seconds": timing["seconds"], "versions": facts["versions"]}
    result["by_length"] = by_length(run.config(), data, predicted)
    if keeps_predictions(run):
        result["predictions"] = packed(predicted)
    write_json(result_path(out, run), result)
    return result


@dataclass(frozen=True)
class System:
    """The results of all seeds of one system."""

    name: str
    seeds: list[int]
    vectors: str
    figures: dict[str, list[float]]
    by_length: dict[str, list[float]]
    seconds: float
    coverage: str = ""  # the share of the training split that has vectors
    together: int = 0  # the number of models in an ensemble, else 0
    trees: str = PAPER  # whose trees, see `paper.parses`
    versions: tuple[str, ...] = ()  # of bough, that made the runs
    earlier: bool = False  # whether some were made by code that has changed since

    def mean(self, figure: str) -> float:
        return statistics.fmean(self.figures[figure])

    def sd(self, figure: str) -> float:
        """Return the sample standard deviation over the seeds, 0 for a single seed."""
        values = self.figures[figure]
        return statistics.stdev(values) if len(values) > 1 else 0.0


def systems(results: Iterable[Result]) -> dict[str, System]:
    """Return the systems of results by name, with their seeds in order."""
    groups: dict[str, list[Result]] = {}
    for result in sorted(results, key=lambda result: result["seed"]):
        groups.setdefault(result["system"], []).append(result)
    found = {}
    for name, group in sorted(groups.items()):
        figures, lengths = group[0]["test"], group[0]["by_length"]
        found[name] = System(
            name=name,
            seeds=[result["seed"] for result in group],
            vectors=group[0]["vectors"],
            figures={figure: [result["test"][figure] for result in group] for figure in figures},
            by_length={length: [result["by_length"][length] for result in group] for length in lengths},
            seconds=statistics.fmean(result["seconds"] for result in group),
            coverage=next((known for result in group if (known := result.get("coverage"))), ""),
            trees=trees_of(group[0]),
            versions=tuple(sorted({result["versions"]["bough"] for result in group})),
            earlier=any(result.get("code", CODE) != CODE for result in group),
        )
    return found


def trees_of(result: Result) -> str:
    """Return whose trees a run read, "none" for a system that reads words."""
    words = load_recipe(result["recipe"]).reads_words
    return NONE if words else str(result.get("trees", PAPER))


def keeps_predictions(run: Run) -> bool:
    """Return whether the test predictions of a run are stored for an ensemble with other seeds."""
    return not run.settings and run.recipe.partition("-")[2] in TOGETHER


def packed(predicted: NDArray[np.float64]) -> str:
    """Return probabilities (n, K) as one line of text."""
    return base64.b64encode(np.round(predicted * STEPS).astype("<u2").tobytes()).decode()


def with_ensembles(gathered: dict[str, System], results: Iterable[Result], data: Path) -> dict[str, System]:
    """Return the systems, with ensembles of stored predictions: the mean of the probabilities."""
    found = dict(gathered)
    kept: dict[str, list[Result]] = {}
    for result in results:
        if "predictions" in result:
            kept.setdefault(result["system"], []).append(result)
    for name, group in kept.items():
        if len(group) < 2:
            continue
        config = load_recipe(group[0]["recipe"])
        trees = config.build_task(data).read("test")
        gold = np.array([tree.labels[tree.root] for tree in trees], dtype=np.int64)
        codes = [np.frombuffer(base64.b64decode(result["predictions"]), dtype="<u2") for result in group]
        mean = np.mean([one.reshape(len(gold), -1) for one in codes], axis=0) / STEPS
        figures = {figure: [value] for figure, value in sentiment_figures(mean, gold, config).items()}
        seconds, together = sum(result["seconds"] for result in group), name + TOGETHER_NAME
        one = replace(gathered[name], name=together, figures=figures, by_length={}, seconds=seconds)
        found[together] = replace(one, together=len(group))
    return found


def stored_line(gathered: Mapping[str, System]) -> str:
    """Return a sentence about the systems whose runs were made by earlier code, "" if there are none."""
    earlier = [system for system in gathered.values() if system.earlier]
    if not earlier:
        return ""
    versions = joined_versions(version for system in earlier for version in system.versions)
    which = (
        "These are" if len(earlier) == len(gathered) else f"{len(earlier)} of {len(gathered)} systems have"
    )
    return (
        f"{which} stored runs of bough {versions}. Training has changed since: with the same seed, today's code gives "
        "other figures."
    )


def joined_versions(versions: Iterable[str]) -> str:
    """Return each version once, as "0.1.0 and 0.2.0"."""
    *others, last = sorted(set(versions))
    return f"{', '.join(others)} and {last}" if others else last


def vectors_of(gathered: Mapping[str, System], task: str) -> dict[str, str]:
    """Return the word vectors of a task's systems, with their coverage of the training split."""
    of_task = [system for name, system in gathered.items() if name.startswith(task) and ENCODER not in name]
    used = [system for system in of_task if system.vectors != "random"]
    found = {system.vectors: "" for system in used} | {s.vectors: s.coverage for s in used if s.coverage}
    return dict(sorted(found.items()))


def summary(gathered: dict[str, System]) -> dict[str, Any]:
    """Return the contents of `results.json`: for each system its seeds, vectors and metrics."""
    found = {}
    for name, system in gathered.items():
        entry: dict[str, Any] = {
            "seeds": system.seeds,
            "vectors": system.vectors,
            "coverage": system.coverage,
        }
        entry |= {"together": system.together} if system.together else {}
        entry |= {"trees": system.trees} if system.trees not in (PAPER, NONE) else {}
        entry |= {"versions": list(system.versions), "earlier": system.earlier}
        entry |= {"seconds": round(system.seconds, 1), "test": {}}
        for figure, values in system.figures.items():
            entry["test"][figure] = {"values": values, "mean": system.mean(figure), "sd": system.sd(figure)}
        found[name] = entry
    return found


def from_summary(results: Mapping[str, Any]) -> dict[str, System]:
    """Return the systems of a `results.json`, without their scores by length."""
    found = {}
    for name, entry in results.items():
        figures = {figure: numbers["values"] for figure, numbers in entry["test"].items()}
        plain = {"coverage": entry.get("coverage", ""), "together": entry.get("together", 0)}
        plain |= {"trees": entry.get("trees", PAPER)}
        plain |= {"versions": tuple(entry.get("versions", ())), "earlier": entry.get("earlier", False)}
        found[name] = System(name, entry["seeds"], entry["vectors"], figures, {}, entry["seconds"], **plain)
    return found
