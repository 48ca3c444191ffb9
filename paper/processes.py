"""Start runs in processes of this machine; `paper.ray_runs` starts them on a cluster instead."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

ENDED = 75
# The modules that every run needs. The fork server loads them once, so all runs of a command use the same code.
PRELOAD = ["torch", "scipy.stats", "paper.train", __name__]
Job = dict[str, Any]  # config, seed, recipe and data


def start_process(job: Job, work: Path, log: Path) -> BaseProcess:
    """Start or continue the run in the folder `work`, in a process of one thread whose output goes to `log`.

    The process is forked from one that has loaded all modules; on Windows it is a new one.
    """
    context: Any = multiprocessing.get_context("spawn")
    if "forkserver" in multiprocessing.get_all_start_methods():
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(PRELOAD)
    arguments = (job, str(work.resolve()), str(log.resolve()))
    process: BaseProcess = context.Process(target=work_in_process, args=arguments)
    process.start()
    return process


def work_in_process(job: Job, work: str, log: str) -> None:
    """Do a job in this process. The last line of `log` is the error, if there is one.

    The process ends with the process that started it, even if that one is killed, so that no two processes ever write
    into one folder.
    """
    with open(log, "wb") as file:
        for stream in (1, 2):
            os.dup2(file.fileno(), stream)
    starter = multiprocessing.parent_process()
    assert starter is not None

    def end_with_starter() -> None:
        starter.join()
        os._exit(ENDED)  # safe at any moment, because files are replaced atomically

    threading.Thread(target=end_with_starter, daemon=True).start()
    try:
        train_job(job, Path(work))
    except (ValueError, OSError) as error:
        sys.exit(" ".join(str(error).split()))


def train_job(job: Job, work: Path, **options: Any) -> None:
    """Train in this process with one thread. Continue where an earlier process stopped."""
    import torch

    from paper.config import PaperConfig
    from paper.train import train

    torch.set_num_threads(1)
    config = PaperConfig().with_settings(job["config"])
    train(config, work, seed=job["seed"], data=job["data"], recipe=job["recipe"], resume=True, **options)
