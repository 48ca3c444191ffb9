"""`bough fit` and `bough evaluate`."""

import json
import logging
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter
from rich.console import Console
from rich.table import Table

from bough.cli.console import as_typed, plain_console
from bough.cli.options import (
    NO_TREES,
    Columns,
    Device,
    Encoding,
    Flag,
    Json,
    ParserName,
    Settings,
    TreeKeys,
    check_device,
    parse_settings,
    use_threads,
)
from bough.cli.progress import TrainingDisplay
from bough.cli.tables import class_table, confusion_table, metric_table


def fit(
    file: Path,
    /,
    *,
    text: Columns = [],  # noqa: B006
    label: str | None = None,
    task: Literal["classes", "numbers", "labels"] | None = None,
    scale: Literal["linear", "log"] | None = None,
    class_weight: str | None = None,
    sample_weight: str | None = None,
    keys: TreeKeys = NO_TREES,
    dev: Path | None = None,
    test: Path | None = None,
    encoding: Encoding = None,
    trees: Literal["constituency", "dependency", "balanced", "none"] | None = None,
    parser: ParserName = "builtin",
    layer: str | None = None,
    recipe: str | None = None,
    settings: Settings = [],  # noqa: B006
    start: Annotated[str | None, Parameter(name="--from")] = None,
    epochs: str = "auto",
    batch_size: int | None = None,
    learning_rate: float | None = None,
    vectors: str | None = None,
    encoder: str | None = None,
    seed: int = 1,
    out: Path | None = None,
    resume: Flag = False,
    data: Path | None = None,
    threads: int = 1,
    device: Device = "cpu",
) -> None:
    """Fit a model to your own labelled file, and evaluate it.

    With `torchrun --nproc-per-node N -m bough fit ...` N processes share the parsing and the training.

    Args:
        file: CSV, TSV, JSON lines or Parquet with a text and a label, or two texts and a rating; trees in
            brackets; CoNLL-U with "# label = NAME".
        text: The column of the text; repeat it for pairs. Default: a column with a usual name.
        label: The column of the label or the rating.
        task: What the labels are: one of several classes, numbers, or several labels at once. Default:
            inferred from the labels.
        scale: The scale of numbers; log for numbers that span decades.
        class_weight: balanced, or NAME=WEIGHT,...: the weight of each class in training.
        sample_weight: The column with the weight of each example in training.
        dev: A labelled file to select the best epoch on. Default: a tenth of FILE, stratified by class.
        test: A labelled file to evaluate on. Default: another tenth of FILE.
        trees: The kind of trees for texts; balanced (for any language) and none (a chain of words)
            need no parser.
        layer: The name of a registered layer, such as tree-gru or bi-dependency. Default: the recipe's.
        recipe: The name of a recipe (fit-texts, fit-trees, fit-pairs, ...), or your own TOML file.
        settings: key=value overrides the recipe; can be repeated.
        start: A bundled model (sentiment, relatedness) or a folder to start from, or none for
            random weights. By default up to 5,000 texts are trained from both, and dev selects.
        epochs: A number of epochs, or auto: stop when the loss on dev no longer falls; with an
            encoder, four epochs.
        batch_size: Number of examples per step. Default: the recipe's.
        learning_rate: Learning rate. Default: the recipe's.
        vectors: GloVe vectors: 840B, 840B-completed, 42B, 6B or a file; or bundled, the vectors of
            the sentiment model.
        encoder: Folder or name of a transformer whose hidden states replace the word vectors; needs
            bough[contextual].
        seed: Random seed for the split, shuffling, initialization and dropout.
        out: Folder for the model and its report. Default: models/FILE-SEED.
        resume: Continue an interrupted run. A finished run is shown again.
        data: Data folder with GloVe. Default: BOUGH_DATA, else the user cache.
        threads: Number of torch threads; one is fastest, except with an encoder.
    """
    from bough.data.labelled import open_labelled
    from bough.train.distributed import joined, restarts
    from bough.train.fit import fit_sources
    from bough.train.options import FitOptions

    use_threads(threads)
    with joined(device) as ranks:
        check_device(device)
        if epochs != "auto" and not (epochs.isdecimal() and int(epochs)):
            raise ValueError(f"--epochs {epochs}: must be a positive number or auto")
        nested = keys.columns()
        train = open_labelled(file, text, label, tree=nested, weight=sample_weight, encoding=encoding)
        sources, columns = {"train": train}, train.columns
        for name, path in (("dev", dev), ("test", test)):
            if path is not None:
                texts = () if nested else columns.items
                chosen = (path, texts, columns.label or None)
                sources[name] = open_labelled(*chosen, tree=nested, encoding=encoding)
        folder = out or Path("models") / f"{file.stem}-{seed}"
        quiet = not ranks.first
        console, plain = Console(stderr=True, quiet=quiet), plain_console(stderr=True, quiet=quiet)
        logging.getLogger("bough").setLevel(logging.ERROR if quiet else logging.INFO)
        if columns.items:
            plain.print(f"text: {', '.join(columns.items)}; label: {columns.label}")
        with TrainingDisplay(console) as display:
            labels = {"task": task, "scale": scale, "class_weight": _class_weight(class_weight)}
            model = {"trees": trees, "parser": parser, "layer": layer, "init_from": start, "device": device}
            words = {"vectors": vectors, "encoder": encoder, "data": data}
            steps = {"batch_size": batch_size, "learning_rate": learning_rate, "seed": seed}
            steps["epochs"] = None if epochs == "auto" else int(epochs)
            recipes = {"recipe": recipe, "settings": parse_settings(settings)}
            options = FitOptions.given({**labels, **model, **words, **steps, **recipes})
            shown: dict[str, Any] = {"callbacks": [display.show]}
            shown["warn"] = lambda line: plain.print(as_typed(line))
            again = resume or restarts()
            pipeline, facts = fit_sources(sources, folder, options, hold_test=True, resume=again, **shown)
    if ranks.first:
        _show(facts, pipeline.model.output)
        plain.print(f"{folder}  (report: {folder / 'report.html'})", style="dim")


