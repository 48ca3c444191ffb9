"""Measure the cost of scoring on a Ray cluster, and compute it for larger clusters."""

import json
import os
import random
import statistics
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch

import bough
from benchmarks.load import cpu_seconds, family, memory, sentence
from bough.integrations.ray import score_files
from bough.integrations.ray.connection import connected, load_ray
from bough.pipelines.files import Record, scored
from bough.pipelines.readers import groups

CORES = (10, 100, 1_000)
MILLION = 1_000_000
ROWS = 1024  # rows of a part


def split_of_time(texts: list[str]) -> dict[str, float]:
    """Return microseconds of processor time per sentence for each step, on one thread."""
    pipeline = bough.load("sentiment")
    list(scored(pipeline, [Record(1, (text,), {}) for text in texts[:256]], brief=True))  # warms up
    each = dict.fromkeys(("parse", "score", "write", "phrases"), 0.0)
    # all steps of a batch in turn, so that a slow moment of the machine slows all of them
    for batch in groups(texts):
        records = [Record(1, (text,), {"text": text}) for text in batch]
        clock = [time.process_time()]
        trees = [one.tree for text in pipeline.reader.read(batch) for one in text]
        clock.append(time.process_time())
        pipeline.node_rows(trees)
        clock.append(time.process_time())
        list(scored(pipeline, records, brief=True))
        clock.append(time.process_time())
        list(scored(pipeline, records, brief=False))
        clock.append(time.process_time())
        parse, score, brief, whole = (after - before for before, after in pairwise(clock))
        for name, seconds in zip(each, (parse, score, brief - parse - score, whole - brief), strict=True):
            each[name] += seconds
    return {name: round(1e6 * seconds / len(texts), 1) for name, seconds in each.items()}


def on_ray(source: Path, out: Path, workers: int) -> dict[str, Any]:
    """Return rows per second, processor time per row of all processes, and the driver's memory.

    The rate leaves out the start of the workers, which hardly counts in a long run: it begins when
    each worker has had time to finish a part.
    """
    points: list[tuple[float, int, float, float]] = []

    def callback(done: int, *_: int) -> None:
        points.append((time.perf_counter(), done, cpu_seconds(family(os.getpid())), memory([os.getpid()])))

    started = time.perf_counter()
    score_files([str(source)], str(out), brief=True, workers=workers, rows=ROWS, callback=callback)
    seconds = time.perf_counter() - started
    steady = [point for point in points if point[1] >= 2 * workers * ROWS]
    (first, low, before, _), (last, high, after, _) = steady[0], steady[-1]
    half = len(points) // 2
    return {
        "workers": workers,
        "seconds": round(seconds, 1),
        "rows_per_second": round((high - low) / (last - first), 1),
        "processor_milliseconds_per_row": round(1e3 * (after - before) / (high - low), 3),
        "driver_mb_first_half": round(statistics.fmean(point[3] for point in points[1:half]), 1),
        "driver_mb_second_half": round(statistics.fmean(point[3] for point in points[half:]), 1),
        "load_average": round(os.getloadavg()[0], 1),
    }


def measure(lines: int, rounds: int, folder: Path) -> dict[str, Any]:
    """Return all measurements, on sentences of about a dozen words."""
    torch.set_num_threads(1)
    dice, source = random.Random(1), folder / "in.txt"
    texts = [sentence(dice) for _ in range(lines)]
    source.write_text("".join(f"{text}\n" for text in texts))
    found: dict[str, Any] = {"lines": lines, "bytes_per_line": round(source.stat().st_size / lines, 1)}
    found["processors"] = os.cpu_count()
    found["microseconds_per_sentence"] = split_of_time(texts[:8_192])
    ray = load_ray()
    with connected("local"):
        task = ray.remote(num_cpus=0)(lambda: None)  # no work, so that only Ray's own time is measured
        ray.get([task.remote() for _ in range(100)])
        started = time.process_time()
        ray.get([task.remote() for _ in range(1_000)])
        found["driver_microseconds_per_task"] = round(1e3 * (time.process_time() - started), 1)
        order = (1, 2) * rounds
        found["runs"] = [on_ray(source, folder / f"out-{i}", n) for i, n in enumerate(order)]
    rates = {n: [run["rows_per_second"] for run in found["runs"] if run["workers"] == n] for n in (1, 2)}
    found["ratio_two_to_one"] = round(statistics.fmean(rates[2]) / statistics.fmean(rates[1]), 2)
    written = sum(part.stat().st_size for part in (folder / "out-0").glob("part-*"))
    return found | {"bytes_out_per_line": round(written / lines, 1)}


def compute(measured: dict[str, Any]) -> dict[str, Any]:
    """Return the cost of a million sentences, and the rates of larger clusters."""
    each = measured["microseconds_per_sentence"]
    # microseconds per sentence, so seconds per million
    work = each["parse"] + each["score"] + each["write"]
    per_part = measured["driver_microseconds_per_task"] / 1e6
    most = ROWS / per_part  # sentences a second that one driver can hand out
    clusters = []
    for cores in CORES:
        rate = min(cores * 1e6 / work, most)
        cluster = {"cores": cores, "sentences_per_second": round(rate)}
        cluster["seconds_per_million"] = round(MILLION / rate, 1)
        cluster["driver_share"] = round(rate / ROWS * per_part, 4)
        cluster["megabytes_per_second_in"] = round(rate * measured["bytes_per_line"] / 1e6, 2)
        cluster["megabytes_per_second_out"] = round(rate * measured["bytes_out_per_line"] / 1e6, 2)
        clusters.append(cluster | {"sentences_for_90_percent": round(9 * cores * ROWS)})
    return {
        "core_seconds_per_million": round(work, 1),
        "core_seconds_per_million_with_phrases": round(work + each["phrases"], 1),
        "cores_at_which_the_driver_is_full": round(most * work / 1e6),
        "clusters": clusters,
    }


def scaling_scoring(*, lines: int = 50_000, rounds: int = 1, out: Path | None = None) -> None:
    """Measure the cost of scoring a million sentences on a Ray cluster.

    Measures parsing, scoring and writing in one process, one worker and two on the same file, the
    driver's memory, and its time for an empty task. The part `computed` depends on `measured` only.

    Parameters
    ----------
    lines
        Sentences to score.
    rounds
        Rounds of one worker, then two.
    out
        File for the figures.
    """
    if lines < 20 * ROWS:
        raise ValueError(f"--lines {lines}: at least {20 * ROWS}, so that a rate can be told")
    with tempfile.TemporaryDirectory() as folder:
        measured = measure(lines, rounds, Path(folder))
    text = json.dumps({"measured": measured, "computed": compute(measured)}, indent=2) + "\n"
    print(text, end="")
    if out is not None:
        out.write_text(text)
