"""Claims about training: every recipe runs, a seed fixes every byte, test is read once."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import torch

import minidata
from bough.data import DataError
from bough.errors import TrainingError
from bough.models.model import Model
from bough.train.recipes import recipe_files
from paper.config import PaperConfig
from paper.evaluate import evaluate
from paper.recipes import FOLDER, load_recipe
from paper.tasks import RelatednessTask, SentimentTask
from paper.train import train
from quick_runs import contents, quick, recipe_of

# the feature systems need WordNet: test_measured.py; what needs an encoder is in tests/train
LEARNT = [
    name
    for name in (*recipe_files(FOLDER), "sentiment")
    if not (recipe_of(name).system or recipe_of(name).encoder)
]
SMALL = PaperConfig(
    source="own",
    embeddings="random",
    embedding_size=50,
    hidden_size=50,
    epochs=12,
    batch_size=10,
    layer_settings={"leaf": "affine"},
)


@pytest.fixture(scope="module")
def treebank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with all sentences of the example's treebank."""
    return minidata.make(tmp_path_factory.mktemp("treebank"), sentences=1000, dimension=3)


@pytest.mark.parametrize("name", LEARNT)
def test_every_recipe_trains_and_the_same_seed_gives_the_same_bytes(
    name: str, mini: Path, tmp_path: Path
) -> None:
    config = quick(name)
    results = [train(config, tmp_path / run, seed=3, data=mini, recipe=name) for run in ("one", "two")]
    assert results[0] == results[1]
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    figures = evaluate(tmp_path / "one", data=mini, settings=type(config)).figures
    assert figures == pytest.approx(results[0]["test"])


def test_training_learns(treebank: Path, tmp_path: Path) -> None:
    train(SMALL, tmp_path, data=treebank)
    losses = [json.loads(line)["loss"] for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert losses[-1] < losses[0] / 3
    assert evaluate(tmp_path, data=treebank).figures["accuracy"] > 0.5


@pytest.mark.parametrize(
    "settings",
    [
        {"embedding_optimizer": "rows"},
        {"adagrad_reset_every": 1},
        {"optimizer": "adadelta", "learning_rate": 1.0},
        {"optimizer": "adam", "learning_rate": 0.005},
        {
            "optimizer": "adamw",
            "learning_rate": 0.005,
            "embedding_optimizer": "rows",
            "embedding_learning_rate": 0.005,
            "warmup": 0.1,
        },
    ],
    ids=lambda settings: "-".join(map(str, settings.values())),
)
def test_training_learns_by_every_rule(settings: dict[str, Any], treebank: Path, tmp_path: Path) -> None:
    train(SMALL.with_settings({"epochs": 6, **settings}), tmp_path, data=treebank)
    losses = [json.loads(line)["loss"] for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert losses[-1] < losses[0] / 2


def test_fixed_vectors_stay_and_tuned_ones_move(mini: Path, tmp_path: Path) -> None:
    for way in ("fixed", "tuned"):
        train(quick(f"sst5-constituency-{way}"), tmp_path / way, data=mini)
    fixed, tuned = (Model.load(tmp_path / way) for way in ("fixed", "tuned"))
    words = [word for word in fixed.words if word in tuned.index]
    moved = fixed.table[fixed.ids(words)] != tuned.table[tuned.ids(words)]
    assert 0 < moved.any(dim=1).sum() < len(words)  # words of dev and test alone keep their vectors


@pytest.mark.parametrize("config", [quick("sst5-lstm"), quick("sick-dependency")], ids=["sst", "sick"])
def test_the_test_split_is_opened_only_after_the_last_epoch(
    config: PaperConfig, mini: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[tuple[str, int]] = []
    kind = RelatednessTask if config.task == "sick" else SentimentTask
    read = kind.read

    def watched(self: Any, split: str) -> Any:
        metrics = tmp_path / "metrics.jsonl"
        done = len(metrics.read_text().splitlines()) if metrics.exists() else 0
        opened.append((split, done))
        return read(self, split)

    monkeypatch.setattr(kind, "read", watched)
    train(config, tmp_path, data=mini)
    assert opened == [("train", 0), ("dev", 0), ("test", config.epochs)]


def test_a_loss_that_is_not_a_number_stops_with_its_place(mini: Path, tmp_path: Path) -> None:
    config = quick("sick-dependency").with_settings(
        {"learning_rate": 3e38, "weight_decay": 0.0, "batch_size": 5}
    )
    with pytest.raises(TrainingError, match=r"loss is (nan|inf) in epoch \d+, batch \d+"):
        train(config, tmp_path, data=mini)


def test_sentences_are_cut_into_spans_of_the_treebank(mini: Path) -> None:
    import numpy as np

    from paper.tasks import with_spans

    config = quick("sst5-lstm")
    task = config.build_task(mini)
    trees = task.read("train")
    model = Model(config.for_model(), config.output, [], [], torch.zeros(1, config.embedding_size))
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
    assert result["vectors"] == "glove.840B.300d.completed"


def test_weights_that_blow_up_in_the_last_batch_are_noticed(treebank: Path, tmp_path: Path) -> None:
    config = SMALL.with_settings({"learning_rate": 1e38, "batch_size": 240, "epochs": 1})
    with pytest.raises(TrainingError, match="after epoch 1 the predictions on dev are not numbers"):
        train(config, tmp_path, data=treebank)
    assert not (tmp_path / "model.safetensors").exists()


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
    assert "python -m paper train 'my own.toml' --seed 1" in card


def test_folded_words_share_a_vector(mini: Path, tmp_path: Path) -> None:
    config = quick("sst5-constituency-tuned").with_settings({"lowercase": True})
    train(config, tmp_path / "run", data=mini)
    model = Model.load(tmp_path / "run")
    assert model.words == [word.lower() for word in model.words]
    assert len(set(model.words)) == len(model.words)
    word = next(word for word in model.words if word.isalpha())
    assert model.ids([word.title()]) == model.ids([word]) != 0
    train(config.with_settings({"lowercase": False}), tmp_path / "kept", data=mini)
    assert any(word != word.lower() for word in Model.load(tmp_path / "kept").words)
