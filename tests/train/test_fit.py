"""Claims about `bough.fit`: it learns, what it gives can be saved and loaded, and it says what goes wrong."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import bough
from bough.data.labelled import open_labelled
from bough.errors import DataError
from bough.nn import registry
from bough.pipelines import RelatednessPipeline, SentimentPipeline
from bough.train.evaluate import judge
from bough.train.fit import fit_sources
from bough.train.options import FitOptions
from bough.train.plan import settled
from bough.train.source import Listed, digest
from small_fits import QUICK, examples


def fitted(texts: Any, labels: Any, **options: Any) -> Any:
    return bough.fit(texts, labels, **{"trees": "none", "settings": QUICK, "epochs": 6, **options})


@pytest.fixture(scope="module")
def fruit() -> SentimentPipeline:
    pipeline = fitted(*examples())
    assert isinstance(pipeline, SentimentPipeline)
    return pipeline


def test_it_learns_and_every_phrase_has_a_class(fruit: SentimentPipeline) -> None:
    texts, labels = examples(20)
    assert fruit.evaluate(texts, labels).figures["accuracy"] > 0.9
    result = fruit("The pear is on the shelf .")
    assert result.label == "fruit"
    assert result.score == max(result.probabilities)
    assert {node.label for node in result.nodes} <= {"fruit", "tool"}
    assert ElementTree.fromstring(result.svg()).tag.endswith("svg")


def test_a_saved_model_is_the_same_and_may_be_saved_again(fruit: SentimentPipeline, tmp_path: Path) -> None:
    fruit.save(tmp_path / "one")
    bough.load(tmp_path / "one").save(tmp_path / "two")
    for folder in ("one", "two"):
        again = bough.load(tmp_path / folder)
        assert isinstance(again, SentimentPipeline)
        assert (
            again("The saw is here . It is sharp .").json() == fruit("The saw is here . It is sharp .").json()
        )
    assert (tmp_path / "one" / "config.json").read_bytes() == (tmp_path / "two" / "config.json").read_bytes()
    assert (tmp_path / "two" / "README.md").read_text().startswith("# 2 classes: fruit, tool")


def test_a_text_of_several_sentences_is_one_tree(fruit: SentimentPipeline) -> None:
    result = fruit("An apple . A saw . A pear .")
    assert len(result.roots) == 1
    assert len(result.tree.words) == len(result.tokens)


def test_the_parser_gives_the_trees_and_numbers_are_classes_in_order() -> None:
    texts, labels = examples(20)
    numbers = [10 if label == "fruit" else 2 for label in labels]
    mine = bough.fit(texts, numbers, settings=QUICK, epochs=1)
    assert mine.classes == ("2", "10")
    assert mine.model.purpose.ordered
    assert -1 <= mine(texts[0]).score <= 1
    assert any(len(children) == 2 for children in mine(texts[0]).tree.children)


def test_pairs_keep_their_scale() -> None:
    texts, _ = examples(40)
    pairs = [(a, b) for a, b in zip(texts, texts[1:] + texts[:1], strict=True)]
    ratings = [-10 + 30 * (i % 2) for i in range(len(pairs))]
    mine = fitted(pairs, ratings, epochs=2)
    assert isinstance(mine, RelatednessPipeline)
    assert mine.model.purpose.ratings == (-10, 20)
    assert -10 <= mine.score(*pairs[0]) <= 20
    assert set(mine.evaluate(pairs, ratings).figures) == {"pearson", "spearman", "mse"}


@pytest.mark.parametrize("count", [1, 3])
def test_pairs_of_one_rating_choose_the_epoch_by_their_error(tmp_path: Path, count: int) -> None:
    texts, _ = examples(40)
    pairs = [(a, b) for a, b in zip(texts, texts[1:] + texts[:1], strict=True)]
    sources = {"train": Listed(pairs, [1, 5] * 20), "dev": Listed(pairs[:count], [3] * count, "dev")}
    heard: list[str] = []
    settings = {**QUICK, "learning_rate": 0.01, "patience": 2, "epochs": 5}
    _, outcome = fit_sources(
        sources, tmp_path / "m", FitOptions(trees="none", settings=settings), warn=heard.append
    )
    errors = [line["dev_mse"] for line in outcome.facts["history"]]
    assert outcome.facts["epoch"] == 1 + int(np.argmin(errors))
    assert "dev: every rating is 3, so there is no r" in heard[-1]


def test_pairs_may_have_features_beside_their_vectors(tmp_path: Path) -> None:
    texts = [
        f"{who} {does}" for who in ("the dog", "a cat", "my aunt") for does in ("sleeps", "sings", "runs")
    ]
    pairs = [(a, b) for a in texts for b in texts]
    ratings = [len({*a.split()} & {*b.split()}) for a, b in pairs]
    mine = fitted(pairs, ratings, epochs=2, settings={"pair_features": True})
    assert float(mine.model.rarity.min()) < 1
    mine.save(tmp_path / "m")
    again = bough.load(tmp_path / "m")
    assert isinstance(again, RelatednessPipeline)
    assert again.score(*pairs[3]) == pytest.approx(mine.score(*pairs[3]), abs=1e-5)
    assert len(again.nearest(texts[0], texts, k=2)) == 2


@pytest.mark.parametrize("options", [{"trees": "none"}, {"settings": {"layer": "lstm"}}])
def test_a_pair_has_the_same_features_when_it_is_scored(options: dict[str, Any]) -> None:
    texts = [f"{who} {does}" for who in ("the dog", "a cat") for does in ("sees the man", "sings to her")]
    pairs = [(a, b) for a in texts for b in texts]
    ratings = [len({*a.split()} & {*b.split()}) for a, b in pairs]
    options = {"dev": (pairs, ratings), "vectors": "shipped", "epochs": 2, **options}
    options["settings"] = {"pair_features": True, "learning_rate": 0.5, **options.get("settings", {})}
    mine = bough.fit(pairs, ratings, **options)
    on_dev = mine.facts["scores"]["dev"]["figures"]
    assert mine.evaluate(pairs, ratings).figures["mse"] == pytest.approx(on_dev["mse"], abs=1e-5)


def test_trees_that_are_not_sentences() -> None:
    def tree(kind: str, depth: int) -> bough.Tree:
        return bough.Tree([-1, *range(depth)], tokens=["root", *["x"] * (depth - 1), kind])

    trees = [tree("add" if i % 2 else "mul", 2 + i % 5) for i in range(40)]
    trees = [t.replace(tokens=[*t.tokens[:-1], t.tokens[-1]]) for t in trees if t.tokens]
    labels = ["plus" if i % 2 else "times" for i in range(40)]
    trees = [bough.Tree([*t.parents, 0], tokens=[*(t.tokens or ()), f"n{i}"]) for i, t in enumerate(trees)]
    mine = bough.fit(trees, labels, settings={**QUICK, "learning_rate": 0.1}, epochs=8)
    assert mine.evaluate(trees, labels).figures["accuracy"] > 0.9
    assert mine(trees[0]).label == "times"
    with pytest.raises(ValueError, match="fitted on trees"):
        mine("a text")


def test_trees_with_labels_are_scored_as_those_without(tmp_path: Path) -> None:
    file = tmp_path / "trees.ptb"
    lines = [f"(good (good fine) (bad n{i}))\n(bad (good n{i}) (bad dull))\n" for i in range(20)]
    file.write_text("".join(lines))
    mine, _ = fit_sources(
        {"train": open_labelled(file)}, tmp_path / "m", FitOptions(settings=QUICK, epochs=4)
    )
    trees = [example.tree for example in open_labelled(file) if example.tree is not None]
    labels = [str(tree.labels[tree.root]) for tree in trees if tree.labels]
    report = judge(tmp_path / "m", file)
    assert report.figures["accuracy"] > 0.9
    assert isinstance(mine, SentimentPipeline)
    assert mine.evaluate(trees, labels).figures == pytest.approx(report.figures)
    assert mine(trees[0]).json() == mine(trees[0].replace(labels=None)).json()


@pytest.mark.parametrize(
    ("name", "text", "layer"),
    [
        ("a.ptb", "(1 fine)\n(0 (1 fine) (0 not))\n", "constituency"),
        ("a.ptb", "(1 fine)\n(0 dull)\n", "constituency"),
        ("a.conllu", "# label = 1\n1\tfine\t_\t_\t_\t_\t0\troot\t_\t_\n", "dependency"),
    ],
)
def test_a_tree_of_one_word_does_not_choose_the_layer(
    tmp_path: Path, name: str, text: str, layer: str
) -> None:
    (tmp_path / name).write_text(text)
    assert settled(open_labelled(tmp_path / name), None, None, {}).layer == layer


def test_the_same_seed_gives_the_same_model() -> None:
    texts, labels = examples(20)
    one, two, other = (fitted(texts, labels, epochs=1, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(one.model.table, two.model.table)
    assert one("a saw").json() == two("a saw").json() != other("a saw").json()


def test_a_fit_may_start_from_another(fruit: SentimentPipeline, tmp_path: Path) -> None:
    fruit.save(tmp_path)
    texts, labels = examples(20)
    mine = fitted(
        texts,
        labels,
        init_from=tmp_path,
        epochs=1,
        settings={"learning_rate": 1e-9, "embedding_learning_rate": 1e-9},
    )
    assert mine.model.config.hidden_size == 12
    old, new = (model.layer.state_dict() for model in (fruit.model, mine.model))
    assert all(np.allclose(old[name], new[name], atol=1e-6) for name in old)


class ByRelation(bough.nn.TreeLayer):
    """h_j = tanh(W x_j + Σ_k v_r(k) ⊙ h_k), r(k) the relation of k to its parent."""

    name = "by-relation"
    reads = "dependency"

    def __init__(self, input_size: int, hidden_size: int, *, relations: int) -> None:
        super().__init__(input_size, states=(hidden_size,))
        self.W = nn.Linear(input_size, hidden_size)
        self.v = nn.Parameter(torch.randn(relations, hidden_size))

    def input_map(self, x: Tensor) -> Tensor:
        a: Tensor = self.W(x)
        return a

    def node(self, a: Tensor, below: bough.nn.Children) -> tuple[Tensor]:
        (h_k,) = below.states
        return (torch.tanh(a + below.sum(self.v[below.relations] * h_k)),)


@pytest.fixture
def by_relation() -> Iterator[None]:
    before = dict(registry._KINDS)
    bough.nn.register(ByRelation)
    yield
    registry._KINDS.clear()
    registry._KINDS.update(before)


@pytest.mark.usefixtures("by_relation")
def test_weights_of_relations_keep_their_meaning_in_another_fit(tmp_path: Path) -> None:
    def trees(*relations: str) -> list[bough.Tree]:
        names = [relations[i % len(relations)] for i in range(20)]
        return [
            bough.Tree([1, -1], tokens=[f"n{i}", "is"], relations=[n, "root"]) for i, n in enumerate(names)
        ]

    settings = {**QUICK, "layer": "by-relation"}
    first = bough.fit(trees("amod", "nsubj"), ["x", "y"] * 10, settings=settings, epochs=1)
    first.save(tmp_path)
    still = {"learning_rate": 1e-9, "embedding_learning_rate": 1e-9}
    mine = bough.fit(
        trees("dobj", "nsubj", "prep"), ["x", "y"] * 10, init_from=tmp_path, settings=still, epochs=1
    )
    assert mine.model.relations == first.model.relations == ("amod", "nsubj", "root")
    old, new = (model.layer.state_dict() for model in (first.model, mine.model))
    assert all(np.allclose(old[name], new[name], atol=1e-6) for name in old)


@pytest.mark.parametrize(
    ("texts", "labels", "message"),
    [
        (["a b", "c d"], ["x"], "2 examples, 1 labels"),
        (["a b", "c d", "e f"], ["x", "x", "x"], "one class only, 'x'"),
        ([], [], "nothing to learn from"),
        (["a b", 3, "c"], ["x", "y", "x"], r"texts\[1\] is a int"),
        ([("a", "b"), ("c", "d")], ["1", "nan"], r"texts\[1\]: the rating 'nan' is not a number"),
        ([("a", "b"), ("c", "d")], [1, 1], "every rating is 1"),
        ([f"t{i}" for i in range(20)], list(range(20)), "20 classes for 20 examples"),
        ("one text", ["x"], "give a list of texts"),
        ([bough.Tree([-1], tokens=["a"])] * 3, [None] * 3, "texts: no example with a text and a label in it"),
    ],
)
def test_what_is_wrong_with_the_examples_is_said(texts: Any, labels: Any, message: str) -> None:
    with pytest.raises((ValueError, DataError), match=message):
        fitted(texts, labels)
    with pytest.raises((ValueError, DataError), match=message):
        bough.fit(texts, labels)


def test_a_file_without_a_tree_is_said(tmp_path: Path) -> None:
    file = tmp_path / "none.conllu"
    file.write_text("")
    with pytest.raises(DataError, match=r"none\.conllu: no example with a text and a label in it"):
        fit_sources({"train": open_labelled(file)}, tmp_path / "m", FitOptions())


def test_a_label_that_training_has_not_is_said_with_its_place() -> None:
    with pytest.raises(DataError, match=r"dev\[1\]: the label 'bird' is not in the training examples"):
        fitted(*examples(10), dev=(["a", "b"], ["fruit", "bird"]))


def test_what_a_person_should_know_is_told(tmp_path: Path) -> None:
    texts, labels = examples(20)
    train = Listed([*texts, "  ", "only one"], [*labels, "fruit", "rare"], "train")
    test = Listed(texts[:2], labels[:2], "test")
    heard: list[str] = []
    options = FitOptions(trees="none", settings=QUICK, epochs=1)
    fit_sources({"train": train, "test": test}, tmp_path / "out", options, warn=heard.append)
    said = "\n".join(heard)
    assert "train[20]: a row without a text or a label, left out" in said
    assert "the class 'rare' has one example" in said
    assert "test[0]: 2 texts are in the training examples too" in said
    assert "dev: 2 of 21 examples" in said


def test_words_alone_without_a_phrase_are_told_the_way_out() -> None:
    with pytest.raises(ValueError, match="--trees none"):
        bough.fit(*examples(10), settings={**QUICK, "layer": "lstm"})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"trees": "none", "init_from": "sentiment"},
            "'none': the model to start from reads constituency trees",
        ),
        (
            {"trees": "none", "settings": {"layer": "constituency"}},
            "'none': layer = 'constituency' reads",
        ),
        ({"vectors": "6B", "init_from": "sentiment"}, "'6B': the words are those of the model to start from"),
        ({"settings": {"shape": "balanced"}}, "shape = 'balanced' is a control of .*--trees none"),
        ({"settings": {"max_examples": 10}}, "unknown key 'max_examples'"),
        ({"data": "no/such"}, "--data no/such: no such folder"),
        ({"data": "no/such", "settings": QUICK}, "--data no/such: no such folder"),
    ],
)
def test_what_cannot_be_had_together_is_said(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bough.fit(*examples(20), epochs=1, **options)


def test_lists_are_read_as_tables_are() -> None:
    texts, labels = examples(20)
    holes = Listed([*texts, "more", "and more"], [*labels, None, float("nan")])
    assert len(list(holes)) == 20
    assert holes.empty == [20, 21]
    nothing = [np.float32("nan"), np.datetime64("NaT"), "\t"]
    assert not list(Listed(texts[: len(nothing)], nothing))
    with pytest.raises(ValueError, match=r"texts\[1\] is .*, not two texts"):
        list(Listed([("a", "b"), ("a", "b", "c")], [1, 2]))
    one, other = (Listed([pair], [1]) for pair in (("a man", "a dog"), ("a dog", "a man")))
    assert digest(next(iter(one))) == digest(next(iter(other)))


def test_what_is_missing_in_a_data_frame_is_no_class() -> None:
    pandas = pytest.importorskip("pandas")
    for column in (
        pandas.Series([1, None], dtype="Int64"),
        pandas.Series(["x", None], dtype="string"),
        pandas.Series(["x", pandas.NaT], dtype=object),
    ):
        assert [example.line for example in Listed(["a", "b"], column)] == [0]
