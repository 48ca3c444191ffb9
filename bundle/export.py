"""From a trained run's folder to a shipped model's, with its vocabulary widened and its cost measured."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from bough.data import find_data, user_cache
from bough.data.vector_sets import choose
from bough.data.vectors import first_vectors
from bough.files import read_json
from bough.models.bundled import ShippedModel
from bough.models.model import Model
from bough.train.vocabulary import lasting
from bough.train.word_vectors import Words
from bough.version import __version__
from bundle.card import shipped_card
from bundle.check import on_gold_trees, on_text
from bundle.compress import COLUMNS, fold
from bundle.config import BundleConfig
from paper.tasks import word_counts

log = logging.getLogger(__name__)

TASKS = {"sentiment": ("sst5", "sst2"), "relatedness": ("sick",), "relatedness-sick": ("sick",)}
WORDS = 60_000  # of the vectors' file, the most frequent first


def ship(
    run: Path,
    name: str,
    out: Path,
    *,
    data: Path | str | None = None,
    parser: str = "builtin",
    columns: int = COLUMNS,
    words: int = WORDS,
) -> dict[str, Any]:
    """Make the trained run in the folder `run` into a model to ship, in the folder `out`.

    Its vocabulary is that of the training split, with the rows that training gave it, and the `words` most
    frequent words of the vectors' file. The figures on dev and test, of the run, of the same model folded
    and quantised, of the shipped one, and of the shipped one on plain text, are returned and on its card.
    """
    model = Model.load(run)
    if name not in TASKS:
        raise ValueError(f"name {name!r}: {' or '.join(map(repr, TASKS))}")
    if model.encoder is not None:
        raise ValueError(
            f"{run} has contextual leaves; its folder is complete as it is, and there is no smaller one"
        )
    origin = read_json(run / "run.json")
    config = BundleConfig.stored(origin["config"])
    if config.task not in TASKS[name]:
        raise ValueError(f"{run} is a model for {config.task!r}, not for {name}")
    vocabulary, vectors, source = wide_vocabulary(model, config, data, words)
    shipped = fold(model, vocabulary, vectors, columns)
    measured = {
        split: measure(
            model, shipped, split, columns, data=data, parser=parser, check=config.source == "data"
        )
        for split in ("dev", "test")
    }
    facts = {
        "name": name,
        "vectors": source,
        "words": len(vocabulary),
        "columns": int(shipped.table.shape[1]),
        "parser": parser,
        "scores": measured,
        "made_by": f"bough {__version__}",
    }
    shipped.save(out, card=shipped_card(config, facts, origin), facts=facts)
    return facts


def measure(
    model: Model,
    shipped: ShippedModel,
    split: str,
    columns: int = COLUMNS,
    *,
    data: Path | str | None = None,
    parser: str = "builtin",
    check: bool = True,
) -> dict[str, dict[str, float]]:
    """What each step of shipping does to a model's figures."""
    same_words = fold(model, model.words, model.table, columns)
    return {
        "trained": on_gold_trees(model, split, data=data, check=check),
        "folded": on_gold_trees(same_words, split, data=data, check=check),
        "shipped": on_gold_trees(shipped, split, data=data, check=check),
        "text": on_text(shipped, split, data=data, parser=parser, check=check),
    }


def wide_vocabulary(
    model: Model, config: BundleConfig, data: Path | str | None, most: int = WORDS
) -> tuple[list[str], Tensor, str]:
    """The words to ship, their vectors (words + 1, X), the unknown word's first, and where they come from.

    Trained words keep the row that training gave them. One that differs from a known word by case alone, and
    has the same vector, is left out: look-up finds it anyway.
    """
    task = config.build_task(data)
    counts = word_counts(task, task.read("train"))
    if config.oov == "written":
        return _written_vocabulary(model, Words(config, data, 1, counts), counts, most)
    rows = {word: model.table[model.index[word]] for word in counts if word in model.index}
    if config.embeddings == "random":
        source = "random"
    else:
        cache = user_cache() / "vectors"
        known = first_vectors(choose(find_data(data), counts, config.vectors, cache=cache), most, cache=cache)
        source = known.name
        for word, row in zip(known.words, torch.from_numpy(known.rows), strict=True):
            if word not in rows and len(word.splitlines()) == 1:
                rows[word] = row
    kept = sorted(word for word in rows if not _said_already(word, rows))
    log.info("%d words, %d of them from training", len(kept), sum(word in counts for word in kept))
    unknown = model.table[0]
    return kept, torch.stack([unknown, *(rows[word] for word in kept)]), source


def _written_vocabulary(
    model: Model, words: Words, counts: Mapping[str, int], most: int
) -> tuple[list[str], Tensor, str]:
    """The same, most frequent first: what its writer meant by a word is looked for in this order."""
    folded = Counter[str]()
    for word, count in counts.items():
        folded[word.lower() if model.config.lowercase else word] += count
    own = [word for word, _ in folded.most_common() if word in model.index]
    stay = lasting(words, {word: folded[word] for word in own})
    rows = {word: model.table[model.index[word]] for word in own if word in stay}
    frequent, vectors = words.frequent(most)
    for word, row in zip(frequent, torch.from_numpy(vectors), strict=True):
        if len(word.splitlines()) == 1 and word.lower() not in rows:
            rows[word] = row
    log.info("%d words, %d of them from training", len(rows), len(stay))
    return list(rows), torch.stack([model.table[0], *rows.values()]), words.name


def _said_already(word: str, rows: dict[str, Tensor]) -> bool:
    lower = word.lower()
    return word != lower and lower in rows and torch.equal(rows[word], rows[lower])
