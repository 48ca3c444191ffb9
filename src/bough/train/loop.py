"""The loop: batches in a fresh order, a step after each, a look at dev after each epoch."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import torch

from bough.errors import TrainingError
from bough.files import write_text
from bough.models.batching import Sentence
from bough.models.model import Model
from bough.models.transformer import Text
from bough.train.checkpoint import Progress, store
from bough.train.distributed import current
from bough.train.optimizer import lr_scale
from bough.train.tasks import Indices, Learnable

REPORT_EVERY = 0.2  # seconds


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


Callback = Callable[[Event], None]


def learn(
    out: Path, task: Learnable, progress: Progress, examples: Mapping[str, Sequence[Any]], callback: Callback
) -> None:
    """Train from where `progress` stands to the last epoch; after each one all of it is stored in `out`.

    With `patience` it ends sooner, once dev has had no better epoch for so many. Of several ranks the first one
    writes and tells.
    """
    ranks, sizes = current(), task.sizes(examples["train"])
    callback = callback if ranks.first else _unheard
    started, before = time.perf_counter(), progress.seconds
    while progress.epoch < progress.config.epochs and not progress.stalled:
        event = _epoch(task, progress, examples["train"], sizes, callback)
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
        callback(replace(event, dev=dev))


def _unheard(event: Event) -> None:
    """Of a rank that is not the first."""


def _epoch(
    task: Learnable, progress: Progress, examples: Sequence[Any], sizes: Indices, callback: Callback
) -> Event:
    """One pass over the training examples; what there is to tell at its end, but for dev."""
    model, optimizer, config = progress.model, progress.optimizer, progress.config
    model.train()
    if config.adagrad_reset_every and progress.epoch % config.adagrad_reset_every == 0:
        optimizer.reset()
    ranks, batches, rng = current(), task.batches(examples, progress.rng), progress.rng
    if ranks.count > 1:  # all draw the same batches, and each its own dropout masks and phrases
        drawn = crc32(np.concatenate(batches).tobytes())  # another seed for each order
        torch.manual_seed(drawn + ranks.number)
        rng = np.random.default_rng([drawn, ranks.number])
    started = told = time.perf_counter()
    total, done = 0.0, 0
    for batch, chosen in enumerate(batches):
        optimizer.zero_grad()
        value = ranks.loss(task, model, examples, chosen, sizes, rng)
        if not math.isfinite(value):
            raise TrainingError(
                f"the loss is {value} in epoch {progress.epoch + 1}, batch {batch + 1} "
                f"(examples {', '.join(str(i) for i in sorted(chosen.tolist())[:5])}, ...); try a smaller learning_rate"
            )
        optimizer.step(lr_scale(config, progress.epoch * len(batches) + batch, len(batches)))
        total += value * len(chosen)
        done, now = done + len(chosen), time.perf_counter()
        speed = done / (now - started)
        event = Event(progress.epoch + 1, config.epochs, done, len(examples), total / done, speed)
        if now - told > REPORT_EVERY:
            told = now
            callback(event)
    return event


def remember(model: Model, *splits: Sequence[Any]) -> None:
    """Compute once what the frozen layers make of the examples, into bough's cache."""
    encoder = model.encoder

    def work() -> bool:
        assert encoder is not None
        encoder.remember(text for split in splits for text in _texts(split))
        return True

    if encoder is not None:
        current().in_turn(work)


def _texts(examples: Sequence[Any]) -> Iterator[Text]:
    for example in examples:
        for one in example if isinstance(example, tuple) else (example,):
            if isinstance(one, Sentence):
                yield one.text
