"""Any model on a labelled file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bough.data.labelled import open_labelled
from bough.errors import DataError
from bough.files import write_text
from bough.models.metrics import Report, class_report, correlations
from bough.pipelines import RelatednessPipeline, load
from bough.pipelines.readers import groups
from bough.text import Parser
from bough.train.source import rating
from bough.train.tasks import Floats


def judge(
    model: str | Path,
    file: Path,
    text: Sequence[str] = (),
    label: str | None = None,
    *,
    parser: str | Parser = "builtin",
    out: Path | None = None,
) -> Report:
    """The figures of a model, by its name or folder, on a file as `bough fit` takes it; predictions go to `out`."""
    pipeline = load(model, parser=parser)
    source = open_labelled(file, text, label)
    pairs = isinstance(pipeline, RelatednessPipeline)
    if source.pairs != pairs:
        wanted = "two texts and a rating" if pairs else "a text and a label"
        raise DataError(f"{file}: the model {model} wants {wanted}; name the columns with --text and --label")
    numbers = {} if pairs else {name: number for number, name in enumerate(pipeline.model.purpose.classes)}
    predicted: list[Floats] = []
    gold: list[float] = []
    for group in groups(source):
        for example in group:
            if not pairs and example.label not in numbers:
                known = ", ".join(map(repr, [*numbers][:8]))
                raise DataError(
                    f"{source.place(example.line)}: the label {example.label!r}; the model has {known}"
                )
            gold.append(
                rating(example.label, source.place(example.line)) if pairs else numbers[example.label]
            )
        if isinstance(pipeline, RelatednessPipeline):
            found = pipeline.compare_all([(example.texts[0], example.texts[1]) for example in group])
            predicted.append(np.array([result.score for result in found]))
        else:
            items: list[Any] = [example.tree or example.texts[0] for example in group]
            predicted.append(np.array([result.probabilities for result in pipeline(items)]))
    if not gold:
        raise DataError(f"{file}: no example with a text and a label in it")
    rows = np.concatenate(predicted)
    if out is not None:
        lines = np.atleast_2d(rows.T).T
        write_text(out, "".join(" ".join(f"{value:.6f}" for value in row) + "\n" for row in lines))
    if pairs:
        return Report(correlations(rows, np.array(gold)), [], len(gold))
    return class_report(pipeline.model.purpose.classes, rows, np.array(gold, dtype=np.int64))
