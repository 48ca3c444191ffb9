"""Claims about runs that stop: a kill loses nothing, and a folder in use is never overwritten."""

import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
import torch

import minidata
from bough.errors import FormatError, TrainingError
from bough.files import (
    partial_files,
    read_json,
    read_tensors_and_metadata,
    replacing,
    write_json,
    write_tensors,
)
from lab_calls import command_of, surroundings
from paper.config import PaperConfig
from paper.train import train
from quick_runs import contents, quick
from waiting import wait_until


class Stopped(Exception):
    pass


def train_an_epoch(config: PaperConfig, out: Path, data: Path, epoch: int = 1) -> None:
    """Train, and stop after an epoch."""

    def stop(event: Any) -> None:
        if event.dev is not None and event.epoch == epoch:
            raise Stopped

    with pytest.raises(Stopped):
        train(config, out, data=data, callback=stop)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"embedding_optimizer": "rows", "adagrad_reset_every": 2, "max_grad_norm": 1.0},
        {"optimizer": "adadelta", "embedding_optimizer": "rows", "learning_rate": 1.0},
        {
            "optimizer": "adam",
            "learning_rate": 1e-3,
            "embedding_optimizer": "rows",
            "embedding_learning_rate": 1e-3,
        },
        {"optimizer": "adamw", "learning_rate": 1e-3, "warmup": 0.3},
    ],
    ids=lambda settings: "-".join(map(str, settings.values())),
)
def test_a_run_that_was_stopped_goes_on_to_the_same_bytes(
    settings: dict[str, Any], mini: Path, tmp_path: Path
) -> None:
    config = quick("sst5-constituency-tuned").with_settings({"epochs": 3, **settings})
    train(config, tmp_path / "whole", data=mini)
    train_an_epoch(config, tmp_path / "parts", mini, epoch=2)
    train(config, tmp_path / "parts", data=mini, resume=True)
    assert contents(tmp_path / "whole") == contents(tmp_path / "parts")
    assert not (tmp_path / "parts" / "checkpoint.safetensors").exists()


@pytest.mark.parametrize(
    ("epochs_before", "optimiser"),
    [
        (1, "adam"),
        pytest.param(0, "adagrad", marks=pytest.mark.slow),
        pytest.param(1, "adagrad", marks=pytest.mark.slow),
    ],
)
def test_kill_9_at_any_moment_loses_nothing(
    epochs_before: int, optimiser: str, mini: Path, tmp_path: Path
) -> None:
    command = command_of("paper", "train", "sst5-bilstm", "--data", str(mini))
    table = "plain" if optimiser == "adagrad" else "rows"
    for setting in (
        "source=own",
        "hidden_size=8",
        "epochs=3",
        f"optimizer={optimiser}",
        f"embedding_optimizer={table}",
    ):
        command += ["--set", setting]
    environment = surroundings()
    subprocess.run(
        [*command, "--out", str(tmp_path / "whole")], check=True, capture_output=True, env=environment
    )
    out = tmp_path / "parts"
    process = subprocess.Popen([*command, "--out", str(out)], stdout=subprocess.DEVNULL, env=environment)
    awaited = out / ("run.json" if epochs_before == 0 else "checkpoint.safetensors")
    wait_until(awaited.exists, process)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL, "the run ended before it could be killed"
    subprocess.run(
        [*command, "--out", str(out), "--resume"], check=True, capture_output=True, env=environment
    )
    assert contents(tmp_path / "whole") == contents(out)


