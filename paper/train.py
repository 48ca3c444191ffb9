"""Train a system of the paper: read data, build the model, run the loop, and test once."""

import logging
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from bough.data import fingerprint
from bough.data import vectors as glove
from bough.files import read_json, write_text
from bough.models.config import Config
from bough.models.model import UNKNOWN, Model
from bough.train.card import words_line
from bough.train.checkpoint import NAME as CHECKPOINT
from bough.train.checkpoint import TrainingState
from bough.train.distributed import current
from bough.train.loop import Callback, cache_activations, train_once
from bough.train.run_folder import lock_run_folder, versions
from bough.train.word_vectors import Words
from paper.config import PaperConfig
from paper.fit_system import figures_table, run_system, write_results
from paper.parses import NONE, PAPER
from paper.recipes import command_for
from paper.tasks import Task, read_some, word_counts
from paper.vocabulary import with_vectors, written_vocabulary

log = logging.getLogger(__name__)
DATA = {
    "sick": "SICK (SemEval-2014 Task 1; CC BY-NC-SA 3.0, so the model is for non-commercial use)",
    "sst5": "Stanford Sentiment Treebank (Socher et al., 2013; please cite it)",
    "sst2": "Stanford Sentiment Treebank (Socher et al., 2013; please cite it), binary task",
}


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
    """Train a configuration into a folder. Return the contents of its `test.json`: metrics and the chosen epoch.

    Args:
        config: what to train; see `load_recipe`.
        out: the folder of the run.
        seed: the random seed for shuffling, initialization and dropout.
        data: the data folder; None looks where `bough.data.find_data` does.
        resume: whether to continue a run that was stopped in `out`.
        device: the device to train on.
        recipe: the name to record with the run.
        callback: a function that is called with every event of the run.

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
        return ranks.from_first(lambda: run_system(out, task, run))
    examples = {split: read_some(task, split) for split in ("train", "dev")}
    words = ranks.in_turn(lambda: Words(config, data, seed, word_counts(task, examples["train"])))
    torch.manual_seed(seed)
    model = _new_model(task, examples, words).to(device)
    prepared = {"train": task.to_learn(examples["train"], model), "dev": task.prepare(examples["dev"], model)}
    files = [file for split in examples for file in task.files(split)]
    facts = {**run, "vectors": words.name, "coverage": words.coverage, "versions": versions(config)}
    facts["trees"] = task.trees_by
    facts["data"] = fingerprint(files, data=task.data)
    state = train_once(out, task, model, config, prepared, facts, seed, resume, callback)
    task.finish(model, prepared["dev"])
    # `finish` may have rounded or calibrated the weights
    state.best_dev = task.metrics(task.predict(model, prepared["dev"]), prepared["dev"])
    return _finish(out, task, model, state, words, facts)


def _claimed(out: Path, run: dict[str, Any], resume: bool) -> dict[str, Any] | None:
    """Lock the folder. Return the result of the run in it if that is finished, else None."""
    lock_run_folder(out, run, resume)
    if not (out / "test.json").exists():
        return None
    log.info("%s is finished", out)
    (out / CHECKPOINT).unlink(missing_ok=True)
    return read_json(out / "test.json")


def _finish(
    out: Path, task: Task, model: Model, state: TrainingState, words: Words, facts: dict[str, Any]
) -> dict[str, Any]:
    """Read the test split for the only time, test the model that dev chose, and write the folder."""
    examples = read_some(task, "test")
    if model.encoder is None:
        # add the words of the test split that are not in the vocabulary yet
        forms = dict.fromkeys(map(vocabulary_form(task.config), word_counts(task, examples)))
        new = [word for word in forms if word not in model.index]
        if model.config.oov == "written":
            new, rows = with_vectors(words, dict.fromkeys(new, 0))
        else:
            rows = words.rows(new)
        model.add_words(new, torch.from_numpy(rows))
    prepared = task.prepare(examples, model)
    cache_activations(model, prepared)
    predicted = current().predict(task, model, prepared)
    figures = task.figures(model, predicted, prepared)
    result = {"test": figures, "dev": state.best_dev, "epoch": state.best_epoch, "vectors": words.name}

    def write() -> None:
        command = command_for(task.config, facts["recipe"], facts["seed"])
        card = model_card(task.config, facts, result, command)
        model.save(out, card=card, facts={"vectors": facts["vectors"], "scores": result})
        # again, because the run may have been killed before the line of the last epoch
        write_text(out / "metrics.jsonl", state.history_text())
        write_results(out, result, predicted, state.seconds)
        (out / CHECKPOINT).unlink(missing_ok=True)

    current().from_first(write)
    return result


def model_card(config: PaperConfig, facts: Mapping[str, Any], result: Mapping[str, Any], command: str) -> str:
    """Return the card of a run as Markdown. `command` trains it again."""
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    settings = "\n".join(f"{key} = {value!r}" for key, value in config.as_dict().items() if key != "about")
    epoch = f"- The epoch, {result['epoch']} of {config.epochs}, was chosen on dev"
    words = words_line(config, result["vectors"], facts["coverage"], "training split")
    trees = f"- Trees: by {facts['trees']}\n" if facts["trees"] not in (PAPER, NONE) else ""
    return (
        f"# {config.about or facts['recipe']}\n\nTrained by `{command}`.\n\n- Data: {DATA[config.task]}\n"
        f"{trees}{words}\n{epoch}; test was read once, with it.\n- {versions}\n\n{figures_table(result)}\n\n"
        f"```\n{settings}\n```\n"
    )


def vocabulary_form(config: Config) -> Callable[[str], str]:
    """Return the function from a word to its form in the vocabulary."""
    return str.lower if config.lowercase else str


def _new_model(task: Task, examples: dict[str, list[Any]], words: Words) -> Model:
    config = task.config
    relations = {str(name) for tree in task.trees(examples["train"]) for name in tree.relations or ()}
    names = sorted(relations) if config.kind.wants_relations else []
    if config.encoder:
        return Model(config.for_model(), config.output, [], names, trees=config.text_trees)
    form, learnt = vocabulary_form(config), word_counts(task, examples["train"])
    others = set(map(form, word_counts(task, [*examples["train"], *examples["dev"]])))
    if config.oov == "written":
        forms = Counter[str]()
        for word, count in learnt.items():
            forms[form(word)] += count
        vocabulary, table = written_vocabulary(words, forms, others)
    else:
        vocabulary = sorted(others)
        table = words.rows(vocabulary)
    unknown = glove.random_rows([UNKNOWN], table.shape[1], words.seed)
    rows = torch.from_numpy(np.concatenate([unknown, table]))
    return Model(config.for_model(), config.output, vocabulary, names, rows, trees=config.text_trees)
