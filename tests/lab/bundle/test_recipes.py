"""Claim about the recipes of the bundled models: each is readable and says what it is."""

import pytest

from bundle.config import load_recipe


@pytest.mark.parametrize(("name", "task"), [("sentiment", "sst5"), ("relatedness", "sick")])
def test_every_recipe_is_readable_and_says_what_it_is(name: str, task: str) -> None:
    config = load_recipe(name)
    assert config.about
    assert config.task == task
