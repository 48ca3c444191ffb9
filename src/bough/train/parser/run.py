"""Train a parser on treebanks into a folder."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from bough.errors import DataError
from bough.files import write_json
from bough.text.builtin.parser import BuiltinParser
from bough.train.checkpoint import TrainingState
from bough.train.loop import Callback, learn
from bough.train.parser.config import Config
from bough.train.parser.examples import read_treebanks
from bough.train.parser.learner import build_learner, build_parser
from bough.train.parser.task import ParserOptimizer, ParserTask
from bough.train.run_folder import lock_run_folder

log = logging.getLogger(__name__)


def train_parser(
    treebanks: Sequence[Path | str],
    dev: Sequence[Path | str],
    out: Path | str,
    *,
    vectors: Path | str | None = None,
    config: Config | None = None,
    resume: bool = False,
    callback: Callback = lambda event: None,
) -> BuiltinParser:
    """Train a parser on treebanks of any language, write the best one to a folder, and return it.

    After each epoch, the averaged and compressed weights are scored on the dev sentences. The first epoch with the best
    mean of bracket F1 and UAS is saved.

    Args:
        treebanks: files of bracketed trees or CoNLL-U; see `read_treebanks`.
        dev: files of the same kinds, to choose the epoch on.
        out: the folder for the parser, `metrics.jsonl` and the checkpoint.
        vectors: a file of word vectors in GloVe's format; None for none.
        config: sizes, weights of the losses and optimizer.
        resume: whether to continue an interrupted run after its last finished epoch.
        callback: is called with every event of the run.

    Raises:
        DataError: if no sentence is short enough, or if dev has a kind of trees that the treebanks lack.
    """
    config, folder = config or Config(), Path(out)
    examples, held_out = read_treebanks(treebanks), read_treebanks(dev)
    kept = [example for example in examples if len(example.tokens) <= config.longest]
    if not kept:
        raise DataError(f"every sentence to train on has more than {config.longest} words (`longest`)")
    for gold, kind in (("spans", "phrase trees"), ("heads", "heads")):
        if any(getattr(one, gold) for one in held_out) and not any(getattr(one, gold) for one in kept):
            raise DataError(f"the dev sentences have {kind}, and no treebank to train on has any")
    run = {
        "config": asdict(config),
        "treebanks": list(map(str, treebanks)),
        "dev": list(map(str, dev)),
        "vectors": str(vectors or ""),
    }
    lock_run_folder(folder, run, resume)
    message = "%d sentences to train on, %d longer than %d words left out"
    log.info(message, len(kept), len(examples) - len(kept), config.longest)
    learner = build_learner(config, None if vectors is None else Path(vectors), kept)
    write_json(folder / "run.json", run)
    task, state = ParserTask(config), TrainingState(ParserOptimizer(learner, config), config.seed)
    state.restore(folder)
    learn(folder, task, config, state, {"train": kept, "dev": held_out}, callback)
    state.use_best()
    parser = build_parser(learner)
    parser.save(folder)
    return parser
