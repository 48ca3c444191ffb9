"""Claims about the report of a fit: it says what was fitted on what, how sure that is, and where the model errs."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bough
from bough.outputs import Classes, Ratings
from bough.train.card import metric_rows
from bough.train.dataset import TreeSet
from bough.train.report import Evidence, confidence_interval, ticks
from small_fits import QUICK, examples


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    out = tmp_path_factory.mktemp("report") / "mine"
    texts, labels = examples(60)
    wrong = ["tool" if label == "fruit" else "fruit" for label in labels[:10]]  # so that there are mistakes
    bough.fit(texts, labels, test=(texts[:20], [*wrong, *labels[10:20]]), out=out, trees="none", epochs=3,
              settings=QUICK)  # fmt: skip
    return (out / "report.html").read_text()


def test_it_says_what_was_fitted_on_what(page: str) -> None:
    assert "<title>2 classes of texts and test</title>" in page
    for fact in (
        "by bough",
        "seed 1",
        "20 test",
        "fruit, tool",
        "of 3 (lowest dev loss)",
    ):
        assert fact in page
    assert (
        "these examples" in page or "The model is clearly" in page
    )  # what the interval says of the baseline
    assert "mine(&quot;a text&quot;).label" in page


def test_mistakes_come_with_their_trees_and_the_matrix_has_words_for_its_axes(page: str) -> None:
    mistakes = page.partition("Most confident mistakes (test)")[2].partition("<h2>")[0]
    assert 5 >= mistakes.count("<details") == mistakes.count('class="bough"') > 0
    sure = [int(share) for share in re.findall(r"\((\d+)%\)</summary>", mistakes)]
    assert sure == sorted(sure, reverse=True)
    assert '<th colspan="2">predicted</th>' in page
    assert "<th>true</th>" in page
    assert "Least certain predictions (test)" in page


def test_it_loads_nothing_and_is_made_for_phones_and_for_the_dark(page: str) -> None:
    for outside in ("<script", "<link", "<img", "@import", "url(http", 'src="', 'href="http'):
        assert outside not in page
    assert 'name="viewport"' in page
    assert "prefers-color-scheme:dark" in page


def test_a_curve_has_ticks_and_the_chosen_epoch(page: str) -> None:
    curves = page.partition("Learning curve")[2].partition("<h2>")[0]
    assert curves.count("<figure>") == 2  # the losses, and the accuracy
    assert curves.count("stroke-dasharray") == 2
    assert all(f'text-anchor="middle">{epoch}</text>' in curves for epoch in (1, 2, 3))


@pytest.mark.parametrize("ratings", [[0.0, 1.0], [1.0, 2.0, 3.5, 5.0]], ids=["two", "four"])
def test_ratings_have_a_scatter_and_their_largest_errors(ratings: list[float], tmp_path: Path) -> None:
    pairs = [(f"the dog {i}", f"a cat {i % 3}") for i in range(24)]
    scores = [ratings[i % len(ratings)] for i in range(24)]
    settings = {**QUICK, "layer": "dependency"}
    bough.fit(pairs, scores, out=tmp_path / "mine", epochs=1, vectors="bundled", settings=settings)
    page = (tmp_path / "mine" / "report.html").read_text()
    assert page.count("<circle") > 0
    assert "Largest errors (dev)" in page
    assert "Pearson&#x27;s r" in page


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_ticks_are_few_evenly_spaced_and_cover_the_range(low: float, span: float) -> None:
    found = ticks(low, low + span)
    assert 2 <= len(found) <= 8
    assert found[0] <= low + 1e-6 * span + 1e-9 * abs(low)
    assert found[-1] >= low + span - 1e-6 * span - 1e-9 * abs(low)
    np.testing.assert_allclose(np.diff(found), np.diff(found)[0], rtol=1e-3)


def test_intervals_hold_what_they_are_of() -> None:
    def interval(metric: str, predicted: Any, gold: Any) -> tuple[float, float]:
        evidence = Evidence("test", TreeSet(([],), list(gold)), np.asarray(predicted))
        output = Classes(("a", "b")) if metric == "accuracy" else Ratings()
        return confidence_interval(metric, evidence, output)

    right = np.arange(50) < 40
    low, high = interval("accuracy", np.eye(2)[right.astype(int)], [1] * 50)
    assert (round(low, 3), round(high, 3)) == (0.670, 0.888)
    rng = np.random.default_rng(1)
    x = rng.normal(size=200)
    low, high = interval("pearson", x, x + rng.normal(size=200))
    assert 0.5 < low < 0.71 < high < 0.85
    assert interval("pearson", np.ones(3), np.ones(3)) == (0.0, 0.0)


def headline(out: Path, items: Any, labels: Any, test: Any, gold: Any = None, **options: Any) -> str:
    """Return the headline of a fit; `gold` makes the labels of the test examples from the predictions for them."""
    options = {"trees": "none", "settings": LINEAR, "epochs": 8, **options}
    if gold is not None:
        test = test[0], gold(bough.fit(items, labels, **options).predict(test[0]))
    bough.fit(items, labels, test=test, out=out, **options)
    page = (out / "report.html").read_text()
    return page.partition('class="score"')[2].partition("</p><p>")[2].partition("</p>")[0]


def interval_of(line: str) -> tuple[float, float]:
    low, high = re.findall(r"95% interval (-?[\d.]+) to (-?[\d.]+) ", line)[0]
    return float(low), float(high)


LINEAR = {**QUICK, "optimizer": "adamw", "learning_rate": 0.02, "embedding_learning_rate": 0.02}
COLORS = ("red", "green", "blue", "grey")
THINGS = [f"{COLORS[i % 4]} thing {i}" for i in range(160)]


def test_the_interval_of_pearsons_r_is_fishers_at_95_percent(tmp_path: Path) -> None:
    pairs = [(text, f"a {COLORS[i // 4 % 4]} one") for i, text in enumerate(THINGS)]
    ratings = [i % 4 + i // 4 % 4 / 2 for i in range(160)]
    rng, drawn = np.random.default_rng(0), list[tuple[Any, Any]]()

    def gold(predicted: list[float]) -> list[float]:
        drawn.append((predicted, np.array(predicted) + rng.normal(size=len(predicted))))
        return list(drawn[0][1].tolist())

    line = headline(tmp_path / "run", pairs[:120], ratings[:120], (pairs[120:], None), gold)
    z, around = math.atanh(np.corrcoef(*drawn[0])[0, 1]), 1.95996 / math.sqrt(40 - 3)
    assert interval_of(line) == pytest.approx((math.tanh(z - around), math.tanh(z + around)), abs=6e-4)


def test_the_bootstrap_has_an_interval_of_95_percent(tmp_path: Path) -> None:
    """Where one label is predicted and one is right, the micro F1 is the share of hits: its counts are binomial."""
    labels = [["warm"] if i % 4 == 0 else ["cold"] for i in range(160)]

    def half_right(predicted: list[list[str]]) -> list[list[str]]:
        assert all(len(own) == 1 for own in predicted)
        return [
            own if i % 2 else [{"warm": "cold", "cold": "warm"}[own[0]]] for i, own in enumerate(predicted)
        ]

    line = headline(tmp_path / "run", THINGS[:60], labels[:60], (THINGS[60:], None), half_right)
    # of 100 hits with a probability of 1/2, 2.5% of the draws are below 40 and 5% are below 42
    assert interval_of(line) == pytest.approx((0.40, 0.60), abs=0.012)


@pytest.mark.parametrize("kind", ["q-error", "r"])
def test_a_verdict_knows_which_direction_is_better(kind: str, tmp_path: Path) -> None:
    """Of the q-error, less is better than the baseline; of Pearson's r, more."""
    noise = np.random.default_rng(0).normal(size=160)
    ratings: Any = kind == "r"
    items: list[Any] = [(text, "a thing") if ratings else text for text in THINGS]
    values = [float(i % 4) if ratings else 10.0 ** (i % 4) for i in range(160)]
    random = (noise if ratings else 10.0**noise).tolist()
    scale: dict[str, Any] = {} if ratings else {"scale": "log"}

    def close(predicted: list[float]) -> list[float]:
        logs = np.array(predicted) if ratings else np.log(predicted)
        logs += 0.1 * logs.std() * noise[: len(logs)]
        return list((logs if ratings else np.exp(logs)).tolist())

    line = headline(tmp_path / "better", items[:100], random[:100], (items[100:], None), close, **scale)
    assert "The model is clearly better." in line
    scale["settings"] = {**LINEAR, "learning_rate": 1e-9, "embedding_learning_rate": 1e-9}
    line = headline(tmp_path / "worse", items[:100], values[:100], (items[100:], values[100:]), **scale)
    assert "The model is clearly worse: use the baseline" in line


