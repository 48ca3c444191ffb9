"""Claims about the parts of a fit: splits, parses, words, temperature, joined sentences."""

import logging
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bough.data.disk_cache import DiskCache
from bough.data.examples import labelled_lists
from bough.errors import DataError
from bough.outputs import Classes
from bough.outputs.base import TargetOptions
from bough.outputs.calibration import calibration_error, fit_temperature, with_temperature
from bough.pipelines.readers import WholeReader
from bough.text.join_sentences import chain_of_words, join_sentences
from bough.train.baseline import fit_baseline
from bough.train.dataset import ParseCache, TreeSet
from bough.train.recipes import load_recipe
from bough.train.splits import held_out, read_splits
from bough.train.word_vectors import words_for
from bough.trees.tree import Tree


@given(st.lists(st.integers(0, 3), min_size=4, max_size=200), st.integers(0, 5))
def test_a_split_keeps_each_class_and_no_text_is_on_two_sides(labels: list[int], seed: int) -> None:
    strata = np.array(labels)
    keys = np.arange(len(labels), dtype=np.int64) // 2 * 2 + np.arange(len(labels), dtype=np.int64) % 3 // 2
    dev, test = held_out(strata, keys, [0.2, 0.1], seed)
    assert not {*dev.tolist()} & {*test.tolist()}
    out = np.concatenate([dev, test])
    left = np.setdiff1d(np.arange(len(labels)), out)
    assert not {*keys[out].tolist()} & {*keys[left].tolist()}
    assert len(left)
    for share, part in ((0.2, dev), (0.1, test)):
        for label in range(4):
            assert (strata[part] == label).sum() <= share * (strata == label).sum() + 2
    again = held_out(strata, keys, [0.2, 0.1], seed)
    assert all(np.array_equal(a, b) for a, b in zip((dev, test), again, strict=True))


def test_what_is_held_out_has_a_tenth_of_every_class() -> None:
    labels = ["a"] * 100 + ["b"] * 60 + ["c"] * 40
    source = labelled_lists([f"text {i}" for i in range(200)], labels)
    plans = [read_splits({"train": source}, TargetOptions(), hold_test=True, seed=seed) for seed in (1, 1, 2)]
    one, again, other = (found.assigned.tolist() for found in plans)
    assert one == again != other
    for part in (1, 2):
        held = [label for label, place in zip(labels, one, strict=True) if place == part]
        assert Counter(held) == {"a": 10, "b": 6, "c": 4}
    assert plans[0].sizes == {"train": 160, "dev": 20, "test": 20}


class Counting(WholeReader):
    """A reader of chains that counts what it reads."""

    def __init__(self) -> None:
        super().__init__("none", "dependency", chain=True)
        self.read_texts: list[str] = []

    def read(self, texts, first=0, *, allow_empty=False):  # type: ignore[no-untyped-def]
        self.read_texts += texts
        return super().read(texts, first, allow_empty=allow_empty)


def test_a_text_is_parsed_once(tmp_path: Path) -> None:
    path, texts = tmp_path / "parses.sqlite", ["one two", "three", "", "one two", "vier f\u00fcnf"]
    with DiskCache(path) as cache:
        found = ParseCache(cache, Counting()).trees(texts)
    assert found[0] == chain_of_words(["one", "two"])
    assert found[2] is None
    with DiskCache(path) as cache:
        reader = Counting()
        assert ParseCache(cache, reader).trees([*texts, "new"]) == [*found, chain_of_words(["new"])]
    assert reader.read_texts == ["new"]


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_joined_sentences_keep_their_words_in_order(count: int) -> None:
    phrases = [Tree([-1, 0, 0], tokens=[None, f"a{i}", f"b{i}"]) for i in range(count)]
    arcs = [Tree([1, -1], tokens=[f"a{i}", f"b{i}"], relations=["det", "root"]) for i in range(count)]
    words = [word for i in range(count) for word in (f"a{i}", f"b{i}")]
    one, other = join_sentences(phrases, "constituency"), join_sentences(arcs, "dependency")
    for tree in (one, other):
        assert tree.tokens is not None
        assert [tree.tokens[node] for node in tree.words] == words
    assert int(one.degrees.max()) == 2
    assert int(one.heights.max()) <= 1 + int(np.ceil(np.log2(count)))


