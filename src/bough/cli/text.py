"""`bough sentiment`, `bough relatedness` and `bough nearest`."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter
from rich.console import Console

from bough.cli.console import plain_console, say
from bough.cli.options import use_threads

if TYPE_CHECKING:
    from bough.pipelines import RelatednessPipeline, Sentiment, SentimentPipeline


def sentiment(
    *text: str,
    tree: str | None = None,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
    svg: Path | None = None,
    parser: str = "builtin",
    model: str = "sentiment",
) -> None:
    """Show the sentiment of every phrase as a coloured tree.

    Parameters
    ----------
    text
        A text in quotes; several texts give several trees.
    tree
        Your own tree for the text, in brackets or as CoNLL-U, or a file that holds it.
    as_json
        Print one line of JSON per text.
    svg
        Write the picture to this file.
    parser
        builtin, spacy, stanza, corenlp, or corenlp:URL.
    model
        sentiment, or the folder of a model.
    """
    pipeline = load_pipeline(model, parser, "sentiment")
    if tree is not None:
        if len(text) > 1:
            raise ValueError(f"--tree goes with one text, not with {len(text)}")
        results = [pipeline(text[0] if text else None, tree=given_tree(tree))]
    elif not text:
        raise ValueError('no text; try bough sentiment "An overlong but oddly moving film."')
    else:
        results = pipeline(list(text))
    if svg is not None:
        if len(results) > 1:
            raise ValueError(f"--svg takes one text, not {len(results)}: it is one picture")
        from bough.files import write_text

        write_text(svg, results[0].svg())
    if as_json:
        for result in results:
            say(result.json())
        return
    console = Console(highlight=False, markup=False, emoji=False)
    for result in results:
        show(result, console)
    if svg is not None:
        console.print(f"picture: {svg}", style="dim")


def relatedness(
    a: str,
    b: str,
    /,
    *,
    tree: Annotated[tuple[str, str] | None, Parameter(consume_multiple=True)] = None,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
    parser: str = "builtin",
    model: str = "relatedness",
) -> None:
    """Say how related two sentences are, from 1 to 5.

    1 is not at all, 5 is the same.

    Parameters
    ----------
    a
        A sentence.
    b
        Another one.
    tree
        Your own trees for the two, as CoNLL-U text or files.
    as_json
        Print one line of JSON.
    parser
        builtin, spacy, stanza, corenlp, or corenlp:URL.
    model
        relatedness, relatedness-sick, or the folder of a model.
    """
    pipeline = load_pipeline(model, parser, "relatedness")
    trees = None if tree is None else (given_tree(tree[0]), given_tree(tree[1]))
    result = pipeline.compare(a, b, trees=trees)
    if as_json:
        say(result.json())
        return
    console = Console(highlight=False)
    steps = len(result.probabilities)
    console.print(f"{result.score:.2f} of {pipeline.model.purpose.ratings[1]:g}")
    for place, p in enumerate(result.probabilities, 1):
        rating = pipeline.model.purpose.rating(place, steps)
        console.print(f"{rating:g} {'█' * round(40 * p)} {p:.0%}", style="dim")


def nearest(
    query: str,
    /,
    *,
    corpus: Path,
    k: Annotated[int, Parameter(name=["-k", "--k"])] = 3,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
    parser: str = "builtin",
    model: str = "relatedness",
) -> None:
    """Find the sentences of a file that are most related to a query.

    Parameters
    ----------
    query
        A sentence.
    corpus
        A text file, one sentence per line; lines without words are skipped.
    k
        How many to show.
    as_json
        Print one line of JSON per sentence.
    parser
        builtin, spacy, stanza, corenlp, or corenlp:URL.
    model
        relatedness, relatedness-sick, or the folder of a model.
    """
    from bough.formats.lines import numbered

    pipeline = load_pipeline(model, parser, "relatedness")
    lines = list(numbered(corpus, str(corpus)))
    found = pipeline.nearest(query, [line for _, line in lines], k, skip=True)
    if not found:
        raise ValueError(f"{corpus}: no sentence in it; give one per line")
    if as_json:
        for one in found:
            entry = {"text": one.text, "score": round(one.score, 4), "line": lines[one.index][0]}
            say(json.dumps(entry, ensure_ascii=False))
        return
    console = plain_console()
    for one in found:
        console.print(f"{one.score:.2f}  {one.text}")


# ------------------------------------------------------------------------------ parts


def load_pipeline(name: str, parser: str, task: str) -> Any:
    """The pipeline for a command; a ValueError where the model is for another task."""
    import bough

    use_threads()
    pipeline: SentimentPipeline | RelatednessPipeline = bough.load(name, parser=parser)
    made_for = "sentiment" if pipeline.model.purpose.classes else "relatedness"
    if made_for != task:
        raise ValueError(f"--model {name} is a model for {made_for}, not for {task}")
    return pipeline


def given_tree(argument: str) -> str:
    """A tree on the command line, or that of a file."""
    if argument.lstrip().startswith("(") or "\t" in argument:
        return argument
    path = Path(argument)
    if not os.path.isfile(argument):  # of any text, even one too long for a path
        raise ValueError(
            f"--tree {argument[:60]!r}: neither a file nor a tree; a tree is in brackets, (S (NP ...) ...)"
        )
    return text_of(path)


def text_of(path: Path) -> str:
    """A file's text, without the mark that some programs put before it."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise ValueError(f"{path}: no such file") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: byte {error.start} is not UTF-8") from None


def show(result: Sentiment, console: Console) -> None:
    """The tree in the terminal: a phrase above its parts, coloured, with its sign."""
    from rich.text import Text

    from bough.draw.palette import COLOURS, KINDS, NEUTRAL, ON, PAPER
    from bough.draw.terminal import lines

    inks = ["bold white" if on == PAPER else "black" for on in ON]
    styles = [f"{ink} on {colour}" for ink, colour in zip(inks, COLOURS, strict=True)]
    styles[NEUTRAL] = ""
    styles += [f"black on {colour}" for colour in KINDS]
    for line in lines(result):
        row = Text(no_wrap=True, overflow="ellipsis")
        row.append(line.before, style="dim")  # the branches alone: a phrase is as bright as it can be
        row.append(f"{line.sign:>2} ", style="bold")
        row.append(line.text, style=styles[line.level])
        console.print(row, no_wrap=True, overflow="ellipsis", crop=True)
    count = len(result.roots)
    score = f"{result.score:+.2f}" if result.ordered else f"{result.score:.0%}"
    whole = f"{result.label} ({score})" + (f", {count} sentences" if count > 1 else "")
    console.print(whole, style="bold")
