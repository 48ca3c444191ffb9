"""What a million sentences cost on a Ray cluster: measured on this machine, then computed for larger ones.

    python -m benchmarks scaling_scoring --lines 50000 --out results/scaling-scoring.json

Measures, in one run: how the time of one process splits over reading, parsing, scoring and writing; `score_files` with
one worker and with two on the same file; the driver's memory meanwhile; what cutting a file and a part that is empty
cost. The part `computed` follows from `measured` alone.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch

import bough
from benchmarks.load import cpu_seconds, memory, sentence
from bough.integrations.ray import score_files
from bough.integrations.ray.connection import connected, load_ray
from bough.integrations.ray.files import ROWS, cut, find
from bough.pipelines.files import records_of, scored
from bough.pipelines.readers import groups

CORES = (10, 100, 1_000)
MILLION = 1_000_000


def write_lines(path: Path, count: int) -> None:
    """Sentences of about a dozen words."""
    dice = random.Random(1)
    path.write_text("".join(f"{sentence(dice)}\n" for _ in range(count)))


def seconds_of(work: Callable[[], Any]) -> float:
    """Processor time of this process: other work on the machine does not count."""
    started = time.process_time()
    work()
    return time.process_time() - started


def split_of_time(path: Path, lines: int) -> dict[str, float]:
    """Microseconds of processor time per sentence, by what is done with it; one process, one thread."""
    pipeline = bough.load("sentiment")
    with path.open("rb") as file:
        texts = [record["text"] for record in records_of(file, path, pairs=False)][:lines]
    batches = list(groups(texts))
    for batch in batches[:4]:
        scored(pipeline, [{"text": text} for text in batch], brief=True)
    each = dict.fromkeys(("parse", "score", "write", "phrases"), 0.0)
    for batch in batches:  # one after the other, so that a slow moment of the machine slows all of them
        records = [{"text": text} for text in batch]
        reads: list[Any] = []
        parse = seconds_of(partial(_fill, reads, pipeline.reader.read_any, batch))
        trees = [one.tree for text in reads for one in text]
        model = seconds_of(partial(pipeline.probabilities, trees))
        brief = seconds_of(partial(scored, pipeline, records, brief=True))
        whole = seconds_of(partial(scored, pipeline, records, brief=False))
        new = {"parse": parse, "score": model, "write": brief - parse - model, "phrases": whole - brief}
        each = {name: each[name] + seconds for name, seconds in new.items()}
    return {name: round(1e6 * seconds / len(texts), 1) for name, seconds in each.items()}


def _fill(found: list[Any], work: Callable[[Any], Any], what: Any) -> None:
    found.extend(work(what))


def _nothing() -> None:
    """A task without work: what is left is Ray's own."""


def on_ray(source: Path, out: Path, workers: int) -> dict[str, Any]:
    """Rows a second between the first part and the last, the processor time of all that is Ray's and ours for one of
    them (driver, raylet, workers), and the driver's memory on the way.

    A worker that starts up, and the last parts, when not all have work, are what a long run has little of; the rate is
    taken from the first moment at which every worker has had time to finish a part.
    """
    told: list[tuple[float, int, float]] = []
    sizes: list[float] = []

    def callback(done: int, total: int) -> None:
        told.append((time.perf_counter(), done, cpu_seconds(os.getpid())))
        sizes.append(memory(os.getpid()))

    started = time.perf_counter()
    score_files([str(source)], str(out), brief=True, workers=workers, callback=callback)
    seconds = time.perf_counter() - started
    steady = [point for point in told if point[1] >= 2 * workers * ROWS]
    (first, low, before), (last, high, after) = steady[0], steady[-1]
    half = len(sizes) // 2
    return {
        "workers": workers,
        "seconds": round(seconds, 1),
        "rows_per_second": round((high - low) / (last - first), 1),
        "processor_milliseconds_per_row": round(1e3 * (after - before) / (high - low), 3),
        "driver_mb_first_half": round(statistics.fmean(sizes[1:half]), 1),
        "driver_mb_second_half": round(statistics.fmean(sizes[half:]), 1),
        "load_average": round(os.getloadavg()[0], 1),
    }


def measure(lines: int, rounds: int, folder: Path) -> dict[str, Any]:
    """All that is measured."""
    torch.set_num_threads(1)
    source = folder / "in.txt"
    write_lines(source, lines)
    (file,) = find(str(source))
    cutting = seconds_of(lambda: cut(file))
    found: dict[str, Any] = {"lines": lines, "bytes_per_line": round(source.stat().st_size / lines, 1)}
    found["processors"] = os.cpu_count()
    found["microseconds_per_sentence"] = split_of_time(source, min(lines, 8_192))
    found["cut_microseconds_per_sentence"] = round(1e6 * cutting / lines, 3)
    ray = load_ray()
    with connected("local"):
        task = ray.remote(num_cpus=0)(_nothing)
        ray.get([task.remote() for _ in range(100)])
        started = time.process_time()
        ray.get([task.remote() for _ in range(1_000)])
        found["driver_microseconds_per_task"] = round(1e6 * (time.process_time() - started) / 1_000, 1)
        order = (1, 2) * rounds
        found["runs"] = [on_ray(source, folder / f"out-{i}", n) for i, n in enumerate(order)]
    rates = {n: [run["rows_per_second"] for run in found["runs"] if run["workers"] == n] for n in (1, 2)}
    found["ratio_two_to_one"] = round(statistics.fmean(rates[2]) / statistics.fmean(rates[1]), 2)
    found["bytes_out_per_line"] = round(
        sum(p.stat().st_size for p in (folder / "out-0").glob("part-*")) / lines, 1
    )
    return found


def compute(measured: dict[str, Any]) -> dict[str, Any]:
    """What follows for a million sentences, and for larger clusters."""
    each = measured["microseconds_per_sentence"]
    work = sum(each[name] for name in ("parse", "score", "write"))  # microseconds are seconds a million
    per_part = measured["driver_microseconds_per_task"] / 1e6
    most = ROWS / per_part  # sentences a second that one driver can hand out
    clusters = []
    for cores in CORES:
        rate = min(cores * 1e6 / work, most)
        clusters.append(
            {
                "cores": cores,
                "sentences_per_second": round(rate),
                "seconds_per_million": round(MILLION / rate, 1),
                "driver_share": round(rate / ROWS * per_part, 4),
                "megabytes_per_second_in": round(rate * measured["bytes_per_line"] / 1e6, 2),
                "megabytes_per_second_out": round(rate * measured["bytes_out_per_line"] / 1e6, 2),
                "sentences_for_90_percent": round(9 * cores * ROWS),
            }
        )
    return {
        "core_seconds_per_million": round(work, 1),
        "core_seconds_per_million_with_phrases": round(work + each["phrases"], 1),
        "cores_at_which_the_driver_is_full": round(most * work / 1e6),
        "clusters": clusters,
    }


def main() -> None:
    """Read the arguments, measure, compute, print."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--lines", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=1, help="of one worker, then two")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    if arguments.lines < 20 * ROWS:
        parser.error(f"--lines {arguments.lines}: at least {20 * ROWS}, so that a rate can be told")
    with tempfile.TemporaryDirectory() as folder:
        measured = measure(arguments.lines, arguments.rounds, Path(folder))
    text = json.dumps({"measured": measured, "computed": compute(measured)}, indent=2) + "\n"
    print(text, end="")
    if arguments.out is not None:
        arguments.out.write_text(text)


if __name__ == "__main__":
    main()
