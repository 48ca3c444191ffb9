"""What is learned from: files or lists as streams of examples, and one look over them before anything is parsed."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bough.data.labelled import Example
from bough.errors import DataError, FormatError
from bough.trees.tree import Tree


class Source(Protocol):
    """Examples that can be gone through more than once."""

    @property
    def name(self) -> str: ...
    @property
    def path(self) -> Path | None: ...
    @property
    def pairs(self) -> bool: ...
    @property
    def trees(self) -> bool: ...
    @property
    def empty(self) -> Sequence[int]: ...
    def place(self, line: int) -> str: ...
    def __iter__(self) -> Iterator[Example]: ...


@dataclass
class Listed:
    """Texts, trees, or pairs of texts in memory, with a label or a rating for each."""

    items: Sequence[Any]
    labels: Sequence[Any]
    name: str = "texts"
    path: Path | None = None
    empty: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        if isinstance(self.items, str):
            raise ValueError(f"{self.name}: one text, {self.items[:40]!r}; give a list of texts")
        self.items, self.labels = list(self.items), list(self.labels)  # by place, whatever they came as
        if len(self.items) != len(self.labels):
            raise ValueError(
                f"{self.name}: {len(self.items):,} examples, {len(self.labels):,} labels; give one each"
            )
        if not len(self.items):
            raise ValueError(f"{self.name}: none; there is nothing to learn from")

    @property
    def pairs(self) -> bool:
        """Whether the first item is two texts."""
        return isinstance(self.items[0], (tuple, list)) and len(self.items[0]) == 2

    @property
    def trees(self) -> bool:
        """Whether the first item is a tree."""
        return isinstance(self.items[0], Tree)

    def place(self, line: int) -> str:
        """How an example is called in a message."""
        return f"{self.name}[{line}]"

    def __iter__(self) -> Iterator[Example]:
        self.empty.clear()
        wanted = (tuple, list) if self.pairs else Tree if self.trees else str
        for place, (item, label) in enumerate(zip(self.items, self.labels, strict=True)):
            if not isinstance(item, wanted):
                raise ValueError(
                    f"{self.place(place)} is a {type(item).__name__}, {item!r:.40}; the first is not"
                )
            if blank(label):
                self.empty.append(place)
                continue
            if isinstance(item, Tree):
                yield Example(place, (), str(label), item.replace(labels=None))
                continue
            texts = tuple(item) if self.pairs else (item,)
            if self.pairs and (len(texts) != 2 or not all(isinstance(text, str) for text in texts)):
                raise ValueError(f"{self.place(place)} is {item!r:.60}, not two texts")
            if all(text.strip() for text in texts):
                yield Example(place, texts, str(label))
            else:
                self.empty.append(place)


def blank(label: object) -> bool:
    """Whether a cell of a table is empty, as Python, NumPy or pandas has it."""
    try:
        missing = bool(label != label)  # NaN and NaT, whoever's they are
    except (TypeError, ValueError):  # pandas' NA neither equals itself nor does not
        missing = type(label).__name__ == "NAType"
    return label is None or missing or not str(label).strip()


@dataclass
class Scanned:
    """One look over a source: a label number or a rating for each example, its line, and a digest of its text."""

    labels: array[int] = field(default_factory=lambda: array("i"))
    ratings: array[float] = field(default_factory=lambda: array("d"))
    lines: array[int] = field(default_factory=lambda: array("q"))
    digests: bytearray = field(default_factory=bytearray)
    inner: bytearray = field(default_factory=bytearray)  # of each tree, a digest of what its nodes bear
    empty: int = 0

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def keys(self) -> NDArray[np.uint64]:
        """(n,) equal for equal texts."""
        return np.frombuffer(bytes(self.digests), dtype=np.uint64)


class Names:
    """The classes in the order they are met; then no others may come."""

    def __init__(self) -> None:
        self.index: dict[str, int] = {}
        self.closed = False

    def number(self, name: str, where: str) -> int:
        """A class's number; of one that training has not, a DataError."""
        if name not in self.index:
            if self.closed:
                known = ", ".join(map(repr, sorted(self.index)[:8]))
                raise DataError(
                    f"{where}: the label {name!r} is not in the training examples, which have {known}"
                )
            self.index[name] = len(self.index)
        return self.index[name]

    def in_order(self) -> tuple[list[str], bool]:
        """The names as a model has them, numbers by size and texts by the alphabet; and whether they are numbers."""
        try:
            return sorted(self.index, key=float), True
        except ValueError:
            return sorted(self.index), False


def scan(source: Source, names: Names, *, ratings: bool) -> Scanned:
    """Go through a source once; whatever is wrong with a row is an error that says where it stands."""
    found = Scanned()
    for example in source:
        where = source.place(example.line)
        if ratings:
            found.ratings.append(rating(example.label, where))
        else:
            if example.tree is not None:
                if not example.label:
                    raise FormatError(f"{where}: the root has no label; it is what is predicted of a tree")
                for label in example.tree.labels or ():
                    if label is not None:
                        names.number(str(label), where)
            found.labels.append(names.number(example.label, where))
        found.lines.append(example.line)
        found.digests += digest(example)
        if example.tree is not None:
            found.inner += _digest(repr((_spelled(example.tree.labels), _spelled(example.tree.relations))))
    found.empty = len(source.empty)
    if not len(found):
        raise DataError(f"{source.name}: no example with a text and a label in it")
    return found


def digest(example: Example) -> bytes:
    """Eight bytes that are equal for equal texts or trees, and for a pair the other way round."""
    if example.tree is not None:
        content = repr((example.tree.parents.tolist(), example.tree.tokens))
    else:
        content = "\0".join(sorted(" ".join(text.split()) for text in example.texts))
    return _digest(content)


def _digest(content: str) -> bytes:
    return blake2b(content.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def _spelled(column: Sequence[object] | None) -> list[str | None] | None:
    return None if column is None else [None if value is None else str(value) for value in column]


def digest_of(names: Names, scanned: Iterable[Scanned]) -> str:
    """Of all examples with their labels, in order; of trees also the labels inside them and the relations."""
    found = blake2b(repr(list(names.index)).encode("utf-8", "surrogatepass"), digest_size=16)
    for one in scanned:
        for column in (one.digests, one.inner, one.labels.tobytes(), one.ratings.tobytes()):
            found.update(column)
    return found.hexdigest()


def rating(text: str, where: str) -> float:
    """The number; a FormatError that says where if it is none."""
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise FormatError(f"{where}: the rating {text!r} is not a number")
    return found


def check_classes(counts: Counter[str], where: str) -> None:
    """A DataError for one class only, or a class for each example."""
    if len(counts) < 2:
        only = next(iter(counts), "")
        raise DataError(f"{where}: one class only, {only!r}; there is nothing to tell apart")
    examples = sum(counts.values())
    if len(counts) > examples / 2 and examples > 10:
        raise DataError(
            f"{where}: {len(counts):,} classes for {examples:,} examples; is --label the right column?"
        )


def same_texts(one: Scanned, others: Iterable[Scanned]) -> NDArray[np.int64]:
    """The places in `one` whose text some of the others have too."""
    keys = [other.keys for other in others]
    return np.flatnonzero(np.isin(one.keys, np.concatenate(keys))) if keys else np.zeros(0, dtype=np.int64)
