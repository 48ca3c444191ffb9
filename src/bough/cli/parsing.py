"""`bough parser silver`."""

from __future__ import annotations

from pathlib import Path

from cyclopts import App
from rich.console import Console

from bough.cli.bars import bars
from bough.cli.text import text_of
from bough.cli.threads import use_threads

parser = App(name="parser", help="Create silver data to train a parser on.", result_action="return_value")


@parser.command
def silver(
    texts: Path,
    /,
    *,
    out: Path,
    parser: str = "builtin",
    other: str = "spacy",
) -> None:
    """Parse text with two parsers and keep the arcs on which they agree, to train a parser on.

    Train with `python -m bundle parser train --out FOLDER --set silver=FILE`, from a checkout of bough.

    Parameters
    ----------
    texts
        UTF-8 text, one or more sentences per line.
    out
        File to write, one sentence per line as JSON: tokens, heads (null where the parsers differ) and relations.
    parser
        builtin, or the folder of a trained one.
    other
        spacy, stanza, corenlp, or corenlp:URL.
    """
    from bough.text import get_parser
    from bough.train.parser.silver import write_silver

    use_threads()
    if out.exists():
        raise ValueError(f"{out} is there already; choose another file with --out")
    given = text_of(texts).splitlines()
    console = Console(stderr=True)
    engines = get_parser(parser), get_parser(other)
    with bars(console) as tell:
        count, share = write_silver(given, *engines, out, tell=tell)
    message = f"{out}: {count:,} sentences; the parsers agree on {share:.1%} of the arcs"
    console.print(message, highlight=False, soft_wrap=True)
