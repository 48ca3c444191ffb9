"""Claim about the recipes of the bundled models: each is readable and says what it is."""

from bough.train.config import TrainConfig
from bough.train.recipes import read_recipe
from bundle.config import load_recipe
from bundle.relatedness import RECIPES


def test_every_recipe_is_readable_and_says_what_it_is() -> None:
    sentiment, relatedness = load_recipe("sentiment"), read_recipe(TrainConfig(), "relatedness", RECIPES)
    assert sentiment.about
    assert relatedness.about
    assert (sentiment.task, relatedness.features) == ("sst5", "cosine")
