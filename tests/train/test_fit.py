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
from bough.data.examples import labelled_lists
from bough.data.labelled import open_labelled
from bough.data.text_filter import TextFilter
from bough.errors import DataError
from bough.nn import registry
from bough.outputs import Classes
from bough.outputs.base import TargetOptions
from bough.pipelines import PairPipeline, Pipeline
from bough.train.configure import configuration
from bough.train.evaluate import evaluate_file
from bough.train.fit import fit_sources
from bough.train.loop import Event
from bough.train.options import FitOptions
from bough.train.splits import read_splits
from small_fits import QUICK, examples, write_csv


def fitted(texts: Any, labels: Any, **options: Any) -> Any:
    return bough.fit(texts, labels, **{"trees": "none", "settings": QUICK, "epochs": 6, **options})


@pytest.fixture(scope="module")
def fruit() -> Pipeline:
    pipeline = fitted(*examples())
    assert isinstance(pipeline, Pipeline)
    return pipeline


def test_it_learns_and_every_phrase_has_a_class(fruit: Pipeline) -> None:
    texts, labels = examples(20)
    assert fruit.evaluate(texts, labels).figures["accuracy"] > 0.9
    result = fruit("The pear is on the shelf .")
    assert result.label == "fruit"
    assert result.score == max(result.probabilities.values())
    assert {node.label for node in result.nodes} <= {"fruit", "tool"}
    assert ElementTree.fromstring(result.svg()).tag.endswith("svg")


def test_few_texts_start_from_the_bundled_model_where_dev_prefers_it(tmp_path: Path) -> None:
    words = {"up": ("superb", "lovely", "charming"), "down": ("awful", "dreadful", "boring")}
    texts = [f"{name} was {word}" for name in "abcdefgh" for group in words.values() for word in group]
    labels = [label for _ in "abcdefgh" for label, group in words.items() for _ in group]
    # words that training has not: only a model that knew them before can tell them apart
    dev = (["this was wonderful", "this was terrible", "a delight", "a mess"], ["up", "down", "up", "down"])
    test = (["it was wonderful", "it was terrible", "the delight", "the mess"], ["down", "up", "down", "up"])
    found = {}
    for init_from in (None, "none", "sentiment"):
        options = FitOptions(epochs=1, init_from=init_from, data=tmp_path)
        sources = {"train": labelled_lists(texts, labels, "texts"), "dev": labelled_lists(*dev, "dev")}
        sources["test"] = labelled_lists(*test, "test")
        found[init_from] = fit_sources(sources, tmp_path / str(init_from), options)[1]
        assert sorted(path.name for path in (tmp_path / str(init_from)).iterdir() if path.is_dir()) == []
    dev_of = {name: facts["history"][0] for name, facts in found.items()}
    assert dev_of["sentiment"]["dev_accuracy"] > dev_of["none"]["dev_accuracy"]
    on_test = {name: facts["scores"]["test"]["figures"]["accuracy"] for name, facts in found.items()}
    assert on_test["sentiment"] < on_test["none"]  # test would prefer the other start
    assert (found[None]["init_from"], dev_of[None]) == ("sentiment", dev_of["sentiment"])


def test_a_saved_model_is_the_same_and_may_be_saved_again(fruit: Pipeline, tmp_path: Path) -> None:
    fruit.save(tmp_path / "one")
    bough.load(tmp_path / "one").save(tmp_path / "two")
    for folder in ("one", "two"):
        again = bough.load(tmp_path / folder)
        assert isinstance(again, Pipeline)
        assert (
            again("The saw is here . It is sharp .").json() == fruit("The saw is here . It is sharp .").json()
        )
    assert (tmp_path / "one" / "config.json").read_bytes() == (tmp_path / "two" / "config.json").read_bytes()
    assert (tmp_path / "two" / "README.md").read_text().startswith("# 2 classes: 'fruit', 'tool'\n")


