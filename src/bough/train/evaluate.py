"""Evaluate a model on the splits of its fit, beside a baseline, or on a labelled file."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bough.data.examples import Example, TreeColumns
from bough.data.labelled import open_labelled
from bough.data.tables import read_table
from bough.errors import DataError
from bough.files import write_text
from bough.models.model import Model
from bough.outputs import Report
from bough.pipelines import AnyPipeline, load
from bough.text import Parser
from bough.train.baseline import fit_baseline
from bough.train.dataset import Examples, TreeSet
from bough.train.distributed import current
from bough.train.run_folder import predictions_text
from bough.train.splits import NAMES, SPLITS
from bough.train.tasks import Floats, Learnable

log = logging.getLogger(__name__)


def evaluate_splits(
    task: Learnable, model: Model, data: Mapping[str, TreeSet], *, baseline: bool = True
) -> tuple[dict[str, Any], dict[str, Floats]]:
    """Calibrate a model on dev, evaluate it on dev and test, and return facts for `fit.json` and the predictions.

    With `baseline`, the facts include the metrics of a baseline.
    """
    ranks = current()
    held = [split for split in ("dev", "test") if split in data]
    predicted = {split: ranks.predict(task, model, Examples(data[split], model)) for split in held}
    gold = {split: data[split].gold() for split in held}
    model.output, predicted, facts = model.output.calibrate(model.head, predicted, gold)
    if baseline:
        facts["baseline"] = ranks.from_first(lambda: fit_baseline(model.output, data))
    reports = {split: model.output.metrics(predicted[split], gold[split]) for split in held}
    facts["scores"] = {split: report.as_dict() for split, report in reports.items()}
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
    encoding: str | None = None,
) -> Report:
    """Evaluate a model, by its name or folder, on a labelled file, and write its predictions to `out` if given.

    By default, the columns are those that the model was fitted on, if the file has them, else
    columns with usual names. If the file has a column `split`, only its test split is used. Raise a
    DataError if the file has pairs and the model reads single texts, or the other way round.
    """
    pipeline = load(model, parser=parser, device=device)
    text, label, tree = _columns(pipeline, file, text, label, tree, encoding)
    source = open_labelled(file, text, label, tree=tree, encoding=encoding)
    if source.pairs != pipeline.pairs:
        wanted = "two texts and a rating or a class" if pipeline.pairs else "a text and a label"
        raise DataError(f"{file}: the model {model} wants {wanted}; name its columns")
    examples = _of_test(source.examples)
    if len(examples) < len(source.examples):
        log.info("%s: only its test split, %d of %d", file, len(examples), len(source.examples))
    output = pipeline.model.output
    targets = output.encode(examples)
    predicted = pipeline.predictions([e.items if pipeline.pairs else e.items[0] for e in examples])
    if out is not None:
        # of a rating without the probabilities of its steps
        write_text(out, predictions_text(predicted[:, : len(output.names) or 1], 6))
    report: Report = output.metrics(predicted, targets)
    return report


def _columns(
    pipeline: AnyPipeline,
    file: Path,
    text: Sequence[str],
    label: str | None,
    tree: TreeColumns | None,
    encoding: str | None,
) -> tuple[Sequence[str], str | None, TreeColumns | None]:
    """Return the columns to read: those that are named, else those that the model was fitted on, if they are there."""
    facts = pipeline.facts
    if not facts.get("label_column") or not file.is_file():  # the model was not fitted on a table
        return text, label, tree
    names = set(read_table(file, encoding)[0])
    if label is None and facts["label_column"] in names:
        label = facts["label_column"]
    if tree is None and not text:
        fitted = TreeColumns(**facts["tree_columns"]) if "tree_columns" in facts else None
        if fitted is not None and names.issuperset(fitted.columns):
            tree = fitted
        elif names.issuperset(facts.get("text_columns", ())):
            text = facts.get("text_columns", ())
    return text, label, tree


def _of_test(examples: Sequence[Example]) -> Sequence[Example]:
    """Return the examples whose column `split` says test, or all if there are none."""
    of_test = [e for e in examples if NAMES.get(e.split.lower()) == SPLITS.index("test")]
    return of_test or examples
