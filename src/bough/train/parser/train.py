"""Train the built-in parser: from the data folder to a folder with the best epoch on dev and its card."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from bough.data import find_data
from bough.data.glove import GloveFile
from bough.data.location import require
from bough.parsing.builtin.lexicon import SPECIALS, normal
from bough.parsing.builtin.training import treebanks
from bough.parsing.builtin.training.card import write_card
from bough.parsing.builtin.training.config import Config
from bough.parsing.builtin.training.evaluation import Report, evaluate, score
from bough.parsing.builtin.training.learner import Learner, build_lexicon
from bough.parsing.builtin.training.run import CHECKPOINT, Run
from bough.parsing.builtin.training.treebanks import Example


def train(
    config: Config,
    data: Path | str | None,
    out: Path | str,
    *,
    resume: bool = False,
    card: bool = True,
    check: bool = True,
) -> Report | None:
    """Train a parser on the data below `data` and leave the best one in `out`.

    After each epoch the averaged weights, folded and quantised as they ship, are scored on SST's dev split
    (brackets and heads) and SICK's unseen dev sentences; `metrics.jsonl` grows by a line, and the first best
    is kept. `resume` goes on after the last finished epoch, to the same end as if never interrupted; what a
    config says about sizes and data must then be the same, the rest may change and is noted in the card.
    With `card`, the kept parser is measured on the test splits at the end, once, and its card written.
    Without `check` the data may be others than SST and SICK, in their layout.
    """
    folder = Path(out)
    if not resume and (folder / CHECKPOINT).exists():
        raise ValueError(f"{folder} already holds a run; continue it with --resume")
    torch.manual_seed(config.seed)
    examples = treebanks.training(data, config.longest, config.silver, check=check)
    learner = build_learner(config, data, examples)
    run = Run(config, learner, folder)
    if resume:
        run.resume()
    dev = treebanks.sst(data, "dev", check=check)
    fit(run, examples, dev, treebanks.sick_unseen(data, "dev", check=check))
    if not card:
        return None
    report = evaluate(folder, data, "test", check=check)
    rounding = (score(run.parser(rounded=False), dev), score(run.parser(), dev))
    write_card(folder, config, report, run.best, rounding, run.changes)
    return report


def fit(run: Run, examples: Sequence[Example], dev: Sequence[Example], dev_sick: Sequence[Example]) -> None:
    """Train the run's remaining epochs, each scored on the two dev sets."""
    while run.epoch < run.config.epochs:
        started = time.perf_counter()
        losses = run.train_epoch(examples)
        parser = run.parser()
        run.keep(parser, losses, score(parser, dev), score(parser, dev_sick), time.perf_counter() - started)


def build_learner(config: Config, data: Path | str | None, examples: Sequence[Example]) -> Learner:
    """A fresh network over the words of the vectors' file and of the examples."""
    path = find_data(data) / "glove" / f"glove.{config.vectors}.300d.txt"
    require([path], "glove")
    known, rows = _vectors(path, config.words, {normal(token) for e in examples for token in e.tokens})
    lexicon = build_lexicon(known, examples)
    vectors = np.zeros((len(lexicon), rows.shape[1]), dtype=np.float32)
    vectors[len(SPECIALS) : len(SPECIALS) + len(rows)] = rows / rows.std()
    return Learner(config, lexicon, vectors, examples)


def _vectors(path: Path, most: int, wanted: set[str]) -> tuple[list[str], NDArray[np.float32]]:
    """The first `most` words of a GloVe file and the wanted ones after them, with their rows."""
    words: dict[str, NDArray[np.float32]] = {}
    file = GloveFile(path)
    for number, raw, values in file.lines():
        word = raw.decode("utf-8", "replace")
        if word not in words and (number <= most or word in wanted) and _storable(word):
            words[word] = file.vector(values, number)
    return list(words), np.stack(list(words.values()))


def _storable(word: str) -> bool:
    return word not in SPECIALS and len(word.splitlines()) == 1
