"""What every pipeline does with a model: trees in, states out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

import torch
from torch import Tensor

from bough.model.examples import collate, prepare_all
from bough.model.model import Model
from bough.model.shipped import ShippedModel
from bough.trees.forest import Forest
from bough.trees.tree import Tree

AT_ONCE = 256  # texts parsed and scored together
T = TypeVar("T")


def groups(items: Iterable[T], size: int = AT_ONCE) -> Iterator[list[T]]:
    """The items in lists of at most `size`; a text is one item, and a ValueError where several are wanted."""
    if isinstance(items, str):
        raise ValueError(f"one text, {items[:40]!r}, where several are wanted; put it into a list")
    source = iter(items)
    while group := list(islice(source, size)):
        yield group


def inputs(model: Model, trees: Sequence[Tree]) -> tuple[Forest, Tensor]:
    """The forest of some trees, and the vectors (M, X) of the words its encoder reads."""
    if model.config.encoder in ("lstm", "sdt-rnn"):  # words in a row; relations by number
        forest, ids = collate(prepare_all(trees, model), model)
    else:
        forest, ids = model.forest(trees)
    return forest, model.look_up(forest, ids)


@torch.inference_mode()
def sentence_vectors(model: Model, trees: Sequence[Tree]) -> Tensor:
    """(trees, D) the vector of each sentence."""
    forest, x = inputs(model, trees)
    vectors = model.sentences(x, forest)
    tidy(model)
    return vectors


def word_rows(model: Model, words: Sequence[str]) -> Tensor:
    """(words, X) the table's row of each word."""
    rows = torch.from_numpy(model.ids(words))
    found = model.vectors(rows) if isinstance(model, ShippedModel) else model.table.index_select(0, rows)
    tidy(model)
    return found


def tidy(model: Model) -> None:
    """After a batch: memory must not grow with the texts that went through."""
    if isinstance(model, ShippedModel):
        model.forget_strangers()
