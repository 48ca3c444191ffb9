"""Claims about runs with contextual leaves: they learn, stop and go on, and are one folder in the end."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

import bough
import small_encoder
from bough.errors import FormatError, TrainingError
from bough.fitting import fit
from bough.model.config import Config
from bough.model.model import Model
from bough.storage import read_json
from bough.training.evaluate import evaluate
from bough.training.recipes import load_recipe
from bough.training.train import train
from pipelines import of_classes
from quick_runs import contents
from small_fits import examples, write_csv

SMALL: dict[str, Any] = {"hidden": 8, "batch": 8, "alone": 10, "epochs": 3, "limit": 30, "source": "own"}


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_encoder.make(tmp_path_factory.mktemp("encoders") / "tiny")


def small(recipe: str, encoder: Path, **settings: Any) -> Config:
    config = load_recipe(recipe)
    own = {key: value for key, value in SMALL.items() if key != "alone" or recipe.startswith("sst")}
    return config.with_settings({**own, "leaves": str(encoder), "leaves_freeze": -1, **settings})


class Stopped(Exception):
    pass


def test_a_run_that_was_stopped_goes_on_to_the_same_bytes(encoder: Path, mini: Path, tmp_path: Path) -> None:
    config = small("sst5-contextual", encoder)
    train(config, tmp_path / "whole", data=mini)

    def stop_after_two(event: Any) -> None:
        if event.dev is not None and event.epoch == 2:
            raise Stopped

    with pytest.raises(Stopped):
        train(config, tmp_path / "parts", data=mini, tell=stop_after_two)
    train(config, tmp_path / "parts", data=mini, resume=True)
    assert contents(tmp_path / "whole") == contents(tmp_path / "parts")
    assert (tmp_path / "whole" / "leaves" / "model.safetensors").read_bytes() == (
        tmp_path / "parts" / "leaves" / "model.safetensors"
    ).read_bytes()


@pytest.mark.parametrize(
    "recipe",
    [
        "sst5-contextual",
        "sst5-contextual-mean",
        "sst5-contextual-balanced",
        "sst2-contextual",
        "sick-contextual",
        "sick-contextual-mean",
        "sick-contextual-attentive",
    ],
)
def test_every_recipe_trains_and_its_folder_gives_the_same_figures_again(
    recipe: str, encoder: Path, mini: Path, tmp_path: Path
) -> None:
    config = small(recipe, encoder, epochs=1)
    found = train(config, tmp_path / "run", data=mini)
    measured = evaluate(tmp_path / "run", data=mini).figures
    assert measured == pytest.approx(found["test"], abs=1e-4)
    assert found["vectors"] == "tiny"


def test_a_layer_that_reads_up_and_down_takes_leaves(encoder: Path, mini: Path, tmp_path: Path) -> None:
    config = small("sst5-contextual", encoder, epochs=1).with_settings({"encoder": "bi-constituency"})
    found = train(config, tmp_path / "run", data=mini)
    assert evaluate(tmp_path / "run", data=mini).figures == pytest.approx(found["test"], abs=1e-4)


@pytest.mark.parametrize("freeze", [0, 1, 3])
def test_what_is_to_learn_learns_and_nothing_else(
    freeze: int, encoder: Path, mini: Path, tmp_path: Path
) -> None:
    config = small("sst5-contextual", encoder, epochs=1, leaves_freeze=freeze, leaves_rate=1e-3)
    train(config, tmp_path / "run", data=mini)
    before, after = (Model(config, []).leaves, Model.load(tmp_path / "run").leaves)
    assert before is not None and after is not None  # noqa: PT018
    same = {
        name: torch.equal(p, dict(after.encoder.whole.named_parameters())[name])
        for name, p in before.encoder.whole.named_parameters()
    }
    for name, kept in same.items():
        layer = int(name.split(".")[2]) if "encoder.layer" in name else -1
        still = "key.bias" in name  # a softmax does not see it
        assert kept == (freeze > 0 and layer < freeze) or still, name


def test_the_folder_needs_neither_the_encoder_nor_the_cache(
    encoder: Path, mini: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = small_encoder.make(tmp_path / "gone")
    train(small("sst5-contextual", other, epochs=1), tmp_path / "run", data=mini)
    expected = of_classes(tmp_path / "run")("A good film.")
    (tmp_path / "gone").rename(tmp_path / "moved")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    pipeline = of_classes(tmp_path / "run")
    assert pipeline("A good film.").probabilities == pytest.approx(expected.probabilities)
    pipeline.save(tmp_path / "again")
    assert of_classes(tmp_path / "again")("A good film.").probabilities == pytest.approx(
        expected.probabilities
    )


def test_a_folder_without_its_encoder_is_refused(encoder: Path, mini: Path, tmp_path: Path) -> None:
    train(small("sst5-contextual", encoder, epochs=1), tmp_path / "run", data=mini)
    (tmp_path / "run" / "leaves").rename(tmp_path / "elsewhere")
    with pytest.raises(FormatError, match="no folder 'leaves'"):
        Model.load(tmp_path / "run")


def test_a_run_killed_while_it_wrote_its_encoder_goes_on(encoder: Path, mini: Path, tmp_path: Path) -> None:
    config = small("sst5-contextual", encoder, epochs=1)

    def stop(event: Any) -> None:
        if event.dev is not None:
            raise Stopped

    with pytest.raises(Stopped):
        train(config, tmp_path / "run", data=mini, tell=stop)
    torn = tmp_path / "run" / ".leaves.x.bough-torn"
    torn.mkdir()
    (torn / "config.json").write_text("{")
    train(config, tmp_path / "run", data=mini, resume=True)
    assert not torn.exists()


def test_another_encoder_of_the_same_name_is_not_resumed_with(mini: Path, tmp_path: Path) -> None:
    config = small("sst5-contextual", small_encoder.make(tmp_path / "tiny"))

    def stop(event: Any) -> None:
        if event.dev is not None:
            raise Stopped

    with pytest.raises(Stopped):
        train(config, tmp_path / "run", data=mini, tell=stop)
    small_encoder.make(tmp_path / "tiny", seed=1)
    with pytest.raises(TrainingError, match="other leaves"):
        train(config, tmp_path / "run", data=mini, resume=True)


def test_a_control_without_a_parse_has_no_phrases_to_show(encoder: Path, mini: Path, tmp_path: Path) -> None:
    train(small("sst5-contextual-balanced", encoder, epochs=1), tmp_path / "run", data=mini)
    with pytest.raises(ValueError, match="no phrases to show"):
        bough.load(tmp_path / "run")


@pytest.mark.parametrize("layer", ["mean", "lstm"])
def test_layers_that_read_words_have_contextual_ones_too(
    layer: str, encoder: Path, mini: Path, tmp_path: Path
) -> None:
    config = small("sst5-contextual", encoder, epochs=1, alone=0).with_settings({"encoder": layer})
    found = train(config, tmp_path / "run", data=mini)
    assert 0 <= found["test"]["phrases"] <= 1


def test_fit_learns_over_an_encoder_and_loads_again(encoder: Path, tmp_path: Path) -> None:
    texts, labels = examples(40)
    mine = fit(
        texts,
        labels,
        leaves=encoder,
        settings={"hidden": 16, "batch": 8, "leaves_freeze": 0, "leaves_rate": 2e-3, "rate": 5e-3},
        epochs=20,
        out=tmp_path / "mine",
    )
    assert mine("The pear number 3 is on the shelf .").label == "fruit"
    again = of_classes(tmp_path / "mine")
    assert again("The saw number 4 is on the table .").label == "tool"
    more = fit(texts, labels, start=tmp_path / "mine", epochs=1, out=tmp_path / "more")
    assert more("The saw number 4 is on the table .").label == "tool"


def test_pairs_are_fitted_over_an_encoder(encoder: Path, tmp_path: Path) -> None:
    pairs = [(f"the dog {i}", f"the {word} {i}") for i in range(20) for word in ("dog", "man")]
    mine = fit(pairs, [5.0, 1.0] * 20, leaves=encoder, epochs=1, out=tmp_path / "pairs", trees="none")
    assert 1 <= mine.score("the dog 1", "the man 1") <= 5
    assert mine.mean_rows(["the dog"]).shape == (1, small_encoder.WIDTH)


def test_the_command_takes_a_folder(encoder: Path, tmp_path: Path) -> None:
    texts, labels = examples(30)
    file = write_csv(tmp_path / "things.csv", zip(texts, labels, strict=True))
    command = [sys.executable, "-m", "bough", "fit", str(file), "--leaves", str(encoder), "--epochs", "1"]
    command += ["--out", str(tmp_path / "model"), "--set", "hidden=8"]
    subprocess.run(command, check=True, capture_output=True)
    assert read_json(tmp_path / "model" / "config.json")["config"]["leaves"] == str(encoder)
    scored = [sys.executable, "-m", "bough", "sentiment", "a fig", "--model", str(tmp_path / "model")]
    assert subprocess.run(scored, check=True, capture_output=True, text=True).stdout


def test_trees_of_names_have_no_contextual_leaves(encoder: Path) -> None:
    trees = [bough.Tree(parents=[1, -1], tokens=["x", "y"])] * 10
    with pytest.raises(ValueError, match="an encoder reads texts"):
        fit(trees, ["a", "b"] * 5, leaves=encoder)


def test_a_model_with_leaves_is_not_shipped(encoder: Path, mini: Path, tmp_path: Path) -> None:
    from bough.pipeline.ship import ship

    train(small("sst5-contextual", encoder, epochs=1), tmp_path / "run", data=mini)
    with pytest.raises(ValueError, match="complete as it is"):
        ship(tmp_path / "run", "sentiment", tmp_path / "out", data=mini)


def test_a_fit_is_not_resumed_with_another_encoder_of_the_same_name(tmp_path: Path) -> None:
    folder = small_encoder.make(tmp_path / "tiny")
    texts, labels = examples(30)
    given: dict[str, Any] = {"leaves": folder, "trees": "none", "epochs": 2, "out": tmp_path / "run"}
    given["settings"] = {"leaves_freeze": 1, "hidden": 8}

    def stop(event: Any) -> None:
        if getattr(event, "dev", None) is not None:
            raise Stopped

    with pytest.raises(Stopped):
        fit(texts, labels, **given, tell=stop)
    small_encoder.make(folder, seed=1)
    with pytest.raises(TrainingError, match="other leaves"):
        fit(texts, labels, **given, resume=True)
    small_encoder.make(folder)
    fit(texts, labels, **given, resume=True)
    card = (tmp_path / "run" / "README.md").read_text()
    assert "- Leaves: tiny, the first 1 of its layers as they were" in card
    assert "transformers" in card
