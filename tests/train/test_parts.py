"""Claims about the parts of a fit: splits, parses, packed trees, words, temperature, joined sentences."""

import logging
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bough.errors import DataError
from bough.pipelines.readers import WholeReader
from bough.text.join_sentences import chain_of_words, join_sentences
from bough.train.calibration import calibration_error, cooled, temperature
from bough.train.dataset import PackedTrees
from bough.train.parse_cache import Parses
from bough.train.plan import held_out, plan
from bough.train.recipes import load_recipe
from bough.train.source import Listed
from bough.train.word_vectors import words_for
from bough.trees.tree import Tree
from treegen import trees


@given(st.lists(st.integers(0, 3), min_size=4, max_size=200), st.integers(0, 5))
def test_a_split_keeps_each_class_and_no_text_is_on_two_sides(labels: list[int], seed: int) -> None:
    strata = np.array(labels)
    keys = np.arange(len(labels), dtype=np.uint64) // 2 * 2 + np.arange(len(labels), dtype=np.uint64) % 3 // 2
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
    source = Listed([f"text {i}" for i in range(200)], labels)
    plans = [plan({"train": source}, None, hold_test=True, seed=seed) for seed in (1, 1, 2)]
    one, again, other = (found.parts["train"].tolist() for found in plans)
    assert one == again != other
    for part in (1, 2):
        held = [label for label, place in zip(labels, one, strict=True) if place == part]
        assert Counter(held) == {"a": 10, "b": 6, "c": 4}
    assert plans[0].sizes() == {"train": 160, "dev": 20, "test": 20}


class Counting(WholeReader):
    """A reader of chains that counts what it reads."""

    def __init__(self) -> None:
        super().__init__("none", "dependency", chain=True)
        self.read_texts: list[str] = []

    def read_any(self, texts):  # type: ignore[no-untyped-def]
        self.read_texts += texts
        return super().read_any(texts)


def test_a_text_is_parsed_once_whatever_a_kill_left(tmp_path: Path) -> None:
    path, texts = tmp_path / "parses.jsonl", ["one two", "three", "", "one two", "vier f\u00fcnf"]
    with Parses(path, Counting()) as first:
        found = first.trees(texts)
    assert found[0] == chain_of_words(["one", "two"])
    assert found[2] is None
    whole = path.read_bytes()
    for cut in range(len(whole) + 1):
        path.write_bytes(whole[:cut])
        reader = Counting()
        with Parses(path, reader) as again:
            assert again.trees(texts) == found
        assert len(reader.read_texts) == 1 + 3 - whole[:cut].count(
            b"\n"
        )  # the text without a word has no tree


def test_a_line_that_another_process_wrote_there_is_not_taken_for_ones_own(tmp_path: Path) -> None:
    texts = ["one two", "three four five"]
    with Parses(tmp_path / "parses.jsonl", Counting()) as parses:
        found = parses.trees(texts)
        one, other = parses.places
        parses.places[one], parses.places[other] = parses.places[other], parses.places[one]
        assert parses.trees(texts) == found


def test_a_damaged_line_is_parsed_again(tmp_path: Path) -> None:
    path = tmp_path / "parses.jsonl"
    with Parses(path, Counting()) as first:
        found = first.trees(["one two", "three"])
    path.write_bytes(path.read_bytes().replace(b"[1, -1]", b"[1, {1]").replace(b"three", b"thr\xff\xfe"))
    with Parses(path, Counting()) as again:
        assert again.trees(["one two", "three"]) == found


@given(st.lists(trees(), min_size=1, max_size=5))
def test_packed_trees_come_out_as_they_went_in(some: list[Tree]) -> None:
    packed = PackedTrees()
    named = [tree.replace(tokens=[f"t{i % 3}" for i in range(len(tree))], relations=None) for tree in some]
    for tree in named:
        packed.append(tree, [i if i % 2 else None for i in range(len(tree))])
    assert len(packed) == len(named)
    for tree, found in zip(named, packed, strict=True):
        assert np.array_equal(tree.parents, found.parents)
        assert tree.tokens == found.tokens
        assert found.relations is None
        assert found.labels == tuple(i if i % 2 else None for i in range(len(tree)))


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
        ({}, {"the": 1}, "the word table of a model", "no GloVe vectors in the data folder"),
        ({"840B": "the elm"}, {"the": 1, "elm": 1}, "glove.840B.300d", ""),
        (
            {"840B": "the"},
            {"the": 3, "elm": 1},
            "glove.840B.300d",
            "75.0% of 4 tokens; it is taken all the same",
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
    p = np.array([[0.7, 0.2, 0.1]] * 4)
    assert cooled(p, temperature(p, np.zeros(4, dtype=np.int64))).max() < 0.9


def test_the_baseline_learns_from_a_sample_of_all_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    from bough.train import baseline

    trees = PackedTrees()
    for number in range(60):  # sorted by class, as many files are
        word = ("fig", "saw")[number >= 30]
        trees.append(Tree([1, -1], tokens=["a", word]), [None, int(number >= 30)])
    monkeypatch.setattr(baseline, "MOST", 30)
    assert baseline.bag_of_words(trees, trees, 2) == 1.0


def test_the_temperature_mends_probabilities_that_are_too_sure() -> None:
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(4000, 3))
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    gold = np.array([rng.choice(3, p=row) for row in p])
    sure = cooled(p, 1 / 4)
    t = temperature(sure, gold)
    assert t == pytest.approx(4, rel=0.1)
    assert calibration_error(cooled(sure, t), gold) < 0.05 < calibration_error(sure, gold)
    assert (cooled(sure, t).argmax(axis=1) == sure.argmax(axis=1)).all()


def test_the_calibration_error_is_taken_bin_by_bin() -> None:
    p = np.array([[0.9, 0.1]] * 4 + [[0.45, 0.55]] * 4)
    gold = np.array([0, 0, 1, 1] + [1] * 4)  # too sure by 0.9 - 0.5, and not sure enough by 1 - 0.55
    assert calibration_error(p, gold) == pytest.approx((0.4 + 0.45) / 2)
