"""The texts of a run, read once by the layers of a contextual encoder that do not learn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from bough.models.batching import Sentence
from bough.models.model import Model
from bough.models.transformer import Text
from bough.train.distributed import here


def remember(model: Model, *splits: Sequence[Any]) -> None:
    """Compute once what the frozen layers make of the examples, into bough's cache."""
    encoder = model.encoder

    def work() -> bool:
        assert encoder is not None
        encoder.remember(text for split in splits for text in _texts(split))
        return True

    if encoder is not None:
        here().in_turn(work)


def _texts(examples: Sequence[Any]) -> Iterator[Text]:
    for example in examples:
        for one in example if isinstance(example, tuple) else (example,):
            if isinstance(one, Sentence):
                yield one.text