def _class_weight(text: str | None) -> str | dict[str, float] | None:
    """Return NAME=WEIGHT,... as a dict; return a text without "=" unchanged."""
    if text is None or "=" not in text:
        return text
    weights = {}
    for part in text.split(","):
        name, _, weight = part.rpartition("=")
        try:
            weights[name.strip()] = float(weight)
        except ValueError:
            raise ValueError(f"--class-weight {part}: must be NAME=NUMBER") from None
    return weights


def _show(facts: dict[str, Any], output: Any) -> None:
    """Print the metrics of a fitted model."""
    from bough.outputs import ClassLine
    from bough.train.card import metric_rows

    scores = facts["scores"]
    split = list(scores)[-1]
    console, epoch = Console(), f"{facts['epoch']} of {facts['epochs']}"
    console.print(f"Best epoch: {epoch} (chosen on dev); vectors: {facts['vectors']}")
    table = Table("", *scores, title="Metrics", title_justify="left")
    for row in metric_rows(facts, output):
        table.add_row(*row)
    console.print(table)
    if scores[split]["classes"]:
        lines = [ClassLine(**line) for line in scores[split]["classes"]]
        console.print(class_table(lines, f"By class ({split})"))
        if scores[split]["confusion"]:
            console.print(confusion_table(lines, scores[split]["confusion"], f"Confusion matrix ({split})"))


def evaluate(
    model: str,
    file: Path | None = None,
    /,
    *,
    text: Columns = [],  # noqa: B006
    label: str | None = None,
    keys: TreeKeys = NO_TREES,
    encoding: Encoding = None,
    parser: ParserName = "builtin",
    device: Device = "cpu",
    out: Path | None = None,
    as_json: Json = False,
    threads: int = 1,
) -> None:
    """Evaluate a model on a labelled file.

    Args:
        model: A bundled model (sentiment, relatedness), or the folder of a fitted model.
        file: A labelled file, as for `bough fit`. If it has a column `split`, only its test rows are used.
        text: The column of the text; repeat it for pairs.
        label: The column of the label or the rating.
        out: File for the predictions, one line per example.
        as_json: Print the metrics as JSON.
        threads: Number of torch threads.
    """
    from bough.train.evaluate import evaluate_file

    if file is None:
        raise ValueError(f"no labelled file; use bough evaluate {model} FILE, as for bough fit")
    if Path(model).is_file():
        raise ValueError(f"{model} is a file; the model comes first: bough evaluate {file} {model}")
    use_threads(threads)
    if not as_json:
        logging.getLogger("bough").setLevel(logging.INFO)
    check_device(device)
    columns = keys.columns()
    where: dict[str, Any] = {"parser": parser, "device": device, "out": out, "encoding": encoding}
    report = evaluate_file(model, file, text, label, tree=columns, **where)
    if as_json:
        print(json.dumps(report.figures, indent=2))  # noqa: T201
        return
    console = Console()
    console.print(metric_table(report.figures, f"{file}, {report.examples:,} examples", report.titles))
    if report.classes:
        console.print(class_table(report.classes, "By class"))
    if report.confusion:
        console.print(confusion_table(report.classes, report.confusion, "Confusion matrix"))
