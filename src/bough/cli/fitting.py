"""`bough fit`."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter
from rich.console import Console

from bough.cli.console import plain_console
from bough.cli.figures import class_table, confusion_table, score_table
from bough.cli.settings import parse_settings
from bough.cli.threads import check_device, use_threads
from bough.cli.training_display import TrainingDisplay

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
    recipe
        A recipe's name (fit-texts, fit-trees, fit-pairs, ...), or a TOML file of your own.
    settings
        key=value overrides the recipe; may be repeated.
    start
        A shipped model (sentiment, relatedness) or a folder to start from.
    epochs
        A number; auto stops once the loss on dev has stopped falling, with an encoder after four.
    vectors
        840B, 840B-completed, 42B, 6B, a GloVe file, or shipped.
    encoder
        A pretrained encoder whose states stand for the words, by its folder or name; needs bough[contextual].
    seed
        Drives the split, order, initial weights and dropout.
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
    from bough.train.fit import fit_sources
    from bough.train.torchrun import joined, restarts

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
            _, outcome = fit_sources(
                sources,
                folder,
                shape=trees,
                parser=parser,
                recipe=recipe,
                settings=parse_settings(settings),
                epochs=None if epochs == "auto" else int(epochs),
                vectors=vectors,
                encoder=encoder,
                start=start,
                seed=seed,
                data=data,
                device=device,
                hold_test=True,
                resume=resume or restarts(),
                tell=display.show,
                hear=plain.print,
            )
    if not ranks.first:
        return
    _show(outcome.facts)
    plain.print(f"{folder}  (report: {folder / 'report.html'})", style="dim")


def _show(facts: dict[str, Any]) -> None:
    from bough.models.metrics import ClassLine

    scores = facts["scores"]
    split = list(scores)[-1]
    console = Console()
    extra = {}
    if "baseline" in facts:
        extra["accuracy of a bag of words"] = {name: facts["baseline"][name] for name in scores}
        for when in ("before", "after"):
            name = f"calibration error {when} the temperature of {facts['temperature']:.2f}"
            extra[name] = {part: facts["calibration"][part][when] for part in scores}
    title = f"{facts['vectors']}, epoch {facts['epoch']} of {facts['epochs']} chosen on dev"
    console.print(score_table({name: score["figures"] for name, score in scores.items()}, title, extra))
    if scores[split]["classes"]:
        lines = [ClassLine(**line) for line in scores[split]["classes"]]
        console.print(class_table(lines, split))
        console.print(confusion_table(lines, scores[split]["confusion"], split))