def test_balanced_trees_need_no_parser_in_any_language(tmp_path: Path) -> None:
    words = {"苹果": "果", "锤子": "具", "梨子": "果", "锯子": "具"}
    texts = [f"{word}在{chr(0x4E00 + place)}上" for word in words for place in range(15)]
    labels = [words[text[:2]] for text in texts]
    fitted(texts, labels, trees="balanced", epochs=8, out=tmp_path)
    mine: Any = bough.load(tmp_path)  # the model remembers its trees, whatever the parser is
    assert mine.evaluate(texts, labels).figures["accuracy"] > 0.9
    assert mine("苹果在桌上").tokens == tuple("苹果在桌上")
    assert mine("苹果在桌上").tree.heights[0] == 3
    with pytest.raises(ValueError, match="trees 'balanced' are for texts; texts holds trees"):
        fitted([bough.Tree([-1], tokens=[text]) for text in texts], labels, trees="balanced")


def test_a_text_of_several_sentences_is_one_tree(fruit: Pipeline) -> None:
    result = fruit("An apple . A saw . A pear .")
    assert len(result.roots) == 1
    assert len(result.tree.words) == len(result.tokens)


def test_the_parser_gives_the_trees_and_numbers_are_classes_in_order() -> None:
    texts, labels = examples(20)
    numbers = [10 if label == "fruit" else 2 for label in labels]
    mine = bough.fit(texts, numbers, settings=QUICK, epochs=1)
    assert mine.classes == ("2", "10")
    assert mine.model.output.ordered
    assert -1 <= mine(texts[0]).score <= 1
    assert any(len(children) == 2 for children in mine(texts[0]).tree.children)


def test_pairs_keep_their_scale() -> None:
    texts, _ = examples(40)
    pairs = [(a, b) for a, b in zip(texts, texts[1:] + texts[:1], strict=True)]
    ratings = [-10 + 30 * (i % 2) for i in range(len(pairs))]
    mine = fitted(pairs, ratings, epochs=2)
    assert isinstance(mine, PairPipeline)
    assert mine.model.output.ends == (-10, 20)
    assert -10 <= mine.score(*pairs[0]) <= 20
    assert set(mine.evaluate(pairs, ratings).figures) == {"pearson", "spearman", "mse"}


@pytest.mark.parametrize("count", [1, 3])
def test_pairs_of_one_rating_choose_the_epoch_by_their_error(tmp_path: Path, count: int) -> None:
    texts, _ = examples(40)
    pairs = [(a, b) for a, b in zip(texts, texts[1:] + texts[:1], strict=True)]
    sources = {
        "train": labelled_lists(pairs, [1, 5] * 20),
        "dev": labelled_lists(pairs[:count], [3] * count, "dev"),
    }
    heard: list[str] = []
    settings = {**QUICK, "learning_rate": 0.01, "patience": 2, "epochs": 5}
    _, outcome = fit_sources(
        sources, tmp_path / "m", FitOptions(trees="none", settings=settings), warn=heard.append
    )
    errors = [line["dev_mse"] for line in outcome["history"]]
    assert outcome["epoch"] == 1 + int(np.argmin(errors))
    assert "dev: every rating is 3, so there is no r" in heard[-1]


@pytest.mark.parametrize("trees", ["dependency", "none"])
def test_pairs_may_be_rated_by_the_cosine_of_their_vectors(tmp_path: Path, trees: str) -> None:
    texts = [
        f"{who} {does}" for who in ("the dog", "a cat", "my aunt") for does in ("sleeps", "sings", "runs")
    ]
    pairs = [(a, b) for a in texts for b in texts]
    ratings = [len({*a.split()} & {*b.split()}) for a, b in pairs]
    mine = fitted(pairs, ratings, epochs=2, trees=trees, settings={"features": "cosine"})
    mine.save(tmp_path / "m")
    again = bough.load(tmp_path / "m")
    assert isinstance(again, PairPipeline)
    assert again.score(*pairs[3]) == pytest.approx(mine.score(*pairs[3]), abs=1e-5)
    products = again.encode(texts) @ again.encode(texts[0])
    nearest = again.nearest(texts[0], texts, k=4)
    assert [one.index for one in nearest] == np.argsort(-products, kind="stable")[:4].tolist()
    assert all(0 <= one.score <= 3 for one in nearest)


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
    trees = [example.trees[0] for example in open_labelled(file).examples]
    labels = [str(tree.labels[tree.root]) for tree in trees if tree.labels]
    report = evaluate_file(tmp_path / "m", file)
    assert report.figures["accuracy"] > 0.9
    assert isinstance(mine, Pipeline)
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
    assert (
        configuration(FitOptions(), open_labelled(tmp_path / name), None, Classes(("0", "1"))).layer == layer
    )


