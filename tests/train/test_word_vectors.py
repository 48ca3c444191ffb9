"""Claims about a run's word vectors."""

from pathlib import Path

import pytest

from bough.training.tasks import task_for, word_counts
from bough.training.words import Words
from quick_runs import quick


def test_a_word_without_a_vector_gets_the_mean_of_its_parts(mini: Path) -> None:
    config = quick("sst5-constituency-regularised")
    task = task_for(config, mini)
    words = Words(config, mini, 1, word_counts(task, task.read("train")))
    assert words.path is not None
    one, other = (line.split()[0] for line in words.path.read_text().splitlines()[:2])
    known = words.rows([one, other])
    joined, unheard = words.rows([f"{one}-{other}", "qzxqzx"])
    assert joined == pytest.approx(known.mean(axis=0))
    assert abs(unheard).max() <= 0.05
