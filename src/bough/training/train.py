"""One loop for every system: batches, AdaGrad, a look at dev after each epoch, the test split once at the end."""

from __future__ import annotations

import logging
import math
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

import bough
from bough.data import fingerprint
from bough.data import vectors as glove
from bough.model.card import model_card
from bough.model.config import Config
from bough.model.model import UNKNOWN, Model
from bough.storage import read_json, torn_files, write_json, write_text
from bough.training.checkpoint import NAME as CHECKPOINT
from bough.training.checkpoint import Progress, restore, store
from bough.training.optimisers import rate_scale
from bough.training.recipes import command_for
from bough.training.tasks import Task, read_some, task_for, word_counts
from bough.training.words import Words

log = logging.getLogger(__name__)


class TrainingError(ValueError):
    """A run that cannot go on, and why."""


@dataclass(frozen=True)
class Event:
    """What a progress display is told: after some batches, and after each epoch."""

    epoch: int
    epochs: int
    done: int  # examples of this epoch
    total: int
    loss: float  # mean over the epoch's examples so far
    rate: float  # examples a second
    dev: dict[str, float] | None  # at the end of an epoch


def train(
    config: Config,
    out: Path,
    *,
    seed: int = 1,
    data: Path | str | None = None,
    resume: bool = False,
    device: str = "cpu",
    recipe: str = "",
    tell: Callable[[Event], None] = lambda event: None,
) -> dict[str, Any]:
    """Train `config` into the folder `out`; what `test.json` then holds, the test figures, is returned."""
    run = {"recipe": recipe, "seed": seed, "device": device, "config": config.as_dict()}
    _claim(out, run, resume)
    if (out / "test.json").exists():
        log.info("%s is finished", out)
        (out / CHECKPOINT).unlink(missing_ok=True)
        return read_json(out / "test.json")

    task = task_for(config, data)
    examples = {split: read_some(task, split) for split in ("train", "dev")}
    words = Words(task, config, data, seed, examples["train"])
    torch.manual_seed(seed)
    model = _new_model(config, task, examples, words).to(device)
    prepared = {split: task.prepare(part, model) for split, part in examples.items()}
    facts = {
        **run,
        "vectors": words.name,
        "coverage": words.coverage,
        "versions": _versions(),
        "data": fingerprint(
            [file for split in ("train", "dev") for file in task.files(split)], data=task_data(task)
        ),
    }
    _compare(out, facts)
    write_json(out / "run.json", facts)

    progress = Progress.start(model, seed)
    if resume:
        restore(out, progress)
    started, seconds = time.perf_counter(), progress.seconds
    while progress.epoch < config.epochs:
        began = time.perf_counter()
        loss = _epoch(task, progress, prepared["train"], tell)
        rate = len(prepared["train"]) / (time.perf_counter() - began)
        predicted = task.predict(model, prepared["dev"])
        if not np.isfinite(predicted).all():
            raise TrainingError(
                f"after epoch {progress.epoch + 1} the predictions on dev are not numbers; try a smaller rate"
            )
        dev = task.metrics(predicted, prepared["dev"])
        progress.finish_epoch(loss, dev, seconds + time.perf_counter() - started)
        store(out, progress)
        write_text(out / "metrics.jsonl", progress.history_text())
        tell(_event(progress, len(prepared["train"]), loss, dev, rate=rate))
    progress.use_best()
    return _finish(out, task, progress, words, facts)


def _finish(out: Path, task: Task, progress: Progress, words: Words, facts: dict[str, Any]) -> dict[str, Any]:
    """Read the test split, for the first and only time, with the model that dev chose; then write it all."""
    model = progress.model
    examples = read_some(task, "test")
    words_there = (_vocabulary_form(word, model.config) for word in word_counts(task, examples))
    new = [word for word in dict.fromkeys(words_there) if word not in model.index]
    model.add_words(new, torch.from_numpy(words.rows(new)))
    prepared = task.prepare(examples, model)
    predicted = task.predict(model, prepared)
    figures = task.metrics(predicted, prepared)
    result = {"test": figures, "dev": progress.best_dev, "epoch": progress.best_epoch, "vectors": words.name}
    command = command_for(model.config, facts["recipe"], facts["seed"])
    card = model_card(model.config, facts, result, command)
    model.save(out, card=card, facts={"vectors": words.name, "scores": result})
    write_json(out / "timing.json", {"seconds": round(progress.seconds, 1), "machine": platform.processor()})
    write_text(out / "predictions.txt", "".join(_line(row) for row in predicted))
    write_text(
        out / "metrics.jsonl", progress.history_text()
    )  # again: a kill may have come before the last epoch's
    write_json(out / "test.json", result)  # last: a run that has it is finished
    (out / CHECKPOINT).unlink(missing_ok=True)
    return result