def test_a_finished_run_is_left_as_it_is(mini: Path, tmp_path: Path) -> None:
    config = quick("sick-mean")
    first = train(config, tmp_path, data=mini)
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert train(config, tmp_path, data=mini, resume=True) == first
    assert {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before


def test_a_folder_in_use_is_never_overwritten(mini: Path, tmp_path: Path) -> None:
    mine = {"thesis.tex", ".latexmk.rc", ".thesis.tex.swp"}
    for name in mine:
        (tmp_path / name).write_text("mine")
    with pytest.raises(TrainingError, match="is not empty; resume the run"):
        train(quick("sick-mean"), tmp_path, data=mini)
    assert {path.name for path in tmp_path.iterdir()} == mine


def test_a_torn_checkpoint_is_an_error_and_stays(mini: Path, tmp_path: Path) -> None:
    config = quick("sick-mean")
    train_an_epoch(config, tmp_path, mini)
    path = tmp_path / "checkpoint.safetensors"
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(FormatError, match="damaged, or not a safetensors"):
        train(config, tmp_path, data=mini, resume=True)
    assert path.stat().st_size == 200


def test_a_checkpoint_of_another_version_is_named_with_the_way_out(mini: Path, tmp_path: Path) -> None:
    config = quick("sick-mean")
    train_an_epoch(config, tmp_path, mini)
    path = tmp_path / "checkpoint.safetensors"
    tensors, metadata = read_tensors_and_metadata(path)
    write_tensors(path, {name.replace("head.", "0."): t for name, t in tensors.items()}, metadata)
    with pytest.raises(
        FormatError, match=r"another run or version of bough \(.*\); train anew in another folder"
    ):
        train(config, tmp_path, data=mini, resume=True)


def test_resuming_another_run_is_an_error(mini: Path, tmp_path: Path) -> None:
    config = quick("sick-mean")
    train(config, tmp_path, data=mini)
    with pytest.raises(TrainingError, match="trained with another seed"):
        train(config, tmp_path, seed=2, data=mini, resume=True)
    with pytest.raises(TrainingError, match="trained with another config"):
        train(config.with_settings({"optimizer": "adam"}), tmp_path, data=mini, resume=True)


def test_a_run_tells_its_instruction_set_and_may_go_on_with_another(mini: Path, tmp_path: Path) -> None:
    config = quick("sick-mean").with_settings({"epochs": 2})
    train_an_epoch(config, tmp_path, mini)
    run = read_json(tmp_path / "run.json")
    assert run["versions"]["cpu"] == torch.backends.cpu.get_cpu_capability()
    run["versions"]["cpu"] = "another"
    write_json(tmp_path / "run.json", run)
    train(config, tmp_path, data=mini, resume=True)
    assert f"cpu {torch.backends.cpu.get_cpu_capability()}" in (tmp_path / "README.md").read_text()


def test_a_kill_before_the_last_line_of_metrics_loses_nothing(
    mini: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import bough.train.loop

    config = quick("sick-mean")
    train(config, tmp_path / "whole", data=mini)
    written = vars(bough.train.loop)["write_text"]

    def die_at_metrics(path: Path, text: str) -> None:
        if path.name == "metrics.jsonl" and len(text.splitlines()) == config.epochs:
            raise Stopped
        written(path, text)

    monkeypatch.setattr(bough.train.loop, "write_text", die_at_metrics)
    with pytest.raises(Stopped):
        train(config, tmp_path / "parts", data=mini)
    monkeypatch.undo()
    train(config, tmp_path / "parts", data=mini, resume=True)
    assert contents(tmp_path / "whole") == contents(tmp_path / "parts")


def test_what_a_kill_left_of_a_file_is_no_obstacle(mini: Path, tmp_path: Path) -> None:
    with replacing(tmp_path / "run.json") as partial:
        pass
    (tmp_path / "run.json").rename(partial)  # as if the power had gone off in the block
    assert partial_files(tmp_path) == [partial]
    train(quick("sick-mean"), tmp_path, data=mini)
    assert not partial.exists()


def test_a_run_goes_on_with_its_own_data_only(mini: Path, tmp_path: Path) -> None:
    config = quick("sick-mean")
    train_an_epoch(config, tmp_path / "run", mini)
    other = minidata.make(tmp_path / "other", sentences=30)
    with pytest.raises(TrainingError, match="was started with other data"):
        train(config, tmp_path / "run", data=other, resume=True)
