"""The input of a node: one row of x from its word, its categories and its numbers."""

from __future__ import annotations

import logging
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from bough.models.settings import check_keys
from bough.text.tokenise import tokenise
from bough.trees.tree import Tree
from bough.trees.validate import Floats, Ints

log = logging.getLogger(__name__)
Combine = Literal["sum", "join"]
Log = Literal["auto", "all", "none"]
# rows of the embedding of a category: no value, a value that is not in training, the first value
NONE, UNSEEN, FIRST = 0, 1, 2
DECADES = 100  # a column is read as logarithms if its middle 90% span more than this factor
FARTHEST = 1e6  # standard deviations from the mean, to which numbers are clipped


@dataclass(frozen=True)
class CategoryColumn:
    """A category of the nodes, and its values in the training trees."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class NumberColumn:
    """A number of the nodes, or of the edges to their parents, and how it is standardised.

    A number x becomes (f(x) - mean) / scale, where f(x) is x or, with a `log_unit`, sign(x) log(1 + |x| / log_unit).
    """

    name: str
    mean: float = 0.0
    scale: float = 1.0
    log_unit: float = 0.0  # 0 for no logarithm
    edge: bool = False

    @classmethod
    def fitted(cls, name: str, values: Floats, *, edge: bool, log: Log) -> NumberColumn:
        """Return a column with the mean and the scale of `values`; missing values are NaN."""
        sizes = np.abs(values[~np.isnan(values) & (values != 0)])
        low, high = np.quantile(sizes, (0.05, 0.95)) if len(sizes) else (1.0, 1.0)
        unit = 0.0
        if log == "all" or (log == "auto" and high / DECADES > low):
            unit = min(1.0, float(low))  # so that small numbers remain distinguishable
        curved = _curved(values[~np.isnan(values)], unit)
        most = float(np.abs(curved).max(initial=0)) or 1.0  # divide by it, so that no sum overflows
        mean, scale = 0.0, 1.0
        if len(curved):
            mean, scale = most * float((curved / most).mean()), most * float((curved / most).std())
        return cls(name, mean, scale if scale > 1e-9 * most else 1.0, unit, edge)

    def standardised(self, values: Floats) -> Floats:
        """Return standardised numbers; missing values remain NaN."""
        with np.errstate(over="ignore"):
            return ((_curved(values, self.log_unit) - self.mean) / self.scale).clip(-FARTHEST, FARTHEST)


def _curved(values: Floats, log_unit: float) -> Floats:
    if not log_unit:
        return values
    with np.errstate(divide="ignore", invalid="ignore"):  # log(1 + |x| / unit), for 0 and NaN too
        return np.sign(values) * np.logaddexp(0, np.log(np.abs(values)) - math.log(log_unit))


class NodeColumns(NamedTuple):
    """The categories and the numbers of a tree's nodes.

    `categories` (n, C) are indices of embedding rows, one per category column. Of `numbers` (n,
    2F), the first F columns are standardised numbers, 0 for a missing one; the others are 1 for a
    missing number, else 0.
    """

    categories: Ints
    numbers: NDArray[np.float32]

    def take(self, nodes: Ints) -> NodeColumns:
        """Return the rows of some nodes; a node -1 has no category and no number."""
        count = self.numbers.shape[1] // 2
        missing = np.repeat(np.array([0, 1], dtype=np.float32), count)
        there = (nodes >= 0)[:, None]
        categories = np.where(there, self.categories[nodes], NONE)
        return NodeColumns(categories, np.where(there, self.numbers[nodes], missing))


@dataclass(frozen=True)
class InputSpec:
    """The inputs that a model reads at each node; stored as `inputs` in `config.json` of a model folder.

    Args:
        tokens: whether nodes have words: their tokens.
        categories: the columns of `Tree.categories`.
        numbers: the columns of `Tree.features` and `Tree.edge_features`. A number of an edge is an input of the child.

    Examples:
        >>> import bough
        >>> from bough.models.inputs import InputSpec
        >>> tree = bough.Tree([-1, 0], features=[[5.0], [1.0]], feature_names=["cost"], categories={"kind": ["a", "b"]})
        >>> spec = InputSpec.from_trees([tree])
        >>> spec.tokens, spec.categories[0].values, spec.numbers[0].mean
        (False, ('a', 'b'), 3.0)
    """

    tokens: bool = True
    categories: tuple[CategoryColumn, ...] = ()
    numbers: tuple[NumberColumn, ...] = ()

    @classmethod
    def from_trees(cls, trees: Iterable[Tree], log: Log = "auto") -> InputSpec:
        """Return the columns of training trees.

        `log` says which numbers are read as logarithms: "auto" for those that span decades, "all" or "none".
        """
        tokens, values = False, dict[str, set[str]]()
        numbers: dict[tuple[bool, str], list[Floats]] = {}
        for tree in trees:
            tokens = tokens or any(token is not None for token in tree.tokens or ())
            for name, column in (tree.categories or {}).items():
                values.setdefault(name, set()).update(value for value in column if value is not None)
            for key, numbers_of_tree in number_columns(tree).items():
                numbers.setdefault(key, []).append(numbers_of_tree)
        if not values and not numbers:
            return cls()
        whole = {key: np.concatenate(own) for key, own in numbers.items()}
        categories = (CategoryColumn(name, tuple(sorted(own))) for name, own in values.items())
        fitted = (NumberColumn.fitted(name, v, edge=edge, log=log) for (edge, name), v in whole.items())
        return cls(tokens, tuple(categories), tuple(fitted))

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> InputSpec:
        """Return the spec of its values in `config.json`. Raise a ValueError for wrong values."""
        check_keys(stored, ("tokens", "categories", "numbers"))
        columns = [{**own, "values": tuple(own["values"])} for own in stored.get("categories", ())]
        categories = tuple(CategoryColumn(**own) for own in columns)
        fitted = tuple(NumberColumn(**own) for own in stored.get("numbers", ()))
        spec = cls(stored.get("tokens", True), categories, fitted)
        numbers = [(column.edge, column.name) for column in spec.numbers]
        for kind, names in ("category", [column.name for column in spec.categories]), ("number", numbers):
            if len({*names}) < len(names):
                raise ValueError(f"inputs: a {kind} occurs twice in {names}")
        for category in spec.categories:
            texts = (category.name, *category.values)
            if not all(isinstance(text, str) for text in texts) or len({*texts[1:]}) < len(category.values):
                reason = "has a value twice, or one that is no string"
                raise ValueError(f"inputs: the category {category.name!r} {reason}")
        for number in spec.numbers:
            amounts = (number.mean, number.scale, number.log_unit)
            fine = all(isinstance(amount, (int, float)) and math.isfinite(amount) for amount in amounts)
            if not fine or not isinstance(number.name, str) or number.scale <= 0 or number.log_unit < 0:
                raise ValueError(f"inputs: {number} needs a finite mean and a scale above 0")
        return spec

    def lines(self) -> list[str]:
        """Return a line of Markdown for each column, for the card of a model."""
        found = ["- words: the tokens of the nodes"] if self.tokens else []
        for category in self.categories:
            shown = ", ".join(map(escaped, category.values[:8])) + (
                ", ..." if len(category.values) > 8 else ""
            )
            found.append(f"- {as_code(category.name)}: {len(category.values):,} categories ({shown})")
        for number in self.numbers:
            place = "a number of the edge to the parent" if number.edge else "a number"
            scaled = f"sign(x) log(1 + |x| / {number.log_unit:g})" if number.log_unit else "x"
            found.append(
                f"- {as_code(number.name)}: {place}, ({scaled} - {number.mean:.4g}) / {number.scale:.4g}"
            )
        return found


def escaped(text: str) -> str:
    """Return a text of the user on one line and without markup, for Markdown."""
    return re.sub(r"([\\`*_{}\[\]<>#|~&!])", r"\\\1", " ".join(text.split()))


def as_code(name: str) -> str:
    """Return a name of the user as code in Markdown."""
    return "`{}`".format(" ".join(name.split()).replace("`", "'"))


def number_columns(tree: Tree) -> dict[tuple[bool, str], Floats]:
    """Return the number columns of a tree by (is_edge, name); an index is the default name."""
    found: dict[tuple[bool, str], Floats] = {}
    if tree.features is not None:
        for place, values in enumerate(tree.features.T):
            found[False, tree.feature_names[place] if tree.feature_names else str(place)] = values
    if tree.edge_features is not None:
        names = tree.edge_feature_names
        for place, values in enumerate(tree.edge_features.T):
            # the root has no edge
            found[True, names[place] if names else str(place)] = np.where(tree.parents < 0, np.nan, values)
    return found


class NodeInputs(nn.Module):
    """Embed words, categories and numbers of nodes, and add or concatenate them.

    Every value of a category has an embedding, and all numbers have one linear map. `unseen` counts
    values that are not in training, and missing or additional columns of trees.

    Args:
        spec: what is read of each node.
        word_size: the width of the word vectors.
        category_size: the width of a category's embedding and of the numbers' projection; not used
            with words and `combine="sum"`, where all have `word_size`.
        combine: "sum" or "join".

    Shape:
        words (M, word_size), categories (M, C), numbers (M, 2F) -> (M, width).
    """

    starts: Tensor

    def __init__(self, spec: InputSpec, word_size: int, category_size: int, combine: Combine) -> None:
        super().__init__()
        self.spec, self.combine = spec, combine
        size = word_size if combine == "sum" and spec.tokens else category_size
        sizes = [FIRST + len(column.values) for column in spec.categories]
        starts = torch.tensor([0, *sizes[:-1]], dtype=torch.int64).cumsum(0)  # of each category's rows
        self.register_buffer("starts", starts, persistent=False)
        self.categories = nn.Parameter(torch.empty(sum(sizes), size)) if sizes else None
        self.numbers = nn.Parameter(torch.empty(size, 2 * len(spec.numbers))) if spec.numbers else None
        joined = word_size * spec.tokens + size * (len(sizes) + bool(spec.numbers))
        self.width = size if combine == "sum" else joined
        values = [column.values for column in spec.categories]
        self._index = [{value: row for row, value in enumerate(own, start=FIRST)} for own in values]
        # the columns of `NodeColumns.numbers` that belong to edges: their numbers, and whether they are missing
        edges = [place for place, number in enumerate(spec.numbers) if number.edge]
        self.edge_columns = [*edges, *(len(spec.numbers) + place for place in edges)]
        self.unseen: Counter[str] = Counter()
        self.reset_parameters()

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Initialise the weights at random; those of unseen values and missing numbers are zero."""
        if self.categories is not None:
            self.categories.normal_(std=0.3)[self.starts + UNSEEN] = 0
        if self.numbers is not None:
            count = len(self.spec.numbers)
            self.numbers[:, :count].uniform_(-(count**-0.5), count**-0.5)
            self.numbers[:, count:] = 0

    def forward(self, words: Tensor | None, categories: Tensor, numbers: Tensor) -> Tensor:
        parts = [] if words is None else [words]
        if self.categories is not None:
            rows = functional.embedding(categories + self.starts, self.categories)  # (M, C, size)
            parts.append(rows.sum(dim=1) if self.combine == "sum" else rows.flatten(1))
        if self.numbers is not None:
            parts.append(functional.linear(numbers, self.numbers))
        return torch.stack(parts).sum(dim=0) if self.combine == "sum" else torch.cat(parts, dim=1)

    def columns(self, tree: Tree) -> NodeColumns:
        """Return the categories and numbers of the nodes of a tree, and count unseen values."""
        given, numbers = tree.categories or {}, number_columns(tree)
        unseen: Counter[str] = Counter()
        categories = np.full((len(tree), len(self._index)), NONE)
        for place, (column, index) in enumerate(zip(self.spec.categories, self._index, strict=True)):
            if column.name not in given:
                unseen[f"a tree has no category {column.name!r}"] += len(tree)
                continue
            values = given[column.name]
            categories[:, place] = [NONE if value is None else index.get(value, UNSEEN) for value in values]
            for node in np.flatnonzero(categories[:, place] == UNSEEN).tolist():
                unseen[f"the category {column.name!r} has an unseen value {values[node]!r}"] += 1
        table = np.full((len(tree), len(self.spec.numbers)), np.nan)
        for place, number in enumerate(self.spec.numbers):
            if (number.edge, number.name) in numbers:
                table[:, place] = number.standardised(numbers.pop((number.edge, number.name)))
            else:
                unseen[f"a tree has no number {number.name!r}"] += len(tree)
        read = {column.name for column in self.spec.categories}
        for name in (*(name for name in given if name not in read), *(name for _, name in numbers)):
            unseen[f"the model does not read {name!r}"] += len(tree)
        if unseen and not self.unseen:
            what = "unseen values and missing columns count as missing, other columns are ignored"
            log.warning("%s; %s, and model.inputs.unseen counts the nodes", next(iter(unseen)), what)
        self.unseen.update(unseen)
        missing = np.isnan(table)
        filled = np.concatenate([np.where(missing, 0, table), missing], axis=1, dtype=np.float32)
        return NodeColumns(categories, filled)

    def keys(self, words: Ints, columns: NodeColumns, vocabulary: int) -> Ints | None:
        """Return (n,) integers, equal for equal inputs; None with numbers or too many combinations."""
        sizes = [FIRST + len(column.values) for column in self.spec.categories]
        if self.spec.numbers or math.prod(sizes) * (vocabulary + 2) >= 2**62:
            return None
        keys = words
        for place, size in enumerate(sizes):
            keys = keys * size + columns.categories[:, place]
        return keys


class WordBags(NamedTuple):
    """The words of the texts of nodes: those of node i are `rows[starts[i] : starts[i + 1]]`."""

    rows: Tensor
    starts: Tensor  # (N,)


class NodeBatch(NamedTuple):
    """The inputs of the nodes of a batch: their words, categories (N, C) and numbers (N, 2F)."""

    words: Any
    categories: Tensor
    numbers: Tensor


def words_of(text: str) -> list[str]:
    """Return the words of the text of a node."""
    return [token.text for token in tokenise(text)]