@pytest.mark.parametrize(
    ("items", "labels", "shown"),
    [
        (
            [f"{n} days late" for n in range(40)],
            [n / 2 for n in range(40)],
            "mine(&quot;a text&quot;).numbers",
        ),
        ([(f"{n} men", f"{n} dogs") for n in range(40)], ["a", "b"] * 20, "Most confident mistakes"),
        ([f"{n} days late" for n in range(40)], [["x"], ["x", "y"]] * 20, "mine(&quot;a text&quot;).labels"),
    ],
)
def test_every_kind_has_an_interval_and_names_its_folder(
    tmp_path: Path, items: Any, labels: Any, shown: str
) -> None:
    out = tmp_path / "mine"
    bough.fit(items, labels, test=(items[:20], labels[:20]), out=out, trees="none", epochs=1, settings=QUICK)
    page = (out / "report.html").read_text()
    assert "95% interval" in page
    assert f"--model {out}" in page
    assert shown in page


def test_a_metric_without_a_title_is_shown_by_its_key() -> None:
    scores = {split: {"figures": {"kappa": value}} for split, value in (("dev", 0.125), ("test", 0.25))}
    baseline = {"name": "TF-IDF", "figures": {"dev": {"kappa": 0.5}, "test": {"kappa": 0.75}}}
    assert metric_rows({"scores": scores, "baseline": baseline}, Classes(("a", "b"))) == [
        ["kappa", "0.1250", "0.2500"],
        ["kappa of TF-IDF", "0.5000", "0.7500"],
    ]
