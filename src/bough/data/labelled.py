"""Read labelled files, one example at a time: tables (CSV, TSV, JSON lines), trees in brackets, CoNLL-U."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from bough.data.tables import is_utf16, read_table
from bough.errors import FormatError
from bough.formats import conllu, ptb
from bough.formats.lines import numbered
from bough.trees.tree import Tree

TEXT = (
    "text", "sentence", "question", "review", "comment", "content", "body", "message", "utterance", "title",
)  # fmt: skip
LABEL = ("label", "class", "category", "target", "intent", "topic", "tag", "sentiment", "y")
RATING = ("score", "rating", "similarity", "relatedness", "relatedness_score", "similarity_score", *LABEL)
PAIRS = (
    ("a", "b"),
    ("text1", "text2"),
    ("text_a", "text_b"),
    ("sentence1", "sentence2"),
    ("sentence_a", "sentence_b"),
    ("question1", "question2"),
    ("left", "right"),
)
CONLLU = (".conllu", ".conll")
BRACKETS = (".ptb", ".mrg", ".trees", ".txt")


@dataclass(frozen=True)
class Example:
    """An example of a file: a text, two for a pair, or a tree; its label, and its line."""

    line: int
    texts: tuple[str, ...]
    label: str
    tree: Tree | None = None


@dataclass(frozen=True)
class Columns:
    """The columns with the texts and the label; a file of trees has none."""

    texts: tuple[str, ...] = ()
    label: str = ""


@dataclass
class LabelledFile:
    """The examples of a file, read again in each pass, so that none need be kept in memory.

    A row without a text or a label is left out; `empty` has the lines of those that the last pass met.
    """

    path: Path
    columns: Columns
    empty: list[int] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Return the file's path."""
        return str(self.path)

    @property
    def trees(self) -> bool:
        """Return whether the examples are trees."""
        return not self.columns.texts

    @property
    def pairs(self) -> bool:
        """Return whether an example is two texts with a rating."""
        return len(self.columns.texts) == 2

    def place(self, line: int) -> str:
        """Return the name of an example in messages."""
        return f"{self.path}:{line}"

    def __iter__(self) -> Iterator[Example]:
        self.empty.clear()
        if self.trees:
            yield from (_conllu if self.path.suffix.lower() in CONLLU else _brackets)(self.path)
            return
        for line, cells in read_table(self.path)[1]:
            *texts, label = (cells[name] for name in (*self.columns.texts, self.columns.label))
            if all(text.strip() for text in (*texts, label)):
                yield Example(line, tuple(texts), label.strip())
            else:
                self.empty.append(line)


def open_labelled(path: Path, text: Sequence[str] = (), label: str | None = None) -> LabelledFile:
    """Open a labelled file. Its suffix tells the format.

    Args:
        path: the file.
        text: the column of the texts, or two for pairs; unless given, it is found by its usual names.
        label: the column of the labels; unless given, it is found by its usual names.
    """
    if not path.is_file():
        raise FormatError("no such file", where=str(path))
    suffix = path.suffix.lower()
    trees = suffix in CONLLU
    if suffix in BRACKETS and not is_utf16(path):  # UTF-16 is a table from a spreadsheet
        first = next((line for _, line in numbered(path, str(path)) if line.strip()), "")
        trees = first.lstrip().startswith("(")
    if trees:
        if text or label:
            raise ValueError(f"{path} holds trees, which have no columns; leave out --text and --label")
        return LabelledFile(path, Columns())
    names = read_table(path)[0]
    return LabelledFile(path, _columns(names, tuple(text), label, str(path)))


def _columns(names: Sequence[str], text: tuple[str, ...], label: str | None, where: str) -> Columns:
    there = f"the columns are {', '.join(map(repr, names))}"
    for name in (*text, *((label,) if label is not None else ())):
        if name not in names:
            raise FormatError(f"no column {name!r}; {there}", where=where, line=1)
    plain = {name.strip().lower(): name for name in names}
    if not text:
        pair = next((pair for pair in PAIRS if all(name in plain for name in pair)), None)
        one = next((name for name in TEXT if name in plain), None)
        if pair is None and one is None:
            raise FormatError(f"which column is the text? name it with --text; {there}", where=where, line=1)
        text = tuple(plain[name] for name in pair) if pair and not one else (plain[str(one)],)
    if len(text) > 2:
        raise ValueError(f"--text {', '.join(text)}: one column, or two for pairs")
    if label is None:
        known = RATING if len(text) == 2 else LABEL
        label = next((plain[name] for name in known if name in plain and plain[name] not in text), None)
    if label is None:
        raise FormatError(f"which column is the label? name it with --label; {there}", where=where, line=1)
    if label in text:
        raise ValueError(f"--label {label}: that is the text; {there}")
    return Columns(text, label)


def _brackets(path: Path) -> Iterator[Example]:
    number = 0

    def counted(file: Iterable[bytes]) -> Iterator[bytes]:
        nonlocal number
        for number, line in enumerate(file, 1):  # noqa: B007
            yield line

    with path.open("rb") as file:
        for tree in ptb.iterate(counted(file), where=str(path)):
            label = None if tree.labels is None else tree.labels[tree.root]
            yield Example(number, (), "" if label is None else str(label), tree)


def _conllu(path: Path) -> Iterator[Example]:
    """Yield sentences, each with a comment `# label = NAME`."""
    block: list[str] = []
    start, label = 1, ""
    for number, line in chain(numbered(path, str(path)), [(0, "")]):
        if line.strip():
            start = start if block else number
            block.append(line)
            key, _, value = line.removeprefix("#").partition("=")
            if line.startswith("#") and key.strip() == "label":
                label = value.strip()
            continue
        if block:
            try:
                (tree,) = conllu.read(block)
            except FormatError as error:
                at = start + (error.line or 1) - 1
                raise FormatError(error.reason, where=str(path), line=at) from None
            if not label:
                raise FormatError("a sentence without `# label = NAME`", where=str(path), line=start)
            yield Example(start, (), label, tree.replace(labels=None))
        block, label = [], ""
