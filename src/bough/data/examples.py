"""Labelled examples: texts, trees, or pairs of texts or trees, with labels and weights."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from bough.errors import DataError, FormatError
from bough.formats.lines import parse_json
from bough.trees.tree import Tree

Item = str | Tree
Weights = Iterable[float]


@dataclass(frozen=True)
class Example:
    """A labelled example.

    Args:
        where: its file and line, or its index in a list, for messages.
        items: a text or a tree; for a pair, two texts or two trees.
        label: its label as a string.
        value: its label as it was given, which may also be a number, a boolean or a list.
        split: the cell of the column `split`, if there is one.
        weight: its weight in the loss.
    """

    where: str
    items: tuple[Item, ...]
    label: str
    value: Any
    split: str = ""
    weight: float = 1.0

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts; none for trees."""
        return tuple(item for item in self.items if isinstance(item, str))

    @property
    def trees(self) -> tuple[Tree, ...]:
        """The trees; none for texts."""
        return tuple(item for item in self.items if isinstance(item, Tree))


@dataclass(frozen=True)
class TreeColumns:
    """The column of a table that holds trees as nested objects, or the two columns of pairs, and the keys of nodes.

    The fields after the first are arguments of `Tree.from_nested`.
    """

    column: str | tuple[str, ...]
    children: str = "children"
    token: str | None = None
    relation: str | None = None
    numbers: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    edge_numbers: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The column, or the two columns of pairs."""
        return (self.column,) if isinstance(self.column, str) else tuple(self.column)

    def tree(self, cell: Any, where: str, line: int, column: str = "") -> Tree:
        """Return the tree in a cell: a nested object or its JSON. An error has the path of the wrong node."""
        obj = parse_json(cell, where, line) if isinstance(cell, str) else cell
        keys = {name: value for name, value in vars(self).items() if name != "column"}
        try:
            return Tree.from_nested(obj, **keys)
        except FormatError as error:
            column = column or self.columns[0]
            path = column if error.where == "root" else f"{column}.{error.where}"
            raise FormatError(f"{path}: {error.reason}", where=where, line=line) from None


@dataclass(frozen=True)
class Columns:
    """The columns of a table with the texts or the trees, the label, the split and the weight, and its encoding."""

    items: tuple[str, ...] = ()
    label: str = ""
    tree: TreeColumns | None = None
    split: str = ""
    weight: str = ""
    encoding: str | None = None


@dataclass
class Source:
    """Labelled examples from a file, a data frame or lists.

    `empty` are the positions of the rows that were left out because they have no text or no label.
    Raise a DataError if there are no examples.
    """

    name: str
    examples: list[Example]
    empty: list[str] = field(default_factory=list)
    columns: Columns = field(default_factory=Columns)

    def __post_init__(self) -> None:
        if not self.examples:
            raise DataError(f"{self.name}: no example with a text and a label in it")

    @property
    def pairs(self) -> bool:
        """Whether an example is two texts or two trees."""
        return len(self.examples[0].items) == 2

    @property
    def trees(self) -> bool:
        """Whether the examples are trees."""
        return isinstance(self.examples[0].items[0], Tree)


def labelled_lists(
    items: Iterable[Any], labels: Iterable[Any] | None, name: str = "texts", weights: Weights | None = None
) -> Source:
    """Return the examples in lists.

    Args:
        items: texts, trees, or pairs of texts or trees.
        labels: one label for each item; None for trees whose nodes have labels.
        name: the name of the list in messages.
        weights: the weight of each example in the loss.
    """
    items = list(items)  # indexing a pandas Series would look up its labels
    if not items:
        raise ValueError(f"{name}: none; there is nothing to learn from")
    own_labels = labels is None
    if labels is None:
        if not all(isinstance(tree, Tree) and tree.labels is not None for tree in items):
            raise ValueError(f"{name}: no labels; only trees whose nodes have labels need none")
        labels = (tree.labels[tree.root] for tree in items)
    labels = list(labels)
    if len(items) != len(labels):
        raise ValueError(f"{name}: {len(items):,} examples, {len(labels):,} labels; give one each")
    weights = [1.0] * len(items) if weights is None else list(weights)
    if len(weights) != len(items):
        raise ValueError(f"{name}: {len(weights)} weights; give one of 0 or more for each example")
    pairs = isinstance(items[0], (tuple, list))
    kind = Tree if isinstance(items[0][0] if pairs and items[0] else items[0], Tree) else str
    examples, empty = list[Example](), list[str]()
    for number, (item, label, weight) in enumerate(zip(items, labels, weights, strict=True)):
        where = f"{name}[{number}]"
        both = tuple(item) if pairs and isinstance(item, (tuple, list)) else (item,)
        if len(both) != 1 + pairs or not all(isinstance(one, kind) for one in both):
            wanted = f"{'two' if pairs else 'a'} {'tree' if kind is Tree else 'text'}{'s' * pairs}"
            raise ValueError(f"{where} is {item!r:.60}, not {wanted}, as the first is")
        if is_missing(label) or any(isinstance(one, str) and not one.strip() for one in both):
            empty.append(where)
            continue
        if kind is Tree and not own_labels:
            both = tuple(tree.replace(labels=None) for tree in both)
        examples.append(Example(where, both, str(label), label, weight=read_weight(weight, where)))
    return Source(name, examples, empty)


def read_weight(value: Any, where: str) -> float:
    """Return the weight of an example. Raise a FormatError unless it is a number of 0 or more."""
    try:
        weight = float(value)
    except (TypeError, ValueError):
        weight = -1.0
    if not 0 <= weight < math.inf:
        raise FormatError(f"{where}: the weight {value!r}; give a number of 0 or more")
    return weight


def is_missing(label: object) -> bool:
    """Return whether a label is missing: None, NaN, NaT, pandas' NA or blank text."""
    if isinstance(label, (list, tuple, set, frozenset)) or getattr(label, "shape", None):
        return False
    try:
        missing = bool(label != label)  # NaN and NaT do not equal themselves
    except (TypeError, ValueError):  # pandas' NA has no truth value
        missing = type(label).__name__ == "NAType"
    return label is None or missing or not str(label).strip()
