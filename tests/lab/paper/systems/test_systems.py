"""The cited systems learn from a small slice, are saved as numbers, and never look at a pair's id."""

import dataclasses
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from bough.errors import DataError, FormatError
from bough.trees.tree import Tree
from paper.sick import Pair
from paper.systems import SYSTEMS, System, load
from paper.systems.semeval import LogLinear
from paper.systems.sentence import Preparation, lab_module


def ratings(pairs: list[Pair]) -> list[float]:
    return [pair.score for pair in pairs]


@pytest.mark.parametrize("system", SYSTEMS.values(), ids=SYSTEMS)
def test_a_system_learns_from_500_pairs_and_is_the_same_after_loading(
    system: System, sick: list[Pair], prepare: Preparation, tmp_path: Path
) -> None:
    train, rest = sick[:500], sick[500:]
    fitted = system.fit(train, ratings(train), seed=1, data=prepare.data)
    predicted = fitted.predict(rest)
    assert predicted.shape == (200,)
    assert np.corrcoef(predicted, ratings(rest))[0, 1] > 0.6
    assert predicted.min() >= min(ratings(train))
    assert predicted.max() <= max(ratings(train))

    fitted.save(tmp_path)
    again = load(tmp_path, data=prepare.data)
    assert again.system is system
    np.testing.assert_array_equal(again.predict(rest), predicted)

    unnamed = [dataclasses.replace(pair, id="0", score=1.0) for pair in reversed(rest)]
    np.testing.assert_array_equal(fitted.predict(unnamed)[::-1], predicted)


def test_ratings_that_do_not_fit_the_pairs_are_refused(sick: list[Pair], prepare: Preparation) -> None:
    with pytest.raises(ValueError, match="3 pairs and 2 ratings"):
        SYSTEMS["ecnu"].fit(sick[:3], [1.0, 2.0], seed=1, data=prepare.data)


def test_a_tree_without_relations_is_refused(prepare: Preparation) -> None:
    tree = Tree([1, -1], tokens=["a", "dog"])
    with pytest.raises(ValueError, match="measures read dependency trees"):
        SYSTEMS["ecnu"].fit([Pair(tree, tree, 5.0, "1")], [5.0], seed=1, data=prepare.data)


def test_a_folder_of_another_system_is_refused(tmp_path: Path) -> None:
    (tmp_path / "system.json").write_text(json.dumps({"format": 1, "system": "tree-lstm"}))
    with pytest.raises(FormatError, match="'tree-lstm'; known are 'illinois-lh'"):
        load(tmp_path)
    with pytest.raises(FormatError, match="this is format 1 of 'ecnu'"):
        SYSTEMS["ecnu"].load(tmp_path)


def test_without_the_extra_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gensim", None)
    with pytest.raises(DataError, match=r'gensim is not installed.*pip install "bough\[lab\]"'):
        lab_module("gensim")


def test_the_log_linear_model_finds_a_rating_that_its_measure_decides() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 1))
    y = 3 + 2 * np.tanh(x[:, 0])
    model = LogLinear(10.0)
    model.fit(x, y)
    assert np.abs(model.predict(x) - y).mean() < 0.2
