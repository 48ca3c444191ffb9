"""Claims about recipe files: those of `bough fit`, and a file of one's own."""

from pathlib import Path

import pytest

from bough.train.config import TrainConfig
from bough.train.recipes import load_recipe, recipe_files


@pytest.mark.parametrize("name", recipe_files())
def test_every_recipe_is_readable_and_says_what_it_is(name: str) -> None:
    assert load_recipe(name).about


def test_an_unknown_recipe_names_the_nearest() -> None:
    with pytest.raises(ValueError, match="did you mean 'fit-texts'"):
        load_recipe("fit-textes")


def test_a_recipe_file_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("hidden_size = 20\n")
    assert load_recipe(str(path)) == TrainConfig(hidden_size=20)


def test_the_key_task_of_an_older_recipe_has_no_effect(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('task = "pairs"\nhidden_size = 20\n')
    with pytest.warns(DeprecationWarning, match="`task` has no effect"):
        assert load_recipe(str(path)) == TrainConfig(hidden_size=20)
    path.write_text("hidden_size = = 20\n")
    with pytest.raises(ValueError, match=r"recipe .*mine\.toml: "):
        load_recipe(str(path))
    with pytest.raises(ValueError, match="No such file"):
        load_recipe(str(tmp_path / "none.toml"))
