"""Labelled files as people have them: CSV, TSV, JSON lines, trees in brackets, CoNLL-U; one example at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from bough.data.byte_range import Stretch
from bough.data.tables import is_utf16, read_table
from bough.errors import FormatError
from bough.formats import conllu, ptb
from bough.formats.lines import numbered
from bough.trees.tree import Tree

TEXT = (
    "text",
    "sentence",
    "question",
    "review",
    "comment",
    "content",
    "body",
    "message",
    "utterance",
    "title",
)
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
    """One line of a file: a text, two for a pair, or a tree, and what is said of it; `line` is where it stands."""

    line: int
    texts: tuple[str, ...]
    label: str
    tree: Tree | None = None


@dataclass(frozen=True)
class Columns:
    """Which columns hold the texts and the label; a file of trees has none."""

    texts: tuple[str, ...] = ()
    label: str = ""


@dataclass
class LabelledFile:
    """The examples of a file, read anew each time they are asked for, so that none need be held.

    `columns` are found by their names unless given. A row without a text or a label is left out; `empty` has the
    lines of those that the last pass met. With a `stretch` only that part of the file is read.
    """

    path: Path
    columns: Columns
    empty: list[int] = field(default_factory=list)
    stretch: Stretch | None = None

    @property
    def name(self) -> str:
        """What it is called."""
        return str(self.path)

    @property
    def trees(self) -> bool:
        """Whether the examples are trees."""
        return not self.columns.texts

    @property
    def pairs(self) -> bool:
        """Whether an example is two texts with a rating."""
        return len(self.columns.texts) == 2

    def place(self, line: int) -> str:
        """How an example is called in a message."""
        return f"{self.path}:{line}"

    def stretches(self, lines: Sequence[int], starts: Sequence[int]) -> list[Stretch] | None:
        """The parts of the file that begin with the examples `starts`; `lines` are those of all its examples.

        None where they cannot be told apart by lines.
        """
        if self.trees and self.path.suffix.lower() not in CONLLU:  # a tree's line is its last
            if any(lines[start] - lines[start - 1] != 1 for start in starts if start):
                return None
            return Stretch.all(self.path, [lines[start] if start else 1 for start in starts], 0)
        if is_utf16(self.path):
            return None
        return Stretch.all(self.path, [lines[start] for start in starts], 0 if self.trees else lines[0] - 1)

    def part(self, stretch: Stretch) -> LabelledFile:
        """The same file, of which only a stretch is read."""
        return replace(self, empty=[], stretch=stretch)

    def __iter__(self) -> Iterator[Example]:
        if self.stretch is None:
            yield from self._examples()
        else:  # its lines are counted from the header on
            for example in self._examples():
                yield replace(example, line=example.line + self.stretch.shift)

    def _lines(self) -> Iterator[bytes] | None:
        return None if self.stretch is None else self.stretch.lines(self.path)

    def _examples(self) -> Iterator[Example]:
        self.empty.clear()
        if self.trees:
            read = _conllu if self.path.suffix.lower() in CONLLU else _brackets
            yield from read(self.path, self._lines())
            return
        part = self.stretch
        lines_of = None if part is None else lambda: part.lines(self.path)
        for line, cells in read_table(self.path, lines_of)[1]:
            wanted = (*self.columns.texts, self.columns.label)
            *texts, label = (cells[name] for name in wanted)
            if all(text.strip() for text in (*texts, label)):
                yield Example(line, tuple(texts), label.strip())
            else:
                self.empty.append(line)


def open_labelled(path: Path, text: Sequence[str] = (), label: str | None = None) -> LabelledFile:
    """A labelled file, its format told by its name, its columns by theirs unless given; two texts are a pair."""
    if not path.is_file():
        raise FormatError("no such file", where=str(path))
    suffix = path.suffix.lower()
    if suffix in CONLLU or (suffix in BRACKETS and _starts_with_bracket(path)):
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


def _starts_with_bracket(path: Path) -> bool:
    if is_utf16(path):  # a table from a spreadsheet
        return False
    first = next((line for _, line in numbered(path, str(path)) if line.strip()), "")
    return first.lstrip().startswith("(")


def _brackets(path: Path, lines: Iterator[bytes] | None = None) -> Iterator[Example]:
    at = [0]
    for tree in ptb.iterate(_counting(lines or _opened(path), at), where=str(path)):
        label = None if tree.labels is None else tree.labels[tree.root]
        yield Example(at[0], (), "" if label is None else str(label), tree)


def _conllu(path: Path, lines: Iterator[bytes] | None = None) -> Iterator[Example]:
    """Sentences with a comment `# label = NAME` each."""
    block: list[str] = []
    start, label = 1, ""

    def example() -> Example:
        try:
            (tree,) = conllu.read(block)
        except FormatError as error:
            raise FormatError(error.reason, where=str(path), line=start + (error.line or 1) - 1) from None
        if not label:
            raise FormatError("a sentence without `# label = NAME`", where=str(path), line=start)
        return Example(start, (), label, tree.replace(labels=None))

    for number, line in numbered(lines or path, str(path)):
        if not line.strip():
            if block:
                yield example()
            block, label = [], ""
            continue
        start = start if block else number
        block.append(line)
        key, _, value = line.removeprefix("#").partition("=")
        if line.startswith("#") and key.strip() == "label":
            label = value.strip()
    if block:
        yield example()


def _opened(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        yield from file


def _counting(lines: Iterator[bytes], at: list[int]) -> Iterator[bytes]:
    for at[0], line in enumerate(lines, 1):
        yield line