def _line(row: Any) -> str:
    return " ".join(f"{value:.4f}" for value in np.atleast_1d(row)) + "\n"


def _epoch(task: Task, progress: Progress, examples: list[Any], tell: Callable[[Event], None]) -> float:
    """One pass over the training examples in a fresh order; the mean loss an example."""
    model, config = progress.model, progress.model.config
    model.train()
    optimiser, batches = progress.optimiser, math.ceil(len(examples) / config.batch)
    if config.reset and progress.epoch % config.reset == 0:
        optimiser.reset()
    order = progress.rng.permutation(len(examples))
    started, told, total = time.perf_counter(), time.perf_counter(), 0.0
    for start in range(0, len(order), config.batch):
        chosen = order[start : start + config.batch]
        loss = task.loss(model, [examples[i] for i in chosen], progress.rng)
        value = loss.item()
        if not math.isfinite(value):
            raise TrainingError(
                f"the loss is {value} in epoch {progress.epoch + 1}, batch {start // config.batch + 1} "
                f"(examples {', '.join(str(i) for i in sorted(chosen.tolist())[:5])}, ...); try a smaller rate"
            )
        optimiser.zero_grad()
        loss.backward()
        step = progress.epoch * batches + start // config.batch
        optimiser.step(rate_scale(config, step, batches))
        total += value * len(chosen)
        done, now = start + len(chosen), time.perf_counter()
        if now - told > 0.2:
            told = now
            tell(_event(progress, len(order), total / done, None, done, done / (now - started)))
    return total / len(order)


def _event(
    progress: Progress,
    total: int,
    loss: float,
    dev: dict[str, float] | None,
    done: int | None = None,
    rate: float = 0.0,
) -> Event:
    epoch = progress.epoch if dev else progress.epoch + 1
    epochs = progress.model.config.epochs
    return Event(epoch, epochs, total if done is None else done, total, loss, rate, dev)


def _vocabulary_form(word: str, config: Config) -> str:
    """How a word stands in the vocabulary; `Model.ids` looks for the lower-cased form last."""
    return word.lower() if config.case == "folded" else word


def _new_model(config: Config, task: Task, examples: dict[str, list[Any]], words: Words) -> Model:
    counts = word_counts(task, [*examples["train"], *examples["dev"]])
    vocabulary = sorted({_vocabulary_form(word, config) for word in counts})
    table = words.rows(vocabulary)
    unknown = glove.random_rows([UNKNOWN], table.shape[1], words.seed)
    relations = {str(name) for tree in task.trees(examples["train"]) for name in tree.relations or ()}
    names = sorted(relations) if config.encoder == "sdt-rnn" else []
    return Model(config, vocabulary, names, torch.from_numpy(np.concatenate([unknown, table])))


def _claim(out: Path, run: dict[str, Any], resume: bool) -> None:
    """Nothing is overwritten: a folder in use is only taken to continue the very same run."""
    torn = torn_files(out)
    if out.exists() and {*out.iterdir()} > {*torn}:
        if not resume:
            raise TrainingError(f"{out} is not empty; continue it with --resume, or choose another --out")
        before = read_json(out / "run.json")
        settings = {**Config().as_dict(), **before.get("config", {})}  # a bough before had fewer
        for key, value in run.items():
            if {**before, "config": settings}.get(key) != value:
                raise TrainingError(f"{out} was trained with another {key}; --resume needs the same command")
    for file in torn:
        file.unlink()


def _compare(out: Path, facts: dict[str, Any]) -> None:
    """A run goes on with the data and vectors it began with, or not at all."""
    if (out / "run.json").exists():
        before = read_json(out / "run.json")
        for key in ("data", "vectors", "coverage"):
            if before.get(key, facts[key]) != facts[key]:
                raise TrainingError(f"{out} began with other {key}; --resume needs the same as before")


def task_data(task: Task) -> Path:
    """The folder that a task's files lie in."""
    data = getattr(task, "data", None)
    assert isinstance(data, Path)
    return data


def _versions() -> dict[str, str]:
    return {
        "bough": bough.__version__,
        "torch": torch.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }
