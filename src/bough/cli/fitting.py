"""`bough fit` and `bough evaluate`."""

import dataclasses
import json
import logging
import re
from pathlib import Path
from typing import Annotated, Any

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
    use_threads,
)
from bough.cli.progress import TrainingDisplay
from bough.cli.tables import class_table, confusion_table, metric_table
from bough.train import options


def fit_flags() -> Any:
    """Return the options of a fit as a class for the command line: a flag for each field of `FitOptions`."""
    types: dict[str, Any] = {"float": float, "Shape": options.Shape, "Scale": options.Scale}
    annotations: dict[str, Any] = {}
    defaults: dict[str, Any] = {}
    for option in dataclasses.fields(options.FitOptions):
        name, default = option.metadata.get(options.FLAG), option.default or None
        kind = (
            int if option.type in ("int", "int | None") else types.get(str(option.type).split(" | ")[0], str)
        )
        if name == "--set":
            annotations[option.name], default = Settings, []
        else:
            annotations[option.name] = Annotated[kind if default else kind | None, Parameter(name=name)]
        defaults[option.name] = dataclasses.field(default_factory=list) if default == [] else default
    about = (options.FitOptions.__doc__ or "").partition("    Examples:")[0]
    about = re.sub(r"(?m)^( {8}\w+: )([a-z])", lambda first: first[1] + first[2].upper(), about)
    body = {"__annotations__": annotations, "__doc__": about, "__module__": __name__, **defaults}
    return Parameter(name="*")(dataclasses.dataclass(frozen=True)(type("FitFlags", (), body)))


FitFlags = fit_flags()
DEFAULTS = FitFlags()


def fit(
    file: Path,
    /,
    *,
    text: Columns = [],  # noqa: B006
    label: str | None = None,
    sample_weight: str | None = None,
    keys: TreeKeys = NO_TREES,
    dev: Path | None = None,
    test: Path | None = None,
    encoding: Encoding = None,
    flags: FitFlags = DEFAULTS,  # type: ignore[valid-type]
    out: Path | None = None,
    resume: Flag = False,
    threads: int = 1,
) -> None:
    """Fit a model to your own labelled file, and evaluate it.

    With `torchrun --nproc-per-node N -m bough fit ...` N processes share the parsing and the training.

    Args:
        file: CSV, TSV, JSON lines or Parquet with a text and a label, or two texts and a rating; trees in
            brackets; CoNLL-U with "# label = NAME".
        text: The column of the text; repeat it for pairs. Default: a column with a usual name.
        label: The column of the label or the rating.
        sample_weight: The column with the weight of each example in training.
        dev: A labelled file to select the best epoch on. Default: a tenth of FILE, stratified by class.
        test: A labelled file to evaluate on. Default: another tenth of FILE.
        out: Folder for the model and its report. Default: models/FILE-SEED.
        resume: Continue an interrupted run. A finished run is shown again.
        threads: Number of torch threads; one is fastest, except with an encoder.
    """
    from bough.data.labelled import open_labelled
    from bough.train.distributed import joined, restarts
    from bough.train.fit import fit_sources

    use_threads(threads)
    given = {name: value for name, value in vars(flags).items() if value not in (None, [])}
    chosen = options.FitOptions.given(given)
    with joined(chosen.device) as ranks:
        check_device(chosen.device)
        nested = keys.columns()
        train = open_labelled(file, text, label, tree=nested, weight=sample_weight, encoding=encoding)
        sources, columns = {"train": train}, train.columns
        for name, path in (("dev", dev), ("test", test)):
            if path is not None:
                texts = () if nested else columns.items
                named = (path, texts, columns.label or None)
                sources[name] = open_labelled(*named, tree=nested, encoding=encoding)
        folder = out or Path("models") / f"{file.stem}-{chosen.seed}"
        quiet = not ranks.first
        console, plain = Console(stderr=True, quiet=quiet), plain_console(stderr=True, quiet=quiet)
        logging.getLogger("bough").setLevel(logging.ERROR if quiet else logging.INFO)
        if columns.items:
            plain.print(f"text: {', '.join(columns.items)}; label: {columns.label}")
        with TrainingDisplay(console) as display:
            shown: dict[str, Any] = {"callbacks": [display.show]}
            shown["warn"] = lambda line: plain.print(as_typed(line))
            again = resume or restarts()
            pipeline, facts = fit_sources(sources, folder, chosen, hold_test=True, resume=again, **shown)
    if ranks.first:
        _show(facts, pipeline.model.output)
        plain.print(f"{folder}  (report: {folder / 'report.html'})", style="dim")


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
