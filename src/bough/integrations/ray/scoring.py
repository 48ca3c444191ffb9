"""Score files and datasets on Ray Data: a worker is a process with one model.

A part of a file becomes one file of results, written whole or not at all, under a name that the input alone decides. So
a worker that dies leaves nothing, whoever repeats its part writes the same bytes, and what is there is not repeated.
"""

from __future__ import annotations

import gc
import io
import json
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

from bough.data import fingerprint
from bough.files import remove_torn
from bough.formats.escapes import printable
from bough.integrations.ray import files
from bough.integrations.ray.connection import connected, load_ray, processors
from bough.integrations.ray.files import ROWS, File, Part
from bough.pipelines import NAMES as MODELS
from bough.pipelines.files import GIVEN, NO_PAIR, NO_TEXT, Record, results_of
from bough.pipelines.readers import AT_ONCE, groups
from bough.pipelines.relatedness import RelatednessPipeline
from bough.pipelines.results import to_json
from bough.text import NAMES as PARSERS
from bough.version import __version__

if TYPE_CHECKING:
    from ray.data import Dataset

Format = Literal["jsonl", "parquet"]
PLAN = "plan.json"
BLOCKS = 10_000  # most tasks of a job; with more parts a task does several


@dataclass(frozen=True)
class Job:
    """The settings that all parts share."""

    out: str
    model: str
    parser: str
    brief: bool
    format: Format
    version: str = __version__

    def name(self, number: int) -> str:
        """Return the name of the file of a part."""
        return f"part-{number:06}.{self.format}"


def score_files(
    sources: Sequence[str],
    out: str,
    *,
    address: str | None = None,
    model: str = "sentiment",
    parser: str = "builtin",
    brief: bool = False,
    format: Format = "jsonl",
    workers: int | None = None,
    rows: int = ROWS,
    callback: Callable[[int, int], None] = lambda done, total: None,
) -> int:
    """Score every row of files, folders and globs into the folder `out`, on a Ray cluster; return the number of rows.

    The results are those of `bough score`, with the `file` and the `line` of each text in front; the parts, by name,
    have the order of the input. A second call continues with the parts that are missing.

    Args:
        sources: Paths or URIs that all nodes see: one text per line, JSON lines, CSV or Parquet, by their suffix.
        out: A folder, or its URI, that all nodes see; its files are never input.
        address: The cluster, as `connected` takes it.
        model: sentiment, relatedness, or the folder of a model.
        parser: builtin, spacy, stanza, corenlp, corenlp:URL, or the folder of a trained one.
        brief: Only the result of the whole text, not of its phrases.
        format: The format of the results.
        workers: Processes of one processor and one model each; by default all processors of the cluster.
        rows: The rows of a part.
        callback: Gets the number of rows done and of all rows.

    Examples:
        >>> import bough.integrations.ray
        >>> bough.integrations.ray.score_files(["reviews/*.csv"], "scores", workers=8)  # doctest: +SKIP
        1000000
    """
    if workers is not None and workers < 1:
        raise ValueError(f"--workers {workers}: at least 1")
    out = out if "://" in out else os.path.abspath(out)
    found = [file for source in sources for file in _outside(out, source)]
    if not found:
        raise ValueError("no file to score; name at least one")
    job = Job(out, absolute_folder(model, MODELS), absolute_folder(parser, PARSERS), brief, format)
    with connected(address) as ray:
        parts = _cut_all(ray, found, rows)
        _claim(job, found, rows, parts)
        total = sum(part.rows for part in parts)
        there = files.names_in(out)
        missing = [(n, part) for n, part in enumerate(parts) if job.name(n) not in there]
        done = total - sum(part.rows for _, part in missing)
        callback(done, total)
        for scored in _score_parts(ray, job, missing, workers):
            done += scored
            callback(done, total)
    if left := len({job.name(n) for n, _ in missing} - files.names_in(out)):
        raise ValueError(
            f"{left:,} parts were written to another machine's {out}; --out is a folder that all see"
        )
    # only now: another driver, or a node that was given up too soon, may have been writing them
    system, path = files.filesystem(out)
    if system.type_name == "local":
        remove_torn(Path(path))
    return total


