"""Export a trained run as a bundled model: widen its vocabulary, compress it, and measure what each step costs."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bough import Tree
from bough.data import find_data, user_cache
from bough.data.vector_sets import choose
from bough.data.vectors import first_vectors
from bough.files import read_json
from bough.formats.lines import numbered
from bough.models.model import Model
from bough.pipelines import RelatednessPipeline, SentimentPipeline
from bough.text import Parser, get_parser
from bough.train.word_vectors import Words, lasting
from bough.version import __version__
from bundle.card import model_card
from bundle.compress import COLUMNS, compress
from bundle.config import BundleConfig
from paper.config import PaperConfig
from paper.sick import TEXTS
from paper.tasks import Task, word_counts

log = logging.getLogger(__name__)

TASKS = {"sentiment": ("sst5", "sst2"), "relatedness": ("sick",), "relatedness-sick": ("sick",)}
WORDS = 60_000  # of the vectors' file, the most frequent first
Metrics = dict[str, float]


def export_run(
    run: Path,
    name: str,
    out: Path,
    *,
    data: Path | str | None = None,
    parser: str = "builtin",
    columns: int = COLUMNS,
    words: int = WORDS,
) -> dict[str, Any]:
    """Compress the trained run in the folder `run` into a model in the folder `out`; return the facts of its card.

    Its vocabulary is that of the training split, with the rows that training gave it, and the `words` most frequent
    words of the vectors' file. Four models are measured on dev and test: the run, the same model compressed, the
    exported one, and the exported one on plain text.
    """
    model = Model.load(run)
    if name not in TASKS:
        raise ValueError(f"name {name!r}: {' or '.join(map(repr, TASKS))}")
    if model.encoder is not None:
        raise ValueError(
            f"{run} is a model over a transformer; its folder is complete as it is, and there is no smaller one"
        )
    origin = read_json(run / "run.json")
    config = BundleConfig.stored(origin["config"])
    if config.task not in TASKS[name]:
        raise ValueError(f"{run} is a model for {config.task!r}, not for {name}")
    vocabulary, vectors, source = wide_vocabulary(model, config, data, words)
    exported = compress(model, vocabulary, vectors, columns)
    same_words = compress(model, model.words, model.table, columns)
    check = config.source == "data"
    scores = {
        split: {
            "trained": score_trees(model, split, data=data, check=check),
            "folded": score_trees(same_words, split, data=data, check=check),
            "shipped": score_trees(exported, split, data=data, check=check),
            "text": score_text(exported, split, data=data, parser=parser, check=check),
        }
        for split in ("dev", "test")
    }
    facts = {
        "name": name,
        "vectors": source,
        "words": len(vocabulary),
        "columns": int(exported.table.shape[1]),
        "parser": parser,
        "scores": scores,
        "made_by": f"bough {__version__}",
    }
    exported.save(out, card=model_card(config, facts, origin), facts=facts)
    return facts


# --------------------------------------------------------------------- vocabulary


def wide_vocabulary(
    model: Model, config: BundleConfig, data: Path | str | None, most: int = WORDS
) -> tuple[list[str], Tensor, str]:
    """Return the words to export, their vectors (words + 1, X), the unknown word's first, and the vectors' name.

    Trained words keep the row that training gave them. With `oov = "written"` the words are in order of frequency,
    in which a misspelt word is looked up. Else a word that differs from a known one by case alone, and has the same
    vector, is left out: the lookup finds it anyway.
    """
    task = config.build_task(data)
    counts = word_counts(task, task.read("train"))
    rows: dict[str, Tensor] = {}
    frequent: Sequence[str] = ()
    vectors, source = np.zeros((0, 0), np.float32), "random"
    if config.oov == "written":
        words = Words(config, data, 1, counts)
        folded = Counter[str]()
        for word, count in counts.items():
            folded[word.lower() if config.lowercase else word] += count
        trained = [word for word, _ in folded.most_common() if word in model.index]
        stay = lasting(words, {word: folded[word] for word in trained})
        rows |= {word: model.table[model.index[word]] for word in trained if word in stay}
        frequent, vectors, source = *words.frequent(most), words.name
    else:
        rows |= {word: model.table[model.index[word]] for word in counts if word in model.index}
        if config.embeddings != "random":
            cache = user_cache() / "vectors"
            chosen = choose(find_data(data), counts, config.vectors, cache=cache)
            known = first_vectors(chosen, most, cache=cache)
            frequent, vectors, source = known.words, known.rows, known.name
    own = len(rows)
    for word, row in zip(frequent, torch.from_numpy(vectors), strict=True):
        known_as = word.lower() if config.oov == "written" else word
        if known_as not in rows and len(word.splitlines()) == 1:
            rows[word] = row
    if config.oov != "written":
        rows = {word: rows[word] for word in sorted(rows) if not _is_known_in_lower_case(word, rows)}
    log.info("%d words, %d of them from training", len(rows), own)
    return list(rows), torch.stack([model.table[0], *rows.values()]), source


def _is_known_in_lower_case(word: str, rows: dict[str, Tensor]) -> bool:
    lower = word.lower()
    return word != lower and lower in rows and torch.equal(rows[word], rows[lower])


# ------------------------------------------------------------------------- scores


def score_trees(
    model: Model, split: str = "test", *, data: Path | str | None = None, check: bool = True
) -> Metrics:
    """Measure a model on the trees of its data set; `check` compares their number with the official one."""
    task = _own_task(model, data, check)
    examples = task.prepare(task.read(split), model)
    return task.metrics(task.predict(model, examples), examples)


def score_text(
    model: Model,
    split: str = "test",
    *,
    data: Path | str | None = None,
    parser: str | Parser = "builtin",
    check: bool = True,
) -> Metrics:
    """Measure the whole pipeline on plain text: tokeniser, parser, model.

    SICK's text is that of its own files. SST has trees only: its text is their words with spaces between.
    """
    task = _own_task(model, data, check)
    examples = task.read(split)
    engine = get_parser(parser) if isinstance(parser, str) else parser
    if model.config.of_pairs:
        pairs = [(spoken(pair.left), spoken(pair.right)) for pair in examples]
        path = find_data(data) / "sick" / TEXTS[split][0]
        if path.is_file():
            lines = (line.split("\t") for _, line in numbered(path, str(path)))
            texts = {identity: (a, b) for identity, a, b, *_ in lines}
            pairs = [texts[pair.id] for pair in examples]
        ratings = RelatednessPipeline(model, engine).compare_all(pairs)
        predicted = np.array([result.score for result in ratings])
    else:
        sentiments = SentimentPipeline(model, engine).stream(spoken(tree) for tree in examples)
        predicted = np.array([result.probabilities for result in sentiments])
    return task.metrics(predicted, task.prepare(examples, model))


def _own_task(model: Model, data: Path | str | None, check: bool) -> Task:
    """Return the task without other sources, which are measured elsewhere (`bundle/everyday.py`)."""
    config = PaperConfig.of_model(model.config, model.purpose)
    return config.with_settings({"source": "data" if check else "own"}).build_task(data)


def spoken(tree: Tree) -> str:
    """Return the words of a tree with spaces between."""
    assert tree.tokens is not None
    return " ".join(str(tree.tokens[node]) for node in tree.words.tolist())
