"""Score files and datasets on Ray Data: a worker is a process with one model.

Tasks read the files into parts with a fixed number of rows. Each part becomes one file of results,
which is written whole or not at all, and whose name depends on the input alone. So a worker that
dies leaves nothing behind, another worker repeats its part with the same bytes, and finished parts
are skipped.
"""

from __future__ import annotations

import json
import logging
import os
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import fsspec

from bough.data import fingerprint
from bough.errors import FormatError
from bough.files import is_partial, remove_partial, replacing
from bough.formats.lines import parse_json
from bough.integrations.ray.connection import connected, load_ray, processors
from bough.pipelines import NAMES as MODELS
from bough.pipelines import AnyPipeline, load
from bough.pipelines.files import Layout, Record, layout_of, no_result, records_of, scored
from bough.pipelines.prediction import to_json
from bough.pipelines.readers import AT_ONCE, groups
from bough.text import NAMES as PARSERS
from bough.version import __version__

if TYPE_CHECKING:
    from ray.data import Dataset

PLAN = "plan.json"
Row = dict[str, Any]  # a file or a part, as Ray Data passes it from task to task
ROWS = 4 * AT_ONCE  # rows of a part: some seconds of work, which a killed worker loses


class Job(NamedTuple):
    """The settings that all parts share."""

    out: str
    model: str
    parser: str
    layout: Layout
    brief: bool
    rows: int
    version: str = __version__


def score_files(
    sources: Sequence[str],
    out: str,
    *,
    address: str | None = None,
    model: str = "sentiment",
    parser: str = "builtin",
    text: Sequence[str] = (),
    brief: bool = False,
    encoding: str | None = None,
    workers: int | None = None,
    rows: int = ROWS,
    callback: Callable[[int], None] = lambda done: None,
) -> int:
    """Score every row of files, folders and globs into the folder `out`, on a Ray cluster; return the number of rows.

    The results are those of `bough score`, with the `file` and the `line` of each text in front.
    The parts, sorted by name, are in the order of the input. A second call continues with the
    missing parts.

    Args:
        sources: Paths, or URLs that fsspec supports, that all nodes see. The suffix tells the
            format: JSON lines, CSV, TSV or Parquet; any other file has one text per line.
        out: A folder, or its URL, that all nodes see; its files are never input.
        address: The cluster, as `connected` takes it.
        model: sentiment, relatedness, or the folder of a model.
        parser: builtin, spacy, stanza, corenlp, corenlp:URL, or the folder of a trained one.
        text: The column of the texts, two for pairs. Default: that of the training file, or one with a usual name.
        brief: Write only the result of the whole text, not of its phrases.
        encoding: The encoding of the files. Default: that of their byte order mark, else UTF-8.
        workers: The number of processes, with one processor and one model each. Default: all processors of the cluster.
        rows: The number of rows of a part.
        callback: Called with the number of rows done.

    Examples:
        >>> import bough.integrations.ray
        >>> bough.integrations.ray.score_files(["reviews/*.csv"], "scores", workers=8)  # doctest: +SKIP
        1000000
    """
    out = out if "://" in out else os.path.abspath(out)
    files = find(sources, out)
    model, parser = absolute_folder(model, MODELS), absolute_folder(parser, PARSERS)
    layout = layout_of(load(model, parser=parser), text, own=("file", "line"), encoding=encoding)
    job = Job(out, model, parser, layout, brief, rows)
    with connected(address) as ray:
        claim(job, files)
        done, names = 0, set[str]()
        for row in _score_parts(ray, job, files, workers):
            if row["error"]:
                raise ValueError(row["error"])
            done += row["rows"]
            names.add(row["name"])
            callback(done)
    if left := len(names - names_in(out)):
        raise ValueError(f"{left:,} parts are not in {out}; it has to be a folder that all nodes see")
    # only now: another driver, or a node that seemed to be lost, may have been writing them
    if Path(out).is_dir():
        remove_partial(Path(out))
    return done


def absolute_folder(name: str, known: Sequence[str]) -> str:
    """Return the absolute path of a user's model or parser, or a known name unchanged."""
    users = name.partition(":")[0] not in known and Path(name).is_dir()
    return os.path.abspath(name) if users else name