def test_the_same_seed_gives_the_same_model() -> None:
    texts, labels = examples(20)
    one, two, other = (fitted(texts, labels, epochs=1, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(one.model.table, two.model.table)
    assert one("a saw").json() == two("a saw").json() != other("a saw").json()


def test_a_fit_may_start_from_another(fruit: Pipeline, tmp_path: Path) -> None:
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


def test_a_fit_says_which_examples_its_start_was_trained_on(fruit: Pipeline, tmp_path: Path) -> None:
    fruit.save(tmp_path / "start")
    texts, labels = examples(40)
    TextFilter.of(texts[:22]).save(tmp_path / "start")
    options = FitOptions(init_from=tmp_path / "start", epochs=1)
    messages: list[str] = []

    def fit(start: int, stop: int, out: Path) -> None:
        messages.clear()
        train = labelled_lists(texts[start:stop], labels[start:stop], "train")
        dev = labelled_lists([text.upper() for text in texts[20:30]], labels[20:30], "dev")
        fit_sources({"train": train, "dev": dev}, out, options, warn=messages.append)

    fit(18, 20, tmp_path / "some")
    message = (
        f"train[0]: 4 of 12 examples (train 2, dev 2) are among the texts that {str(tmp_path / 'start')!r}"
    )
    assert f"{message}, the start, was trained on; figures on dev are too good" in messages
    page = (tmp_path / "some" / "report.html").read_text()
    assert "4 of 12 examples (train 2, dev 2)" in page

    TextFilter.of(texts[:20]).save(tmp_path / "start")
    fit(18, 20, tmp_path / "train-only")
    assert [m for m in messages if "the start" in m] == [m for m in messages if m.endswith("was trained on")]
    assert any(m.startswith("train[0]: 2 of 12 examples (train 2) are among") for m in messages)
    fit(30, 40, tmp_path / "none")
    assert not [m for m in messages if "the start" in m]


def test_the_start_that_a_fit_chooses_by_itself_says_what_it_was_trained_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts, labels = examples(40)
    seen = TextFilter.of(texts)
    monkeypatch.setattr(TextFilter, "load", lambda folder: seen if Path(folder).name == "sentiment" else None)
    messages: list[str] = []
    source = {"train": labelled_lists(texts, labels, "texts")}
    fit_sources(source, tmp_path / "mine", FitOptions(epochs=1, data=tmp_path), warn=messages.append)
    assert any(
        "40 of 40 examples (train 36, dev 4) are among the texts that 'sentiment'" in m for m in messages
    )


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

    settings = {name: value for name, value in QUICK.items() if name != "recurrent_dropout"}
    settings["layer"] = "by-relation"
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
        (
            ["a b", "c d", "e f"],
            ["x", "x", "x"],
            "texts: every label is 'x'; a model needs labels that differ",
        ),
        ([], [], "nothing to learn from"),
        (["a b", 3, "c"], ["x", "y", "x"], r"texts\[1\] is 3, not a text, as the first is"),
        ([("a", "b"), ("c", "d")], ["1", "nan"], r"texts\[1\]: the rating 'nan' is not a number"),
        ([("a", "b"), ("c", "d")], [1, 1], "every rating is 1"),
        ([f"t{i}" for i in range(20)], list(range(20)), "20 classes for 20 examples"),
        ("one text", ["x"], "pass texts as a list"),
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
    train = labelled_lists([*texts, "  ", "only one"], [*labels, "fruit", "rare"], "train")
    test = labelled_lists(texts[:2], labels[:2], "test")
    heard: list[str] = []
    options = FitOptions(trees="none", settings=QUICK, epochs=1)
    fit_sources({"train": train, "test": test}, tmp_path / "out", options, warn=heard.append)
    said = "\n".join(heard)
    assert "train[20]: a row without a text or a label, left out" in said
    assert "classes with one example, which is used for training only: 'rare'" in said
    assert "test[0]: 2 examples are in train too" in said
    assert "dev: 2 of 21 examples" in said


def test_words_alone_without_a_phrase_are_told_the_way_out() -> None:
    with pytest.raises(ValueError, match="set trees to none"):
        bough.fit(*examples(10), settings={"layer": "lstm"})


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
        ({"settings": {"shape": "balanced"}}, "shape = 'balanced' is a control of .*set trees to none"),
        ({"settings": {"max_examples": 10}}, "unknown key 'max_examples'"),
        ({"data": "no/such"}, "the data folder no/such: no such folder"),
        ({"data": "no/such", "settings": QUICK}, "the data folder no/such: no such folder"),
    ],
)
def test_what_cannot_be_had_together_is_said(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bough.fit(*examples(20), epochs=1, **options)


def test_lists_are_read_as_tables_are() -> None:
    texts, labels = examples(20)
    holes = labelled_lists([*texts, "more", "and more"], [*labels, None, float("nan")])
    assert len(holes.examples) == 20
    assert holes.empty == ["texts[20]", "texts[21]"]
    nothing = [np.float32("nan"), np.datetime64("NaT"), "\t"]
    with pytest.raises(DataError, match="no example with a text and a label"):
        labelled_lists(texts[: len(nothing)], nothing)
    with pytest.raises(ValueError, match=r"texts\[1\] is .*, not two texts"):
        labelled_lists([("a", "b"), ("a", "b", "c")], [1, 2])


def test_a_pair_the_other_way_round_is_the_same_text() -> None:
    pairs = [(f"{i} men", "a dog") for i in range(20)]
    source = labelled_lists([*pairs, ("a dog", "3 men")], [*["x", "y"] * 10, "x"])
    messages = read_splits({"train": source}, TargetOptions(), hold_test=False, seed=1).messages
    assert "texts[20]: 1 example repeats an earlier one; what occurs twice is never held out" in messages


def test_what_is_missing_in_a_data_frame_is_no_class() -> None:
    pandas = pytest.importorskip("pandas")
    for column in (
        pandas.Series([1, None], dtype="Int64"),
        pandas.Series(["x", None], dtype="string"),
        pandas.Series(["x", pandas.NaT], dtype=object),
    ):
        assert [example.where for example in labelled_lists(["a", "b"], column).examples] == ["texts[0]"]


def test_a_file_or_a_data_frame_may_be_fitted_with_weights_of_a_column(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    texts, labels = examples(40)
    rows = list(zip(texts, labels, [0.5, 2.0] * 20, strict=True))
    file = write_csv(tmp_path / "a.csv", rows, ("wording", "kind", "how much"))
    frame = pandas.DataFrame(rows, columns=["wording", "kind", "how much"])
    found = {}
    for name, given in (("file", str(file)), ("frame", frame)):
        out = tmp_path / name
        options: dict[str, Any] = {"trees": "none", "settings": QUICK, "epochs": 2, "dev": given, "out": out}
        bough.fit(given, sample_weight="how much", **options)
        found[name] = (out / "model.safetensors").read_bytes()
    bough.fit(texts, labels, dev=(texts, labels), sample_weight=[0.5, 2.0] * 20, trees="none",
              settings=QUICK, epochs=2, out=tmp_path / "lists")  # fmt: skip
    assert found["file"] == found["frame"] == (tmp_path / "lists" / "model.safetensors").read_bytes()
    frame.loc[3, "how much"] = -1.0
    with pytest.raises(ValueError, match=r"texts:3: the weight -1\.0; give a number of 0 or more"):
        bough.fit(frame, sample_weight="how much")
    with pytest.raises(ValueError, match="must be names of columns"):
        bough.fit(file, labels)


class ByEdge(bough.nn.TreeLayer):
    """h_j = tanh(b + Σ_k (V e_k) ⊙ h_k), e_k the features of the edge from k to its parent; x is not read."""

    name = "by-edge"
    reads = "dependency"

    def __init__(self, input_size: int, hidden_size: int, *, edge_size: int) -> None:
        super().__init__(input_size, states=(hidden_size,))
        self.b = nn.Parameter(torch.ones(hidden_size))
        self.V = nn.Linear(edge_size, hidden_size)

    def input_map(self, x: Tensor) -> Tensor:
        return self.b.expand(len(x), -1)

    def node(self, a: Tensor, below: bough.nn.Children) -> tuple[Tensor]:
        (h_k,) = below.states
        return (torch.tanh(a + below.sum(self.V(below.features) * h_k)),)


def test_a_layer_reads_the_features_of_edges_in_a_fit(tmp_path: Path) -> None:
    lengths = np.random.default_rng(0).uniform(0.0, 2.0, size=(80, 2)).tolist()
    trees = [
        bough.Tree([-1, 0, 0], tokens=["a", "b", "c"], edge_features=[[0], [a], [b]]) for a, b in lengths
    ]
    labels = ["long" if a + b > 2 else "short" for a, b in lengths]
    before = dict(registry._KINDS)
    try:
        settings = {"optimizer": "adamw", "dropout": 0.0, "input_dropout": 0.0}
        mine = bough.fit(trees, labels, layer=ByEdge, hidden_size=8, learning_rate=0.02, batch_size=10,
                         epochs=20, settings=settings, out=tmp_path / "m")  # fmt: skip
        assert mine.model.layer.V.in_features == 2  # the number, and whether it is missing
        assert mine.evaluate(trees, labels).figures["accuracy"] > 0.9
        again = bough.load(tmp_path / "m", layers=[ByEdge])
        assert again(trees[0]).json() == mine(trees[0]).json()
    finally:
        registry._KINDS.clear()
        registry._KINDS.update(before)


def test_pairs_of_trees_have_classes_or_ratings(tmp_path: Path) -> None:
    def tree(op: str, depth: int) -> bough.Tree:
        return bough.Tree([-1, *range(depth)], tokens=["root", *["x"] * (depth - 1), op])

    pairs = [(tree("ab"[i % 2], 2 + i % 3), tree("ab"[i // 2 % 2], 2 + i % 4)) for i in range(80)]
    same = ["same" if a.tokens[-1] == b.tokens[-1] else "other" for a, b in pairs if a.tokens and b.tokens]
    dev = (pairs[:40], same[:40])
    settings = {"optimizer": "adamw", "dropout": 0.0, "input_dropout": 0.0}
    mine = bough.fit(pairs, same, dev=dev, hidden_size=12, learning_rate=0.02, epochs=20, settings=settings,
                     out=tmp_path / "m")  # fmt: skip
    assert mine.evaluate(pairs, same).figures["accuracy"] > 0.9
    again = bough.load(tmp_path / "m")
    assert again.predict(pairs[:8]) == mine.predict(pairs[:8]) == same[:8]
    assert again(*pairs[0]).a == "root x a"
    assert '"root x a"' in again(*pairs[0]).json()
    assert "logistic regression" in (tmp_path / "m" / "fit.json").read_text()
    ratings = [1.0 + (label == "same") for label in same]
    rated = bough.fit(pairs, ratings, dev=(pairs[:40], ratings[:40]), hidden_size=12, epochs=1)
    assert 1 <= rated.predict(pairs[:1])[0] <= 2


def test_a_file_with_splits_is_evaluated_on_its_test_split(fruit: Pipeline, tmp_path: Path) -> None:
    fruit.save(tmp_path / "m")
    texts, labels = examples(12)
    names = ["train", "dev", "test"] * 4
    file = write_csv(tmp_path / "a.csv", zip(texts, labels, names, strict=True), ("text", "label", "split"))
    assert evaluate_file(tmp_path / "m", file).examples == 4


def test_callbacks_get_every_epoch() -> None:
    seen: list[Any] = []
    fitted(*examples(20), epochs=2, callbacks=[lambda event: None, seen.append])
    ends = [event for event in seen if isinstance(event, Event) and event.dev is not None]
    assert [event.epoch for event in ends] == [1, 2]
    assert "accuracy" in (ends[0].dev or {})
