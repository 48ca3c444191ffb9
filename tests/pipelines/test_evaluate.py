"""Claims about `evaluate`: for every kind of target, the metrics are those that one gets by hand on ten examples."""

import math
from functools import cache
from typing import Any

import pytest

import bough
from bough.outputs import ClassLine
from small_fits import QUICK

SETTINGS = {name: value for name, value in QUICK.items() if name != "recurrent_dropout"}
SETTINGS |= {"optimizer": "adamw", "learning_rate": 0.02, "embedding_learning_rate": 0.02}
COLORS = ("red", "green", "blue", "grey")
TEN = [f"{COLORS[i % 4]} and {COLORS[i * 5 // 4 % 4]} {i}" for i in range(10)]
# added to predictions: their sum is 1, the sum of their squares 29
ERRORS = (1, -1, 2, -2, 0, 0, 3, -3, 0, 1)


@cache
def fitted(kind: str) -> Any:
    texts = [f"{COLORS[i % 4]} and {COLORS[i // 4 % 4]} {i}" for i in range(96)]
    first, second = [i % 4 for i in range(96)], [i // 4 % 4 for i in range(96)]
    sums = [10.0 * a + b for a, b in zip(first, second, strict=True)]
    items: list[Any] = texts
    targets: dict[str, list[Any]] = {
        "classes": [COLORS[a] for a in first],
        "labels": [sorted({COLORS[a], COLORS[b]}) for a, b in zip(first, second, strict=True)],
        "numbers": [[a, b] for a, b in zip(sums, second, strict=True)],
        "log numbers": [math.exp(value / 5) for value in sums],
        "pairs": ["same" if a == b else "other" for a, b in zip(first, second, strict=True)],
        "ratings": sums,
    }
    if kind in ("pairs", "ratings"):
        items = [
            (f"a {COLORS[a]} {i}", f"the {COLORS[b]}")
            for i, (a, b) in enumerate(zip(first, second, strict=True))
        ]
    scale: dict[str, Any] = {"scale": "log"} if kind == "log numbers" else {}
    return bough.fit(items, targets[kind], trees="none", settings=SETTINGS, epochs=15, **scale)


def by_formula(predicted: list[float], gold: list[float]) -> dict[str, float]:
    """Pearson's r from the means, and Spearman's rho from the differences of ranks; no two values are equal."""
    n = len(gold)
    x, y = ([value - sum(values) / n for value in values] for values in (predicted, gold))
    products = [
        sum(a * b for a, b in zip(one, other, strict=True)) for one, other in ((x, y), (x, x), (y, y))
    ]
    ranks = [[sum(other < value for other in values) for value in values] for values in (predicted, gold)]
    apart = sum((a - b) ** 2 for a, b in zip(*ranks, strict=True))
    assert len({*predicted}) == len({*gold}) == n
    pearson = products[0] / math.sqrt(products[1] * products[2])
    return {"pearson": pearson, "spearman": 1 - 6 * apart / (n * (n * n - 1)), "spread": products[2]}


def test_metrics_of_classes_are_those_by_hand() -> None:
    mine = fitted("classes")
    texts = [
        f"{name} and so on"
        for name in ("red", "red", "red", "red", "green", "green", "blue", "blue", "blue", "grey")
    ]
    gold = [
        "red",
        "red",
        "red",
        "green",
        "green",
        "blue",
        "blue",
        "blue",
        "green",
        "blue",
    ]  # grey does not occur
    assert mine.predict(texts) == [text.split()[0] for text in texts]
    report = mine.evaluate(texts, gold)
    p = [mine(text).probabilities[name] for text, name in zip(texts, gold, strict=True)]
    loss = -sum(map(math.log, p)) / 10
    f1 = {"red": 6 / 7, "green": 2 / 5, "blue": 4 / 7}
    assert report.figures == pytest.approx(
        {"accuracy": 0.6, "f1": sum(f1.values()) / 3, "loss": loss}, rel=1e-4
    )
    lines = {line.name: line for line in report.classes}
    assert lines["green"] == ClassLine("green", examples=3, predicted=2, precision=1 / 2, recall=1 / 3)
    assert lines["grey"] == ClassLine("grey", examples=0, predicted=1, precision=0.0, recall=0.0)
    places = [mine.classes.index(name) for name in ("green", "red", "blue")]
    assert [[report.confusion[i][j] for j in places] for i in places] == [[1, 1, 1], [0, 3, 0], [1, 0, 2]]


def test_metrics_of_classes_of_pairs_are_those_by_hand() -> None:
    mine = fitted("pairs")
    pairs = [(f"a {COLORS[i % 4]} {i}", f"the {COLORS[(i + i // 6) % 4]}") for i in range(10)]
    assert mine.predict(pairs) == ["same"] * 6 + ["other"] * 4
    gold = ["same"] * 4 + ["other"] * 2 + ["other"] * 3 + ["same"]
    report = mine.evaluate(pairs, gold)
    loss = (
        -sum(math.log(mine(*pair).probabilities[name]) for pair, name in zip(pairs, gold, strict=True)) / 10
    )
    # same: 4 of 6 right, of 5 found 4; other: 3 of 4 right, of 5 found 3
    f1 = (8 / 11 + 6 / 9) / 2
    assert report.figures == pytest.approx({"accuracy": 0.7, "f1": f1, "loss": loss}, rel=1e-4)
    assert report.confusion == [[3, 2], [1, 4]]
    assert [(line.name, line.precision, line.recall) for line in report.classes] == [
        ("other", 3 / 4, 3 / 5),
        ("same", 4 / 6, 4 / 5),
    ]


def test_metrics_of_several_labels_are_those_by_hand() -> None:
    mine = fitted("labels")
    names = ["red", "red", "blue", "green", "blue red", "blue red", "green red", "blue green", "grey", "blue"]
    texts = [f"{name.split()[0]} and {name.split()[-1]}" for name in names]
    gold = ["red", "red", "blue", "green", "blue red", "blue", "red", "green red", "green", "blue green"]
    assert mine.predict(texts) == [name.split() for name in names]
    report = mine.evaluate(texts, [name.split() for name in gold])
    # of 14 labels 10 are right, of 13 found 10; grey does not occur
    f1 = {"red": 8 / 10, "blue": 8 / 9, "green": 4 / 7}
    loss = 0.0
    for text, name in zip(texts, gold, strict=True):
        for label, p in mine(text).probabilities.items():
            loss -= math.log(p if label in name.split() else 1 - p) / 10
    figures = {"micro_f1": 20 / 27, "macro_f1": sum(f1.values()) / 3, "exact": 0.5, "loss": loss}
    assert report.figures == pytest.approx(figures, rel=1e-3)
    lines = {line.name: line for line in report.classes}
    assert lines["green"] == ClassLine("green", examples=4, predicted=3, precision=2 / 3, recall=1 / 2)
    assert lines["grey"] == ClassLine("grey", examples=0, predicted=1, precision=0.0, recall=0.0)


def test_metrics_of_numbers_are_those_by_hand() -> None:
    mine = fitted("numbers")
    both: Any = list(zip(*mine.predict(TEN), strict=True))  # two numbers, ten of each
    gold = [[x + error for x, error in zip(both[0], ERRORS, strict=True)]]
    gold.append([x + 2 * error for x, error in zip(both[1], ERRORS[::-1], strict=True)])
    first, second = (by_formula(list(x), y) for x, y in zip(both, gold, strict=True))
    figures = mine.evaluate(TEN, list(zip(*gold, strict=True))).figures
    r2 = 1 - (29 / first["spread"] + 4 * 29 / second["spread"]) / 2
    spearman = (first["spearman"] + second["spearman"]) / 2
    rmse = 1.5 * math.sqrt(2.9)
    assert figures == pytest.approx({"mae": 1.95, "rmse": rmse, "r2": r2, "spearman": spearman}, rel=1e-4)


def test_metrics_of_numbers_on_a_scale_of_logarithms_are_those_by_hand() -> None:
    mine = fitted("log numbers")
    factors = (5, 1, 1 / 2, 1.1, 20, 3, 1 / 4, 10, 1 / 8, 1.2)
    predicted = mine.predict(TEN)
    gold = [x * factor for x, factor in zip(predicted, factors, strict=True)]
    figures = mine.evaluate(TEN, gold).figures
    # the q-errors, sorted: 1, 1.1, 1.2, 2, 3, 4, 5, 8, 10, 20
    q_errors = {name: figures[f"q_error_{name}"] for name in ("median", "p90", "p99")}
    assert q_errors == pytest.approx({"median": 3.5, "p90": 11.0, "p99": 19.1}, rel=1e-4)
    errors = [x - y for x, y in zip(predicted, gold, strict=True)]
    assert figures["mae"] == pytest.approx(sum(map(abs, errors)) / 10, rel=1e-4)
    assert figures["rmse"] == pytest.approx(math.sqrt(sum(error**2 for error in errors) / 10), rel=1e-4)


def test_metrics_of_ratings_are_those_by_hand() -> None:
    mine = fitted("ratings")
    pairs = [(f"a {COLORS[i % 4]} {i}", f"the {COLORS[i // 4 % 4]}") for i in range(0, 30, 3)]
    predicted = mine.predict(pairs)
    gold = [x + error for x, error in zip(predicted, ERRORS, strict=True)]
    wanted = by_formula(predicted, gold)
    figures = {"pearson": wanted["pearson"], "spearman": wanted["spearman"], "mse": 2.9}
    assert mine.evaluate(pairs, gold).figures == pytest.approx(figures, rel=1e-4)
