"""The training loop: a step for each batch, metrics on dev and a checkpoint after each epoch."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import torch

from bough.errors import TrainingError
from bough.files import write_text
from bough.models.model import Model
from bough.nn.engine import one_thread
from bough.train.checkpoint import TrainingState
from bough.train.config import TrainConfig
from bough.train.distributed import current
from bough.train.optimizer import ModelOptimizer
from bough.train.run_folder import record_run
from bough.train.tasks import Learnable, sentences_of

REPORT_EVERY = 0.2  # seconds


@dataclass(frozen=True)
class Event:
    """An event of training, for callbacks: after some batches, and after each epoch."""

    epoch: int
    epochs: int
    done: int  # examples of this epoch so far
    total: int
    loss: float  # mean over the epoch's examples so far
    rate: float  # examples per second
    dev: dict[str, float] | None = None  # at the end of an epoch


Callback = Callable[[Event], None]
Splits = Mapping[str, Sequence[Any]]  # the examples of train and dev


def train_once(
    folder: Path,
    task: Learnable,
    model: Model,
    config: TrainConfig,
    examples: Splits,
    facts: Mapping[str, Any],
    seed: int,
    resume: bool,
    callback: Callback,
) -> TrainingState:
    """Train a model in a run folder, and return its state, with the weights of the best epoch in the model.

    Args:
        folder: the run folder.
        task: computes losses, predictions and metrics.
        model: the model, with its initial weights.
        config: how to train it.
        examples: those of `train` and `dev`, as the task reads them.
        facts: what to record in `run.json`.
        seed: the seed of the order of the examples.
        resume: whether to continue an interrupted run.
        callback: is called with each event.
    """
    cache_activations(model, *examples.values())
    encoder = {} if model.encoder is None else {"encoder": model.encoder.fingerprint}
    current().from_first(lambda: record_run(folder, {**facts, **encoder}))
    state = TrainingState(ModelOptimizer(model, config), seed)
    if resume:
        state.restore(folder)
    learn(folder, task, config, state, examples, callback)
    state.use_best()
    return state


def learn(
    out: Path, task: Learnable, config: Any, state: TrainingState, examples: Splits, callback: Callback
) -> None:
    """Train from the epoch of `state` to the last one, and write a checkpoint to `out` after each epoch.

    `state` keeps the weights of the best epoch on dev. With `patience`, training stops after so
    many epochs without a better one. With several ranks, only the first writes files and calls
    `callback`.

    Args:
        out: the folder of the checkpoint and of `metrics.jsonl`.
        task: computes losses, predictions and metrics.
        config: has `epochs` and `patience`.
        state: the model, its optimizer and the history.
        examples: those of `train` and `dev`, as the task reads them.
        callback: is called with each event.

    Raises:
        TrainingError: if a loss or a prediction is not finite.
    """
    ranks, started, before = current(), time.perf_counter(), state.seconds
    # the matrix products of trees are small: several threads would mostly wait for each other
    small = isinstance(state.model, Model) and state.model.encoder is None
    with one_thread() if small else nullcontext():
        while state.epoch < config.epochs:
            if config.patience and state.epoch - state.best_epoch >= config.patience:
                break
            event = _epoch(task, config.epochs, state, examples["train"], callback)
            predicted = ranks.predict(task, state.model, examples["dev"])
            if not np.isfinite(predicted).all():
                what = f"after epoch {event.epoch} the predictions on dev are not numbers"
                raise TrainingError(f"{what}; try a smaller learning_rate")
            dev = task.metrics(predicted, examples["dev"])
            state.finish_epoch(event.loss, dev, task.score(dev), before + time.perf_counter() - started)
            if ranks.first:
                # the checkpoint first: metrics.jsonl can be written again from the history in it
                state.store(out)
                write_text(out / "metrics.jsonl", state.history_text())
                callback(replace(event, dev=dev))


def _epoch(
    task: Learnable, epochs: int, state: TrainingState, examples: Sequence[Any], callback: Callback
) -> Event:
    """Train for one epoch, and return its last event."""
    model, optimizer, rng = state.model, state.optimizer, state.rng
    sizes = task.sizes(examples)
    model.train()
    optimizer.start_epoch(state.epoch)
    ranks, batches = current(), task.batches(examples, rng)
    if ranks.count > 1:  # all ranks have the same batches, but other dropout and phrases
        drawn = crc32(np.concatenate(batches).tobytes())  # a seed that differs from epoch to epoch
        torch.manual_seed(drawn + ranks.number)
        rng = np.random.default_rng([drawn, ranks.number])
    started = shown = time.perf_counter()
    total, done = 0.0, 0
    for number, chosen in enumerate(batches):
        optimizer.zero_grad()
        value = ranks.loss(task, model, [examples[i] for i in chosen], sizes[chosen], rng)
        if not math.isfinite(value):
            where = (
                f"epoch {state.epoch + 1}, batch {number + 1} (examples {sorted(chosen.tolist())[:5]} ...)"
            )
            raise TrainingError(f"the loss is {value} in {where}; try a smaller learning_rate")
        optimizer.step(optimizer.lr_scale(state.epoch * len(batches) + number, len(batches)))
        total += value * len(chosen)
        done, now = done + len(chosen), time.perf_counter()
        rate = done / (now - started)
        event = Event(state.epoch + 1, epochs, done, len(examples), total / done, rate)
        if ranks.first and now - shown > REPORT_EVERY:
            shown = now
            callback(event)
    return event


def cache_activations(model: Model, *splits: Sequence[Any]) -> None:
    """Compute and cache the outputs of the frozen layers of a transformer for all examples."""
    encoder = model.encoder
    if encoder is not None:
        texts = (one.text for split in splits for example in split for one in sentences_of(example))
        current().in_turn(lambda: encoder.remember(texts))
