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
from bough.files import read_json, write_json, write_text
from bough.models.config import Config
from bough.models.model import UNKNOWN, Model
from bough.train.checkpoint import NAME as CHECKPOINT
from bough.train.checkpoint import Progress, restore
from bough.train.distributed import current
from bough.train.loop import Callback, learn, remember
from bough.train.run_folder import claim, claim_data, predictions_text, versions
from bough.train.tasks import Floats, set_rarity
from bough.train.word_vectors import Words, vectors_of, with_vector, written_vocabulary
from paper.card import model_card
from paper.config import PaperConfig
from paper.fit_system import fit_system
from paper.recipes import command_for
from paper.tasks import Task, read_some, word_counts

log = logging.getLogger(__name__)


def train(
    config: PaperConfig,
    out: Path,
    *,
    seed: int = 1,
    data: Path | str | None = None,
    resume: bool = False,
    device: str = "cpu",
    recipe: str = "",
    callback: Callback = lambda event: None,
) -> dict[str, Any]:
    """Train a configuration into a folder; returns the contents of its `test.json`, the test figures.

    Args:
        config: what to train; see `load_recipe`.
        out: the folder of the run.
        seed: drives the order, the initial weights and dropout.
        data: the data folder; None looks where `bough.data.find_data` does.
        resume: whether to continue a run that was stopped in `out`.
        device: where to train.
        recipe: the name to record with the run.
        callback: called with every event of the run.

    Examples:
        >>> import pathlib, tempfile
        >>> from paper.recipes import load_recipe
        >>> from paper.train import train
        >>> config = load_recipe("sick-dependency").with_settings({"epochs": 1})
        >>> train(config, pathlib.Path(tempfile.mkdtemp()) / "run")["epoch"]  # doctest: +SKIP
        1
    """
    ranks = current()
    run = {"recipe": recipe, "seed": seed, "device": device, "config": config.as_dict()}
    finished = ranks.from_first(lambda: _claimed(out, run, resume))
    if finished is not None:
        return finished

    task = config.build_task(data)
    if config.system:
        return ranks.from_first(lambda: fit_system(out, task, config, run))
    examples = {split: read_some(task, split) for split in ("train", "dev")}
    words = ranks.in_turn(lambda: Words(config, data, seed, word_counts(task, examples["train"])))
    torch.manual_seed(seed)
    model = _new_model(config, task, examples, words).to(device)
    prepared = {"train": task.to_learn(examples["train"], model), "dev": task.prepare(examples["dev"], model)}
    remember(model, *prepared.values())
    facts = {
        **run,
        "vectors": words.name,
        "coverage": words.coverage,
        "versions": versions(config),
        "data": fingerprint([file for split in examples for file in task.files(split)], data=task.data),
    }
    if model.encoder is not None:
        facts |= {"encoder": model.encoder.encoder.fingerprint}
    ranks.from_first(lambda: claim_data(out, facts))

    task.start(prepared["train"], model)
    progress = Progress.start(model, config, seed, task.metric)
    if resume:
        restore(out, progress)
    learn(out, task, progress, prepared, callback)
    progress.use_best()
    task.finish(model, prepared["dev"])
    # the weights may have been rounded or calibrated since
    progress.best_dev = task.metrics(task.predict(model, prepared["dev"]), prepared["dev"])
    return _finish(out, config, task, progress, words, facts)


def _claimed(out: Path, run: dict[str, Any], resume: bool) -> dict[str, Any] | None:
    """Take the folder; what a finished run has found, if there is one."""
    claim(out, run, resume)
    if not (out / "test.json").exists():
        return None
    log.info("%s is finished", out)
    (out / CHECKPOINT).unlink(missing_ok=True)
    return read_json(out / "test.json")


def _finish(
    out: Path, config: PaperConfig, task: Task, progress: Progress, words: Words, facts: dict[str, Any]
) -> dict[str, Any]:
    """Read the test split, for the first and only time, with the model that dev chose; then write it all."""
    model = progress.model
    examples = read_some(task, "test")
    if model.encoder is None:
        # words that training has not met
        words_there = (_vocabulary_form(word, model.config) for word in word_counts(task, examples))
        new = [word for word in dict.fromkeys(words_there) if word not in model.index]
        if model.config.oov == "written":  # a word without a vector is looked for by what its writer meant
            new = with_vector(words, new)
            model.add_words(new, torch.from_numpy(vectors_of(words, new)))
        else:
            model.add_words(new, torch.from_numpy(words.rows(new)))
    prepared = task.prepare(examples, model)
    remember(model, prepared)
    predicted = current().predict(task, model, prepared)
    figures = task.figures(model, predicted, prepared)
    result = {"test": figures, "dev": progress.best_dev, "epoch": progress.best_epoch, "vectors": words.name}
    current().from_first(lambda: _write(out, config, progress, facts, result, predicted))
    return result


def _write(
    out: Path,
    config: PaperConfig,
    progress: Progress,
    facts: dict[str, Any],
    result: dict[str, Any],
    predicted: Floats,
) -> None:
    model = progress.model
    card = model_card(config, facts, result, command_for(config, facts["recipe"], facts["seed"]))
    model.save(out, card=card, facts={"vectors": facts["vectors"], "scores": result})
    write_json(out / "timing.json", {"seconds": round(progress.seconds, 1), "machine": platform.processor()})
    write_text(out / "predictions.txt", predictions_text(predicted))
    write_text(out / "metrics.jsonl", progress.history_text())  # a kill may have come before the last epoch's
    write_json(out / "test.json", result)  # last: a run that has it is finished
    (out / CHECKPOINT).unlink(missing_ok=True)


def _vocabulary_form(word: str, config: Config) -> str:
    """How a word stands in the vocabulary; `Model.ids` looks for the lower-cased form last."""
    return word.lower() if config.lowercase else word


def _new_model(config: PaperConfig, task: Task, examples: dict[str, list[Any]], words: Words) -> Model:
    relations = {str(name) for tree in task.trees(examples["train"]) for name in tree.relations or ()}
    names = sorted(relations) if config.kind.wants_relations else []
    if config.encoder:
        return Model(config.for_model(), config.purpose, [], names)
    counts = word_counts(task, [*examples["train"], *examples["dev"]])
    if config.oov == "written":
        forms = Counter[str]()
        for word, count in word_counts(task, examples["train"]).items():
            forms[_vocabulary_form(word, config)] += count
        others = {_vocabulary_form(word, config) for word in counts}
        vocabulary, table = written_vocabulary(words, forms, others)
    else:
        vocabulary = sorted({_vocabulary_form(word, config) for word in counts})
        table = words.rows(vocabulary)
    unknown = glove.random_rows([UNKNOWN], table.shape[1], words.seed)
    rows = torch.from_numpy(np.concatenate([unknown, table]))
    model = Model(config.for_model(), config.purpose, vocabulary, names, rows)
    if config.pair_features:
        trees = list(task.trees(examples["train"]))
        set_rarity(model, word_counts(task, examples["train"]), len(trees))
    return model