@pytest.mark.parametrize(
    ("sets", "counts", "name", "said"),
    [
        ({}, {"the": 1}, "the words of the bundled sentiment model", "no GloVe vectors in the data folder"),
        ({"840B": "the elm"}, {"the": 1, "elm": 1}, "glove.840B.300d", ""),
        (
            {"840B": "the"},
            {"the": 3, "elm": 1},
            "glove.840B.300d",
            "75.0% of 4 tokens and is used anyway",
        ),
        ({"840B": "the", "42B": "the elm"}, {"the": 1, "elm": 1}, "glove.42B.300d", ""),
    ],
)
def test_the_words_are_glove_s_wherever_there_is_a_set(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, sets: Any, counts: Any, name: str, said: str
) -> None:
    (tmp_path / "glove").mkdir()
    for one, words in sets.items():
        lines = [f"{word} {' '.join(['0.5'] * 300)}\n" for word in words.split()]
        (tmp_path / "glove" / f"glove.{one}.300d.txt").write_text("".join(lines))
    with caplog.at_level(logging.WARNING):
        assert words_for(load_recipe("fit-texts"), tmp_path, 1, counts).name == name
    assert said in caplog.text
    assert bool(said) == bool(caplog.text)


def test_a_folder_of_data_that_is_not_there_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOUGH_DATA", "no/such")
    with pytest.raises(DataError, match="BOUGH_DATA no/such: no such folder"):
        words_for(load_recipe("fit-texts"), None, 1, {"the": 1})


def test_a_few_examples_that_are_all_right_do_not_make_it_sure() -> None:
    p = np.array([[0.7, 0.2, 0.1]] * 20)
    assert with_temperature(p, fit_temperature(p, np.zeros(20, dtype=np.int64))).max() < 0.97
    assert fit_temperature(p[:19], np.zeros(19, dtype=np.int64)) == 1


def test_a_temperature_that_dev_does_not_show_to_be_better_is_one() -> None:
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(3), size=40)
    gold = np.array([rng.choice(3, p=row) for row in p])  # calibrated already
    assert fit_temperature(p, gold) == 1


def test_the_baseline_learns_from_a_sample_of_all_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    from bough.train import baseline

    kinds = [int(number >= 30) for number in range(60)]  # sorted by class, as many files are
    data = TreeSet(([Tree([1, -1], tokens=["a", ("fig", "saw")[kind]]) for kind in kinds],), kinds)
    monkeypatch.setattr(baseline, "MOST", 30)
    output = Classes(("fruit", "tool"))
    found = fit_baseline(output, {"train": data, "dev": data})
    assert found["figures"]["dev"]["accuracy"] == 1.0


def test_the_temperature_mends_probabilities_that_are_too_sure() -> None:
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(4000, 3))
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    gold = np.array([rng.choice(3, p=row) for row in p])
    sure = with_temperature(p, 1 / 4)
    t = fit_temperature(sure, gold)
    assert t == pytest.approx(4, rel=0.1)
    assert calibration_error(with_temperature(sure, t), gold) < 0.05 < calibration_error(sure, gold)
    assert (with_temperature(sure, t).argmax(axis=1) == sure.argmax(axis=1)).all()


def test_the_calibration_error_is_taken_bin_by_bin() -> None:
    p = np.array([[0.9, 0.1]] * 4 + [[0.45, 0.55]] * 4)
    gold = np.array([0, 0, 1, 1] + [1] * 4)  # too sure by 0.9 - 0.5, and not sure enough by 1 - 0.55
    assert calibration_error(p, gold) == pytest.approx((0.4 + 0.45) / 2)
