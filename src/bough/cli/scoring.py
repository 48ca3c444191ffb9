"""`bough score` and `bough serve`."""

from __future__ import annotations

import contextlib
import gc
import sys
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from rich.console import Console

from bough.cli.console import plain_console
from bough.cli.options import Columns, Device, Flag, ParserName, Ray, address_of, check_device, use_threads
from bough.cli.progress import ProgressBars


def score(
    *files: str,
    text: Columns = [],  # noqa: B006
    model: str = "sentiment",
    out: str | None = None,
    resume: Flag = False,
    brief: Flag = False,
    parser: ParserName = "builtin",
    batch_size: int = 256,
    device: Device = "cpu",
    ray: Ray = None,
    workers: int | None = None,
) -> None:
    """Score every row of a file in order, one line of JSON per row.

    Args:
        files: A file with one text per line, or a table: CSV, TSV, JSON lines (.jsonl) or Parquet, whose
            columns are kept beside the results. Pairs are two columns, or two texts separated by a tab. - is
            standard input. With --ray several files, folders or globs.
        text: The column of the texts; repeat it for pairs. Default: that of the training file, or one with a
            usual name.
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
    if ray is None:
        if len(files) > 1 or workers is not None:
            what = "--workers" if workers is not None else f"{len(files)} files"
            raise ValueError(f"{what}: only with --ray; without it, one file is scored at a time")
        if resume and (out is None or files[0] == "-"):
            raise ValueError("--resume continues a file of results; it needs an input file and --out")
        options = {"name": model, "parser": parser, "device": device, "batch_size": batch_size}
        _score_here(files[0], out, resume, brief, text, **options)
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
        done = score_files(files, out, address=address_of(ray), callback=bars.rows("scoring"), **options)  # type: ignore[arg-type]
    plain_console(stderr=True).print(f"{done:,} lines in {out}")


def _score_here(
    file: str, out: str | None, resume: bool, brief: bool, text: list[str], **options: Any
) -> None:
    """Score one file in this process; `options` are those of `bough.load`."""
    import bough
    from bough.pipelines.files import open_source, score_file, scored_lines

    use_threads()
    check_device(options["device"])
    with open_source(file) as stream:
        pipeline = bough.load(**options)
        # Reference counting frees the results of a batch. Garbage collection would find nothing more, and took 7% of
        # the time.
        gc.freeze()
        gc.set_threshold(500_000)
        if out is None:
            for lines in scored_lines(pipeline, stream, file, text=text, brief=brief):
                sys.stdout.buffer.write(b"".join(lines))
                sys.stdout.buffer.flush()
            return
        total = None if file == "-" else Path(file).stat().st_size
        with ProgressBars(Console(stderr=True)) as bars:
            rows = bars.rows("scoring", total)
            done = score_file(pipeline, file, Path(out), text=text, resume=resume, brief=brief, callback=rows)
    plain_console(stderr=True).print(f"{done:,} lines in {out}")


def serve(
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    model: str | None = None,
    workers: int = 1,
    browser: Annotated[bool, Parameter(name="--open", negative="", show_default=False)] = False,
) -> None:
    """Serve a page that shows the trees, and an API in JSON.

    Args:
        host: The address to listen on. By default only this machine can connect.
        port: The port; 0 selects a free one.
        model: The folder of your own model. It replaces sentiment, or relatedness if it is a model of pairs.
        workers: Number of processes that share the port, each with its own models; more than one per
            processor is no faster.
        browser: Open the page in the browser.
    """
    try:
        import fastapi  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise ValueError(f'bough serve needs {error.name}: pip install "bough[serve]"') from None
    from bough.serve.server import serve as run

    use_threads()

    def announce(address: str) -> None:
        print(f"bough: {address}  (the API: {address}/docs; stop with Ctrl-C)", flush=True)  # noqa: T201
        if browser:
            import webbrowser

            webbrowser.open(address)

    with contextlib.suppress(KeyboardInterrupt):  # Ctrl-C is how the server is stopped
        run(host, port, callback=announce, model=model, workers=workers)
