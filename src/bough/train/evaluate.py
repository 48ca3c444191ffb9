"""Evaluate a model on the splits of its fit, beside a baseline, or on a labelled file.

The baselines are those of scikit-learn; they read words, categories and numbers, but no tree.
"""

import logging
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path
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

from bough.data.examples import TreeColumns
from bough.data.labelled import open_labelled
from bough.data.tables import read_table
from bough.errors import DataError
from bough.files import write_text
from bough.models.inputs import number_columns
from bough.models.metrics import Report, report_of
from bough.models.model import Model
from bough.models.output_spec import OutputSpec
from bough.pipelines import load
from bough.text import Parser
from bough.train import calibration
from bough.train.dataset import Examples, TreeSet
from bough.train.distributed import current
from bough.train.run_folder import predictions_text
from bough.train.splits import NAMES, SPLITS
from bough.train.targets import target_for
from bough.train.tasks import Floats, Learnable
from bough.trees.tree import Tree

log = logging.getLogger(__name__)
MOST = 50_000  # training examples of a baseline, drawn at random: enough for it
Items = Sequence[tuple[Tree, ...]]  # the tree, or the two trees, of each example


def evaluate_splits(
    task: Learnable, model: Model, data: Mapping[str, TreeSet], *, baseline: bool = True
) -> tuple[dict[str, Any], dict[str, Floats]]:
    """Calibrate a model on dev, evaluate it on dev and test, and return facts for `fit.json` and the predictions.

    The temperature of a classifier, or the thresholds of several labels, are fitted on dev and
    stored in the model. With `baseline`, the facts include the metrics of a baseline.
    """
    ranks, spec = current(), model.output_spec
    held = [split for split in ("dev", "test") if split in data]
    predicted = {split: ranks.predict(task, model, Examples(data[split], model)) for split in held}
    gold = {split: data[split].gold() for split in held}
    facts: dict[str, Any] = {}
    if spec.kind == "labels":
        thresholds = calibration.fit_thresholds(predicted["dev"], gold["dev"])
        spec = model.output_spec = replace(spec, thresholds=thresholds)
    if spec.kind == "classes":
        t = calibration.fit_temperature(predicted["dev"], gold["dev"])
        facts |= {"temperature": t, "calibration": {}}
        for split in held:
            before, after = predicted[split], calibration.with_temperature(predicted[split], t)
            errors = [calibration.calibration_error(p, gold[split]) for p in (before, after)]
            facts["calibration"][split] = {"before": errors[0], "after": errors[1]}
            predicted[split] = after
        calibration.apply_temperature(model, t)
    if baseline:
        facts["baseline"] = ranks.from_first(lambda: fit_baseline(spec, data))
    facts["scores"] = {split: asdict(report_of(spec, predicted[split], gold[split])) for split in held}
    return facts, predicted


def evaluate_file(
    model: str | Path,
    file: Path,
    text: Sequence[str] = (),
    label: str | None = None,
    *,
    tree: TreeColumns | None = None,
    parser: str | Parser = "builtin",
    device: str = "cpu",
    out: Path | None = None,
) -> Report:
    """Evaluate a model, by its name or folder, on a labelled file, and write its predictions to `out` if given.

    By default, the columns are those that the model was fitted on, if the file has them, else
    columns with usual names. If the file has a column `split`, only its test split is used. Raise a
    DataError if the file has pairs and the model reads single texts, or the other way round.
    """
    pipeline = load(model, parser=parser, device=device)
    spec = pipeline.model.output_spec
    pairs = spec.pairs or spec.kind == "ratings"
    facts = pipeline.facts
    if facts.get("label_column") and file.is_file():  # the model was fitted on a table
        names = set(read_table(file)[0])
        if label is None and facts["label_column"] in names:
            label = facts["label_column"]
        fitted = TreeColumns(**facts["tree_columns"]) if "tree_columns" in facts else None
        if tree is None and not text:
            if fitted is not None and names.issuperset(fitted.columns):
                tree = fitted
            elif names.issuperset(facts.get("text_columns", ())):
                text = facts.get("text_columns", ())
    source = open_labelled(file, text, label, tree=tree)
    if source.pairs != pairs:
        wanted = "two texts and a rating or a class" if pairs else "a text and a label"
        raise DataError(f"{file}: the model {model} wants {wanted}; name its columns")
    examples = [one for one in source.examples if NAMES.get(one.split.lower()) == SPLITS.index("test")]
    if examples:
        log.info("%s: only its test split, %d of %d", file, len(examples), len(source.examples))
    examples = examples or source.examples
    gold = target_for(spec).read(examples, train=False)
    items = [one.items if pairs else one.items[0] for one in examples]
    if spec.classes:
        predicted = pipeline.predict_proba(items)
    else:
        predicted = np.array(pipeline.predict(items), dtype=np.float64)  # ratings (n,) or numbers
        predicted = predicted.reshape(len(items), -1) if spec.numbers else predicted
    if out is not None:
        write_text(out, predictions_text(predicted, 6))
    return report_of(spec, predicted, gold)


def fit_baseline(spec: OutputSpec, data: Mapping[str, TreeSet]) -> dict[str, Any]:
    """Fit a baseline for the output of a model, and return its name and its metrics on dev and test.

    A linear model reads TF-IDF of lower-case words, word pairs and categories; for pairs, each
    feature also says which of the two has the word. Without words and categories, it reads counts
    of nodes and sums of numbers. Numbers of given trees are predicted by gradient boosting from
    counts and sums.
    """
    train = data["train"]
    chosen = np.sort(np.random.default_rng(0).permutation(len(train))[:MOST])
    items = {split: list(zip(*data[split].sides, strict=True)) for split in data}
    sample, gold = [items["train"][i] for i in chosen.tolist()], train.gold()[chosen]
    name, model = _model(spec, sample, gold)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it may not converge, and its sample may lack a label
        model.fit(sample, spec.standardised(gold) if spec.numbers else gold)
    held = [split for split in data if split != "train"]
    predicted = {split: _predict(spec, model, items[split]) for split in held}
    if spec.kind == "labels":
        spec = replace(spec, thresholds=calibration.fit_thresholds(predicted["dev"], data["dev"].gold()))
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
    """Return the predictions of a fitted baseline, in the shape of a model's."""
    if not spec.classes:
        found: Floats = np.asarray(model.predict(items), dtype=np.float64)
        return spec.restored(found.reshape(-1, len(spec.numbers))) if spec.numbers else found
    if spec.kind == "labels":
        return np.asarray(model.predict_proba(items))
    found = np.zeros((len(items), len(spec.classes)))
    found[:, model.classes_] = model.predict_proba(items)
    return found


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
