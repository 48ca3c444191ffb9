"""What shipping costs: a model before and after, on gold trees, and on plain text with a parser's trees."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bough import Tree
from bough.data import find_data
from bough.formats.lines import numbered
from bough.models.metrics import Floats
from bough.models.model import Model
from bough.pipelines import RelatednessPipeline, SentimentPipeline
from bough.text import Parser, get_parser
from paper.config import PaperConfig
from paper.sick import TEXTS
from paper.tasks import Task

Figures = dict[str, float]


def on_gold_trees(
    model: Model, split: str = "test", *, data: Path | str | None = None, check: bool = True
) -> Figures:
    """The figures of a model on the trees of its data set; `check` compares their number with the official one."""
    task = _own_task(model, data, check)
    examples = task.prepare(task.read(split), model)
    return task.metrics(task.predict(model, examples), examples)


def _own_task(model: Model, data: Path | str | None, check: bool) -> Task:
    """Return the task without other sources, which are measured elsewhere (`bundle/everyday.py`)."""
    config = PaperConfig.of_model(model.config, model.purpose)
    return config.with_settings({"source": "data" if check else "own"}).build_task(data)


def on_text(
    model: Model,
    split: str = "test",
    *,
    data: Path | str | None = None,
    parser: str | Parser = "builtin",
    check: bool = True,
) -> Figures:
    """The figures of the whole pipeline on plain text: tokeniser, parser, model.

    SICK's text is that of its own files. SST's, whose trees are all there is, are the words of the trees
    with spaces between.
    """
    task = _own_task(model, data, check)
    examples = task.read(split)
    engine = get_parser(parser) if isinstance(parser, str) else parser
    if model.config.of_pairs:
        predicted = _ratings(model, _pairs(task, examples, split, data), engine)
    else:
        predicted = _classes(model, [spoken(tree) for tree in examples], engine)
    return task.metrics(predicted, task.prepare(examples, model))


def _classes(model: Model, texts: list[str], parser: Parser) -> Floats:
    return np.array([result.probabilities for result in SentimentPipeline(model, parser).stream(texts)])


def _ratings(model: Model, pairs: list[tuple[str, str]], parser: Parser) -> Floats:
    return np.array([result.score for result in RelatednessPipeline(model, parser).compare_all(pairs)])


def _pairs(task: Task, examples: Sequence[Any], split: str, data: Path | str | None) -> list[tuple[str, str]]:
    path = find_data(data) / "sick" / TEXTS[split][0]
    if not path.is_file():
        return [(spoken(pair.left), spoken(pair.right)) for pair in examples]
    lines = (line.split("\t") for _, line in numbered(path, str(path)))
    texts = {identity: (a, b) for identity, a, b, *_ in lines}
    return [texts[pair.id] for pair in examples]


def spoken(tree: Tree) -> str:
    """The words of a tree with spaces between."""
    assert tree.tokens is not None
    return " ".join(str(tree.tokens[node]) for node in tree.words.tolist())
