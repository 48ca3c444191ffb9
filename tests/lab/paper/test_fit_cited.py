"""Claims about `bough.fit` with the cited systems' layers: they go in like any other."""

from pathlib import Path

import numpy as np
import pytest

import bough
import paper.layers  # noqa: F401 # they register themselves
from small_fits import QUICK, examples

PLAIN = {
    name: value for name, value in QUICK.items() if name != "recurrent_dropout"
}  # these layers have none


def test_words_alone_without_a_phrase_are_told_the_way_out() -> None:
    with pytest.raises(ValueError, match="set trees to none"):
        bough.fit(*examples(10), settings={**PLAIN, "layer": "mean"})


def test_weights_of_relations_keep_their_meaning_in_another_fit(tmp_path: Path) -> None:
    def trees(*relations: str) -> list[bough.Tree]:
        names = [relations[i % len(relations)] for i in range(20)]
        return [
            bough.Tree([1, -1], tokens=[f"n{i}", "is"], relations=[n, "root"]) for i, n in enumerate(names)
        ]

    settings = {**PLAIN, "layer": "sdt-rnn"}
    first = bough.fit(trees("amod", "nsubj"), ["x", "y"] * 10, settings=settings, epochs=1)
    first.save(tmp_path)
    still = {"learning_rate": 1e-9, "embedding_learning_rate": 1e-9}
    mine = bough.fit(
        trees("dobj", "nsubj", "prep"), ["x", "y"] * 10, init_from=tmp_path, settings=still, epochs=1
    )
    assert mine.model.relations == first.model.relations == ("amod", "nsubj", "root")
    old, new = (model.layer.state_dict() for model in (first.model, mine.model))
    assert all(np.allclose(old[name], new[name], atol=1e-6) for name in old)
