"""One's own settings tried out: every combination, some seeds each, judged on dev alone. Test is never read."""

from __future__ import annotations

import itertools
import shlex
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from bough.errors import FormatError
from bough.model.config import Config
from bough.reproduce.board import Board
from bough.reproduce.executor import Executor
from bough.reproduce.plan import Run
from bough.reproduce.sitting import Show, alone, clear, reported, work_folder, work_off
from bough.storage import read_json, write_json
from bough.training.checkpoint import SCORES

Result = dict[str, Any]
Stage = Callable[[Board, Sequence["Trial"], "Sweep"], list[Result]]


@dataclass(frozen=True)
class Trial(Run):
    """A run of a sweep; its recipe may be a file, and its values may be paths."""

    @property
    def system(self) -> str:
        """The recipe and the combination, as a file may be called."""
        words = [Path(self.recipe).name, *(f"{key}={value}" for key, value in self.settings)]
        return "+".join(quote(word, safe="=,") for word in words)


@dataclass(frozen=True)
class Figure:
    """What is compared: a figure on dev, and which way is better."""

    name: str
    least: bool

    def of(self, dev: Mapping[str, float]) -> float:
        """Its value."""
        return dev[self.name]

    @classmethod
    def for_(cls, config: Config) -> Figure:
        """The one that chooses the epochs of a run."""
        if config.choose == "loss":
            return cls("mse" if config.task == "sick" else "loss", True)
        return cls(SCORES[config.task], False)


@dataclass(frozen=True)
class Sweep:
    """What is tried: a recipe with settings for all of it, each key's values, and how many seeds."""

    recipe: str
    tries: tuple[tuple[str, tuple[str, ...]], ...]
    seeds: int
    overrides: tuple[tuple[str, str], ...]
    out: Path
    data: Path

    def __post_init__(self) -> None:
        if self.seeds < 1:
            raise ValueError(f"--seeds {self.seeds}: at least 1")
        if any(key in ("task", "source", "system") for key, _ in self.tries):
            raise ValueError(
                "--try task, source or system: a sweep compares settings on one and the same data"
            )
        if self.base.system:
            raise ValueError(
                f"{self.recipe} has no epochs and chooses nothing on dev; there is nothing to tune"
            )
        for trial in self.trials(1):
            trial.config()  # a wrong key or value is said before anything runs

    @property
    def base(self) -> Config:
        """The recipe with what is set for all."""
        return Run(self.recipe, 1, (), self.overrides).config()

    @property
    def figure(self) -> Figure:
        """What is compared."""
        return Figure.for_(self.base)

    def combinations(self) -> list[tuple[tuple[str, str], ...]]:
        """Each value of each key with each of the others."""
        keys = [key for key, _ in self.tries]
        return [
            tuple(zip(keys, values, strict=True))
            for values in itertools.product(*(values for _, values in self.tries))
        ]

    def trials(self, *seeds: int) -> list[Trial]:
        """Of these seeds, all combinations."""
        return [
            Trial(self.recipe, seed, combination, self.overrides)
            for seed in seeds
            for combination in self.combinations()
        ]


@dataclass(frozen=True)
class Row:
    """One combination: its figure for each seed; `stopped` is the epoch at which it was given up, if it was."""

    settings: tuple[tuple[str, str], ...]
    values: tuple[float, ...]
    epochs: tuple[int, ...]
    stopped: int | None
    command: str

    @property
    def mean(self) -> float:
        """Over the seeds."""
        return statistics.fmean(self.values)

    @property
    def sd(self) -> float:
        """Over the seeds; 0 of one."""
        return statistics.stdev(self.values) if len(self.values) > 1 else 0.0


