"""A run from beginning to end: data, model, the loop, and the test split once, with the model that dev chose."""

from __future__ import annotations

import logging
import platform
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import torch

from bough.data import fingerprint
from bough.data import vectors as glove
from bough.model.card import model_card
from bough.model.config import Config
from bough.model.model import UNKNOWN, Model
from bough.storage import read_json, write_json, write_text
from bough.training.calibrating import calibrate
from bough.training.checkpoint import NAME as CHECKPOINT
from bough.training.checkpoint import Progress, restore
from bough.training.fit_system import fit_system
from bough.training.loop import Tell, learn
from bough.training.recipes import command_for
from bough.training.run_folder import claim, claim_data, predictions_text, versions
from bough.training.tasks import MixedTask, RelatednessTask, Task, read_some, task_for, word_counts
from bough.training.vocabulary import vectors_of, with_vector, written_vocabulary
from bough.training.words import Words

log = logging.getLogger(__name__)


def train(
    config: Config,
    out: Path,
    *,
    seed: int = 1,
    data: Path | str | None = None,
    resume: bool = False,
    device: str = "cpu",
    recipe: str = "",
    tell: Tell = lambda event: None,
) -> dict[str, Any]:
    """Train `config` into the folder `out`; what `test.json` then holds, the test figures, is returned."""
    run = {"recipe": recipe, "seed": seed, "device": device, "config": config.as_dict()}
    claim(out, run, resume)
    if (out / "test.json").exists():
        log.info("%s is finished", out)
        (out / CHECKPOINT).unlink(missing_ok=True)
        return read_json(out / "test.json")

    task = task_for(config, data)
    if isinstance(task, RelatednessTask) and config.system:
        return fit_system(out, task, run)
    examples = {split: read_some(task, split) for split in ("train", "dev")}
    words = Words(config, data, seed, word_counts(task, examples["train"]))
    torch.manual_seed(seed)
    model = _new_model(config, task, examples, words).to(device)
    prepared = {"train": task.to_learn(examples["train"], model), "dev": task.prepare(examples["dev"], model)}
    facts = {
        **run,
        "vectors": words.name,
        "coverage": words.coverage,
        "versions": versions(),
        "data": fingerprint([file for split in examples for file in task.files(split)], data=task.data),
    }
    claim_data(out, facts)

    progress = Progress.start(model, seed)
    if resume:
        restore(out, progress)
    learn(out, task, progress, prepared, tell)
    progress.use_best()
    if isinstance(task, MixedTask):
        calibrate(model, task, prepared["dev"])
        progress.best_dev = task.metrics(task.predict(model, prepared["dev"]), prepared["dev"])
    return _finish(out, task, progress, words, facts)


def _finish(out: Path, task: Task, progress: Progress, words: Words, facts: dict[str, Any]) -> dict[str, Any]:
    """Read the test split, for the first and only time, with the model that dev chose; then write it all."""
    model = progress.model
    examples = read_some(task, "test")
    words_there = (_vocabulary_form(word, model.config) for word in word_counts(task, examples))
    new = [word for word in dict.fromkeys(words_there) if word not in model.index]
    if model.config.missing == "written":  # a word without a vector is looked for by what its writer meant
        new = with_vector(words, new)
        model.add_words(new, torch.from_numpy(vectors_of(words, new)))
    else:
        model.add_words(new, torch.from_numpy(words.rows(new)))
    prepared = task.prepare(examples, model)
    predicted = task.predict(model, prepared)
    figures = task.metrics(predicted, prepared)
    result = {"test": figures, "dev": progress.best_dev, "epoch": progress.best_epoch, "vectors": words.name}
    command = command_for(model.config, facts["recipe"], facts["seed"])
    card = model_card(model.config, facts, result, command)
    model.save(out, card=card, facts={"vectors": words.name, "scores": result})
    write_json(out / "timing.json", {"seconds": round(progress.seconds, 1), "machine": platform.processor()})
    write_text(out / "predictions.txt", predictions_text(predicted))
    write_text(out / "metrics.jsonl", progress.history_text())  # a kill may have come before the last epoch's
    write_json(out / "test.json", result)  # last: a run that has it is finished
    (out / CHECKPOINT).unlink(missing_ok=True)
    return result


def _vocabulary_form(word: str, config: Config) -> str:
    """How a word stands in the vocabulary; `Model.ids` looks for the lower-cased form last."""
    return word.lower() if config.case == "folded" else word


def _new_model(config: Config, task: Task, examples: dict[str, list[Any]], words: Words) -> Model:
    counts = word_counts(task, [*examples["train"], *examples["dev"]])
    if config.missing == "written":
        forms = Counter[str]()
        for word, count in word_counts(task, examples["train"]).items():
            forms[_vocabulary_form(word, config)] += count
        others = {_vocabulary_form(word, config) for word in counts}
        vocabulary, table = written_vocabulary(words, forms, others)
    else:
        vocabulary = sorted({_vocabulary_form(word, config) for word in counts})
        table = words.rows(vocabulary)
    unknown = glove.random_rows([UNKNOWN], table.shape[1], words.seed)
    relations = {str(name) for tree in task.trees(examples["train"]) for name in tree.relations or ()}
    names = sorted(relations) if config.kind.wants_relations else []
    return Model(config, vocabulary, names, torch.from_numpy(np.concatenate([unknown, table])))
