"""Export a trained sentiment run as a bundled model: widen its vocabulary and compress it."""

from __future__ import annotations

import logging
from collections import Counter
from pathlib import Path

import torch
from torch import Tensor

from bough.files import read_json
from bough.models.bundled import BundledModel
from bough.models.model import Model
from bough.train.word_vectors import Words
from bundle.compress import COLUMNS, compress
from bundle.config import BundleConfig
from paper.tasks import word_counts
from paper.vocabulary import lasting

log = logging.getLogger(__name__)

WORDS = 60_000  # of the vectors' file, the most frequent first


def export_run(
    run: Path, *, data: Path | str | None = None, columns: int = COLUMNS, words: int = WORDS
) -> tuple[BundledModel, str]:
    """Compress the trained run in a folder; return the small model and the name of the word vectors.

    Its vocabulary is that of the training split, with the rows that training gave it, and the `words` most frequent
    words of the vectors' file.
    """
    model = Model.load(run)
    config = BundleConfig().with_settings(read_json(run / "run.json")["config"])
    if config.task != "sst5" or config.oov != "written":
        what = f"{run} is a run of {config.task!r}, oov = {config.oov!r}"
        raise ValueError(f"{what}; wanted 'sst5' and 'written'")
    vocabulary, vectors, source = wide_vocabulary(model, config, data, words)
    return compress(model, vocabulary, vectors, columns), source


def wide_vocabulary(
    model: Model, config: BundleConfig, data: Path | str | None, most: int = WORDS
) -> tuple[list[str], Tensor, str]:
    """Return the words to export, their vectors (words + 1, X), the unknown word's first, and the vectors' name.

    Trained words keep the row that training gave them. The words are in order of frequency, in which a misspelt word
    is looked up.
    """
    task = config.build_task(data)
    counts = word_counts(task, task.read("train"))
    words = Words(config, data, 1, counts)
    folded = Counter[str]()
    for word, count in counts.items():
        folded[word.lower() if config.lowercase else word] += count
    trained = [word for word, _ in folded.most_common() if word in model.index]
    stay = lasting(words, {word: folded[word] for word in trained})
    rows = {word: model.table[model.index[word]] for word in trained if word in stay}
    own = len(rows)
    frequent, vectors = words.frequent(most)
    for word, row in zip(frequent, torch.from_numpy(vectors), strict=True):
        if word.lower() not in rows and len(word.splitlines()) == 1:
            rows[word] = row
    log.info("%d words, %d of them from training", len(rows), own)
    return list(rows), torch.stack([model.table[0], *rows.values()]), words.name