def tune(
    sweep: Sweep,
    executor: Executor,
    *,
    first: Stage | None = None,
    show: Show = lambda board: None,
) -> tuple[list[Row], dict[str, str]]:
    """Do the runs that are not done yet; the combinations, best first, and the reasons of runs that failed.

    With `first`, a stage of its own does the first seed of all combinations and may stop some of them early; the
    other seeds are then those of the combinations that it let finish. Else all are trained to their end.
    """
    seeds = range(1, sweep.seeds + 1)
    board = Board(total=len(sweep.combinations()) * sweep.seeds, jobs=executor.jobs)
    with alone(sweep.out, "bough tune"):
        if first is None:
            results = _stage(sweep, board, sweep.trials(*seeds), executor, show)
        else:
            trials = sweep.trials(1)
            results = [result for trial in trials if (result := finished(sweep, trial)) is not None]
            board.skipped = len(results)
            done = {result["system"] for result in results}
            results += first(board, [trial for trial in trials if trial.system not in done], sweep)
            kept = {result["system"] for result in results if result["stopped"] is None}
            others = [trial for trial in sweep.trials(*seeds[1:]) if trial.system in kept]
            board.total = len(trials) + len(others)
            results += _stage(sweep, board, others, executor, show)
    return rows(sweep, results), board.failed


def _stage(
    sweep: Sweep, board: Board, trials: Sequence[Trial], executor: Executor, show: Show
) -> list[Result]:
    results: list[Result] = []
    for trial in trials:
        with reported(trial, board):
            result = finished(sweep, trial)
            if result is None:
                board.waiting.append(trial)
                continue
            results.append(result)
            board.skipped += 1
            board.took.setdefault(trial.system, []).append(result["seconds"])

    def gather(run: Run) -> tuple[Result, str]:
        dev = read_json(work_folder(sweep.out, run) / "dev.json")
        result = record(sweep, run, dev, None)
        clear(sweep.out, run)
        return result, said(sweep, result)

    return results + work_off(board, executor, sweep.out, sweep.data, gather, show, more={"dev_only": True})


def record(sweep: Sweep, run: Run, dev: Mapping[str, Any], stopped: int | None) -> Result:
    """Write the result of a run, and give it back."""
    result = {
        "key": run.key(sweep.data),
        "system": run.system,
        "settings": dict(run.settings),
        "seed": run.seed,
        "dev": dev["dev"],
        "epoch": dev["epoch"],
        "stopped": stopped,
        "seconds": dev["seconds"],
    }
    write_json(_path(sweep, run), result)
    return result


def finished(sweep: Sweep, run: Run) -> Result | None:
    """The result of a run, if it is there, whole, and of these very settings and data."""
    path = _path(sweep, run)
    try:
        result = read_json(path) if path.exists() else None
    except FormatError:  # torn by hand: done again
        return None
    return result if result is not None and result.get("key") == run.key(sweep.data) else None


def said(sweep: Sweep, result: Result) -> str:
    """A run in a few words."""
    figure = sweep.figure
    words = f"dev {figure.name} {figure.of(result['dev']):.4f}"
    return f"{words}, stopped after epoch {result['stopped']}" if result["stopped"] is not None else words


def rows(sweep: Sweep, results: Sequence[Result]) -> list[Row]:
    """The combinations: those that were trained to their end first, the best of them on top. Seeds are in order."""
    figure, found = sweep.figure, []
    in_order = sorted(results, key=lambda result: result["seed"])  # runs side by side end in any order
    for combination in sweep.combinations():
        mine = [result for result in in_order if result["settings"] == dict(combination)]
        if not mine:
            continue
        words = ["bough", "train", sweep.recipe]
        for key, value in (*sweep.overrides, *combination):
            words += ["--set", f"{key}={value}"]
        found.append(
            Row(
                combination,
                tuple(figure.of(result["dev"]) for result in mine),
                tuple(result["epoch"] for result in mine),
                max((result["stopped"] for result in mine if result["stopped"] is not None), default=None),
                shlex.join(words),
            )
        )
    sign = 1 if figure.least else -1
    return sorted(
        found, key=lambda row: (row.stopped is not None, len(row.values) < sweep.seeds, sign * row.mean)
    )


def _path(sweep: Sweep, run: Run) -> Path:
    return sweep.out / "runs" / f"{run.name}.json"
