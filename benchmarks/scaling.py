"""Measure training with one rank and two, and compute the cost with more ranks from that."""

import json
import os
import platform
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
import torch.distributed as dist
from cyclopts import Parameter

from benchmarks.corpora import sst_shaped
from benchmarks.steps import WholeStep
from bough.train.distributed import Ranks, joined

ROOT = Path(__file__).parents[1]
FACTS, PAGE = ROOT / "docs" / "scaling.json", ROOT / "docs" / "scaling.md"
RECIPE = "sst5-constituency-tuned"
STEPS = {25: 60, 100: 40, 500: 40}  # trees in a batch: rounds
SHARES = {25: (1, 2, 5, 10, 25), 500: (1, 2, 5, 10, 20, 50, 100, 200, 500)}
SHARES[5000] = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000)
CORES = (1, 10, 100, 1000)


def as_rank(data: Path | None) -> None:
    """Measure as one of the two ranks; the first prints the measurements as JSON."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    with joined() as ranks:
        corpus = sst_shaped(data, 8544)
        system = WholeStep(RECIPE, corpus)
        nodes = system.task.sizes(system.examples)
        machine = f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores"
        facts: dict[str, Any] = {"recipe": RECIPE, "trees": corpus.source, "machine": machine}
        facts |= {"nodes per tree": float(nodes.mean()), "torch": torch.__version__}
        facts["load before"] = os.getloadavg()[0]
        facts["steps"] = {trees: step_times(system, nodes, ranks, trees, n) for trees, n in STEPS.items()}
        weights = sum(p.numel() for p in system.model.parameters())
        rows, width = max(ranks.each(rows_of(system))), system.model.table.shape[1]
        facts["row count"] = rows
        sizes = {"latency": 1, "weights": weights, "rows": rows * (width + 2)}
        facts["messages"] = {n: {"bytes": 4 * size} | message_times(size) for n, size in sizes.items()}
        if ranks.first:
            facts["shares"] = {
                trees: {count: share_cost(system, nodes, trees, count) for count in counts}
                for trees, counts in SHARES.items()
            }
            print(json.dumps(facts | {"load after": os.getloadavg()[0]}))
        dist.barrier()


def rows_of(system: WholeStep) -> int:
    """Return the number of rows of the word table in the last gradient."""
    return len(system.model.table.grad.coalesce().indices()[0])  # type: ignore[union-attr]


def step_times(system: WholeStep, nodes: Any, ranks: Ranks, trees: int, rounds: int) -> dict[str, Any]:
    """Return the best wall-clock and processor seconds of a step, with one rank and two in turn."""
    found: dict[str, list[tuple[float, float]]] = {"1": [], "2": []}
    for turn in range(-1, rounds):  # turn -1 warms up
        first = (turn + 1) * trees % (len(nodes) - trees)
        for name, those in (("1", Ranks()), ("2", ranks)):
            dist.barrier()
            if name == "1" and not ranks.first:
                continue
            started, busy = time.perf_counter(), time.process_time()
            system.optimizer.zero_grad()
            part = slice(first, first + trees)
            those.loss(system.task, system.model, system.examples[part], nodes[part], system.rng)
            system.optimizer.step()
            if turn >= 0:
                found[name].append((time.perf_counter() - started, time.process_time() - busy))
    best = {count: np.min(times or [(0.0, 0.0)], axis=0).tolist() for count, times in found.items()}
    names = ("seconds", "processor seconds")
    return {name: {count: best[count][place] for count in best} for place, name in enumerate(names)}


def message_times(size: int, rounds: int = 30) -> dict[str, float]:
    """Return the best seconds of an all-reduce and of an all-gather of `size` numbers."""
    buffer, parts = torch.zeros(size), [torch.zeros(size) for _ in range(2)]
    found: dict[str, list[float]] = {"reduce": [], "gather": []}
    for _ in range(rounds):
        for name, taken in found.items():
            dist.barrier()
            started = time.perf_counter()
            if name == "reduce":
                dist.all_reduce(buffer)
            else:
                dist.all_gather(parts, buffer)
            taken.append(time.perf_counter() - started)
    return {name: min(taken) for name, taken in found.items()}


def share_cost(system: WholeStep, nodes: Any, trees: int, count: int, rounds: int = 3) -> dict[str, float]:
    """Return the time of one of `count` ranks for its share of a batch, and the rows to send."""
    whole = system.examples[:trees]
    system.optimizer.zero_grad()
    system.task.loss(system.model, whole, system.rng).backward()
    table, seconds, rows = system.model.table.grad, [], 0
    for _ in range(rounds):
        busy = time.process_time()
        share = whole[Ranks(count // 2, count).share(nodes[:trees])]
        system.optimizer.zero_grad()
        system.task.loss(system.model, share, system.rng, whole).backward()
        rows = rows_of(system)
        system.model.table.grad = table  # the optimizer steps on the gradient of the whole batch
        system.optimizer.step()
        seconds.append(time.process_time() - busy)
    return {"processor seconds": min(seconds), "rows": rows}


def step_seconds(facts: dict[str, Any], trees: str, count: int) -> tuple[float, float]:
    """Return the seconds of a rank's own work and of the messages in a step with `count` ranks in a ring.

    A ring of n ranks passes on each byte of the weights 2 (n - 1) / n times and the rows of each
    rank n - 1 times, and each pass waits for the one before. The seconds per byte and per message
    are those of the two measured ranks.
    """
    share = facts["shares"][trees][str(count)]
    if count == 1:
        return share["processor seconds"], 0.0
    messages = facts["messages"]
    wait = messages["latency"]["reduce"] / 2  # with two ranks an all-reduce is two passes
    a_byte = max(messages["weights"]["reduce"] - 2 * wait, 0.0) / messages["weights"]["bytes"]
    row_byte = max(messages["rows"]["gather"] - wait, 0.0) / messages["rows"]["bytes"]
    row = messages["rows"]["bytes"] / max(facts["row count"], 1)
    sent = 2 * (count - 1) / count * messages["weights"]["bytes"] * a_byte + 2 * (count - 1) * wait
    sent += (count - 1) * (share["rows"] * row * row_byte + wait)
    return share["processor seconds"], sent


def tables(facts: dict[str, Any]) -> str:
    """Return the measured and the computed tables as Markdown."""
    lines = [
        "**Measured**: SST-shaped trees ({:.0f} nodes each; {}), `{}`, {}, torch {}; load {:.1f} to {:.1f}.".format(
            *(facts[name] for name in ("nodes per tree", "trees", "recipe", "machine", "torch")),
            *(facts[name] for name in ("load before", "load after")),
        ),
        "",
        "| trees in a batch | step, 1 rank | step, 2 ranks | ratio | processor, 1 rank | processor, 2 ranks | ratio |",
        "|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for trees, found in facts["steps"].items():
        cells = [f"{int(trees):,}"]
        for name in ("seconds", "processor seconds"):
            one, two = found[name]["1"], found[name]["2"]
            cells += [f"{1000 * one:.1f} ms", f"{1000 * two:.1f} ms", f"{two / one:.2f}"]
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", "| message between 2 ranks | bytes | all-reduce | all-gather |", "|---|---:|---:|---:|"]
    what = {"latency": "one number", "weights": "the weights' gradients"}
    what["rows"] = "rows of the word table, 250 trees"
    for name, found in facts["messages"].items():
        times = " | ".join(f"{1000 * found[way]:.2f} ms" for way in ("reduce", "gather"))
        lines.append(f"| {what[name]} | {found['bytes']:,} | {times} |")
    lines += [
        "",
        "**Computed** from the measured work of a rank's share and the messages above:",
        "",
        "| trees in a batch | cores | own work | messages | step | times one core | epoch of a million nodes |",
        "|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for trees, shares in facts["shares"].items():
        alone = step_seconds(facts, trees, 1)[0]
        for count in (count for count in CORES if str(count) in shares):
            own, sent = step_seconds(facts, trees, count)
            epoch = (own + sent) * 1e6 / (int(trees) * facts["nodes per tree"])
            lines.append(
                f"| {int(trees):,} | {count:,} | {1000 * own:.1f} ms | {1000 * sent:.1f} ms "
                f"| {1000 * (own + sent):.1f} ms | {alone / (own + sent):.1f} | {epoch:.1f} s |"
            )
    lines.append("")
    for trees, shares in facts["shares"].items():
        best = min(map(int, shares), key=lambda count: sum(step_seconds(facts, trees, count)))
        gain = step_seconds(facts, trees, 1)[0] / sum(step_seconds(facts, trees, best))
        lines.append(
            f"- {int(trees):,} trees in a batch: no faster beyond about {best:,} cores, {gain:.1f} times one."
        )
    return "\n".join(lines)


def write(page: str, found: str) -> str:
    """Return the page with the tables between its two markers."""
    return re.sub(r"(?s)(<!-- training -->\n).*?(\n<!-- end -->)", lambda m: m[1] + found + m[2], page)


def scaling(
    *,
    data: Path | None = None,
    tables_only: Annotated[bool, Parameter(name="--tables", negative="")] = False,
    rank: Annotated[bool, Parameter(show=False, negative="")] = False,
) -> None:
    """Measure training on more cores; write docs/scaling.json and the tables in docs/scaling.md.

    One rank and two take turns in one run, so that a busy spell slows both. A rank's own work is
    measured in processor time, a step, which includes waiting, in wall-clock time. Both are the
    best of all rounds.

    Parameters
    ----------
    data
        Data folder with SST; else BOUGH_DATA, else trees of its shape.
    tables_only
        Measure nothing; write only the tables, from docs/scaling.json.
    """
    if rank:
        as_rank(data)
        return
    if not tables_only:
        command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
        command += ["-m", "benchmarks", "scaling", "--rank", *(["--data", str(data)] if data else [])]
        one_thread = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        printed = subprocess.run(
            command, env=one_thread, stdout=subprocess.PIPE, text=True, check=True
        ).stdout
        FACTS.write_text(json.dumps(json.loads(printed), indent=1) + "\n")
    found = tables(json.loads(FACTS.read_text()))
    PAGE.write_text(write(PAGE.read_text(), found))
    print(found)
