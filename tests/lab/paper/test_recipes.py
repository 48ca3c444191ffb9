"""Claims about the paper's recipes: one for every row, the paper's values as defaults, every mistake named."""

import re
from pathlib import Path

import pytest

from bough.train.recipes import recipe_files
from paper.config import PaperConfig
from paper.recipes import FOLDER, load_recipe
from small_models import SMALL, assert_comes_back_as_it_was, model_of

ROWS = [
    *(
        f"{task}-{system}"
        for task in ("sst5", "sst2")
        for system in (
            *(f"constituency-{vectors}" for vectors in ("tuned", "fixed", "random")),
            "dependency",
            *(f"{way}lstm{layers}" for way in ("", "bi") for layers in ("", "-2layer")),
        )
    ),
    *(f"sick-{name}" for name in ("dependency", "constituency", "mean", "dt-rnn", "sdt-rnn")),
    *(f"sick-{way}lstm{layers}" for way in ("", "bi") for layers in ("", "-2layer")),
]


def test_there_is_a_recipe_for_every_row() -> None:
    assert len(ROWS) == 25
    assert set(ROWS) < set(recipe_files(FOLDER))


@pytest.mark.parametrize("name", recipe_files(FOLDER))
def test_every_recipe_is_readable_and_says_what_it_is(name: str) -> None:
    config = load_recipe(name)
    assert config.about
    assert config.task == name.split("-")[0]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_examples": "-3"}, "max_examples = -3: 0 or more"),
        ({"task": "classes"}, "task = 'classes': one of 'sst5', 'sst2', 'sick'"),
        ({"layers": "2"}, "layers = 2 is for layer = 'lstm' or "),
        ({"average": "true"}, "average = true is for layer = 'dt-rnn' or 'sdt-rnn'"),
    ],
)
def test_a_wrong_setting_is_named_with_the_way_out(settings: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        PaperConfig().with_settings(settings)


def test_an_unknown_recipe_names_the_nearest() -> None:
    with pytest.raises(ValueError, match="did you mean 'sick-dependency'"):
        load_recipe("sick-dependancy")


def test_a_recipe_file_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('task = "sick"\nhidden_size = 20\n')
    assert load_recipe(str(path)) == PaperConfig(task="sick", hidden_size=20)


@pytest.mark.parametrize("encoder", ["sdt-rnn", "mean"])
def test_a_model_with_a_cited_layer_comes_back_as_it_was(encoder: str, tmp_path: Path) -> None:
    config = PaperConfig(**SMALL, task="sick", layer=encoder)
    assert_comes_back_as_it_was(model_of(config.for_model(), config.output), tmp_path / "m")
