"""`bough score` on Ray: each part of the input is scored by one worker into one file of results.

A part's file is written whole or not at all, under a name that the input alone decides. So a worker that dies leaves
nothing, whoever does its part again writes the same bytes, and what is there need not be done again.
"""

from __future__ import annotations

import gc
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from types import ModuleType
from typing import Any, Literal

from bough.data import fingerprint
from bough.errors import FormatError
from bough.integrations.ray import filesystem as places
from bough.integrations.ray.connection import connected, processors
from bough.integrations.ray.splits import ROWS, Part, cut, records
from bough.integrations.ray.table import parquet_bytes
from bough.pipelines import NAMES as MODELS
from bough.pipelines.files import scored
from bough.pipelines.reading import groups
from bough.pipelines.relatedness import RelatednessPipeline
from bough.text import NAMES as PARSERS
from bough.version import __version__

Format = Literal["jsonl", "parquet"]
PLAN = "plan.json"
BLOCKS = 10_000  # at most so many tasks: more parts than that are done several to a task
Tell = Callable[[int, int], None]


@dataclass(frozen=True)
class Job:
    """What is done with every part."""

    out: str
    model: str
    parser: str
    brief: bool
    format: Format
    version: str = __version__


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
    tell: Tell = lambda done, total: None,
) -> int:
    """Score every row of files, folders and globs into the folder `out`, on a Ray cluster; the number of rows.

    The results are those of `bough score`, with the `file` and the `line` of each text in front; the parts, by name,
    have the order of the input. A second call goes on with the parts that are missing.

    Args:
        sources: Paths or URIs that all nodes see: one text per line, JSON lines, CSV or Parquet, told by their names.
        out: A folder, or its URI, that all nodes see; what lies in it is never input.
        address: Of the cluster, as `connected` takes it.
        model: sentiment, relatedness, or the folder of a model.
        parser: builtin, spacy, stanza, corenlp, corenlp:URL, or the folder of a trained one.
        brief: Only what is said of the whole text, not of its phrases.
        format: Of the results.
        workers: Processes of one processor and one model each; by default all processors of the cluster.
        rows: Of a part.
        tell: Hears of the rows done and of all rows.

    Examples:
        >>> import bough.integrations.ray
        >>> bough.integrations.ray.score_files(["reviews/*.csv"], "scores", workers=8)  # doctest: +SKIP
        1000000
    """
    if workers is not None and workers < 1:
        raise ValueError(f"--workers {workers}: at least 1")
    out = _absolute(out)
    files = [file for source in sources for file in _outside(out, source)]
    if not files:
        raise ValueError("no file to score; name at least one")
    model, parser = places.own_place(model, MODELS), places.own_place(parser, PARSERS)
    job = Job(out, model, parser, brief, format)
    with connected(address) as ray:
        quiet(ray)
        parts = _cut_all(ray, files, rows)
        _claim(job, files, rows, parts)
        total = sum(part.rows for part in parts)
        there = places.names_in(out)
        missing = [(n, part) for n, part in enumerate(parts) if name(n, format) not in there]
        done = total - sum(part.rows for _, part in missing)
        tell(done, total)
        for row in _scored_parts(ray, job, missing, min(workers or processors(ray), max(1, len(missing)))):
            done += row
            tell(done, total)
    if left := len({name(n, format) for n, _ in missing} - places.names_in(out)):
        raise ValueError(
            f"{left:,} parts were written to another machine's {out}; --out is a folder that all see"
        )
    # only now: another driver, or a node given up too soon, may have been writing them
    places.clear_torn(out)
    return total


def name(number: int, format: Format) -> str:
    """Of the file of a part."""
    return f"part-{number:06}.{format}"


def quiet(ray: ModuleType) -> None:
    """Ray Data shows no bars and says nothing of its plans: the caller has a bar of its own."""
    import logging

    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    context.execution_options.verbose_progress = False
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)


def _absolute(place: str) -> str:
    return place if "://" in place else os.path.abspath(place)


def _outside(out: str, source: str) -> list[places.File]:
    """The files of a source, without the results of this job: `out` may lie in a folder that is read."""
    found = places.find(source)
    within = places.parted(places.inside(out, ""))[0]
    kept = [file for file in found if not file.place.startswith(within)]
    if not kept:
        raise ValueError(f"{found[0].name} lies in {out}, where the results go; choose another --out")
    return kept


def _identity(name: str, known: Sequence[str]) -> str | list[str]:
    """The name, or what is in the folder."""
    folder = places.own_folder(name, known)
    return name if folder is None else sorted(fingerprint([folder]).values())


