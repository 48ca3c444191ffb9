"""Claims about the shipped sentiment model outside the films: sentences of every day, as people write them."""

import csv
from pathlib import Path

import pytest

import bundle
from bundled_pipelines import sentiment

FOLDER = Path(bundle.__file__).parent


def rows(name: str) -> list[dict[str, str]]:
    with (FOLDER / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_four_of_five_everyday_sentences_are_right() -> None:
    """They are a development set; `bundle/everyday.py` measures test splits, with VADER and a bag of words beside."""
    found = rows("everyday.csv")
    results = sentiment()([row["text"] for row in found])
    right = sum(result.polarity == row["label"] for result, row in zip(results, found, strict=True))
    assert right >= 0.8 * len(found)


@pytest.mark.parametrize(("text", "label"), [(row["text"], row["label"]) for row in rows("blind_spots.csv")])
def test_what_former_models_were_blind_to_is_seen(text: str, label: str) -> None:
    """None of these sentences is among the sayings that the model learned from."""
    assert sentiment()(text).polarity == label


@pytest.mark.parametrize(
    ("good", "bad"),
    [("the result 👍", "the result 👎"), ("Love it! 😍", "Hate it! 😡"), ("I liked it", "I didnt like it")],
)
def test_a_sign_or_a_left_out_apostrophe_turns_a_sentence(good: str, bad: str) -> None:
    assert sentiment()(good).polarity == "positive"
    assert sentiment()(bad).polarity == "negative"


def test_a_smile_and_a_frown_are_two_things() -> None:
    assert sentiment()("new shoes :)").score > 0.1
    assert sentiment()("new shoes :(").score < -0.1
