"""How far the losses of two ranks and of one process drift apart over an epoch, and those of two paths of one.

    python -m benchmarks rounding --data DATA      # an epoch of 600 sentences of SST; see docs/scaling.md

Prints the relative difference to one process, step by step: two ranks, one process with BOUGH_FAST=torch, and two ranks
against one in numbers of 64 bits.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any


def losses(ranks: int, data: str, double: bool, **environment: str) -> list[float]:
    """Of every step of an epoch by so many ranks."""
    how = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}"] if ranks > 1 else []
    command = [sys.executable, *how, __file__, "--data", data, "--epoch", "double" if double else "single"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **environment}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    found: list[float] = json.loads(done.stdout)
    return found


def run(data: str, double: bool) -> None:
    """One of these epochs; the first rank prints its losses."""
    import torch

    import paper.train as training
    from bough.train.distributed import Ranks
    from bough.train.torchrun import joined
    from paper.recipes import load_recipe

    torch.set_num_threads(1)
    reduce, new, seen = Ranks.reduce, training._new_model, list[float]()

    def watched(self: Ranks, *given: Any) -> float:
        seen.append(reduce(self, *given))
        return seen[-1]

    Ranks.reduce = watched  # type: ignore[method-assign, assignment]
    if double:
        training._new_model = lambda *given: new(*given).double()
    config = load_recipe("sst5-constituency-tuned").with_settings({"epochs": 1, "max_examples": 600})
    with joined() as ranks, tempfile.TemporaryDirectory() as folder:
        training.train(config, Path(folder) / "run", data=data or None)
    if ranks.first:
        print(json.dumps(seen))


def main() -> None:
    """See above."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", default="", help="data folder; else BOUGH_DATA")
    parser.add_argument("--epoch", choices=("single", "double"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.epoch:
        run(arguments.data, arguments.epoch == "double")
        return
    one, two = (losses(ranks, arguments.data, False) for ranks in (1, 2))
    other = losses(1, arguments.data, False, BOUGH_FAST="torch")
    wide = [losses(ranks, arguments.data, True) for ranks in (1, 2)]
    print("step  two ranks  BOUGH_FAST=torch  two ranks, 64 bits")
    for step, (a, b, c, d, e) in enumerate(zip(one, two, other, *wide, strict=True), 1):
        print(f"{step:4}  {abs(a - b) / a:9.1e}  {abs(a - c) / a:16.1e}  {abs(d - e) / d:18.1e}")


if __name__ == "__main__":
    main()
