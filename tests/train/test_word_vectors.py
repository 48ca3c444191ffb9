"""Claims about a run's word vectors."""

from pathlib import Path

import pytest

from bough.models.config import Config
from bough.train.word_vectors import Words


def test_a_word_without_a_vector_gets_the_mean_of_its_parts(mini: Path) -> None:
    words = Words(Config(oov="parts"), mini, 1, {"film": 1})
    assert words.path is not None
    one, other = (line.split()[0] for line in words.path.read_text().splitlines()[:2])
    known = words.rows([one, other])
    joined, unheard = words.rows([f"{one}-{other}", "qzxqzx"])
    assert joined == pytest.approx(known.mean(axis=0))
    assert abs(unheard).max() <= 0.05