def _cut_all(ray: ModuleType, files: list[places.File], rows: int) -> list[Part]:
    """The parts of all files, in order; a task for each file."""
    items = [{"number": number, **asdict(file)} for number, file in enumerate(files)]
    found: list[tuple[int, Part]] = []
    dataset = ray.data.from_items(items, override_num_blocks=min(len(items), BLOCKS))
    for row in dataset.flat_map(partial(_cut_one, rows=rows), num_cpus=1).iter_rows():
        _raise(row)
        number = row.pop("number")
        row.pop("error")
        found.append((number, Part(**row)))
    return [part for _, part in sorted(found, key=lambda one: (one[0], one[1].start))]


def _cut_one(row: dict[str, Any], rows: int) -> list[dict[str, Any]]:
    number = row.pop("number")
    file = places.File(**row)
    try:
        return [{"number": number, "error": "", **asdict(part)} for part in cut(file, rows)]
    except (ValueError, OSError) as error:
        nothing = Part(file.name, file.place, 0, 0, 0, 0)
        return [{"number": number, "error": str(error), **asdict(nothing)}]


def _scored_parts(ray: ModuleType, job: Job, parts: list[tuple[int, Part]], workers: int) -> Iterator[int]:
    """The rows of each part, as it is done."""
    if not parts:
        return
    items = [{"number": number, **asdict(part)} for number, part in parts]
    dataset = ray.data.from_items(items, override_num_blocks=min(len(items), BLOCKS)).map(
        Worker,
        fn_constructor_args=(asdict(job),),
        num_cpus=1,
        compute=ray.data.ActorPoolStrategy(size=workers, max_tasks_in_flight_per_actor=2),
    )
    for row in dataset.iter_rows():
        _raise(row)
        yield row["rows"]


def _raise(row: dict[str, Any]) -> None:
    if row["error"]:
        raise ValueError(row["error"])


class Worker:
    """One process of the cluster, with one model: parts in, their files out. What is wrong is said in the row."""

    def __init__(self, job: dict[str, Any]) -> None:
        import torch

        import bough

        self.job, self.wrong = Job(**job), ""
        if self.job.version != __version__:
            self.wrong = (
                f"a node has bough {__version__}, this machine {self.job.version}; install one on all"
            )
            return
        torch.set_num_threads(1)
        try:
            self.pipeline = bough.load(self.job.model, parser=self.job.parser)
        except (ValueError, OSError) as error:
            self.wrong = str(error)
        gc.freeze()

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        """A row of a part's facts to a row of how many texts it had."""
        number = row.pop("number")
        part = Part(**row)
        try:
            if not self.wrong:
                self.score(number, part)
        except (ValueError, OSError) as error:
            return {"rows": 0, "error": " ".join(str(error).split())}
        return {"rows": part.rows, "error": self.wrong}

    def score(self, number: int, part: Part) -> None:
        """Write the file of a part."""
        pairs = isinstance(self.pipeline, RelatednessPipeline)
        lines: list[str] = []
        for group in groups(records(part, pairs=pairs)):
            lines += scored(self.pipeline, group, brief=self.job.brief)
        if len(lines) != part.rows:
            raise ValueError(f"{part.file} has changed since the run began; choose another --out")
        if self.job.format == "parquet":
            content = parquet_bytes(lines, pairs=pairs, brief=self.job.brief)
        else:
            content = "".join(f"{line}\n" for line in lines).encode()
        places.write(places.inside(self.job.out, name(number, self.job.format)), content)


def _claim(job: Job, files: list[places.File], rows: int, parts: list[Part]) -> None:
    """A folder belongs to one job; what it holds of another is never mixed with this one's."""
    facts: dict[str, Any] = {"bough": job.version, "model": _identity(job.model, MODELS)}
    facts |= {"parser": _identity(job.parser, PARSERS), "brief": job.brief}
    facts |= {"format": job.format, "rows_per_part": rows, "parts": len(parts)}
    facts |= {
        "rows": sum(part.rows for part in parts),
        "files": [list(asdict(file).values()) for file in files],
    }
    there = places.names_in(job.out)
    if PLAN in there:
        try:
            before = json.loads(places.read(places.inside(job.out, PLAN)))
        except json.JSONDecodeError:
            raise FormatError(
                "torn or no JSON; choose another --out", where=places.inside(job.out, PLAN)
            ) from None
        for key, value in facts.items():
            if before.get(key) != value:
                raise ValueError(
                    f"{job.out} was begun with other {key}; go on with the same, or choose another --out"
                )
        return
    if there:
        raise ValueError(f"{job.out} is not empty; choose another --out")
    places.write(
        places.inside(job.out, PLAN), (json.dumps(facts, indent=2, ensure_ascii=False) + "\n").encode()
    )
