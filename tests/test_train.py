"""Claims about training: every recipe runs, a seed fixes every byte, a kill loses nothing, test is read once."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import torch

import minidata
from bough import FormatError
from bough.config import Config, load_recipe, recipe_names
from bough.datasets import DataError
from bough.evaluate import evaluate
from bough.model import Model
from bough.storage import replacing, torn_files
from bough.tasks import Relatedness, Sentiment, task_for
from bough.train import TrainingError, Words, train

QUICK: dict[str, Any] = {"epochs": 2, "hidden": 8, "similarity_hidden": 5}
FILES = (
    "config.json",
    "vocab.txt",
    "model.safetensors",
    "README.md",
    "metrics.jsonl",
    "run.json",
    "test.json",
)


@pytest.fixture(scope="session")
def mini(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return minidata.make(tmp_path_factory.mktemp("mini"))


def quick(name: str) -> Config:
    config = load_recipe(name)
    return config.with_settings({**QUICK, **({} if name == "demo" else {"source": "own"})})


def contents(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in FILES}


@pytest.mark.parametrize("name", recipe_names())
def test_every_recipe_trains_and_the_same_seed_gives_the_same_bytes(
    name: str, mini: Path, tmp_path: Path
) -> None:
    config = quick(name)
    results = [train(config, tmp_path / run, seed=3, data=mini, recipe=name) for run in ("one", "two")]
    assert results[0] == results[1]
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    figures = evaluate(tmp_path / "one", data=mini).figures
    assert figures == pytest.approx(results[0]["test"])


def test_another_seed_gives_another_model(mini: Path, tmp_path: Path) -> None:
    for seed in (1, 2):
        train(quick("sick-dependency"), tmp_path / str(seed), seed=seed, data=mini)
    weights = [(tmp_path / str(seed) / "model.safetensors").read_bytes() for seed in (1, 2)]
    assert weights[0] != weights[1]


def test_training_learns(tmp_path: Path) -> None:
    train(load_recipe("demo"), tmp_path)
    losses = [json.loads(line)["loss"] for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert losses[-1] < losses[0] / 3
    assert evaluate(tmp_path).figures["accuracy"] > 0.5


def test_fixed_vectors_stay_and_tuned_ones_move(mini: Path, tmp_path: Path) -> None:
    from bough.model import Model

    fixed, tuned = (
        train(quick(f"sst5-constituency-{way}"), tmp_path / way, data=mini) and Model.load(tmp_path / way)
        for way in ("fixed", "tuned")
    )
    words = [word for word in fixed.words if word in tuned.index]
    moved = fixed.table[fixed.ids(words)] != tuned.table[tuned.ids(words)]
    assert 0 < moved.any(dim=1).sum() < len(words)  # words of dev and test alone keep their vectors


@pytest.mark.parametrize("config", [quick("sst5-lstm"), quick("sick-dependency")], ids=["sst", "sick"])
def test_the_test_split_is_opened_only_after_the_last_epoch(
    config: Config, mini: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[tuple[str, int]] = []
    kind = Relatedness if config.task == "sick" else Sentiment
    read = kind.read

    def watched(self: Any, split: str) -> Any:
        metrics = tmp_path / "metrics.jsonl"
        done = len(metrics.read_text().splitlines()) if metrics.exists() else 0
        opened.append((split, done))
        return read(self, split)

    monkeypatch.setattr(kind, "read", watched)
    train(config, tmp_path, data=mini)
    assert opened == [("train", 0), ("dev", 0), ("test", config.epochs)]


class Stopped(Exception):
    pass


def test_a_run_that_was_stopped_goes_on_to_the_same_bytes(mini: Path, tmp_path: Path) -> None:
    config = quick("sst5-constituency-tuned").with_settings({"epochs": 3})
    train(config, tmp_path / "whole", data=mini)

    def stop_after_two(event: Any) -> None:
        if event.dev is not None and event.epoch == 2:
            raise Stopped

    with pytest.raises(Stopped):
        train(config, tmp_path / "parts", data=mini, tell=stop_after_two)
    train(config, tmp_path / "parts", data=mini, resume=True)
    assert contents(tmp_path / "whole") == contents(tmp_path / "parts")
    assert not (tmp_path / "parts" / "checkpoint.safetensors").exists()


@pytest.mark.parametrize("epochs_before", [0, 1])
def test_kill_9_at_any_moment_loses_nothing(epochs_before: int, mini: Path, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "bough",
        "train",
        "sst5-bilstm",
        "--data",
        str(mini),
        "--set",
        "source=own",
    ]
    command += ["--set", "hidden=8", "--set", "epochs=3"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run(
        [*command, "--out", str(tmp_path / "whole")], check=True, capture_output=True, env=environment
    )
    out = tmp_path / "parts"
    process = subprocess.Popen([*command, "--out", str(out)], stdout=subprocess.DEVNULL, env=environment)
    awaited = out / ("run.json" if epochs_before == 0 else "checkpoint.safetensors")
    deadline = time.monotonic() + 60
    while not awaited.exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.002)
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
    with pytest.raises(TrainingError, match="is not empty; continue it with --resume"):
        train(quick("sick-mean"), tmp_path, data=mini)
    assert {path.name for path in tmp_path.iterdir()} == mine


def test_resuming_another_run_is_an_error(mini: Path, tmp_path: Path) -> None:
    train(quick("sick-mean"), tmp_path, seed=1, data=mini)
    with pytest.raises(TrainingError, match="trained with another seed"):
        train(quick("sick-mean"), tmp_path, seed=2, data=mini, resume=True)


def test_a_torn_checkpoint_is_an_error_and_stays(mini: Path, tmp_path: Path) -> None:
    config = quick("sick-mean")

    def stop(event: Any) -> None:
        if event.dev is not None:
            raise Stopped

    with pytest.raises(Stopped):
        train(config, tmp_path, data=mini, tell=stop)
    path = tmp_path / "checkpoint.safetensors"
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(FormatError, match="torn or no safetensors"):
        train(config, tmp_path, data=mini, resume=True)
    assert path.stat().st_size == 200


def test_a_loss_that_is_not_a_number_stops_with_its_place(mini: Path, tmp_path: Path) -> None:
    config = quick("sick-dependency").with_settings({"rate": 3e38, "l2": 0.0, "batch": 5})
    with pytest.raises(TrainingError, match=r"loss is (nan|inf) in epoch \d+, batch \d+"):
        train(config, tmp_path, data=mini)


def test_sentences_are_cut_into_spans_of_the_treebank(mini: Path) -> None:
    import numpy as np

    from bough.model import Model
    from bough.tasks import with_spans

    config = quick("sst5-lstm")
    task = task_for(config, mini)
    trees = task.read("train")
    model = Model(config, [], [], torch.zeros(1, config.dimension))
    for tree, sentence in zip(trees, task.prepare(trees, model), strict=True):
        known = {(int(a), int(b), label) for (a, b), label in zip(tree.spans, tree.labels, strict=True)}
        assert {tuple(span) for span in sentence.spans.tolist()} <= known
        assert len(sentence.spans) == (tree.degrees > 0).sum() - 1
        parts = with_spans(sentence, 4, np.random.default_rng(0))
        assert len(parts) == 1 + min(4, len(sentence.spans))
        assert parts[0] is sentence


@pytest.mark.slow
def test_sick_dependency_reaches_the_papers_headline(data: Path, tmp_path: Path) -> None:
    figures = train(load_recipe("sick-dependency"), tmp_path, seed=1, data=data)["test"]
    assert figures["pearson"] >= 0.860
    assert json.loads((tmp_path / "test.json").read_text())["vectors"] == "glove.840B.300d"


@pytest.mark.slow
def test_sst5_constituency_reaches_its_mark(data: Path, tmp_path: Path) -> None:
    result = train(load_recipe("sst5-constituency-tuned"), tmp_path, seed=1, data=data)
    assert result["test"]["accuracy"] >= 0.47
    assert result["vectors"] == "glove.6B.300d"


def test_a_kill_before_the_last_line_of_metrics_loses_nothing(
    mini: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import bough.train

    config = quick("sick-mean")
    train(config, tmp_path / "whole", data=mini)
    written = bough.train.write_text

    def die_at_metrics(path: Path, text: str) -> None:
        if path.name == "metrics.jsonl" and len(text.splitlines()) == config.epochs:
            raise Stopped
        written(path, text)

    monkeypatch.setattr(bough.train, "write_text", die_at_metrics)
    with pytest.raises(Stopped):
        train(config, tmp_path / "parts", data=mini)
    monkeypatch.undo()
    train(config, tmp_path / "parts", data=mini, resume=True)
    assert contents(tmp_path / "whole") == contents(tmp_path / "parts")


def test_what_a_kill_left_of_a_file_is_no_obstacle(mini: Path, tmp_path: Path) -> None:
    with replacing(tmp_path / "run.json") as torn:
        pass
    (tmp_path / "run.json").rename(torn)  # as if the power had gone off in the block
    assert torn_files(tmp_path) == [torn]
    train(quick("sick-mean"), tmp_path, data=mini)
    assert not torn.exists()


def test_a_run_goes_on_with_its_own_data_only(mini: Path, tmp_path: Path) -> None:
    config = quick("sick-mean")

    def stop(event: Any) -> None:
        if event.dev is not None:
            raise Stopped

    with pytest.raises(Stopped):
        train(config, tmp_path / "run", data=mini, tell=stop)
    other = minidata.make(tmp_path / "other", sentences=30)
    with pytest.raises(TrainingError, match="began with other data"):
        train(config, tmp_path / "run", data=other, resume=True)


def test_weights_that_blow_up_in_the_last_batch_are_noticed(tmp_path: Path) -> None:
    config = load_recipe("demo").with_settings({"rate": 1e38, "batch": 240, "epochs": 1})
    with pytest.raises(TrainingError, match="after epoch 1 the predictions on dev are not numbers"):
        train(config, tmp_path)
    assert not (tmp_path / "model.safetensors").exists()


def test_a_word_without_a_vector_gets_the_mean_of_its_parts(mini: Path) -> None:
    config = quick("sst5-constituency-regularised")
    task = task_for(config, mini)
    words = Words(task, config, mini, 1, task.read("train"))
    assert words.path is not None
    one, other = (line.split()[0] for line in words.path.read_text().splitlines()[:2])
    known = words.rows([one, other])
    joined, unheard = words.rows([f"{one}-{other}", "qzxqzx"])
    assert joined == pytest.approx(known.mean(axis=0))
    assert abs(unheard).max() <= 0.05


@pytest.mark.parametrize("split", ["train", "dev", "test"])
def test_a_split_without_examples_is_named(split: str, tmp_path: Path) -> None:
    data = minidata.make(tmp_path / "data", sentences=6)
    (data / "sst" / "trees" / f"{split}.txt").write_text("")
    with pytest.raises(DataError, match=rf"{split}\.txt: no examples for {split}"):
        train(quick("sst5-constituency-tuned"), tmp_path / "run", data=data)


def test_a_dev_split_of_neutral_sentences_ends_in_a_card(tmp_path: Path) -> None:
    data = minidata.make(tmp_path / "data", sentences=6)
    dev = data / "sst" / "trees" / "dev.txt"
    dev.write_text(re.sub(r"^\(\d", "(2", dev.read_text(), flags=re.MULTILINE))
    train(quick("sst5-constituency-tuned"), tmp_path / "run", data=data, recipe="my own.toml")
    card = (tmp_path / "run" / "README.md").read_text()
    assert "| accuracy, negative or positive (derived from the five) | - | " in card
    assert "bough train 'my own.toml' --seed 1" in card


def test_folded_words_share_a_vector(mini: Path, tmp_path: Path) -> None:
    config = quick("sst5-constituency-tuned").with_settings({"case": "folded"})
    train(config, tmp_path / "run", data=mini)
    model = Model.load(tmp_path / "run")
    assert model.words == [word.lower() for word in model.words]
    assert len(set(model.words)) == len(model.words)
    word = next(word for word in model.words if word.isalpha())
    assert model.ids([word.title()]) == model.ids([word]) != 0
    train(config.with_settings({"case": "kept"}), tmp_path / "kept", data=mini)
    assert any(word != word.lower() for word in Model.load(tmp_path / "kept").words)
