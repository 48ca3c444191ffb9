"""Fit the simple model that a model is compared with: it reads words, categories and numbers, but no tree."""

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler

from bough.models.inputs import number_columns
from bough.outputs import Output
from bough.train.dataset import TreeSet
from bough.trees.tree import Tree

MOST = 50_000  # training examples of a baseline, drawn at random: enough for it
Items = Sequence[tuple[Tree, ...]]  # the tree, or the two trees, of each example


def fit_baseline(output: Output, data: Mapping[str, TreeSet]) -> dict[str, Any]:
    """Fit a baseline for the output of a model, and return its name and its metrics on dev and test.

    A linear model reads TF-IDF of lower-case words, word pairs and categories; for pairs, each
    feature also says which of the two has the word. Without words and categories, it reads counts
    of nodes and sums of numbers. If the nodes of trees have numbers, boosted trees read counts and sums.
    """
    train = data["train"]
    chosen = np.sort(np.random.default_rng(0).permutation(len(train))[:MOST])
    items = {split: list(zip(*data[split].sides, strict=True)) for split in data}
    sample, targets = [items["train"][i] for i in chosen.tolist()], train.gold()[chosen]
    structured = any(number_columns(tree) for trees in sample for tree in trees)
    name, model = _model(output, sample, targets, structured=structured)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it may not converge, and its sample may lack a label
        model.fit(sample, output.baseline_targets(targets))
    held = [split for split in data if split != "train"]
    predicted = {split: output.baseline_predictions(model, items[split]) for split in held}
    gold = {split: data[split].gold() for split in held}
    calibrated = output.with_thresholds(predicted["dev"], gold["dev"])
    figures = {split: calibrated.metrics(predicted[split], gold[split]).figures for split in held}
    return {"name": name, "figures": figures}


def _model(output: Output, sample: Items, targets: Any, *, structured: bool) -> tuple[str, Any]:
    """Return the name of the baseline for these training examples, and the unfitted model."""
    counts = FunctionTransformer(_counts_and_sums)
    name, estimator = output.baseline(targets, structured=structured)
    if structured:
        return f"{name} on counts and sums", make_pipeline(counts, DictVectorizer(sparse=False), estimator)
    if not any(map(_words, sample)):
        return f"{name} on counts and sums", make_pipeline(
            counts, DictVectorizer(), MaxAbsScaler(), estimator
        )
    words = TfidfVectorizer(analyzer=_words, sublinear_tf=True)
    return f"{name} on TF-IDF", make_pipeline(words, estimator)


def _counts_and_sums(items: Items) -> list[dict[str, float]]:
    """Return the counts of nodes, tokens and categories, and sums of numbers, of each example."""
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
    """Return words, word pairs and categories of a tree; for a pair, which tree has each."""
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
