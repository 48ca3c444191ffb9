"""The cited systems learn from a small slice, and never look at a pair's id."""

import dataclasses
import sys

import numpy as np
import pytest

from bough.errors import DataError
from bough.trees.tree import Tree
from paper.sick import Pair
from paper.systems import SYSTEMS, System
from paper.systems.semeval import LogLinear
from paper.systems.sentence import Preparation, lab_module


def ratings(pairs: list[Pair]) -> list[float]:
    return [pair.score for pair in pairs]


@pytest.mark.parametrize("system", SYSTEMS.values(), ids=SYSTEMS)
def test_a_system_learns_from_500_pairs_and_never_looks_at_an_id(
    system: System, sick: list[Pair], prepare: Preparation
) -> None:
    train, rest = sick[:500], sick[500:]
    fitted = system.fit(train, seed=1, data=prepare.data)
    predicted = fitted.predict(rest)
    assert predicted.shape == (200,)
    assert np.corrcoef(predicted, ratings(rest))[0, 1] > 0.6
    assert predicted.min() >= min(ratings(train))
    assert predicted.max() <= max(ratings(train))

    unnamed = [dataclasses.replace(pair, id="0", score=1.0) for pair in reversed(rest)]
    np.testing.assert_array_equal(fitted.predict(unnamed)[::-1], predicted)


def test_a_tree_without_relations_is_refused(prepare: Preparation) -> None:
    tree = Tree([1, -1], tokens=["a", "dog"])
    with pytest.raises(ValueError, match="measures read dependency trees"):
        SYSTEMS["ecnu"].fit([Pair(tree, tree, 5.0, "1")], seed=1, data=prepare.data)


def test_without_the_extra_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gensim", None)
    with pytest.raises(DataError, match=r'gensim is not installed.*pip install "bough\[lab\]"'):
        lab_module("gensim")


def test_the_log_linear_model_finds_a_rating_that_its_measure_decides() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 1))
    y = 3 + 2 * np.tanh(x[:, 0])
    model = LogLinear(seed=1, strength=10.0)
    model.fit(x, y)
    assert np.abs(model.predict(x) - y).mean() < 0.2
