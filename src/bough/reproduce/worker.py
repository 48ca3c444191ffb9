"""One run as a process of its own: `python -m bough.reproduce.worker JOB`, where JOB is a line of JSON.

It ends with the process that started it: whatever kills that one closes the pipe this one has as its standard
input. So a run never goes on unseen, and no two processes ever write into one folder.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path

ENDED = 75


def main(job: str) -> None:
    """Train, going on from where an earlier sitting stopped; what is wrong is one line on stderr."""
    threading.Thread(target=_end_with_the_starter, daemon=True).start()
    import torch

    from bough.config import Config
    from bough.train import train

    torch.set_num_threads(1)
    what = json.loads(job)
    try:
        train(
            Config().with_settings(what["config"]),
            Path(what["out"]),
            seed=what["seed"],
            data=what["data"],
            resume=True,
            recipe=what["recipe"],
        )
    except (ValueError, OSError) as error:
        sys.exit(" ".join(str(error).split()))


def _end_with_the_starter() -> None:
    while os.read(0, 4096):  # not sys.stdin: its lock would be held when the interpreter shuts down
        pass
    os._exit(ENDED)  # files are written whole or not at all, so any moment is as good as another


if __name__ == "__main__":
    main(sys.argv[1])