def absolute_folder(name: str, known: Sequence[str]) -> str:
    """Return the absolute path of a user's model or parser, for a process elsewhere; a known name stays as it is."""
    own = name.partition(":")[0] not in known and Path(name).is_dir()
    return os.path.abspath(name) if own else name


def _outside(out: str, source: str) -> list[File]:
    """Return the files of a source without the results of this job: `out` may be in a folder that is read."""
    found = files.find(source)
    within = files.filesystem(out)[1].rstrip("/") + "/"
    outside = [file for file in found if not file.path.startswith(within)]
    if not outside:
        raise ValueError(f"{found[0].name} lies in {out}, where the results go; choose another --out")
    return outside


def _cut_all(ray: ModuleType, found: list[File], rows: int) -> list[Part]:
    """Cut each file in a task of its own."""
    task = ray.remote(num_cpus=1)(files.cut)
    try:
        return [part for parts in ray.get([task.remote(file, rows) for file in found]) for part in parts]
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None


def _claim(job: Job, found: list[File], rows: int, parts: list[Part]) -> None:
    """Write the plan of a job into its folder; raise a ValueError if the folder belongs to another job."""
    folders = {"model": job.model, "parser": job.parser}
    facts: dict[str, Any] = {
        "bough": job.version,
        **{k: sorted(fingerprint([Path(v)]).values()) if os.path.isabs(v) else v for k, v in folders.items()},
        **{"brief": job.brief, "format": job.format, "rows_per_part": rows, "parts": len(parts)},
        "rows": sum(part.rows for part in parts),
        "files": [[file.name, file.size, file.changed] for file in found],
    }
    there = files.names_in(job.out)
    if PLAN in there:
        system, path = files.filesystem(job.out)
        with system.open_input_file(f"{path.rstrip('/')}/{PLAN}") as stream:
            before = json.loads(stream.read())
        for key, value in facts.items():
            if before.get(key) != value:
                raise ValueError(
                    f"{job.out} was begun with other {key}; continue with the same, or choose another --out"
                )
    elif there:
        raise ValueError(f"{job.out} is not empty; choose another --out")
    else:
        files.write(job.out, PLAN, (json.dumps(facts, indent=2, ensure_ascii=False) + "\n").encode())


def _score_parts(
    ray: ModuleType, job: Job, parts: list[tuple[int, Part]], workers: int | None
) -> Iterator[int]:
    """Yield the number of rows of each part as it is done."""
    if not parts:
        return
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = context.print_on_execution_start = False
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)
    pool = ray.data.ActorPoolStrategy(
        size=min(workers or processors(ray), len(parts)), max_tasks_in_flight_per_actor=2
    )
    items = [{"number": number, "part": part} for number, part in parts]
    dataset = ray.data.from_items(items, override_num_blocks=min(len(items), BLOCKS))
    for row in dataset.map(Worker, fn_constructor_args=(job,), num_cpus=1, compute=pool).iter_rows():
        if row["error"]:
            raise ValueError(row["error"])
        yield row["rows"]


class Worker:
    """One process of the cluster, with one model. It returns errors as rows, because Ray would wrap exceptions."""

    def __init__(self, job: Job) -> None:
        self.job, self.error = job, ""
        if job.version != __version__:
            self.error = f"a node has bough {__version__}, this machine {job.version}; install one on all"
            return
        try:
            self.pipeline = _load(job.model, job.parser)
        except (ValueError, OSError) as error:
            self.error = str(error)

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        """Score one part into its file; return the number of its rows, or an error."""
        try:
            if not self.error:
                self._score(row["number"], row["part"])
        except (ValueError, OSError) as error:
            return {"rows": 0, "error": " ".join(str(error).split())}
        return {"rows": row["part"].rows, "error": self.error}

    def _score(self, number: int, part: Part) -> None:
        job, pairs = self.job, isinstance(self.pipeline, RelatednessPipeline)
        rows: list[Record] = []
        for group in groups(files.records(part, pairs=pairs)):
            results = results_of(self.pipeline, group, brief=job.brief)
            rows += [record | result for record, result in zip(group, results, strict=True)]
        if len(rows) != part.rows:
            raise ValueError(f"{part.file.name} has changed since the run began; choose another --out")
        if job.format == "parquet":
            content = parquet_bytes(rows, pairs=pairs, brief=job.brief)
        else:
            content = "".join(f"{printable(to_json(row))}\n" for row in rows).encode()
        files.write(job.out, job.name(number), content)


