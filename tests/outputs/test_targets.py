"""Claims about what a fit may predict: numbers, several labels at once and classes of pairs, besides classes."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import bough
from bough.data.examples import TreeColumns
from bough.data.labelled import open_labelled
from bough.errors import DataError, FormatError
from bough.outputs import Classes
from bough.outputs.calibration import fit_thresholds
from bough.train.evaluate import evaluate_file
from bough.train.fit import fit_sources
from bough.train.options import FitOptions
from small_fits import QUICK, examples, write_csv

FAST = {name: value for name, value in QUICK.items() if name != "recurrent_dropout"}
FAST |= {"optimizer": "adamw", "learning_rate": 0.02, "embedding_learning_rate": 0.02}
COLORS = ("red", "green", "blue", "grey")


def fitted(items: Any, labels: Any, epochs: int = 12, **options: Any) -> Any:
    settings = {**FAST, **options.pop("settings", {})}
    return bough.fit(items, labels, trees="none", settings=settings, epochs=epochs, **options)


def numbered(count: int = 60) -> tuple[list[str], list[float]]:
    """Texts whose number is told by their colour."""
    texts = [f"{COLORS[i % 4]} thing {i}" for i in range(count)]
    return texts, [10.0 ** (i % 4) for i in range(count)]


def test_numbers_are_learned_saved_and_measured_on_their_scale(tmp_path: Path) -> None:
    texts, values = numbered()
    mine = fitted(texts, values, scale="log", test=(texts[:8], values[:8]), out=tmp_path / "run")
    assert mine.model.output.kind == "numbers"
    assert mine("blue thing 2").value == pytest.approx(100, rel=0.5)
    figures = mine.evaluate(texts, values).figures
    assert {"mae", "rmse", "r2", "spearman", "q_error_median", "q_error_p90", "q_error_p99"} == {*figures}
    assert figures["q_error_p90"] < 2
    again = bough.load(tmp_path / "run")
    assert again.predict(texts[:4]) == pytest.approx(mine.predict(texts[:4]))
    facts = json.loads((tmp_path / "run" / "fit.json").read_text())
    assert {*facts["baseline"]["figures"]} == {"dev", "test"}
    assert "TF-IDF" in (tmp_path / "run" / "README.md").read_text()


def test_several_numbers_are_predicted_by_name() -> None:
    texts, values = numbered()
    mine = fitted(texts, [[np.log10(value), -1.0 - i % 2] for i, value in enumerate(values)])
    found = mine("grey thing 3")
    assert list(found.numbers) == ["value 0", "value 1"]
    assert found.numbers["value 0"] == pytest.approx(3, abs=0.7)
    with pytest.raises(ValueError, match=r"2 numbers are predicted; see \.numbers"):
        found.value  # noqa: B018


def test_numbers_of_nodes_are_learned_from_the_trees() -> None:
    trees = [
        bough.Tree([1, -1, 1], tokens=[COLORS[i % 4], "is", f"n{i}"], labels=[i % 4, i % 4 + 0.5, None])
        for i in range(60)
    ]
    settings = {"hidden_size": 12, "batch_size": 4, "learning_rate": 0.02, "embedding_learning_rate": 0.05}
    mine = bough.fit(trees, settings=settings, epochs=15)
    found = mine(bough.Tree([1, -1, 1], tokens=["grey", "is", "n3"]))
    values = {node.text: node.score for node in found.nodes}
    assert [values["grey"], values["grey is n3"]] == pytest.approx([3, 3.5], abs=0.7)


def test_a_file_with_numbers_says_that_it_fits_numbers(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "days.csv", [(f"{i} days", i / 4) for i in range(60)])
    heard: list[str] = []
    options = FitOptions(trees="none", settings=FAST, epochs=1)
    fit_sources({"train": open_labelled(file)}, tmp_path / "m", options, warn=heard.append)
    assert (
        "the labels are 60 different numbers: fitting numbers; the task classes makes them classes" in heard
    )
    assert {"mae", "r2"} <= {*evaluate_file(tmp_path / "m", file).figures}


def test_plans_with_categories_and_numbers_are_fitted_and_evaluated(tmp_path: Path) -> None:
    file, rng = tmp_path / "plans.jsonl", np.random.default_rng(0)
    rows = []
    for i in range(60):
        costs = rng.uniform(1, 1000, size=2).round(2).tolist()
        scan = {"op": "scan", "on": COLORS[i % 4], "cost": costs[0]}
        rows.append({"ms": sum(costs) / 10, "plan": {"op": "join", "cost": costs[1], "parts": [scan]}})
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    columns = TreeColumns("plan", "parts", "op", numbers=("cost",), categories=("on",))
    source = open_labelled(file, label="ms", tree=columns)
    options = FitOptions(scale="log", epochs=20, settings={"batch_size": 8})
    mine, facts = fit_sources({"train": source}, tmp_path / "m", options)
    assert facts["baseline"]["name"] == "boosted trees on counts and sums"
    figures = evaluate_file(tmp_path / "m", file, (), "ms", tree=columns).figures
    assert figures["q_error_median"] < 1.5
    assert evaluate_file(tmp_path / "m", file).figures == figures, "the model knows its columns"
    trees: list[Any] = [example.trees[0] for example in source.examples]
    own: Any = mine
    assert own.evaluate(trees, [row["ms"] for row in rows]).figures == pytest.approx(figures, rel=1e-4)
    assert "`cost`: a number" in (tmp_path / "m" / "README.md").read_text()


def test_several_labels_at_once_are_learned_with_thresholds_of_dev(tmp_path: Path) -> None:
    texts = [f"{COLORS[i % 4]} and {COLORS[i // 4 % 4]} {i}" for i in range(96)]
    labels = [sorted({COLORS[i % 4], COLORS[i // 4 % 4]}) for i in range(96)]
    mine = fitted(texts, labels, epochs=15)
    assert mine("red and blue").labels == ["blue", "red"]
    assert mine.evaluate(texts, labels).figures["micro_f1"] > 0.9
    mine.save(tmp_path / "m")
    again = bough.load(tmp_path / "m")
    assert again.model.output.thresholds == mine.model.output.thresholds
    file = write_csv(
        tmp_path / "a.csv", [(text, ";".join(own)) for text, own in zip(texts, labels, strict=True)]
    )
    assert evaluate_file(tmp_path / "m", file).figures["macro_f1"] > 0.9


def test_pairs_have_classes_or_ratings(tmp_path: Path) -> None:
    texts, _ = examples(40)
    pairs = [
        (a, b if i % 2 else a) for i, (a, b) in enumerate(zip(texts, texts[1:] + texts[:1], strict=True))
    ]
    labels = ["other" if i % 2 else "same" for i in range(40)]
    mine = fitted(pairs, labels, class_weight="balanced")
    assert mine.evaluate(pairs, labels).figures["accuracy"] > 0.9
    mine.save(tmp_path / "m")
    assert bough.load(tmp_path / "m")(*pairs[0]).label == "same"
    rated = fitted(pairs, [1 + i % 2 for i in range(40)], epochs=1)
    assert rated.model.output.kind == "ratings"


def test_the_names_of_a_users_classes_say_nothing_about_polarity() -> None:
    texts = [f"{number} days" for number in range(40)]
    names = ("negative", "neutral", "very positive", "positive")
    mine = bough.fit(texts, names * 10, trees="none", settings=QUICK, epochs=1)
    assert mine.model.output.polarity == ()
    assert mine.predict(texts) == [mine.classes[k] for k in mine.predict_proba(texts).argmax(axis=1)]


def test_weights_move_the_classes() -> None:
    texts = [f"thing {i}" for i in range(60)]
    labels = ["rare" if i % 5 == 0 else "common" for i in range(60)]
    plain, balanced = (
        fitted(texts, labels, epochs=3, class_weight=weight) for weight in (None, {"rare": 20.0})
    )
    rare = [mine.evaluate(texts, labels).classes for mine in (plain, balanced)]
    assert [lines[-1].predicted for lines in rare][1] > 40
    ignored = fitted(texts, labels, epochs=3, sample_weight=[float(label == "rare") for label in labels])
    assert {line.name: line.predicted for line in ignored.evaluate(texts, labels).classes}["rare"] == 60
    found = Classes(("a", "b")).class_weights("balanced", np.array([0, 0, 0, 1]))
    assert found is not None
    assert found.tolist() == [4 / 6, 2]


WAYS: dict[str, tuple[Any, Any]] = {"classes": ("a", "b"), "pairs": ("a", "b"), "labels": (["a"], ["b"])}
WAYS |= {"numbers": (0.5, 8.5), "ratings": (1.5, 5.0)}


@pytest.mark.parametrize(
    ("kind", "weight"),
    [*((kind, "sample") for kind in WAYS), ("classes", "class"), ("pairs", "class")],
)
def test_only_what_has_a_weight_is_learned(kind: str, weight: str) -> None:
    """Nothing tells the two labels apart, so the model predicts the one whose weight is not zero."""
    low, high = WAYS[kind]
    texts = [f"thing {i}" for i in range(60)]
    items: Any = [(text, "it") for text in texts] if kind in ("pairs", "ratings") else texts
    for first, learned in ((0.0, high), (1.0, low)):
        weights: Any = {"sample_weight": [first, 1.0 - first] * 30}
        if weight == "class":
            weights = {"class_weight": {"a": first, "b": 1.0 - first}}
        task, dev = {"numbers": "numbers"}.get(kind), (items[:20], [learned] * 20)
        # one epoch: dev, where one label is the only one, has none to choose
        mine = fitted(items, [low, high] * 30, epochs=1, batch_size=1, dev=dev, task=task, **weights)
        predicted = mine.predict(items)
        if isinstance(learned, float):
            assert predicted == pytest.approx([learned] * 60, abs=0.3 * (high - low))
        else:
            assert predicted == [learned] * 60


def test_dev_has_a_tenth_of_the_rarest_labels(tmp_path: Path) -> None:
    labels = [["often", f"rare {i % 10}"] if i % 10 < 3 else ["often"] for i in range(100)]
    fitted([f"thing {i}" for i in range(100)], labels, epochs=1, out=tmp_path / "run")
    classes = json.loads((tmp_path / "run" / "fit.json").read_text())["scores"]["dev"]["classes"]
    assert {line["name"]: line["examples"] for line in classes} == {
        **{f"rare {place}": 1 for place in range(3)},
        "often": 10,
    }


@pytest.mark.parametrize(
    ("labels", "options", "message"),
    [
        ([1.5, "x", 2.5], {"task": "numbers"}, r"texts\[1\]: the label 'x' is not a number"),
        ([1.0, -2.0, 3.0], {"scale": "log"}, "scale log needs numbers above 0"),
        ([2.0, 2.0, 2.0], {"task": "numbers"}, "every label is 2"),
        ([[1.0, 2.0], [1.0], [2.0, 3.0]], {}, "1 numbers; the first example has 2"),
        (["a", "b", "a"], {"task": "classes", "scale": "log"}, "the scale log is for numbers"),
        (["a;b", "a", "b"], {"task": "labels", "class_weight": "balanced"}, "is for one class per example"),
        (["a", "b", "a"], {"class_weight": {"c": 1.0}}, "class_weight 'c'"),
        (["a", "b", "a"], {"sample_weight": [1.0]}, "1 weights"),
        (None, {}, "only trees whose nodes have labels need none"),
    ],
)
def test_what_is_wrong_with_the_labels_is_said(labels: Any, options: dict[str, Any], message: str) -> None:
    dev = {"dev": (["d e"], [labels[0]])} if labels else {}
    with pytest.raises((ValueError, DataError, FormatError), match=message):
        fitted(["one two", "three", "four"], labels, **{**dev, **options})


def test_thresholds_have_the_best_f1_on_dev() -> None:
    p = np.array([[0.2, 0.6], [0.3, 0.7], [0.1, 0.2], [0.05, 0.1]])
    gold = np.array([[1, 0], [1, 1], [0, 0], [0, 0]])
    first, second = fit_thresholds(p, gold)
    assert 0.1 <= first < 0.2
    assert 0.6 <= second < 0.7


def test_a_label_that_is_no_number_among_numbers_is_named() -> None:
    texts, values = [f"thing {i}" for i in range(60)], [str(i / 2) for i in range(60)]
    for wrong in ("n/a", "inf"):
        with pytest.raises(
            DataError, match=rf"texts\[7\]: the label '{wrong}' is not a number, but nearly all"
        ):
            fitted(texts, [*values[:7], wrong, *values[8:]])


def test_pairs_with_the_labels_0_and_1_have_classes() -> None:
    pairs = [(f"{n} dogs run", f"{n} {word} run") for n in range(20) for word in ("dogs", "men")]
    mine = fitted(pairs, [1, 0] * 20, epochs=1)
    assert mine.model.output.classes == ("0", "1")


@pytest.mark.parametrize("option", ["task", "trees", "scale"])
def test_an_option_with_another_value_is_refused(option: str) -> None:
    given: dict[str, Any] = {option: "foo"}
    with pytest.raises(ValueError, match=f"{option} 'foo': '"):
        FitOptions(**given)


@pytest.mark.parametrize("features", ["both", "cosine"])
def test_sample_weights_count_for_ratings_of_pairs(features: str) -> None:
    """A pair of weight 2 counts as two pairs of weight 1, and one of weight 0 as none."""
    head = bough.nn.Similarity(4) if features == "both" else bough.nn.CosineSimilarity(negatives=0.0)
    left, right = torch.randn(3, 4), torch.randn(3, 4)
    y = torch.tensor([1.0, 3.5, 5.0])
    rows = torch.tensor([0, 0, 1])
    weighted = head.loss(left, right, y, torch.tensor([2.0, 1.0, 0.0]))
    torch.testing.assert_close(weighted, head.loss(left[rows], right[rows], y[rows]))
    pairs = [(f"{n} dogs run", f"{n} {word} run") for n in range(20) for word in ("dogs", "men")]
    ratings, weights = [1 + n % 5 for n in range(40)], [float(n % 2) for n in range(40)]
    options: dict[str, Any] = {"epochs": 1, "settings": {"features": features}}
    plain, other = fitted(pairs, ratings, **options), fitted(pairs, ratings, sample_weight=weights, **options)
    assert plain.predict(pairs[:4]) != other.predict(pairs[:4])
