"""Ray Data's datasets of texts, with the scores beside them."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

from bough.integrations.ray.connection import load_ray, processors
from bough.integrations.ray.filesystem import own_place
from bough.pipelines import NAMES as MODELS
from bough.pipelines.files import NO_PAIR, NO_TEXT
from bough.pipelines.reading import AT_ONCE
from bough.pipelines.relatedness import RelatednessPipeline
from bough.text import NAMES as PARSERS

if TYPE_CHECKING:
    from ray.data import Dataset


def score(
    dataset: Dataset,
    *,
    model: str = "sentiment",
    parser: str = "builtin",
    workers: int | None = None,
) -> Dataset:
    """The dataset with the columns `label`, `polarity`, `score` and `probabilities`; of pairs only the last two.

    It is lazy, as all of Ray Data: nothing is computed before the result is read or written. For files that are to
    be scored once, surely and resumably, see `score_files`.

    Args:
        dataset: With a column `text`, or `a` and `b` for relatedness; other columns stay, and one that is called like
            those of the scores is a ValueError.
        model: sentiment, relatedness, or the folder of a model that all nodes see.
        parser: builtin, spacy, stanza, corenlp, corenlp:URL, or the folder of a trained one.
        workers: Processes of one processor and one model each; by default all processors of the cluster.

    Examples:
        >>> import bough.integrations.ray, ray
        >>> reviews = ray.data.from_items([{"text": "A fine film."}])  # doctest: +SKIP
        >>> bough.integrations.ray.score(reviews).take_all()[0]["label"]  # doctest: +SKIP
        'positive'
    """
    ray = load_ray()
    if workers is not None and workers < 1:
        raise ValueError(f"{workers} workers: at least 1")
    return dataset.map_batches(
        _Scorer,
        fn_constructor_args=(own_place(model, MODELS), own_place(parser, PARSERS)),
        batch_size=AT_ONCE,
        batch_format="pandas",
        num_cpus=1,
        compute=ray.data.ActorPoolStrategy(size=workers or processors(ray)),
    )


class _Scorer:
    def __init__(self, model: str, parser: str) -> None:
        import torch

        import bough

        torch.set_num_threads(1)
        self.pipeline = bough.load(model, parser=parser)
        gc.freeze()

    def __call__(self, batch: Any) -> Any:
        pairs = isinstance(self.pipeline, RelatednessPipeline)
        keys = ("a", "b") if pairs else ("text",)
        if missing := [key for key in keys if key not in batch]:
            raise ValueError(f"no column {missing[0]!r}; the dataset has {', '.join(map(repr, batch))}")
        new = NO_PAIR if pairs else NO_TEXT
        if clashing := [key for key in new if key in batch]:
            raise ValueError(f"the dataset has a column {clashing[0]!r} already; rename or drop it")
        columns = [
            ["" if none else text for text, none in zip(batch[key], batch[key].isna(), strict=True)]
            for key in keys
        ]
        if isinstance(self.pipeline, RelatednessPipeline):
            found = self.pipeline.stream_any(zip(columns[0], columns[1], strict=True))
            results = [NO_PAIR if result is None else result.as_dict() for result in found]
        else:
            scores = self.pipeline.stream_any(columns[0])
            results = [NO_TEXT if result is None else result.as_dict(phrases=False) for result in scores]
        return batch.assign(**{key: [result[key] for result in results] for key in new})
