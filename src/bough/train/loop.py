"""The loop: batches in a fresh order, a step after each, a look at dev after each epoch."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from bough.errors import TrainingError
from bough.files import write_text
from bough.train.checkpoint import Progress, store
from bough.train.distributed import here
from bough.train.optimisers import rate_scale
from bough.train.tasks import Indices, Learnable

TELL_EVERY = 0.2  # seconds


@dataclass(frozen=True)
class Event:
    """What a progress display is told: after some batches, and after each epoch."""

    epoch: int
    epochs: int
    done: int  # examples of this epoch
    total: int
    loss: float  # mean over the epoch's examples so far
    rate: float  # examples per second
    dev: dict[str, float] | None = None  # at the end of an epoch


Tell = Callable[[Event], None]


def learn(
    out: Path, task: Learnable, progress: Progress, examples: Mapping[str, Sequence[Any]], tell: Tell
) -> None:
    """Train from where `progress` stands to the last epoch; after each one all of it is stored in `out`.

    With `patience` it ends sooner, once dev has had no better epoch for so many. Of several ranks the first one
    writes and tells.
    """
    ranks, sizes = here(), task.sizes(examples["train"])
    tell = tell if ranks.first else _unheard
    started, before = time.perf_counter(), progress.seconds
    while progress.epoch < progress.config.epochs and not progress.stalled:
        event = _epoch(task, progress, examples["train"], sizes, tell)
        predicted = ranks.predict(task, progress.model, examples["dev"])
        if not np.isfinite(predicted).all():
            raise TrainingError(
                f"after epoch {event.epoch} the predictions on dev are not numbers; try a smaller learning_rate"
            )
        dev = task.metrics(predicted, examples["dev"])
        progress.finish_epoch(event.loss, dev, before + time.perf_counter() - started)
        if ranks.first:
            store(out, progress)
            write_text(out / "metrics.jsonl", progress.history_text())
        tell(replace(event, dev=dev))


def _unheard(event: Event) -> None:
    """Of a rank that is not the first."""


def _epoch(task: Learnable, progress: Progress, examples: Sequence[Any], sizes: Indices, tell: Tell) -> Event:
    """One pass over the training examples; what there is to tell at its end, but for dev."""
    model, optimiser, config = progress.model, progress.optimiser, progress.config
    model.train()
    if config.adagrad_reset_every and progress.epoch % config.adagrad_reset_every == 0:
        optimiser.reset()
    ranks, batches = here(), task.batches(examples, progress.rng)
    started = told = time.perf_counter()
    total, done = 0.0, 0
    for batch, chosen in enumerate(batches):
        loss = task.loss(model, ranks.share(examples, chosen, sizes), progress.rng)
        optimiser.zero_grad()
        loss.backward()
        value = ranks.reduce(model, loss)
        if not math.isfinite(value):
            raise TrainingError(
                f"the loss is {value} in epoch {progress.epoch + 1}, batch {batch + 1} "
                f"(examples {', '.join(str(i) for i in sorted(chosen.tolist())[:5])}, ...); try a smaller learning_rate"
            )
        optimiser.step(rate_scale(config, progress.epoch * len(batches) + batch, len(batches)))
        total += value * len(chosen)
        done, now = done + len(chosen), time.perf_counter()
        speed = done / (now - started)
        event = Event(progress.epoch + 1, config.epochs, done, len(examples), total / done, speed)
        if now - told > TELL_EVERY:
            told = now
            tell(event)
    return event
