"""What training on more cores costs: measured here with one rank and two, computed from that for 10, 100 and 1,000.

    python -m benchmarks scaling            # measures, writes docs/scaling.json, and its tables into docs/scaling.md
    python -m benchmarks scaling --tables   # the tables alone, from docs/scaling.json

One rank and two take turns within one run, so that a busy spell hits them alike. Seconds of a rank's own work are
those of its processor; seconds of a step, with the waiting, those of the clock, the best of all rounds.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FACTS, PAGE = ROOT / "docs" / "scaling.json", ROOT / "docs" / "scaling.md"
RECIPE = "sst5-constituency-tuned"
STEPS = {25: 60, 100: 40, 500: 40}  # trees in a batch: rounds
SHARES = {25: (1, 2, 5, 10, 25), 500: (1, 2, 5, 10, 20, 50, 100, 200, 500)}
SHARES[5000] = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000)
CORES = (1, 10, 100, 1000)
TEXTS = 512


# --------------------------------------------------------------------- measured


def measured(data: Path | None) -> dict[str, Any]:
    """Start two ranks of this very file, and read what they found."""
    how = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", __file__]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    done = subprocess.run(
        [*how, "--rank", *(["--data", str(data)] if data else [])],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def as_rank(data: Path | None) -> None:
    """What each of the two does; the first prints what they found."""
    import torch
    import torch.distributed as dist

    from benchmarks.corpora import sst_shaped
    from benchmarks.whole_step import WholeStep
    from bough.train.distributed import Ranks, joined

    torch.set_num_threads(1)
    torch.manual_seed(0)
    with joined() as ranks:
        corpus = sst_shaped(data, 8544)
        system = WholeStep(RECIPE, corpus)
        nodes = system.task.sizes(system.examples)
        work = _Work(system, nodes)
        facts: dict[str, Any] = {
            "recipe": RECIPE,
            "trees": corpus.source,
            "nodes per tree": float(nodes.mean()),
            "machine": f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores",
            "torch": torch.__version__,
            "load before": os.getloadavg()[0],
            "steps": {},
            "messages": {},
            "shares": {},
        }
        for trees, rounds in STEPS.items():
            one, two = [], []
            for turn in range(-1, rounds):  # turn -1 warms up
                dist.barrier()
                alone = work.step(Ranks(), trees, turn) if ranks.first else None
                dist.barrier()
                together = work.step(ranks, trees, turn)
                if alone is not None and turn >= 0:
                    one.append(alone)
                    two.append(together)
            if one:
                names = ("seconds", "processor seconds")
                facts["steps"][trees] = {
                    name: {"1": min(step[place] for step in one), "2": min(step[place] for step in two)}
                    for place, name in enumerate(names)
                }
        weights = sum(p.numel() for p in system.model.parameters())
        rows, width = max(ranks.each(work.rows)), system.model.table.shape[1]
        for name, size in (("latency", 1), ("weights", weights), ("rows", rows * (width + 2))):
            buffer = torch.zeros(size)
            parts = [torch.zeros(size) for _ in range(2)]
            reduced = _best(lambda: dist.all_reduce(buffer))  # noqa: B023
            gathered = _best(lambda: dist.all_gather(parts, buffer))  # noqa: B023
            facts["row count"] = rows
            facts["messages"][name] = {"bytes": 4 * size, "reduce": reduced, "gather": gathered}
        if ranks.first:
            for trees, counts in SHARES.items():
                facts["shares"][trees] = {count: work.share(trees, count) for count in counts}
            facts["parsing"] = _parsing(corpus)
            facts["load after"] = os.getloadavg()[0]
            print(json.dumps(facts))
        dist.barrier()


class _Work:
    """The loop's step, whole or in part, with a clock."""

    def __init__(self, system: Any, nodes: Any) -> None:
        self.system, self.nodes, self.rows = system, nodes, 0

    def step(self, ranks: Any, trees: int, turn: int) -> tuple[float, float]:
        """Seconds of the clock and of the processor."""
        import numpy as np

        system = self.system
        first = (turn + 1) * trees % (len(self.nodes) - trees)
        chosen = np.arange(first, first + trees)
        started, busy = time.perf_counter(), time.process_time()
        system.optimizer.zero_grad()
        ranks.loss(system.task, system.model, system.examples, chosen, self.nodes, system.rng)
        self.rows = len(system.model.table.grad._indices()[0])
        system.optimizer.step()
        return time.perf_counter() - started, time.process_time() - busy

    def share(self, trees: int, count: int, rounds: int = 3) -> dict[str, float]:
        """A rank's own work in a batch, one of `count`, and the rows of the word table that it would send."""
        from bough.train.distributed import Ranks

        system = self.system
        whole = system.examples[:trees]
        system.optimizer.zero_grad()
        system.task.loss(system.model, whole, system.rng).backward()
        table = system.model.table.grad.coalesce()
        seconds, rows = [], 0
        for _ in range(rounds):
            busy = time.process_time()
            share = whole[Ranks(count // 2, count).share(self.nodes[:trees])]
            system.optimizer.zero_grad()
            loss = system.task.loss(system.model, share, system.rng, whole)
            loss.backward()
            rows = len(system.model.table.grad.coalesce().indices()[0])
            paused = time.process_time()
            system.model.table.grad = table  # what the optimizer gets is the whole batch's
            begun = time.process_time()
            system.optimizer.step()
            seconds.append(time.process_time() - begun + paused - busy)
        return {"processor seconds": min(seconds), "rows": rows}


def _best(message: Callable[[], object], rounds: int = 30) -> float:
    import torch.distributed as dist

    found = []
    for _ in range(rounds):
        dist.barrier()
        started = time.perf_counter()
        message()
        found.append(time.perf_counter() - started)
    return min(found)


def _parsing(corpus: Any) -> dict[str, float]:
    """A rank's own work before a fit: sentences to trees, and the bytes of them that each rank sends the others."""
    from bough.pipelines.readers import WholeReader
    from bough.train.dataset import PackedTrees

    texts = [" ".join(str(tree.tokens[node]) for node in tree.words) for tree in corpus.trees[: TEXTS + 64]]
    reader = WholeReader("builtin", "constituency")
    reader.read_any(texts[TEXTS:])  # loads the parser
    busy = time.process_time()
    reads = reader.read_any(texts[:TEXTS])
    seconds = time.process_time() - busy
    packed = PackedTrees()
    for read in reads:
        packed.append(read[0].tree, [None] * len(read[0].tree))
    size = sum(column.itemsize * len(column) for column in packed._columns.values())
    return {"processor seconds per sentence": seconds / TEXTS, "bytes per sentence": size / TEXTS}


# --------------------------------------------------------------------- computed


def step_seconds(facts: dict[str, Any], trees: str, count: int) -> tuple[float, float]:
    """(own work, messages) of a step by so many ranks, the messages as a ring sends them.

    A ring of n passes on each byte of the weights 2 (n - 1) / n times and each rank's rows n - 1 times; every pass
    waits for the message before. The seconds per byte and per message are those of two ranks here.
    """
    share = facts["shares"][trees][str(count)]
    if count == 1:
        return share["processor seconds"], 0.0
    messages = facts["messages"]
    wait = messages["latency"]["reduce"] / 2  # two ranks: one pass there, one back
    a_byte = max(messages["weights"]["reduce"] - 2 * wait, 0.0) / messages["weights"]["bytes"]
    row_byte = max(messages["rows"]["gather"] - wait, 0.0) / messages["rows"]["bytes"]
    row = messages["rows"]["bytes"] / max(facts["row count"], 1)
    sent = 2 * (count - 1) / count * messages["weights"]["bytes"] * a_byte + 2 * (count - 1) * wait
    sent += (count - 1) * (share["rows"] * row * row_byte + wait)
    return share["processor seconds"], sent


def tables(facts: dict[str, Any]) -> str:
    """Both parts as Markdown: what was measured, and what is computed from it."""
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
    what = {
        "latency": "one number",
        "weights": "the weights' gradients",
        "rows": "rows of the word table, 250 trees",
    }
    for name, found in facts["messages"].items():
        times = " | ".join(f"{1000 * found[way]:.2f} ms" for way in ("reduce", "gather"))
        lines.append(f"| {what[name]} | {found['bytes']:,} | {times} |")
    parsing = facts["parsing"]
    lines += [
        "",
        "Before a fit, each rank parses its shard: {:.0f} sentences per second of a core, and {:.0f} bytes of trees "
        "per sentence go to every other rank.".format(
            1 / parsing["processor seconds per sentence"], parsing["bytes per sentence"]
        ),
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
    """The page with these tables between its two marks."""
    return re.sub(r"(?s)(<!-- training -->\n).*?(\n<!-- end -->)", lambda m: m[1] + found + m[2], page)


def main() -> None:
    """See above."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data", type=Path, help="data folder with SST; else BOUGH_DATA, else trees of its shape"
    )
    parser.add_argument("--tables", action="store_true", help="measure nothing")
    parser.add_argument("--rank", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.rank:
        as_rank(arguments.data)
        return
    if not arguments.tables:
        FACTS.write_text(json.dumps(measured(arguments.data), indent=1) + "\n")
    facts = json.loads(FACTS.read_text())
    PAGE.write_text(write(PAGE.read_text(), tables(facts)))
    print(tables(facts))


if __name__ == "__main__":
    main()
