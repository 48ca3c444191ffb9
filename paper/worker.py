"""One run, in a process of its own; by hand, with its output in sight: `python -m paper.worker JSON`.

It ends with the process that started it, whatever kills that one: so a run never goes on unseen, and no two
processes ever write into one folder.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import threading
from pathlib import Path
from typing import Any

ENDED = 75
# What every run needs, loaded once for all of them.
PRELOAD = ["torch", "scipy.stats", "paper.train", __name__]


def processes() -> Any:
    """Where runs are started: forked from a process that has loaded all they need, else (Windows) afresh.

    It loads the code once, so all runs of a sitting are of the same code, even if a file changes meanwhile.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOAD)
    return context


def work(job: dict[str, Any], log: str | None = None) -> None:
    """Train, going on from where an earlier sitting stopped; what is wrong is one line, the last, in `log`."""
    if log is not None:
        with open(log, "wb") as file:
            for stream in (1, 2):
                os.dup2(file.fileno(), stream)
    threading.Thread(target=_end_with_the_starter, daemon=True).start()
    import torch

    from paper.config import PaperConfig
    from paper.train import train

    torch.set_num_threads(1)
    try:
        train(
            PaperConfig().with_settings(job["config"]),
            Path(job["out"]),
            seed=job["seed"],
            data=job["data"],
            resume=True,
            recipe=job["recipe"],
            dev_only=job.get("dev_only", False),
        )
    except (ValueError, OSError) as error:
        sys.exit(" ".join(str(error).split()))


def _end_with_the_starter() -> None:
    starter = multiprocessing.parent_process()
    if starter is not None:
        starter.join()
    else:
        while os.read(0, 4096):  # by hand: until the standard input is closed
            pass
    os._exit(ENDED)  # files are written whole or not at all, so any moment is as good as another


if __name__ == "__main__":
    work(json.loads(sys.argv[1]))
