"""Collate the examples of a batch for a `torch.utils.data.DataLoader`."""

from collections.abc import Mapping, Sequence
from typing import Any

from torch.utils.data import default_collate

from bough.trees.forest import Forest
from bough.trees.graph import Graph
from bough.trees.tree import Tree


def collate(batch: Sequence[Any]) -> Any:
    """Return a batch whose trees and graphs are a `Forest`: the `collate_fn` of a `DataLoader`.

    Args:
        batch: the examples: trees or graphs, or tuples, lists or dictionaries that hold them. Everything else in an
            example, such as its label, is collated as torch does by default.

    Examples:
        >>> import bough
        >>> from torch.utils.data import DataLoader
        >>> data = [(bough.Tree(parents=[1, -1]), 0), (bough.Tree(parents=[-1]), 1)]
        >>> next(iter(DataLoader(data, batch_size=2, collate_fn=bough.collate)))
        (Forest(2 trees, 3 nodes, 3 computed, 2 levels), tensor([0, 1]))
    """
    first = batch[0]
    if isinstance(first, Tree | Graph):
        return Forest(batch)
    if isinstance(first, Mapping):
        return {key: collate([example[key] for example in batch]) for key in first}
    if isinstance(first, list | tuple):
        return tuple(collate(column) for column in zip(*batch, strict=True))
    return default_collate(list(batch))