def find(sources: Sequence[str], out: str) -> list[dict[str, Any]]:
    """Return the files of paths, folders and globs, each source sorted by name, without those in the folder `out`.

    Each file has a key that changes with its content. Names that begin with a dot or an underscore are left out.
    """
    if not sources:
        raise ValueError("no file to score; name at least one")
    files = list[dict[str, Any]]()
    for source in sources:
        try:
            system, path = fsspec.core.url_to_fs(source)
            within = fsspec.core.url_to_fs(out)[1].rstrip("/") + "/"
        except (ImportError, ValueError) as error:
            raise ValueError(f"{source}: {' '.join(str(error).split())[:200]}") from None
        wild = re.search(r"[*?]", path)
        root = path[: wild.start()].rpartition("/")[0] if wild else path
        listed = system.glob(path, detail=True) if wild else system.find(path, detail=True)
        sizes = {name: info["size"] for name, info in sorted(listed.items()) if info["type"] == "file"}
        names = [name for name in sizes if not re.search(r"/[._]", name[len(root) :])]
        if not names:
            raise FormatError("there is no such file", where=source)
        names = [name for name in names if not name.startswith(within)]
        if not names:
            raise ValueError(f"{source} lies in {out}, where the results go; choose another folder for them")
        for name in names:
            shown = name if os.path.isabs(source) else os.path.relpath(name)
            url = system.unstrip_protocol(name)
            file = {"number": len(files), "name": url if "://" in source else shown, "url": url}
            files.append({**file, "size": sizes[name], "key": system.ukey(name)})
    return files


def names_in(folder: str) -> set[str]:
    """Return the names in a folder, which may not exist yet, without partial files."""
    system, path = fsspec.core.url_to_fs(folder)
    names = [name.rpartition("/")[2] for name in system.find(path)] if system.exists(path) else []
    return {name for name in names if not is_partial(name)}


def write(folder: str, name: str, content: bytes) -> None:
    """Write a file whole or not at all: locally by a rename; object stores do so themselves."""
    system, path = fsspec.core.url_to_fs(folder)
    if "file" in system.protocol:
        with replacing(Path(path, name)) as temporary:
            temporary.write_bytes(content)
    else:
        system.pipe_file(f"{path}/{name}", content)


def claim(job: Job, files: Sequence[dict[str, Any]]) -> None:
    """Write the plan of a job into its folder. Raise a ValueError if it belongs to another job."""
    facts: Row = {"bough": job.version}
    for key, name in (("model", job.model), ("parser", job.parser)):
        facts[key] = sorted(fingerprint([Path(name)]).values()) if os.path.isabs(name) else name
    facts |= {"text": list(job.layout.text), "brief": job.brief, "rows_per_part": job.rows}
    if job.layout.encoding is not None:
        facts["encoding"] = job.layout.encoding
    facts["files"] = [[file["name"], file["size"], file["key"]] for file in files]
    there = names_in(job.out)
    if PLAN in there:
        system, path = fsspec.core.url_to_fs(job.out)
        before = json.loads(system.cat_file(f"{path}/{PLAN}"))
        if changed := [key for key in facts if before.get(key) != facts[key]]:
            raise ValueError(f"{job.out} was begun with other {changed[0]}; choose another folder")
    elif there:
        raise ValueError(f"{job.out} is not empty; choose another folder for the results")
    else:
        write(job.out, PLAN, (json.dumps(facts, indent=2, ensure_ascii=False) + "\n").encode())


def _score_parts(ray: ModuleType, job: Job, files: Sequence[Row], workers: int | None) -> Iterator[Row]:
    """Yield the name and the number of rows of each part as it is done."""
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)
    warnings.filterwarnings("ignore", "The minimum number of concurrent actors")  # few parts
    context = ray.data.DataContext.get_current()
    before = context.target_max_block_size
    context.enable_progress_bars = context.print_on_execution_start = False
    context.target_max_block_size = 1  # a part is a block, which any worker may take
    try:
        dataset = ray.data.from_items(list(files), override_num_blocks=len(files))
        pool = ray.data.ActorPoolStrategy(size=workers or processors(ray), max_tasks_in_flight_per_actor=2)
        # reading takes hardly any time, and must not wait for a processor that a worker holds
        parts = dataset.flat_map(partial(read_parts, job=job, there=names_in(job.out)), num_cpus=0)
        yield from parts.map(Worker, fn_constructor_args=(job,), num_cpus=1, compute=pool).iter_rows()
    finally:
        context.target_max_block_size = before


