"""Claims about fits over a transformer: they learn, stop and go on, and are one folder in the end."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

import bough
import small_encoder
from bough.errors import FormatError, TrainingError
from bough.files import read_json
from bough.models.model import Model
from bough.models.transformer import TransformerEmbeddings
from bough.train.fit import fit
from bundled_pipelines import of_classes
from small_fits import examples, write_csv


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_encoder.make(tmp_path_factory.mktemp("encoders") / "tiny")


def fitted(encoder: Path, out: Path, **settings: Any) -> None:
    """One epoch over an encoder, for the folder's sake."""
    small = {"hidden_size": 8, "batch_size": 8, "encoder_freeze": -1, **settings}
    fit(*examples(30), encoder=encoder, settings=small, epochs=1, out=out)


class Stopped(Exception):
    pass


@pytest.mark.parametrize("freeze", [0, 1, 3])
def test_what_is_to_learn_learns_and_nothing_else(freeze: int, encoder: Path, tmp_path: Path) -> None:
    fitted(encoder, tmp_path / "run", encoder_freeze=freeze, encoder_learning_rate=1e-3)
    before, after = TransformerEmbeddings(encoder), Model.load(tmp_path / "run").encoder
    assert after is not None
    same = {
        name: torch.equal(p, dict(after.split.whole.named_parameters())[name])
        for name, p in before.split.whole.named_parameters()
    }
    for name, kept in same.items():
        layer = int(name.split(".")[2]) if "encoder.layer" in name else -1
        still = "key.bias" in name  # a softmax does not see it
        assert kept == (freeze > 0 and layer < freeze) or still, name


def test_the_folder_needs_neither_the_encoder_nor_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fitted(small_encoder.make(tmp_path / "gone"), tmp_path / "run")
    expected = of_classes(tmp_path / "run")("A good film.")
    (tmp_path / "gone").rename(tmp_path / "moved")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    pipeline = of_classes(tmp_path / "run")
    assert pipeline("A good film.").probabilities == pytest.approx(expected.probabilities)
    pipeline.save(tmp_path / "again")
    assert of_classes(tmp_path / "again")("A good film.").probabilities == pytest.approx(
        expected.probabilities
    )


def test_a_folder_without_its_encoder_is_refused(encoder: Path, tmp_path: Path) -> None:
    fitted(encoder, tmp_path / "run")
    (tmp_path / "run" / "encoder").rename(tmp_path / "elsewhere")
    with pytest.raises(FormatError, match="no folder 'encoder'"):
        Model.load(tmp_path / "run")


def test_fit_learns_over_an_encoder_and_loads_again(encoder: Path, tmp_path: Path) -> None:
    texts, labels = examples(40)
    mine = fit(
        texts,
        labels,
        encoder=encoder,
        settings={
            "hidden_size": 16,
            "batch_size": 8,
            "encoder_freeze": 0,
            "encoder_learning_rate": 2e-3,
            "learning_rate": 5e-3,
        },
        epochs=20,
        out=tmp_path / "mine",
    )
    assert mine("The pear number 3 is on the shelf .").label == "fruit"
    again = of_classes(tmp_path / "mine")
    assert again("The saw number 4 is on the table .").label == "tool"
    more = fit(texts, labels, init_from=tmp_path / "mine", epochs=1, out=tmp_path / "more")
    assert more("The saw number 4 is on the table .").label == "tool"


def test_pairs_are_fitted_over_an_encoder(encoder: Path, tmp_path: Path) -> None:
    pairs = [(f"the dog {i}", f"the {word} {i}") for i in range(20) for word in ("dog", "man")]
    mine = fit(pairs, [5.0, 1.0] * 20, encoder=encoder, epochs=1, out=tmp_path / "pairs", trees="none")
    assert 1 <= mine.score("the dog 1", "the man 1") <= 5


@pytest.mark.slow
def test_the_command_takes_a_folder(encoder: Path, tmp_path: Path) -> None:
    texts, labels = examples(30)
    file = write_csv(tmp_path / "things.csv", zip(texts, labels, strict=True))
    command = [sys.executable, "-m", "bough", "fit", str(file), "--encoder", str(encoder), "--epochs", "1"]
    command += ["--out", str(tmp_path / "model"), "--set", "hidden_size=8"]
    subprocess.run(command, check=True, capture_output=True)
    assert read_json(tmp_path / "model" / "config.json")["config"]["encoder"] == str(encoder)
    scored = [sys.executable, "-m", "bough", "predict", "a fig", "--model", str(tmp_path / "model")]
    assert subprocess.run(scored, check=True, capture_output=True, text=True).stdout


def test_trees_of_names_have_no_encoder(encoder: Path) -> None:
    trees = [bough.Tree(parents=[1, -1], tokens=["x", str(n)]) for n in range(20)]
    with pytest.raises(ValueError, match="reads texts; texts holds trees"):
        fit(trees, ["a", "b"] * 10, encoder=encoder)


def test_a_fit_is_not_resumed_with_another_encoder_of_the_same_name(tmp_path: Path) -> None:
    folder = small_encoder.make(tmp_path / "tiny")
    texts, labels = examples(30)
    given: dict[str, Any] = {"encoder": folder, "trees": "none", "epochs": 2, "out": tmp_path / "run"}
    given["settings"] = {"encoder_freeze": 1, "hidden_size": 8}

    def stop(event: Any) -> None:
        if getattr(event, "dev", None) is not None:
            raise Stopped

    with pytest.raises(Stopped):
        fit(texts, labels, **given, callbacks=[stop])
    small_encoder.make(folder, seed=1)
    with pytest.raises(TrainingError, match="other encoder"):
        fit(texts, labels, **given, resume=True)
    small_encoder.make(folder)
    fit(texts, labels, **given, resume=True)
    card = (tmp_path / "run" / "README.md").read_text()
    assert "- Encoder: tiny, the first 1 of its layers as they were" in card
    assert "transformers" in card
