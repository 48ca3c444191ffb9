"""Claims about training under torchrun: any number of ranks takes the steps of one, and none waits for ever."""

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
import torch

import ranks_of_torchrun
import small_encoder
from bough.files import read_json, read_tensors
from paper.recipes import load_recipe
from paper.train import train
from ranks_of_torchrun import train_all
from torchrun_calls import command_line, surroundings, torchrun
from waiting import LIMIT, wait_until

WORKER = ranks_of_torchrun.__file__
SMOOTH = {
    "optimizer": "adadelta",
    "learning_rate": 1.0,
    "dropout": 0.0,
}  # AdaGrad's first step is a gradient's sign, and that of 1e-9 is chance
RUNS: dict[str, tuple[str, dict[str, Any]]] = {  # none has dropout, which each rank draws for itself
    "word vectors": ("sst5-constituency-tuned", SMOOTH),
    "both directions": ("sst5-bi-constituency", SMOOTH),
    "several layers": ("sst5-drnn", {**SMOOTH, "recurrent_dropout": 0.0}),
    "all spans": ("sst5-bilstm", {**SMOOTH, "spans": 1000}),  # some would be drawn by each rank for itself
    "phrases": ("sst5-cnn-multichannel", {"dropout": 0.0}),
    "pairs": ("sick-dependency", SMOOTH),
    "attentive pairs": ("sick-attentive", SMOOTH),
    "relations": ("sick-sdt-rnn", SMOOTH),
    # rounding grows with the steps, in one process too; in 64 bits an epoch of many is as good as one
    "AdaGrad and many steps": (
        "sst5-constituency-regularised",
        {
            "epochs": 2,
            "batch_size": 2,
            "double": True,
            "dropout": 0.0,
            "input_dropout": 0.0,
            "recurrent_dropout": 0.0,
        },
    ),
    "no example left for some": ("sst5-constituency-tuned", {**SMOOTH, "batch_size": 13}),  # 40 = 3 * 13 + 1
    "rows of the table": (
        "sst5-dependency",
        {
            **SMOOTH,
            "embeddings": "tuned",
            "embedding_optimizer": "rows",
            "embedding_learning_rate": 1.0,
            "max_grad_norm": 0.5,
        },
    ),
}


LEAVES = "over a transformer"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, dict[str, Any]]]:
    encoder = small_encoder.make(tmp_path_factory.mktemp("encoders") / "tiny")
    over = {"encoder": str(encoder), "encoder_freeze": 1, "encoder_dropout": 0.0, "extra_phrases": 10}
    over |= {"input_dropout": 0.0, "recurrent_dropout": 0.0}
    return {**RUNS, LEAVES: ("sst5-contextual", {**SMOOTH, **over})}


