"""`bough fit` and `bough evaluate`."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter
from rich.console import Console

from bough.cli.console import plain_console
from bough.cli.options import check_device, parse_settings, use_threads
from bough.cli.progress import TrainingDisplay
from bough.cli.tables import class_table, confusion_table, metric_table, score_table

if TYPE_CHECKING:
    from bough.train.source import Source


def fit(
    file: Path,
    /,
    *,
    text: Annotated[list[str], Parameter(negative="")] = [],  # noqa: B006
    label: str | None = None,
    dev: Path | None = None,
    test: Path | None = None,
    trees: Literal["constituency", "dependency", "none"] | None = None,
    parser: str = "builtin",
    layer: str | None = None,
    recipe: str | None = None,
    settings: Annotated[list[str], Parameter(name="--set", negative="")] = [],  # noqa: B006
    start: Annotated[str | None, Parameter(name="--from")] = None,
    epochs: str = "auto",
    vectors: str | None = None,
    encoder: str | None = None,
    seed: int = 1,
    out: Path | None = None,
    resume: Annotated[bool, Parameter(negative="")] = False,
    data: Path | None = None,
    threads: int = 1,
    device: str = "cpu",
) -> None:
    """Fit a model to your own labelled file, and measure it.

    Under `torchrun --nproc-per-node N -m bough fit ...` N processes share the parsing and the training.

    Parameters
    ----------
    file
        CSV, TSV or JSON lines with a text and a label, or two texts and a rating; trees in brackets; CoNLL-U with
        "# label = NAME".
    text
        The column of the text, twice for pairs; else found by its name.
    label
        The column of the label or the rating.
    dev
        A file like it, to choose the epoch on; else a tenth of FILE, stratified by class.
    test
        A file like it, to measure on; else another tenth.
    trees
        Which trees the texts get; none is a chain of words.
    parser
        builtin, spacy, stanza, corenlp, or corenlp:URL.
    layer
        The name of a registered layer, such as tree-gru or bi-dependency; else what the recipe says.
    recipe
        A recipe's name (fit-texts, fit-trees, fit-pairs, ...), or a TOML file of your own.
    settings
        key=value overrides the recipe; may be repeated.
    start
        A bundled model (sentiment, relatedness) or a folder to start from.
    epochs
        A number; auto stops once the loss on dev has stopped falling, with an encoder after four.
    vectors
        840B, 840B-completed, 42B, 6B, a GloVe file, or shipped.
    encoder
        A pretrained encoder whose states stand for the words, by its folder or name; needs bough[contextual].
    seed
        Random seed for the split, shuffling, initialization and dropout.
    out
        Folder for the model and its report; models/FILE-SEED unless given.
    resume
        Continue an interrupted run; a finished one is shown again.
    data
        Data folder with GloVe; else BOUGH_DATA, else the user cache.
    threads
        Threads of torch; one is fastest, unless there is an encoder.
    device
        cpu, cuda, mps, ...
    """
    from bough.data.labelled import open_labelled
    from bough.train.distributed import joined, restarts
    from bough.train.fit import fit_sources
    from bough.train.options import FitOptions

    use_threads(threads)
    with joined(device) as ranks:
        check_device(device)
        if epochs != "auto" and not (epochs.isdecimal() and int(epochs)):
            raise ValueError(f"--epochs {epochs}: a number, or auto")
        sources: dict[str, Source] = {"train": open_labelled(file, text, label)}
        columns = sources["train"].columns  # type: ignore[attr-defined]
        for name, path in (("dev", dev), ("test", test)):
            if path is not None:
                sources[name] = open_labelled(path, columns.texts, columns.label or None)
        folder = out or Path("models") / f"{file.stem}-{seed}"
        quiet = not ranks.first
        console, plain = Console(stderr=True, quiet=quiet), plain_console(stderr=True, quiet=quiet)
        logging.getLogger("bough").setLevel(logging.ERROR if quiet else logging.INFO)
        if columns.texts:
            plain.print(f"text: {', '.join(columns.texts)}; label: {columns.label}")
        with TrainingDisplay(console) as display:
            options = FitOptions(
                trees=trees,
                parser=parser,
                layer=layer,
                recipe=recipe,
                settings=parse_settings(settings),
                epochs=None if epochs == "auto" else int(epochs),
                vectors=vectors,
                encoder=encoder,
                init_from=start,
                seed=seed,
                data=data,
                device=device,
            )
            again = resume or restarts()
            _, outcome = fit_sources(
                sources,
                folder,
                options,
                hold_test=True,
                resume=again,
                callback=display.show,
                warn=plain.print,
            )
    if not ranks.first:
        return
    _show(outcome.facts)
    plain.print(f"{folder}  (report: {folder / 'report.html'})", style="dim")


def _show(facts: dict[str, Any]) -> None:
    """Print the metrics of a fitted model."""
    from bough.models.metrics import ClassLine

    scores = facts["scores"]
    split = list(scores)[-1]
    console = Console()
    extra = {}
    if "baseline" in facts:
        extra["accuracy of a bag of words"] = {name: facts["baseline"][name] for name in scores}
        for when in ("before", "after"):
            name = f"ECE {when} temperature scaling ({facts['temperature']:.2f})"
            extra[name] = {part: facts["calibration"][part][when] for part in scores}
    console.print(
        f"Best epoch: {facts['epoch']} of {facts['epochs']} (chosen on dev); vectors: {facts['vectors']}"
    )
    console.print(score_table({name: score["figures"] for name, score in scores.items()}, "Metrics", extra))
    if scores[split]["classes"]:
        lines = [ClassLine(**line) for line in scores[split]["classes"]]
        console.print(class_table(lines, f"By class ({split})"))
        console.print(confusion_table(lines, scores[split]["confusion"], f"Confusion matrix ({split})"))


def evaluate(
    model: str,
    file: Path,
    /,
    *,
    text: Annotated[list[str], Parameter(negative="")] = [],  # noqa: B006
    label: str | None = None,
    parser: str = "builtin",
    out: Path | None = None,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
    threads: int = 1,
) -> None:
    """Measure a model on a labelled file.

    Parameters
    ----------
    model
        A bundled model (sentiment, relatedness), or the folder of a fitted one.
    file
        A labelled file, as `bough fit` takes it.
    text
        The file's column of the text; twice for pairs.
    label
        The file's column of the label or the rating.
    parser
        builtin, spacy, stanza, corenlp, or corenlp:URL.
    out
        File for the predictions, one line per example.
    as_json
        Print the metrics as JSON.
    threads
        Threads of torch.
    """
    from bough.train.evaluate import judge

    use_threads(threads)
    report = judge(model, file, text, label, parser=parser, out=out)
    if as_json:
        print(json.dumps(report.figures, indent=2))  # noqa: T201
        return
    console = Console()
    console.print(metric_table(report.figures, f"{file}, {report.examples:,} examples"))
    if report.classes:
        console.print(class_table(report.classes, "By class"))
    if report.confusion:
        console.print(confusion_table(report.classes, report.confusion, "Confusion matrix"))