def read_parts(file: dict[str, Any], job: Job, there: set[str]) -> Iterator[dict[str, Any]]:
    """Yield the parts of a file, each with its records as JSON, or without them if its results exist.

    An error is yielded as a row, because Ray would wrap an exception.
    """
    try:
        system, path = fsspec.core.url_to_fs(file["url"])
        if system.size(path) != file["size"]:
            raise ValueError(f"{file['name']} has changed since the run began; choose another folder")
        with system.open(path, "rb") as stream:
            records, number = records_of(stream, file["name"], job.layout), 0
            while part := list(islice(records, job.rows)):
                name = f"part-{file['number']:05}-{number:06}.jsonl"
                content = "" if name in there else to_json([file["name"], part])
                yield {"name": name, "rows": len(part), "records": content, "error": ""}
                number += 1
    except (ValueError, OSError) as error:
        yield {"name": "", "rows": 0, "records": "", "error": " ".join(str(error).split())}


class Worker:
    """A process of the cluster, with one model. It returns errors, since Ray wraps exceptions."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.pipeline: AnyPipeline | None = None

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        """Score one part into its file; return its name and the number of its rows, or an error."""
        job, error = self.job, row["error"]
        try:
            if job.version != __version__:
                raise ValueError(f"a node has bough {__version__}, not {job.version}; use one version")
            if row["records"]:
                self.pipeline = self.pipeline or load(job.model, parser=job.parser)
                file, rows = parse_json(row["records"])
                records = (Record(line, tuple(texts), cells, names) for line, texts, cells, names in rows)
                lines = list[str]()
                for group in groups(records):
                    results = scored(self.pipeline, group, brief=job.brief, source=file)
                    for record, result in zip(group, results, strict=True):
                        lines.append(to_json({"file": file, "line": record.line, **result}))
                write(job.out, row["name"], "".join(f"{line}\n" for line in lines).encode())
        except (ValueError, OSError) as wrong:
            error = " ".join(str(wrong).split())
        return {"name": row["name"], "rows": row["rows"], "error": error}


def score(
    dataset: Dataset, *, model: str = "sentiment", parser: str = "builtin", workers: int | None = None
) -> Dataset:
    """Add the predictions to a dataset: for sentiment `label`, `polarity`, `score` and `probabilities`.

    The result is lazy: Ray Data computes it when it is read or written. To score files once and
    resumably, see `score_files`.

    Args:
        dataset: A dataset with a column `text`, or `a` and `b` for pairs. Other columns are kept;
            one that has the name of a new column raises a ValueError.
        model: sentiment, relatedness, or the folder of a model.
        parser: The name of a parser, or the folder of a trained one.
        workers: The number of processes.

    Examples:
        >>> import bough.integrations.ray, ray
        >>> reviews = ray.data.from_items([{"text": "A fine film."}])  # doctest: +SKIP
        >>> bough.integrations.ray.score(reviews).take_all()[0]["label"]  # doctest: +SKIP
        'positive'
    """
    ray = load_ray()
    folders = absolute_folder(model, MODELS), absolute_folder(parser, PARSERS)
    pool = ray.data.ActorPoolStrategy(size=workers or processors(ray))
    batches = {"batch_size": AT_ONCE, "batch_format": "pandas", "num_cpus": 1, "compute": pool}
    return dataset.map_batches(BatchScorer, fn_constructor_args=folders, **batches)


class BatchScorer:
    """One process of the cluster, which adds the columns of the scores to batches of a dataset."""

    def __init__(self, model: str, parser: str) -> None:
        self.pipeline = load(model, parser=parser)

    def __call__(self, batch: Any) -> Any:
        keys = ["a", "b"] if self.pipeline.pairs else ["text"]
        new = list(no_result(self.pipeline, brief=True))
        if missing := [key for key in keys if key not in batch]:
            raise ValueError(f"no column {missing[0]!r}; the dataset has {', '.join(map(repr, batch))}")
        if clashing := [key for key in new if key in batch]:
            raise ValueError(f"the dataset has a column {clashing[0]!r} already; rename or drop it")
        cells = batch[keys].astype(object)
        texts = cells.where(cells.notna(), "").itertuples(index=False, name=None)
        results = list(scored(self.pipeline, [Record(0, row, {}) for row in texts], brief=True))
        return batch.assign(**{key: [result[key] for result in results] for key in new})
