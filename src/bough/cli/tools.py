"""`bough parser` and `bough fetch`."""

from __future__ import annotations

import json
import logging
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter
from rich.console import Console
from rich.filesize import decimal
from rich.table import Table

from bough.cli.console import plain_console
from bough.cli.options import Flag, Json, Settings, parse_settings, use_threads
from bough.cli.progress import ProgressBars, TrainingDisplay
from bough.cli.text import text_of

if TYPE_CHECKING:
    from bough.data.fetch import Dataset

Source = Annotated[Path | None, Parameter(name="--from")]


def fetch(
    what: Literal["glove"], /, *, data: Path | None = None, source: Source = None, vectors: str = "840B"
) -> None:
    """Download word vectors into the data folder.

    The source is the official one, and checksums are verified.

    Args:
        what: glove.
        data: Data folder. Default: BOUGH_DATA, else the user cache.
        source: Use the files in this folder instead of the network.
        vectors: The GloVe set: 840B, 42B or 6B.
    """
    fetch_all([glove_set(vectors)], data, source)


def glove_set(name: str) -> Dataset:
    """Return the GloVe set of that name."""
    from bough.data.fetch import GLOVE
    from bough.data.paths import choose_from

    choose_from("vectors", name, tuple(GLOVE))
    return GLOVE[name]


def fetch_all(datasets: list[Dataset], data: Path | None, source: Path | None) -> None:
    """Fetch data sets with a bar for each file."""
    from bough.data import find_data
    from bough.data.fetch import fetch as get

    folder = data or find_data()
    with ProgressBars(Console()) as bars:

        def show(name: str, done: int, total: int | None) -> None:
            size = "" if total is None else f"/{decimal(total)}"
            bars.update(name, done, total, f"{decimal(done)}{size}")

        for dataset in datasets:
            files = get(dataset, folder, source=source, progress=show)
            plain_console().print(f"{dataset.name}: {len(files)} files in {folder}")


parser = App(name="parser", help="Train and evaluate your own parser.", result_action="return_value")
Files = Annotated[list[Path], Parameter(consume_multiple=True, negative="")]


@parser.command(usage="Usage: bough parser train TREEBANK... --dev FILE... --out FOLDER [OPTIONS]")
def train(
    *treebanks: Path,
    dev: Files,
    out: Path,
    vectors: Path | None = None,
    settings: Settings = [],  # noqa: B006
    resume: Flag = False,
) -> None:
    """Train a parser on treebanks, in any language.

    Use it with `--parser DIR` of other commands. A sentence that is in files of both kinds gets the
    phrases of one and the heads of the other. Training the bundled parser takes an hour on one
    core.

    Args:
        treebanks: Files of bracketed trees (Penn Treebank), and of dependency trees (CoNLL-U, named .conllu).
        dev: Files of the same kinds, to select the best epoch on.
        out: Folder for the parser, metrics.jsonl and the checkpoint.
        vectors: A file of word vectors in GloVe's format. Default: the parser learns its own vectors only.
        settings: key=value overrides a setting (epochs, hidden, ...); can be repeated.
        resume: Continue an interrupted run.
    """
    from bough.train.parser.config import Config
    from bough.train.parser.run import train_parser

    use_threads()
    if not treebanks:
        raise ValueError("no treebank to train on; name one or more files")
    logging.getLogger("bough").setLevel(logging.INFO)
    config = Config().with_settings(parse_settings(settings))
    with TrainingDisplay(Console(stderr=True)) as bars:
        train_parser(treebanks, dev, out, vectors=vectors, config=config, resume=resume, callback=bars.show)


@parser.command(usage="Usage: bough parser evaluate PARSER TREEBANK... [OPTIONS]")
def evaluate(
    name: Annotated[str, Parameter(name="PARSER")], /, *treebanks: Path, as_json: Json = False
) -> None:
    """Evaluate a parser on treebanks: brackets, heads, relations, and sentences per second.

    Args:
        name: The folder of a trained parser, builtin, spacy, stanza, corenlp, or corenlp:URL.
        treebanks: Files of bracketed trees, and of dependency trees (CoNLL-U, named .conllu).
        as_json: Print the metrics as JSON.
    """
    from bough.text import get_parser
    from bough.train.parser.evaluation import FIGURES, score, shown, speed
    from bough.train.parser.examples import read_treebanks

    use_threads()
    if not treebanks:
        raise ValueError("no treebank to evaluate on; name one or more files")
    engine, examples = get_parser(name), read_treebanks(treebanks)
    scores = asdict(score(engine, examples))
    parse = engine.constituency if scores["brackets"] is not None else engine.dependency
    rate = round(speed(parse, examples), 1)
    if as_json:
        plain_console().print(json.dumps({**scores, "sentences_per_second": rate}, indent=2))
        return
    table = Table("", name)
    for key, title in FIGURES.items():
        table.add_row(title, shown(scores[key]))
    table.add_row("sentences per second on one core, text to tree", shown(rate))
    Console().print(table)


@parser.command
def silver(texts: Path, /, *, out: Path, parser: str = "builtin", other: str = "spacy") -> None:
    """Parse text with two parsers and keep the sentences on which they agree, to train a parser on.

    Args:
        texts: UTF-8 text, one or more sentences per line.
        out: File to write: the sentences whose heads are all the same, as CoNLL-U.
        parser: builtin, or the folder of a trained parser.
        other: spacy, stanza, corenlp, or corenlp:URL.
    """
    from bough.text import get_parser
    from bough.train.parser.evaluation import write_silver

    use_threads()
    if out.exists():
        raise ValueError(f"{out} exists; choose another file with --out")
    given, engines = text_of(texts).splitlines(), (get_parser(parser), get_parser(other))
    console = Console(stderr=True)
    with ProgressBars(console) as bars:
        kept, parsed = write_silver(given, *engines, out, callback=bars.update)
    message = f"{out}: {kept:,} sentences; the parsers agree on {kept / parsed:.1%} of {parsed:,}"
    console.print(message, highlight=False, soft_wrap=True)