@pytest.fixture(scope="module")
def by_one(runs: dict[str, Any], mini: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All of them by one process."""
    out = tmp_path_factory.mktemp("one")
    train_all(runs, mini, out)
    return out


@pytest.fixture(scope="module", params=[2, pytest.param(3, marks=pytest.mark.slow)])
def by_several(
    request: Any, runs: dict[str, Any], mini: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """All of them by two processes, and by three."""
    out = tmp_path_factory.mktemp("several")
    done = torchrun(request.param, WORKER, json.dumps(runs), str(mini), str(out))
    assert done.returncode == 0, done.stderr
    return out


@pytest.mark.parametrize("name", [*RUNS, LEAVES])
def test_ranks_learn_what_one_process_learns(name: str, by_one: Path, by_several: Path) -> None:
    one, several = by_one / name, by_several / name
    for line, other in zip(_history(one), _history(several), strict=True):
        assert other == pytest.approx(line, rel=1e-5, abs=1e-5)
    learnt, too = (read_tensors(folder / "model.safetensors") for folder in (one, several))
    for tensor in learnt:
        torch.testing.assert_close(
            too[tensor],
            learnt[tensor],
            rtol=0,
            atol=1e-5,
            msg=lambda m: f"{tensor}: {m}",  # noqa: B023
        )
    assert read_json(several / "test.json")["test"] == pytest.approx(
        read_json(one / "test.json")["test"], rel=1e-5, abs=1e-5
    )
    assert {path.name for path in several.iterdir()} == {path.name for path in one.iterdir()}


def _history(folder: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


RECIPE = "sst5-constituency-regularised"
COMMAND = ("-m", "paper", "train", RECIPE, "--set", "source=own", "--set", "hidden_size=8")


def test_a_run_goes_on_with_another_number_of_ranks(mini: Path, tmp_path: Path) -> None:
    still = {"dropout": 0, "input_dropout": 0, "recurrent_dropout": 0, "epochs": 12}
    command = [*COMMAND, *(part for key, value in still.items() for part in ("--set", f"{key}={value}"))]
    command += ["--data", str(mini)]
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    config = load_recipe(RECIPE).with_settings({"source": "own", "hidden_size": 8, **still})
    train(config, whole, data=mini)
    stopped = subprocess.Popen(
        command_line(2, *command, "--out", str(parts)), env=surroundings(), stderr=subprocess.DEVNULL
    )
    wait_until((parts / "checkpoint.safetensors").exists, stopped)
    stopped.terminate()
    assert stopped.wait(LIMIT)
    assert not (parts / "test.json").exists(), "the run ended before it could be stopped"
    train(config, parts, data=mini, recipe=RECIPE, resume=True)
    for line, other in zip(_history(whole), _history(parts), strict=True):
        assert other == pytest.approx(line, rel=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("victim", [0, 1])
def test_a_killed_rank_is_started_again_and_nothing_is_lost(victim: int, mini: Path, tmp_path: Path) -> None:
    command = [*COMMAND, "--set", "epochs=12", "--data", str(mini)]
    done = torchrun(2, *command, "--out", str(tmp_path / "whole"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("epoch 12  ") == 1, "one rank shows progress"
    out = tmp_path / "torn"
    process = subprocess.Popen(
        command_line(2, *command, "--out", str(out), restarts=2),
        env=surroundings(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_until((out / "checkpoint.safetensors").exists, process)
    os.kill(_workers(process.pid)[victim], signal.SIGKILL)
    _, said = process.communicate(timeout=LIMIT)
    assert process.returncode == 0, said
    assert "exitcode: -9" in said, said
    for name in ("test.json", "metrics.jsonl", "model.safetensors", "predictions.txt"):
        assert (out / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name
    assert not (out / "checkpoint.safetensors").exists()


def _workers(agent: int) -> list[int]:
    """By their ranks."""
    children = [int(pid) for pid in Path(f"/proc/{agent}/task/{agent}/children").read_text().split()]
    found = {}
    for pid in children:
        facts = dict(
            entry.split("=", 1)
            for entry in Path(f"/proc/{pid}/environ").read_text().split("\0")
            if "=" in entry
        )
        found[int(facts["RANK"])] = pid
    return [found[rank] for rank in sorted(found)]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        pytest.param(["--set", "learning_rate=1e30"], "the loss is nan in epoch 1", marks=pytest.mark.slow),
        (["--set", "epoch=2"], "unknown key 'epoch'"),
    ],
)
def test_what_is_wrong_for_all_is_said_once(
    more: list[str], message: str, mini: Path, tmp_path: Path
) -> None:
    failed = torchrun(2, *COMMAND, "--data", str(mini), "--out", str(tmp_path / "run"), *more)
    assert failed.returncode
    assert [line for line in failed.stderr.splitlines() if line.startswith("python -m paper:")] == [
        line for line in failed.stderr.splitlines() if message in line
    ]
    assert failed.stderr.count(message) == 1


@pytest.mark.parametrize("rank", [pytest.param(0, marks=pytest.mark.slow), 1])
def test_one_rank_that_fails_ends_all_with_its_error(rank: int, mini: Path, tmp_path: Path) -> None:
    where = f"$([ $RANK = {rank} ] && echo {tmp_path}/none || echo {mini})"
    script = f'exec "$0" {" ".join(COMMAND)} --out {tmp_path}/run --data {where}'
    failed = torchrun(2, "--no-python", "sh", "-c", script, surroundings_python())
    assert failed.returncode
    said = [line for line in failed.stderr.splitlines() if line.startswith("python -m paper:")]
    assert said == [
        f"python -m paper: the data folder {tmp_path}/none: no such folder; "
        "`bough fetch glove` makes one with word vectors"
    ]


def surroundings_python() -> str:
    return command_line(1)[0]
