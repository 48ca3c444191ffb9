"""Claims about the paper's tasks over a transformer: every recipe trains, stops and goes on to the same bytes."""

from pathlib import Path
from typing import Any

import pytest

import bough
import small_encoder
from bough.errors import TrainingError
from paper.config import PaperConfig
from paper.evaluate import evaluate
from paper.recipes import load_recipe
from paper.train import train
from quick_runs import contents

SMALL: dict[str, Any] = {
    "hidden_size": 8,
    "batch_size": 8,
    "extra_phrases": 10,
    "epochs": 3,
    "max_examples": 30,
    "source": "own",
}


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_encoder.make(tmp_path_factory.mktemp("encoders") / "tiny")


def small(recipe: str, encoder: Path, **settings: Any) -> PaperConfig:
    config = load_recipe(recipe)
    own = {key: value for key, value in SMALL.items() if key != "extra_phrases" or recipe.startswith("sst")}
    return config.with_settings({**own, "encoder": str(encoder), "encoder_freeze": -1, **settings})


class Stopped(Exception):
    pass


def train_until(epoch: int, config: PaperConfig, out: Path, data: Path) -> None:
    """Train, and stop after an epoch."""

    def stop(event: Any) -> None:
        if event.dev is not None and event.epoch == epoch:
            raise Stopped

    with pytest.raises(Stopped):
        train(config, out, data=data, callback=stop)


def test_a_run_that_was_stopped_goes_on_to_the_same_bytes(encoder: Path, mini: Path, tmp_path: Path) -> None:
    config = small("sst5-contextual", encoder)
    train(config, tmp_path / "whole", data=mini)
    train_until(2, config, tmp_path / "parts", mini)
    train(config, tmp_path / "parts", data=mini, resume=True)
    assert contents(tmp_path / "whole") == contents(tmp_path / "parts")
    assert (tmp_path / "whole" / "encoder" / "model.safetensors").read_bytes() == (
        tmp_path / "parts" / "encoder" / "model.safetensors"
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


def test_a_layer_that_reads_up_and_down_takes_a_transformer(
    encoder: Path, mini: Path, tmp_path: Path
) -> None:
    config = small("sst5-contextual", encoder, epochs=1).with_settings({"layer": "bi-constituency"})
    found = train(config, tmp_path / "run", data=mini)
    assert evaluate(tmp_path / "run", data=mini).figures == pytest.approx(found["test"], abs=1e-4)


def test_a_run_killed_while_it_wrote_its_encoder_goes_on(encoder: Path, mini: Path, tmp_path: Path) -> None:
    config = small("sst5-contextual", encoder, epochs=1)
    train_until(1, config, tmp_path / "run", mini)
    partial = tmp_path / "run" / ".encoder.x.bough-partial"
    partial.mkdir()
    (partial / "config.json").write_text("{")
    train(config, tmp_path / "run", data=mini, resume=True)
    assert not partial.exists()


def test_another_encoder_of_the_same_name_is_not_resumed_with(mini: Path, tmp_path: Path) -> None:
    config = small("sst5-contextual", small_encoder.make(tmp_path / "tiny"))
    train_until(1, config, tmp_path / "run", mini)
    small_encoder.make(tmp_path / "tiny", seed=1)
    with pytest.raises(TrainingError, match="other encoder"):
        train(config, tmp_path / "run", data=mini, resume=True)


def test_a_control_without_a_parse_has_no_phrases_to_show(encoder: Path, mini: Path, tmp_path: Path) -> None:
    train(small("sst5-contextual-balanced", encoder, epochs=1), tmp_path / "run", data=mini)
    with pytest.raises(ValueError, match="no phrases to show"):
        bough.load(tmp_path / "run")


@pytest.mark.parametrize("layer", ["mean", "lstm"])
def test_layers_that_read_words_have_contextual_ones_too(
    layer: str, encoder: Path, mini: Path, tmp_path: Path
) -> None:
    config = small("sst5-contextual", encoder, epochs=1, extra_phrases=0).with_settings({"layer": layer})
    found = train(config, tmp_path / "run", data=mini)
    assert 0 <= found["test"]["phrases"] <= 1
