"""Claims about `bough tune`: every combination, on dev alone, resumable; on Ray the worse ones are stopped early."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from bough.cli import main
from bough.cluster.sweep import Row, Sweep, finished, rows, tune
from bough.reproduce.board import Board
from bough.reproduce.executor import Processes
from bough.training.tasks import SentimentTask
from bough.trees.tree import Tree

QUICK = (("source", "own"), ("hidden", "4"), ("epochs", "2"))


def sweep(mini: Path, out: Path, tries: dict[str, tuple[str, ...]], seeds: int = 2, **more: str) -> Sweep:
    overrides = tuple({**dict(QUICK), **more}.items())
    return Sweep("sst5-dependency", tuple(tries.items()), seeds, overrides, out, mini)


def test_every_combination_and_seed_once_and_again_nothing(mini: Path, tmp_path: Path) -> None:
    """The test split may even be missing: it is not read."""
    tried = sweep(mini, tmp_path, {"rate": ("0.05", "0.0001"), "batch": ("5", "25")})
    found, failed = tune(tried, Processes(2))
    assert not failed
    assert {row.settings for row in found} == set(tried.combinations())
    assert all(len(row.values) == 2 and row.stopped is None for row in found)
    assert [row.mean for row in found] == sorted((row.mean for row in found), reverse=True)
    best = found[0]
    stored = [finished(tried, trial) for trial in tried.trials(1, 2) if trial.settings == best.settings]
    assert best.values == tuple(result["dev"]["accuracy"] for result in stored if result is not None)
    assert [path.name for path in (tmp_path / "work").iterdir()] == ["lock"]
    assert all("test" not in json.loads(path.read_text()) for path in (tmp_path / "runs").iterdir())
    boards: list[Board] = []
    assert tune(tried, Processes(2), show=boards.append) == (found, {})
    assert boards[-1].skipped == 8
    torn = next((tmp_path / "runs").iterdir())
    torn.write_text(torn.read_text()[:20])
    assert tune(tried, Processes(2), show=boards.append) == (found, {})
    assert (boards[-1].skipped, boards[-1].done) == (7, 1)


def test_the_test_split_is_never_read(mini: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from bough.training.train import train

    read: list[str] = []
    true = SentimentTask.read

    def noted(self: SentimentTask, split: str) -> list[Tree]:
        read.append(split)
        return true(self, split)

    monkeypatch.setattr(SentimentTask, "read", noted)
    tried = sweep(mini, tmp_path, {"rate": ("0.05",)})
    train(tried.base, tmp_path / "run", data=mini, dev_only=True)
    assert {*read} == {"train", "dev"}
    assert not (tmp_path / "run" / "test.json").exists()
    train(tried.base, tmp_path / "run", data=mini, resume=True)
    assert {*read} == {"train", "dev", "test"}


def test_a_loss_is_better_when_it_is_less(mini: Path, tmp_path: Path) -> None:
    tried = sweep(mini, tmp_path, {"rate": ("1", "2")}, seeds=1, choose="loss")
    results = [
        {"settings": {"rate": rate}, "seed": 1, "dev": {"loss": loss}, "epoch": 1, "stopped": stopped}
        for rate, loss, stopped in (("1", 0.9, None), ("2", 0.1, 1))
    ]
    found: list[Row] = rows(tried, results)
    assert [row.settings[0][1] for row in found] == [
        "1",
        "2",
    ]  # what was stopped is no match for what was not
    results[1]["stopped"] = None
    assert [row.settings[0][1] for row in rows(tried, results)] == ["2", "1"]


def test_a_row_has_its_seeds_in_order_whichever_ended_first(mini: Path, tmp_path: Path) -> None:
    tried = sweep(mini, tmp_path, {"rate": ("1",)}, seeds=3)
    results = [
        {
            "settings": {"rate": "1"},
            "seed": seed,
            "dev": {"accuracy": seed / 10},
            "epoch": seed,
            "stopped": None,
        }
        for seed in (2, 3, 1)
    ]
    (row,) = rows(tried, results)
    assert row.values == (0.1, 0.2, 0.3)
    assert row.epochs == (1, 2, 3)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("demo", "--try", "rate"), "--try rate: key=a,b,c wanted"),
        (("demo", "--try", "rate=1,,2"), "key=a,b,c wanted"),
        (("demo", "--try", "rate=1", "--try", "rate=2"), "rate has its values already"),
        (("demo", "--try", "rates=1,2"), "rate"),
        (("demo", "--try", "rate=1,x"), "rate"),
        (("demo", "--try", "task=sst2,sst5"), "one and the same data"),
        (("demo", "--try", "rate=1", "--seeds", "0"), "--seeds 0: at least 1"),
        (("sick-ecnu", "--try", "seed=1"), "nothing to tune"),
        (("no-such", "--try", "rate=1"), "unknown recipe"),
        (("demo", "--try", "rate=1", "--ray", "127.0.0.1:1"), "no Ray cluster at 127.0.0.1:1"),
    ],
)
def test_what_cannot_be_tuned_is_one_line(
    arguments: tuple[str, ...],
    said: str,
    mini: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stop:
        main(["tune", *arguments[:1], "--data", str(mini), *arguments[1:]])
    assert stop.value.code == 2
    err = capsys.readouterr().err
    assert said in err
    assert len(err.splitlines()) == 1


# Ray sets options of its own that it warns of itself
@pytest.mark.filterwarnings(r"ignore::DeprecationWarning:ray\..*")
@pytest.mark.parametrize(("arguments", "most"), [((), None), (("--jobs", "3"), 3)])
def test_asha_too_keeps_to_the_jobs(
    arguments: tuple[str, ...], most: int | None, mini: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ray_tune = pytest.importorskip("ray.tune")
    asked: list[int | None] = []

    class Tuner:
        def __init__(self, train: object, *, tune_config: Any, **_: object) -> None:
            asked.append(tune_config.max_concurrent_trials)

        def fit(self) -> None:
            pass

    monkeypatch.setattr(ray_tune, "Tuner", Tuner)
    for name in ("with_parameters", "with_resources"):
        monkeypatch.setattr(ray_tune, name, lambda train, *_, **__: train)
    monkeypatch.setattr("bough.cli.tuning.executor_for", lambda ray, jobs: nullcontext(Processes(1)))
    tries = ("--try", "rate=0.05,0.01", "--seeds", "1", "--out", str(tmp_path), "--data", str(mini))
    main(["tune", "sst5-dependency", "--set", "source=own", *tries, *arguments, "--ray"])
    assert asked == [most]


@pytest.mark.slow
@pytest.mark.usefixtures("cluster")
# Ray sets options of its own that it warns of itself
@pytest.mark.filterwarnings(r"ignore::DeprecationWarning:ray\..*")
def test_asha_stops_the_worse_and_gives_the_better_their_other_seeds(mini: Path, tmp_path: Path) -> None:
    import ray

    from bough.cluster.asha import by_asha
    from bough.cluster.runs import RayRuns

    tries: dict[str, tuple[str, ...]] = {"rate": ("0.01", "0.000001", "0.0000001", "0.00000001")}
    tried = sweep(mini, tmp_path, tries, epochs="9", choose="loss")
    boards: list[Board] = []
    found, failed = tune(tried, RayRuns(ray), first=by_asha(boards.append), show=boards.append)
    assert not failed
    assert len(found) == 4
    whole = [row for row in found if row.stopped is None]
    given_up = [row for row in found if row.stopped is not None]
    assert found == whole + given_up
    assert whole[0].settings == (("rate", "0.01"),)
    assert all(len(row.values) == 2 for row in whole)
    assert given_up
    assert all(len(row.values) == 1 and row.stopped == 3 for row in given_up)
    here = sweep(mini, tmp_path / "here", {"rate": ("0.01",)}, epochs="9", choose="loss")
    (row,), _ = tune(here, Processes(2))
    assert row.values == whole[0].values  # the figures of local processes
    assert tune(tried, RayRuns(ray), first=by_asha(boards.append), show=boards.append) == (found, {})
    assert boards[-1].done == 0
