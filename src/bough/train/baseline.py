"""Baselines of scikit-learn for every fitted model; they read words, categories and numbers, but no tree."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler

from bough.models.inputs import number_columns
from bough.models.metrics import report_of
from bough.models.output_spec import OutputSpec
from bough.train.calibration import fit_thresholds
from bough.train.dataset import TreeSet
from bough.train.tasks import Floats
from bough.trees.tree import Tree

MOST = 50_000  # training examples, drawn at random: enough for a baseline
Items = Sequence[tuple[Tree, ...]]  # the tree, or the two trees, of each example


def fit_baseline(spec: OutputSpec, data: Mapping[str, TreeSet]) -> dict[str, Any]:
    """Fit a baseline for the output of a model, and return its name and its metrics on dev and test.

    A linear model reads TF-IDF of lower-case words, word pairs and categories; for pairs, each feature also says which
    of the two has the word. Without words and categories, it reads counts of nodes and sums of numbers. Numbers of
    given trees are predicted by gradient boosting from counts and sums.
    """
    train = data["train"]
    chosen = np.sort(np.random.default_rng(0).permutation(len(train))[:MOST])
    items = {split: list(zip(*data[split].sides, strict=True)) for split in data}
    sample, gold = [items["train"][i] for i in chosen.tolist()], train.gold()[chosen]
    name, model = _model(spec, sample, gold)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a baseline may not converge, and its sample may lack a label
        model.fit(sample, spec.standardised(gold) if spec.numbers else gold)
    held = [split for split in data if split != "train"]
    predicted = {split: _predict(spec, model, items[split]) for split in held}
    if spec.kind == "labels":
        spec = replace(spec, thresholds=fit_thresholds(predicted["dev"], data["dev"].gold()))
    figures = {split: report_of(spec, predicted[split], data[split].gold()).figures for split in held}
    return {"name": name, "figures": figures}


def _model(spec: OutputSpec, sample: Items, gold: NDArray[Any]) -> tuple[str, Any]:
    """Return the name of the baseline for these training examples, and the unfitted model."""
    counts = FunctionTransformer(_counts_and_sums)
    if spec.kind == "numbers" and spec.trees == "given":
        boosted = MultiOutputRegressor(HistGradientBoostingRegressor(random_state=0))
        model = make_pipeline(counts, DictVectorizer(sparse=False), boosted)
        return "boosted trees on counts and sums", model
    if spec.kind == "classes" and len({*gold.tolist()}) == 1:
        return "the most frequent class", DummyClassifier()
    seen, features = "TF-IDF", TfidfVectorizer(analyzer=_words, sublinear_tf=spec.kind != "numbers")
    if not any(map(_words, sample)):
        seen, features = "counts and sums", make_pipeline(counts, DictVectorizer(), MaxAbsScaler())
    if spec.kind in ("numbers", "ratings"):
        return f"ridge regression on {seen}", make_pipeline(features, Ridge())
    logistic = LogisticRegression(C=10.0, max_iter=200)
    linear = OneVsRestClassifier(logistic) if spec.kind == "labels" else logistic
    return f"logistic regression on {seen}", make_pipeline(features, linear)


def _predict(spec: OutputSpec, model: Any, items: Items) -> Floats:
    """Return the predictions of a fitted baseline, in the shape of those of a model with the same output."""
    if spec.kind == "numbers":
        return spec.restored(np.asarray(model.predict(items)).reshape(-1, len(spec.numbers)))
    if spec.kind == "ratings":
        return np.asarray(model.predict(items), dtype=np.float64)
    if spec.kind == "labels":
        return np.asarray(model.predict_proba(items))
    found: Floats = np.zeros((len(items), len(spec.classes)))
    found[:, model.classes_] = model.predict_proba(items)
    return found


def _counts_and_sums(items: Items) -> list[dict[str, float]]:
    """Return for each example the counts of its nodes, tokens and categories, and the sums of its numbers."""
    found = list[dict[str, float]]()
    for trees in items:
        features: Counter[str] = Counter()
        for side, tree in enumerate(trees):
            own = Counter({"nodes": len(tree)})
            own.update(f"token {token}" for token in tree.tokens or () if token is not None)
            for name, values in (tree.categories or {}).items():
                own.update(f"{name} {value}" for value in values if value is not None)
            for (_, name), numbers in number_columns(tree).items():
                own[f"sum of {name}"] = float(np.nansum(numbers))  # type: ignore[assignment]
            features.update({f"{side} {name}" if side else name: value for name, value in own.items()})
        found.append({**features})
    return found


def _words(trees: tuple[Tree, ...]) -> list[str]:
    """Return the words, word pairs and categories of a tree; for a pair of trees, which tree has each of them."""
    found = []
    for tree in trees:
        words = [token.lower() for token in tree.tokens or () if token is not None]
        columns = (tree.categories or {}).items()
        categories = [f"{name} = {value}" for name, own in columns for value in own if value is not None]
        found.append([*words, *(f"{first} {second}" for first, second in pairwise(words)), *categories])
    if len(found) == 1:
        return found[0]
    left, right = map(set, found)
    shared = round(10 * len(left & right) / max(len(left | right), 1))
    sides = {"both": left & right, "first": left - right, "second": right - left}
    return [f"{shared} tenths", *(f"{side} {word}" for side, own in sides.items() for word in sorted(own))]