def parquet_bytes(rows: list[Record], *, pairs: bool, brief: bool) -> bytes:
    """Return a Parquet file with the same columns for every part; `given` is JSON of all that came with the text."""
    import pyarrow as pa
    from pyarrow import parquet

    text, scores = pa.string(), {"score": pa.float64(), "probabilities": pa.list_(pa.float64())}
    columns = {"file": text, "line": pa.int64()}
    columns |= {"a": text, "b": text} if pairs else {"text": text, "label": text, "polarity": text}
    columns |= scores
    if not pairs and not brief:
        span = pa.list_(pa.int64())
        node = pa.struct({"span": span, "text": text, "label": text, **scores, "children": span})
        columns |= {"tokens": pa.list_(text), "nodes": pa.list_(node), "sentences": span}
    for row in rows:
        given = {key: value for key, value in row.items() if key not in columns and key != GIVEN}
        given |= row.get(GIVEN, {})
        row[GIVEN] = printable(to_json(given)) if given else None
    buffer = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(rows, pa.schema({**columns, GIVEN: text})), buffer)
    return buffer.getvalue()


def _load(model: str, parser: str) -> Any:
    import torch

    import bough

    torch.set_num_threads(1)
    pipeline = bough.load(model, parser=parser)
    gc.freeze()
    return pipeline


# ------------------------------------------------------------------------------ datasets


def score(
    dataset: Dataset,
    *,
    model: str = "sentiment",
    parser: str = "builtin",
    workers: int | None = None,
) -> Dataset:
    """Add the columns `label`, `polarity`, `score` and `probabilities` to a dataset; for pairs only the last two.

    The result is lazy, as all of Ray Data: nothing is computed before it is read or written. To score files once and
    resumably, see `score_files`.

    Args:
        dataset: With a column `text`, or `a` and `b` for relatedness. Other columns stay; one that is named like a
            column of the scores is a ValueError.
        model: sentiment, relatedness, or the folder of a model that all nodes see.
        parser: builtin, spacy, stanza, corenlp, corenlp:URL, or the folder of a trained one.
        workers: Processes of one processor and one model each; by default all processors of the cluster.

    Examples:
        >>> import bough.integrations.ray, ray
        >>> reviews = ray.data.from_items([{"text": "A fine film."}])  # doctest: +SKIP
        >>> bough.integrations.ray.score(reviews).take_all()[0]["label"]  # doctest: +SKIP
        'positive'
    """
    ray = load_ray()
    if workers is not None and workers < 1:
        raise ValueError(f"{workers} workers: at least 1")
    return dataset.map_batches(
        BatchScorer,
        fn_constructor_args=(absolute_folder(model, MODELS), absolute_folder(parser, PARSERS)),
        batch_size=AT_ONCE,
        batch_format="pandas",
        num_cpus=1,
        compute=ray.data.ActorPoolStrategy(size=workers or processors(ray)),
    )


class BatchScorer:
    """One process of the cluster that adds the columns of the scores to batches of a dataset."""

    def __init__(self, model: str, parser: str) -> None:
        self.pipeline = _load(model, parser)

    def __call__(self, batch: Any) -> Any:
        pairs = isinstance(self.pipeline, RelatednessPipeline)
        keys, new = (("a", "b"), NO_PAIR) if pairs else (("text",), NO_TEXT)
        if missing := [key for key in keys if key not in batch]:
            raise ValueError(f"no column {missing[0]!r}; the dataset has {', '.join(map(repr, batch))}")
        if clashing := [key for key in new if key in batch]:
            raise ValueError(f"the dataset has a column {clashing[0]!r} already; rename or drop it")
        texts = batch[list(keys)].astype(object)
        results = results_of(self.pipeline, texts.where(texts.notna(), "").to_dict("records"), brief=True)
        return batch.assign(**{key: [result[key] for result in results] for key in new})
