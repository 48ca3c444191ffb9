"""The first stage of a sweep by Ray Tune: one seed of each combination, the worse ones stopped early by ASHA."""

from __future__ import annotations

import json
import logging
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bough.cluster.runs import stamps_of, write_files
from bough.cluster.sweep import Result, Sweep, Trial, record, said
from bough.reproduce.board import Board, Progress
from bough.reproduce.sitting import Show

GRACE = 1 / 3  # of the epochs, which every combination gets
FACTOR = 3  # of those at a rung, one in so many goes on


def by_asha(show: Show, jobs: int | None = None) -> Callable[[Board, Sequence[Trial], Sweep], list[Result]]:
    """A stage for `tune`, on the cluster that this process is connected to; so many runs at a time, else all it can."""

    def stage(board: Board, trials: Sequence[Trial], sweep: Sweep) -> list[Result]:
        return _stage(board, trials, sweep, show, jobs) if trials else []

    return stage


def _stage(board: Board, trials: Sequence[Trial], sweep: Sweep, show: Show, most: int | None) -> list[Result]:
    from ray import tune
    from ray.tune.schedulers import ASHAScheduler

    logging.getLogger("ray.tune").setLevel(logging.ERROR)
    figure = sweep.figure
    epochs = max(trial.config().epochs for trial in trials)
    scheduler = ASHAScheduler(
        time_attr="epoch",
        metric="figure",
        mode="min" if figure.least else "max",
        max_t=epochs,
        grace_period=max(1, round(GRACE * epochs)),
        reduction_factor=FACTOR,
    )
    jobs = [
        {"config": trial.config().as_dict(), "seed": trial.seed, "recipe": trial.recipe} for trial in trials
    ]
    data = str(sweep.data.resolve())
    train = tune.with_parameters(_train, jobs=jobs, data=data, least=figure.least, name=figure.name)
    watch = _Watch(board, trials, sweep, show)
    show(board)
    tune.Tuner(
        tune.with_resources(train, {"cpu": 1}),
        param_space={"number": tune.grid_search(list(range(len(jobs))))},
        tune_config=tune.TuneConfig(scheduler=scheduler, max_concurrent_trials=most),
        run_config=tune.RunConfig(
            name="asha",
            storage_path=str((sweep.out / "work" / "tune").resolve()),
            failure_config=tune.FailureConfig(max_failures=3),
            checkpoint_config=tune.CheckpointConfig(num_to_keep=1),
            callbacks=[_callback(watch)],
            verbose=0,
        ),
    ).fit()
    shutil.rmtree(sweep.out / "work" / "tune", ignore_errors=True)
    return [watch.results[number] for number in sorted(watch.results)]


class _Watch:
    """Hears of the trials: each one's result is kept as soon as it ends."""

    def __init__(self, board: Board, trials: Sequence[Trial], sweep: Sweep, show: Show) -> None:
        self.board, self.trials, self.sweep, self.show = board, trials, sweep, show
        self.results: dict[int, Result] = {}

    def reported(self, number: int, last: dict[str, Any]) -> None:
        """An epoch is done."""
        trial = self.trials[number]
        score = f"{self.sweep.figure.name} {last['figure']:.3f}"
        self.board.running[trial] = Progress(last["epoch"], trial.config().epochs, score)
        self.show(self.board)

    def ended(self, number: int, last: dict[str, Any]) -> None:
        """A trial is finished, or was stopped."""
        trial = self.trials[number]
        whole = last["finished"] or last["epoch"] >= trial.config().epochs
        best = {"dev": json.loads(last["dev"]), "epoch": last["best_epoch"], "seconds": last["seconds"]}
        result = self.results[number] = record(self.sweep, trial, best, None if whole else last["epoch"])
        self.board.running.pop(trial, None)
        self.board.done += 1
        self.board.took.setdefault(trial.system, []).append(best["seconds"])
        self.board.events.append(f"{trial.name}: {said(self.sweep, result)}, {best['seconds']:.0f} s")
        self.show(self.board)

    def failed(self, number: int, why: str) -> None:
        """A trial cannot be done."""
        trial = self.trials[number]
        self.board.running.pop(trial, None)
        self.board.failed[trial.name] = why
        self.board.events.append(f"{trial.name}: failed, {why}")
        self.show(self.board)


def _callback(watch: _Watch) -> Any:
    from ray import tune

    class Heard(tune.Callback):
        watch: Any = None

        def on_trial_result(self, iteration: int, trials: Any, trial: Any, result: Any, **_: Any) -> None:
            self.watch.reported(trial.config["number"], result)

        def on_trial_complete(self, iteration: int, trials: Any, trial: Any, **_: Any) -> None:
            self.watch.ended(trial.config["number"], trial.last_result)

        def on_trial_error(self, iteration: int, trials: Any, trial: Any, **_: Any) -> None:
            error = trial.get_error()
            lines = [line for line in str(error or "").splitlines() if line.strip()]
            self.watch.failed(trial.config["number"], lines[-1].strip() if lines else "no reason was given")

        def __getstate__(self) -> dict[str, Any]:
            return {}  # Ray stores a copy to go on with; here the results themselves are gone on with

    heard = Heard()
    heard.watch = watch
    return heard


def _train(config: dict[str, Any], *, jobs: list[dict[str, Any]], data: str, least: bool, name: str) -> None:
    """On a node: one run, which reports every epoch and leaves a checkpoint with each report."""
    import torch
    from ray import tune

    from bough.model.config import Config
    from bough.training.train import train

    torch.set_num_threads(1)
    job, started = jobs[config["number"]], time.monotonic()
    with tempfile.TemporaryDirectory(prefix="bough-tune-") as folder:
        work = Path(folder, "run")
        if checkpoint := tune.get_checkpoint():
            with checkpoint.as_directory() as stored:
                write_files(work, {file: Path(stored, file).read_bytes() for file in stamps_of(Path(stored))})

        def report(event: Any = None) -> None:
            if event is not None and event.dev is None:
                return
            history = [json.loads(line) for line in (work / "metrics.jsonl").read_text().splitlines()]
            figures = [line[f"dev_{name}"] for line in history]
            best = history[figures.index(min(figures) if least else max(figures))]
            found: dict[str, Any] = {"epoch": history[-1]["epoch"], "figure": best[f"dev_{name}"]}
            found |= {
                "best_epoch": best["epoch"],
                "finished": event is None,
                "seconds": time.monotonic() - started,
            }
            dev = {key.removeprefix("dev_"): value for key, value in best.items() if key.startswith("dev_")}
            tune.report(
                {**found, "dev": json.dumps(dev)}, checkpoint=tune.Checkpoint.from_directory(str(work))
            )

        train(
            Config().with_settings(job["config"]),
            work,
            seed=job["seed"],
            data=data,
            resume=True,
            recipe=job["recipe"],
            tell=report,
            dev_only=True,
        )
        report()
