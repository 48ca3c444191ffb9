"""Evaluate a model: on the splits of its fit, or on a labelled file."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from bough.data.examples import TreeColumns
from bough.data.labelled import open_labelled
from bough.data.tables import read_table
from bough.errors import DataError
from bough.files import write_text
from bough.models.metrics import Report, report_of
from bough.models.model import Model
from bough.pipelines import load
from bough.text import Parser
from bough.train.baseline import fit_baseline
from bough.train.calibration import (
    apply_temperature,
    calibration_error,
    fit_temperature,
    fit_thresholds,
    with_temperature,
)
from bough.train.dataset import Examples, TreeSet
from bough.train.distributed import current
from bough.train.run_folder import predictions_text
from bough.train.splits import NAMES, SPLITS
from bough.train.targets import target_for
from bough.train.tasks import Floats, Learnable

log = logging.getLogger(__name__)


def evaluate_splits(
    task: Learnable, model: Model, data: Mapping[str, TreeSet], *, baseline: bool = True
) -> tuple[dict[str, Any], dict[str, Floats]]:
    """Calibrate a model on dev, evaluate it on dev and test, and return facts for `fit.json` and the predictions.

    The temperature of a classifier, or the thresholds of several labels, are fitted on dev and stored in the model.
    With `baseline`, the facts include the metrics of a baseline.
    """
    ranks, spec = current(), model.output_spec
    held = [split for split in ("dev", "test") if split in data]
    predicted = {split: ranks.predict(task, model, Examples(data[split], model)) for split in held}
    gold = {split: data[split].gold() for split in held}
    facts: dict[str, Any] = {}
    if spec.kind == "labels":
        thresholds = fit_thresholds(predicted["dev"], gold["dev"])
        spec = model.output_spec = replace(spec, thresholds=thresholds)
    if spec.kind == "classes":
        t = fit_temperature(predicted["dev"], gold["dev"])
        facts |= {"temperature": t, "calibration": {}}
        for split in held:
            before, after = predicted[split], with_temperature(predicted[split], t)
            errors = [calibration_error(p, gold[split]) for p in (before, after)]
            facts["calibration"][split] = {"before": errors[0], "after": errors[1]}
            predicted[split] = after
        apply_temperature(model, t)
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
    out: Path | None = None,
) -> Report:
    """Evaluate a model, by its name or folder, on a labelled file, and write its predictions to `out` if given.

    By default, the columns are those that the model was fitted on, if the file has them, else columns with usual names.
    If the file has a column `split`, only its test split is used. Raise a DataError if the file has pairs and the
    model reads single texts, or the other way round.
    """
    pipeline = load(model, parser=parser)
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
