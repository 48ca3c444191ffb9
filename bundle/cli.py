"""The command `python -m bundle`: make and measure the bundled models and the built-in parser."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter
from rich.console import Console

from bough.cli import Commands, grouped_app
from bough.cli.options import parse_settings, use_threads
from bough.cli.progress import ProgressBars, TrainingDisplay
from paper.cli import Data

if TYPE_CHECKING:
    from bundle.check import Tables

# options that several commands have
Out = Annotated[Path, Parameter(help="Folder for the exported model.")]
RUN = "Folder of the training run, continued if it exists; runs/NAME-SEED unless given."
RunFolder = Annotated[Path | None, Parameter(help=RUN)]
Seed = Annotated[int, Parameter(help="Random seed for shuffling, initialization and dropout.")]
SET = "key=value overrides a setting; may be repeated."
Settings = Annotated[list[str], Parameter(name="--set", negative="", help=SET)]
ParserName = Annotated[str, Parameter(help="builtin, spacy, stanza, corenlp, or corenlp:URL.")]
AsJson = Annotated[bool, Parameter(name="--json", negative="", help="Print the metrics as JSON.")]


def build_app() -> App:
    commands: Commands = {"Models": [sentiment, relatedness, check, parser], "Data": [prepare, texts]}
    return grouped_app("python -m bundle", "Make and measure the models that come with bough.", commands)


def sentiment(
    *,
    out: Out,
    run: RunFolder = None,
    seed: Seed = 1,
    settings: Settings = [],  # noqa: B006
    data: Data = None,
    parsed_by: Annotated[str, Parameter(help="The parser of `prepare`, for the card.")] = "builtin",
) -> None:
    """Train the bundled sentiment model, export it and measure it on the test splits.

    `python -m bundle prepare` parses its sources first.
    """
    from bundle.card import write_model
    from bundle.config import load_recipe
    from bundle.export import export_run
    from bundle.train_texts import train_text_filter
    from paper.train import train

    use_threads()
    logging.getLogger("bough").setLevel(logging.INFO)
    folder = run or Path("runs") / f"sentiment-{seed}"
    config = load_recipe("sentiment").with_settings(parse_settings(settings))
    options: dict[str, Any] = {"seed": seed, "data": data, "resume": folder.exists(), "recipe": "sentiment"}
    with TrainingDisplay(Console()) as display:
        train(config, folder, **options, callback=display.show)
    model, vectors = export_run(folder, data=data)
    command = f"python -m bundle sentiment --seed {seed}"
    made = {"trained_by": command, "parsed_by": parsed_by, "vectors": vectors}
    tables = write_model(model, "sentiment", out, data=data, made=made)
    train_text_filter(data).save(out)
    _show(tables, as_json=False)


def relatedness(*, out: Out, run: RunFolder = None, seed: Seed = 1, data: Data = None) -> None:
    """Train the bundled relatedness model, export it and measure it."""
    from bundle.card import write_model
    from bundle.relatedness import train_relatedness

    use_threads()
    folder = run or Path("runs") / f"relatedness-{seed}"
    with TrainingDisplay(Console()) as display:
        model, state, vectors = train_relatedness(folder, data=data, seed=seed, callback=display.show)
    command = f"python -m bundle relatedness --seed {seed}"
    made = {"trained_by": command, "vectors": vectors, "held_out": state.best_dev}
    _show(write_model(model, "relatedness", out, data=data, made=made), as_json=False)


def check(
    model: str,
    /,
    *,
    split: Literal["dev", "test"] = "test",
    data: Data = None,
    parser: ParserName = "builtin",
    as_json: AsJson = False,
) -> None:
    """Measure a model on plain text, beside baselines.

    Parameters
    ----------
    model
        Name or folder of a model of sentiment in five classes, or of relatedness.
    split
        Splits of the sources; of the STS benchmark, dev is the part held out of train and test the published dev.
    """
    from bundle.card import check_folder

    use_threads()
    _show(check_folder(model, data, split=split, parser=parser), as_json)


def _show(tables: Tables, as_json: bool) -> None:
    from bundle.card import markdown_table

    text = "\n\n".join(markdown_table(title, rows) for title, rows in tables.items())
    print(json.dumps(tables, indent=2) if as_json else text)


def parser(
    *,
    out: Path,
    settings: Settings = [],  # noqa: B006
    resume: Annotated[bool, Parameter(negative="")] = False,
    data: Data = None,
    own: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Train the built-in parser and write its card: `bough parser train` on SST, EWT and GUM's free genres.

    It takes an hour on one core. The treebanks are written into a folder beside OUT, OUT-treebanks.

    Parameters
    ----------
    out
        Folder for the parser, `metrics.jsonl` and the checkpoint.
    resume
        Continue an interrupted run.
    own
        The data are your own, in the same layout; their sizes are not checked.
    """
    from bundle.parser import CONFIG, make_parser

    use_threads()
    logging.getLogger("bough").setLevel(logging.INFO)
    config = CONFIG.with_settings(parse_settings(settings))
    with TrainingDisplay(Console(stderr=True)) as display:
        make_parser(out, data, config=config, resume=resume, check=not own, callback=display.show)


def prepare(*, parser: ParserName = "builtin", data: Data = None, out: Path | None = None) -> None:
    """Parse the sources that the sentiment model learns from beside SST.

    Parameters
    ----------
    out
        Data folder to write; the same one unless given.
    """
    from bough.text import get_parser
    from bundle.opinions import prepare_opinions

    use_threads()
    engine = get_parser(parser)
    console = Console(stderr=True)
    with ProgressBars(console) as bars:
        files = prepare_opinions(engine, data, out, tell=bars.update)
    console.print(f"{len(files)} files by {engine.name}", highlight=False)


def texts(*, out: Out, data: Data = None) -> None:
    """Write the filter of the sentiment model's training texts into its folder, and count the held-out texts in it.

    `python -m bundle sentiment` also writes it. A fit that starts from the model says which of its examples are in it.
    """
    from bundle.train_texts import repeated_texts, train_text_filter

    trained_on = train_text_filter(data)
    trained_on.save(out)
    print(json.dumps(repeated_texts(trained_on, data), indent=1))
