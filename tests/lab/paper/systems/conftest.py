"""What the tests of measures share: WordNet, and real pairs prepared. Without the data they skip."""

from pathlib import Path

import pytest

from paper.sick import Pair, load_sick
from paper.systems.semeval import preparation
from paper.systems.sentence import Preparation, Prepared
from paper.systems.wordnet import WordNet


@pytest.fixture(scope="session")
def prepare(data: Path) -> Preparation:
    if not (data / "wordnet").is_dir():
        pytest.skip("needs WordNet 3.0 as DATA/wordnet")
    return preparation(data)


@pytest.fixture(scope="session")
def wordnet(prepare: Preparation) -> WordNet:
    return prepare.wordnet


@pytest.fixture(scope="session")
def sick(data: Path) -> list[Pair]:
    return load_sick(data, "train")[:700]


@pytest.fixture(scope="session")
def pairs(prepare: Preparation, sick: list[Pair], data: Path) -> list[Prepared]:
    """Thirty pairs, then the same with their sentences swapped, then twelve sentences each with itself."""
    given = sick[:660:22]
    swapped = [Pair(pair.right, pair.left, pair.score, pair.id) for pair in given]
    same = [Pair(pair.left, pair.left, 5.0, pair.id) for pair in given[:12]]
    vectors = data / "glove" / "glove.840B.300d.txt"
    return prepare([*given, *swapped, *same], prepare.rarity(sick), vectors)
