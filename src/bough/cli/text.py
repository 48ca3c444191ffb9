"""`bough sentiment`, `predict`, `relatedness`, `nearest`, `score` and `serve`."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import webbrowser
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter
from rich.console import Console
from rich.text import Text

from bough.cli.console import plain_console, say
from bough.cli.options import (
    SHOW,
    BalancedTrees,
    Columns,
    Device,
    Encoding,
    FileName,
    Flag,
    Json,
    PairModel,
    ParserName,
    Ray,
    ShowOptions,
    address_of,
    check_device,
    check_file_name,
    use_threads,
)
from bough.cli.progress import ProgressBars

if TYPE_CHECKING:
    from bough.pipelines import Parse, Prediction


def sentiment(*text: str, show: ShowOptions = SHOW) -> None:
    """Show the sentiment of every phrase as a coloured tree.

    Args:
        text: A text in quotes; several texts give several trees.
    """
    _predict("sentiment", text, show, 'bough sentiment "An overlong but oddly moving film."')


def predict(*text: str, model: str, show: ShowOptions = SHOW) -> None:
    """Show what your own model predicts for every phrase of a text.

    Args:
        text: A text in quotes; several texts give several trees. A model of pairs takes two texts.
            A model that was fitted on trees takes brackets or JSON.
        model: The folder of a model that `bough fit` made.
    """
    _predict(model, text, show, f'bough predict "Where is my order?" --model {model}')


def _predict(model: str, text: tuple[str, ...], show: ShowOptions, example: str) -> None:
    if not text and show.tree is None:
        raise ValueError(f"no text; try {example}")
    if show.svg is not None:
        check_picture(show.svg)
    pipeline = load_pipeline(model, show.trees or show.parser, show.device)
    if pipeline.pairs:
        if len(text) != 2 or show.tree or show.svg:
            raise ValueError(f"--model {model} is a model of pairs: give two texts, without --tree and --svg")
        _show_pair(pipeline, pipeline(*text), show.as_json)
        return
    if show.tree is not None:
        if len(text) > 1:
            raise ValueError(f"--tree goes with one text, not with {len(text)}")
        results = [pipeline(text[0] if text else None, tree=given_tree(show.tree))]
    else:
        results = pipeline(list(text))
    if show.svg is not None:
        if len(results) > 1:
            raise ValueError(f"--svg draws one text, not {len(results)}")
        from bough.files import write_text

        write_text(show.svg, results[0].svg())
    if show.as_json:
        for result in results:
            say(result.json())
        return
    console = Console(highlight=False, markup=False, emoji=False)
    for result in results:
        show_tree(result, console)
    if show.svg is not None:
        console.print(f"picture: {show.svg}", style="dim")


def parse(
    *text: FileName,
    file: Annotated[list[str], Parameter(negative="", allow_leading_hyphen=True, show_default=False)] = [],  # noqa: B006
    ptb: Flag = False,
    conllu: Flag = False,
    as_json: Json = False,
    svg: Path | None = None,
    parser: ParserName = "builtin",
    encoding: Encoding = None,
) -> None:
    """Show every sentence as a tree of phrases and as dependencies.

    Args:
        text: A text in quotes, or - for standard input with one text per line.
        file: A file with one text per line; repeat it for several files.
        ptb: Print the trees of phrases in brackets (Penn Treebank), a sentence per line.
        conllu: Print the dependencies as CoNLL-U.
        as_json: Print one line of JSON per text.
        svg: Write the picture of one text to this .svg file.
    """
    if mistyped := [item for item in text if item.startswith("-") and item != "-" and " " not in item]:
        raise ValueError(f"{mistyped[0]}: unknown option")
    if not text and not file:
        raise ValueError('no text; try bough parse "The cat climbs a tree."')
    if ptb + conllu + as_json > 1:
        raise ValueError("--ptb, --conllu and --json: choose one")
    if svg is not None:
        check_picture(svg)
        if len(text) != 1 or text[0] == "-" or file:
            raise ValueError("--svg draws one text; give it in quotes")
    from bough.pipelines import ParserPipeline

    use_threads()
    console = plain_console()
    for result in ParserPipeline(parser).stream(_texts(text, file, encoding)):
        if svg is not None:
            from bough.files import write_text

            write_text(svg, result.svg())
        if as_json:
            say(result.json())
        elif not result.sentences:
            continue  # a blank line
        elif ptb:
            say(result.ptb())
        elif conllu:
            say(result.conllu().removesuffix("\n"))
        else:
            show_parse(result, console)
    if svg is not None and not (ptb or conllu or as_json):
        console.print(f"picture: {svg}", style="dim")


def _texts(given: Sequence[str], files: Sequence[str], encoding: str | None) -> Iterator[str]:
    """Yield texts, with the lines of standard input for "-", and then those of files."""
    from bough.formats.lines import numbered
    from bough.pipelines.files import open_source

    for text in given:
        if text != "-":
            yield text
    for file in [*(text for text in given if text == "-"), *files]:
        with open_source(file) as stream:
            yield from (line for _, line in numbered(stream, file, encoding=encoding))


def check_picture(svg: Path) -> None:
    """Raise a ValueError unless the name of a picture ends in .svg."""
    if svg.suffix.lower() != ".svg":
        right = svg.with_suffix(".svg")
        raise ValueError(f"--svg {svg}: the picture is in SVG format; name the file {right}")


def show_parse(result: Parse, console: Console) -> None:
    """Print the trees of each sentence: a phrase above its parts, and a head above its dependents."""
    from bough.draw import branches

    for sentence in result.sentences:
        tokens, phrases, dependencies = sentence
        if phrases is not None:
            covered = [(tokens[start].start, tokens[end - 1].end) for start, end in sentence.spans]
            console.print(
                *branches(phrases, [result.text[start:end] for start, end in covered]), "", sep="\n"
            )
        if dependencies is not None:
            relations = dependencies.relations or [""] * len(tokens)
            names = [f"{token.text} {relation}" for token, relation in zip(tokens, relations, strict=True)]
            console.print(*branches(dependencies, names), "", sep="\n")


def relatedness(
    a: str,
    b: str,
    /,
    *,
    tree: Annotated[tuple[str, str] | None, Parameter(consume_multiple=True, negative="")] = None,
    as_json: Json = False,
    parser: ParserName = "builtin",
    model: PairModel = "relatedness",
    device: Device = "cpu",
) -> None:
    """Rate how related two sentences are, from 1 to 5.

    1 means unrelated, 5 the same.

    Args:
        a: The first sentence.
        b: The second sentence.
        tree: Your own trees for the two sentences, as CoNLL-U text or files.
        as_json: Print one line of JSON.
    """
    pipeline = load_pipeline(model, parser, device, ratings=True)
    trees = None if tree is None else (given_tree(tree[0]), given_tree(tree[1]))
    _show_pair(pipeline, pipeline(a, b, trees=trees), as_json)


def _show_pair(pipeline: Any, result: Any, as_json: bool) -> None:
    """Print the rating or the class of a pair, and the probabilities, if the model has them."""
    if as_json:
        say(result.json())
        return
    console = plain_console()
    console.print(result.label)
    width = max(map(len, result.probabilities), default=0)
    for name, p in result.probabilities.items():
        console.print(f"{name:{width}} {'█' * round(40 * p)} {p:.0%}", style="dim")


def nearest(
    query: str,
    /,
    *,
    corpus: FileName,
    text: Columns = [],  # noqa: B006
    k: Annotated[int, Parameter(name=["-k", "--k"])] = 3,
    as_json: Json = False,
    parser: ParserName = "builtin",
    model: PairModel = "relatedness",
    device: Device = "cpu",
    encoding: Encoding = None,
) -> None:
    """Find the sentences of a file that are most related to a query.

    Args:
        query: A sentence.
        corpus: A text file with one sentence per line, a table (CSV, TSV, JSON lines, Parquet), or
            - for standard input. Rows without words are skipped.
        text: The column of the sentences. Default: a column with a usual name.
        k: Number of sentences to show.
        as_json: Print one line of JSON per sentence, with the other columns of its row.
    """
    from bough.pipelines.files import Layout, open_source, records_of
    from bough.pipelines.prediction import to_json

    check_file_name(corpus)
    pipeline = load_pipeline(model, parser, device, ratings=True)
    with open_source(corpus) as stream:
        layout = Layout(False, tuple(text), (), frozenset({"score", "line"}), encoding=encoding)
        records = list(records_of(stream, corpus, layout))
    found = pipeline.nearest(query, [record.texts[0] for record in records], k, skip=True)
    if not found:
        raise ValueError(f"{corpus}: no sentences; give one per line")
    console = plain_console()
    for one in found:
        record = records[one.index]
        if as_json:
            say(to_json({**record.row, "score": round(one.score, 4), "line": record.line}))
        else:
            console.print(f"{one.score:.2f}  {one.text}")
    if not as_json and any(one.score < other.score for one, other in pairwise(found)):
        console.print("best first", style="dim")


def score(
    *files: FileName,
    text: Columns = [],  # noqa: B006
    model: str = "sentiment",
    out: str | None = None,
    resume: Flag = False,
    brief: Flag = False,
    parser: ParserName = "builtin",
    trees: BalancedTrees = None,
    batch_size: int = 256,
    device: Device = "cpu",
    encoding: Encoding = None,
    ray: Ray = None,
    workers: int | None = None,
) -> None:
    """Score every row of a file in order, one line of JSON per row.

    Args:
        files: A file with one text per line, or a table: CSV, TSV, JSON lines (.jsonl) or Parquet,
            whose columns are kept beside the results. Pairs are two columns, or two texts separated
            by a tab. - is standard input. With --ray several files, folders or globs.
        text: The column of the texts; repeat it for pairs. Default: that of the training file, or
            one with a usual name.
        model: sentiment, relatedness, or the folder of a model.
        out: File for the results. Default: print them. With --ray a folder, or its URL, that all nodes see.
        resume: Continue --out after an interrupted run; with --ray a second start always continues.
        brief: Write only the result of the whole text, not of its phrases.
        batch_size: Number of texts that are parsed and scored together.
        ray: Use the Ray cluster at this address. Default: RAY_ADDRESS, else the processors of this machine.
        workers: With --ray: number of processes, with one model each. Default: one per processor.
    """
    if not files:
        raise ValueError("no file to score; name one, or - for standard input, before --ray")
    for file in files:
        check_file_name(file)
    parser = trees or parser
    if ray is None:
        if len(files) > 1 or workers is not None:
            what = "--workers" if workers is not None else f"{len(files)} files"
            raise ValueError(f"{what}: only with --ray; without it, one file is scored at a time")
        if resume and (out is None or files[0] == "-"):
            raise ValueError("--resume continues a file of results; it needs an input file and --out")
        if out is not None and Path(out).suffix.lower() in (".csv", ".tsv", ".parquet"):
            right = Path(out).with_suffix(".jsonl")
            raise ValueError(f"--out {out}: the results are JSON lines; name the file {right}")
        options = {"name": model, "parser": parser, "device": device, "batch_size": batch_size}
        _score_here(files[0], out, resume, brief, text, encoding, **options)
        return
    if out is None:
        raise ValueError("--ray writes its results into a folder; name it with --out")
    if workers is not None and workers < 1:
        raise ValueError(f"--workers {workers}: at least 1")
    if device != "cpu" or batch_size != 256:
        raise ValueError("--device, --batch-size: not with --ray, which uses one processor per worker")
    from bough.integrations.ray import score_files

    with ProgressBars(Console(stderr=True)) as bars:
        options = {"model": model, "parser": parser, "text": text, "brief": brief, "workers": workers}
        options["encoding"] = encoding
        done = score_files(files, out, address=address_of(ray), callback=bars.rows("scoring"), **options)  # type: ignore[arg-type]
    plain_console(stderr=True).print(f"{done:,} lines in {out}")


def _score_here(
    file: str,
    out: str | None,
    resume: bool,
    brief: bool,
    text: list[str],
    encoding: str | None,
    **options: Any,
) -> None:
    """Score one file in this process; `options` are those of `bough.load`."""
    import bough
    from bough.pipelines.files import open_source, score_file, scored_lines

    use_threads()
    check_device(options["device"])
    rows: dict[str, Any] = {"text": text, "brief": brief, "encoding": encoding}
    with open_source(file) as stream:
        pipeline = bough.load(**options)
        # Reference counting frees the results of a batch. Garbage collection would find nothing more, and took 7% of
        # the time.
        gc.freeze()
        gc.set_threshold(500_000)
        if out is None:
            for lines in scored_lines(pipeline, stream, file, **rows):
                sys.stdout.buffer.write(b"".join(lines))
                sys.stdout.buffer.flush()
            return
        total = None if file == "-" else Path(file).stat().st_size
        with ProgressBars(Console(stderr=True)) as bars:
            rows |= {"resume": resume, "callback": bars.rows("scoring", total)}
            done = score_file(pipeline, file, Path(out), **rows)
    plain_console(stderr=True).print(f"{done:,} lines in {out}")


def serve(
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    model: str | None = None,
    workers: int = 1,
    device: Device = "cpu",
    allow_host: Columns = [],  # noqa: B006
    browser: Annotated[bool, Parameter(name="--open", negative="", show_default=False)] = False,
) -> None:
    """Serve a page that shows the trees, and an API in JSON.

    Args:
        host: The address to listen on. By default only this machine can connect.
        port: The port; 0 selects a free one.
        model: The folder of your own model. It replaces sentiment, or relatedness if it is a model of pairs.
        workers: Number of processes that share the port, each with its own models; more than one
            per processor is no faster.
        allow_host: A name by which the server is reached, such as that of this machine in your network. Requests
            to other names than localhost are refused; addresses are allowed. Can be repeated.
        browser: Open the page in the browser.
    """
    try:
        import fastapi  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise ValueError(f'bough serve needs {error.name}: pip install "bough[serve]"') from None
    from bough.serve.server import serve as run

    use_threads()
    check_device(device)

    def announce(address: str) -> None:
        print(f"bough: {address}  (the API: {address}/docs; stop with Ctrl-C)", flush=True)  # noqa: T201
        if browser:
            webbrowser.open(address)

    with contextlib.suppress(KeyboardInterrupt):  # Ctrl-C is how the server is stopped
        run(
            host,
            port,
            callback=announce,
            model=model,
            workers=workers,
            device=device,
            hosts=allow_host,
        )


def load_pipeline(name: str, parser: str, device: str = "cpu", *, ratings: bool = False) -> Any:
    """Load the pipeline for a command; with `ratings` refuse a model of another kind."""
    import bough

    use_threads()
    check_device(device)
    pipeline = bough.load(name, parser=parser, device=device)
    output = pipeline.model.output
    if ratings and not (pipeline.pairs and output.rates):
        of = "pairs" if pipeline.pairs else "single texts"
        raise ValueError(
            f"--model {name} predicts {output.kind} of {of}; this command needs one that rates pairs"
        )
    return pipeline


def given_tree(argument: str) -> str:
    """Return the tree that an argument is, or that is in the file that it names."""
    if argument.lstrip().startswith("(") or "\t" in argument:
        return argument
    if not os.path.isfile(argument):  # unlike Path.is_file, it accepts any length
        bad = f"--tree {argument[:60]!r}: neither a file nor a tree"
        raise ValueError(f"{bad}; write a tree in brackets, (S (NP ...) ...)")
    return text_of(Path(argument))


def text_of(path: Path) -> str:
    """Return a file's text, without a byte order mark."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise ValueError(f"{path}: no such file") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: byte {error.start} is not UTF-8") from None


def show_tree(result: Prediction, console: Console) -> None:
    """Print the tree: each phrase above its parts, with its sign, in the colour of its class."""
    from bough.draw.palette import COLOURS, KINDS, NEUTRAL, ON, PAPER
    from bough.draw.terminal import lines

    inks = ["bold white" if on == PAPER else "black" for on in ON]
    styles = [f"{ink} on {colour}" for ink, colour in zip(inks, COLOURS, strict=True)]
    styles[NEUTRAL] = ""
    styles += [f"black on {colour}" for colour in KINDS]
    for line in lines(result):
        row = Text(no_wrap=True, overflow="ellipsis")
        row.append(line.before, style="dim")  # only the branches are dim
        row.append(f"{line.sign:>2} ", style="bold")
        row.append(line.text, style=styles[line.level])
        console.print(row, no_wrap=True, overflow="ellipsis", crop=True)
    whole = result.label
    if result.output.exclusive:
        whole += f" ({result.score:+.2f})" if result.ordered else f" ({result.score:.0%})"
    whole += f", {len(result.roots)} sentences" if len(result.roots) > 1 else ""
    console.print(whole, style="bold")
