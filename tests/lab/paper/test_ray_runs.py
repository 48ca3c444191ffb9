"""Claims about runs on Ray: the results of local processes, on this machine, whatever node dies."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bough.integrations.ray.connection import processors
from paper.plan import Run
from paper.ray_runs import RayRun
from paper.results import result_path
from paper.runner import PlanProgress, execute, kept_model

pytestmark = pytest.mark.slow
QUICK = (("source", "own"), ("hidden_size", "4"), ("similarity_hidden", "3"))


def result(out: Path, run: Run) -> dict[str, Any]:
    """But for the time it took."""
    return {**json.loads(result_path(out, run).read_text()), "seconds": 0}


def on(ray: Any) -> dict[str, Any]:
    """Return how runs are started on a cluster, as many as it has processors."""
    return {"start": partial(RayRun, ray), "jobs": lambda: processors(ray)}


def test_a_node_killed_in_the_middle_costs_no_run(
    cluster: Any, mini: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Three nodes, five runs; the node that dies has one under way."""
    import ray

    overrides = (*QUICK, ("epochs", "200"))
    runs = [
        Run(recipe, seed, (), overrides) for recipe in ("sick-dependency", "sick-lstm") for seed in (1, 2)
    ]
    broken = Run("sick-mean", 1, (("vectors", "no-such-file"),), overrides)
    doomed = cluster.add_node(num_cpus=1)
    killed: list[int] = []

    def show(board: PlanProgress) -> None:
        if not killed and sum(progress.epoch > 0 for progress in board.running.values()) >= 3:
            killed.append(board.done)
            cluster.remove_node(doomed, allow_graceful=False)

    there, here = tmp_path / "there", tmp_path / "here"
    results, failed = execute([*runs, broken], there, mini, keep=runs[:1], **on(ray), show=show)
    assert killed
    assert "was lost with its node; it continues on another" in caplog.text
    assert {(one["system"], one["seed"]) for one in results} == {(run.system, run.seed) for run in runs}
    assert list(failed) == [broken.name]
    assert "no-such-file" in failed[broken.name]
    folder = kept_model(there, runs[0], mini)
    assert folder is not None
    assert not (folder / "checkpoint.safetensors").exists()
    execute(runs, here, mini)
    assert [result(there, run) for run in runs] == [result(here, run) for run in runs]
    boards: list[PlanProgress] = []
    execute(runs, there, mini, **on(ray), show=boards.append)
    assert boards[-1].skipped == len(runs)


@pytest.mark.usefixtures("cluster")
def test_what_a_stopped_sitting_has_stored_is_gone_on_with(mini: Path, tmp_path: Path) -> None:
    import ray

    run = Run("sick-lstm", 1, (), (*QUICK, ("epochs", "100")))

    class Stopped(Exception):
        pass

    def stop(board: PlanProgress) -> None:
        if any(progress.epoch >= 3 for progress in board.running.values()):
            raise Stopped

    with pytest.raises(Stopped):
        execute([run], tmp_path, mini, **on(ray), show=stop)
    metrics = tmp_path / "work" / run.name / "run" / "metrics.jsonl"
    before = metrics.read_text().splitlines()
    assert len(before) >= 3
    epochs: list[int] = []

    def hear(board: PlanProgress) -> None:
        epochs.extend(progress.epoch for progress in board.running.values() if progress.epoch)

    results, failed = execute([run], tmp_path, mini, **on(ray), show=hear)
    assert not failed
    assert len(results) == 1
    assert min(epochs, default=100) >= len(before)
