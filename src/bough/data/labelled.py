"""Read labelled files: tables (CSV, TSV, JSON lines, Parquet), bracketed trees, CoNLL-U."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from itertools import chain, islice
from pathlib import Path
from typing import Any

from bough.data.examples import Columns, Example, Item, Source, TreeColumns, is_missing, read_weight
from bough.data.tables import read_table
from bough.errors import FormatError
from bough.formats import conllu, ptb
from bough.formats.lines import numbered, parse_json

TEXT = (
    "text", "sentence", "question", "review", "comment", "content", "body", "message", "utterance", "tweet", "post",
    "document", "description", "feedback", "query", "phrase", "headline", "email", "abstract", "summary", "title", "x",
)  # fmt: skip
LABEL = (
    "label", "labels", "class", "category", "target", "intent", "topic", "tag", "sentiment", "polarity", "emotion",
    "stars", "rating", "score", "type", "genre", "department", "priority", "answer", "y",
)  # fmt: skip
SPLIT = ("split", "subset", "partition")
RATING = ("score", "rating", "similarity", "relatedness", "relatedness_score", "similarity_score", *LABEL)
PAIRS = (
    ("a", "b"), ("text1", "text2"), ("text_a", "text_b"), ("sentence1", "sentence2"), ("sentence_a", "sentence_b"),
    ("question1", "question2"), ("left", "right"),
)  # fmt: skip
SAMPLE = 100  # rows by which columns are chosen and misspelt keys are found
Cells = Mapping[str, Any]  # the cells of a row, by column
Row = tuple[int, Cells]  # with its line
Names = tuple[str, ...]
CONLLU = (".conllu", ".conll")
BRACKETS = (".ptb", ".mrg", ".trees", ".txt")


def open_labelled(
    path: Path | str,
    text: Sequence[str] = (),
    label: str | None = None,
    *,
    tree: TreeColumns | None = None,
    weight: str | None = None,
    encoding: str | None = None,
) -> Source:
    """Read a labelled file, in the format of its suffix.

    Args:
        path: the file.
        text: the column of the texts, or the two columns of pairs; by default, columns with usual names.
        label: the column of the labels; by default, a column with a usual name.
        tree: the column that holds trees as nested objects instead of texts, and their keys.
        weight: the column of the weights of the examples in training.
        encoding: the encoding of the file; by default, that of its byte order mark, else UTF-8.
    """
    path = Path(path)
    if not path.is_file():
        raise FormatError("no such file", where=str(path))
    suffix = path.suffix.lower()
    trees = suffix in CONLLU
    if tree is None and suffix in BRACKETS:
        first = next((line for _, line in numbered(path, str(path), encoding=encoding) if line.strip()), "")
        trees = first.lstrip().startswith("(")
    if not trees:
        wanted = Columns(tuple(text), label or "", tree, weight=weight or "", encoding=encoding)
        return labelled_rows(*read_table(path, encoding), str(path), wanted)
    if text or label or weight:
        raise ValueError(f"{path} holds trees, which have no columns; do not name columns")
    return Source(str(path), list((_conllu if suffix in CONLLU else _brackets)(path, encoding)))


def labelled_rows(names: Sequence[str], rows: Iterable[Row], name: str, wanted: Columns) -> Source:
    """Return the examples in rows of a table; `wanted` has the columns that the user names."""
    tree, rows = wanted.tree, iter(rows)
    if tree is not None and wanted.items:
        raise ValueError(f"{name}: the examples are texts or trees; name the column of one of them")
    sample = list(islice(rows, SAMPLE))
    columns = find_columns(names, name, wanted, [row for _, row in sample])
    examples, empty = list[Example](), list[str]()
    for line, row in chain(sample, rows):
        where, value = f"{name}:{line}", row[columns.label]
        cells = {column: row[column] if tree else _text(row[column]) for column in columns.items}
        label_text = _text(value).strip()
        if not label_text or any(isinstance(cell, str) and not cell.strip() for cell in cells.values()):
            empty.append(where)
            continue
        items: Iterable[Item] = cells.values()
        if tree is not None:
            items = (tree.tree(cell, name, line, column) for column, cell in cells.items())
        split = _text(row[columns.split]).strip() if columns.split else ""
        weighed = read_weight(row[columns.weight], where) if columns.weight else 1.0
        value = label_text if isinstance(value, str) else value
        examples.append(Example(where, tuple(items), label_text, value, split, weighed))
    return Source(name, examples, empty, columns)


def labelled_frame(
    frame: Any, name: str, text: Sequence[str], label: str | None, weight: str | None
) -> Source:
    """Return the examples in a pandas `DataFrame`. The arguments are those of `open_labelled`."""
    records = frame.to_dict("records")
    cells = ({key: "" if is_missing(cell) else cell for key, cell in row.items()} for row in records)
    wanted = Columns(tuple(text), label or "", weight=weight or "")
    return labelled_rows([*map(str, frame.columns)], enumerate(cells), name, wanted)


def check_keys(source: Source) -> None:
    """Raise a FormatError for a key that no node of the first 100 rows has: it may be misspelt."""
    tree = source.columns.tree
    if tree is None:
        return
    known: dict[str, None] = {}
    for _, row in islice(read_table(Path(source.name), source.columns.encoding)[1], SAMPLE):
        cells = [row[column] for column in tree.columns]
        nodes = [parse_json(cell) if isinstance(cell, str) else cell for cell in cells if cell != ""]
        while nodes:
            node = nodes.pop()
            known |= dict.fromkeys(node)
            nodes += node.get(tree.children) or ()
    columns = (*tree.numbers, *tree.categories, *tree.edge_numbers)
    for key in (tree.children, tree.token, tree.relation, *columns):
        if key is not None and key not in known:
            near = get_close_matches(key, known, 1)
            there = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(map(repr, known))}"
            reason = f"no node of the first {SAMPLE} trees has {key!r}; {there}"
            raise FormatError(reason, where=source.name)


def _text(cell: Any) -> str:
    return cell if isinstance(cell, str) else json.dumps(cell, default=str)


def find_columns(names: Sequence[str], where: str, wanted: Columns, sample: Sequence[Cells]) -> Columns:
    """Return the columns that are wanted, and choose the others by their usual names.

    If no column has a usual name and one column is left, it is the text; of two, the one with the
    longer cells in the rows `sample` is the text and the other one the label. Raise a FormatError
    that lists the columns if the choice is not clear.
    """
    there = f"the columns are {', '.join(map(repr, names))}"
    given = wanted.items if wanted.tree is None else wanted.tree.columns
    label = wanted.label or None
    for name in (*given, wanted.label, wanted.weight):
        if name and name not in names:
            raise FormatError(f"no column {name!r}; {there}", where=where, line=1)
    plain = {name.strip().lower(): name for name in names if not name or name != wanted.weight}
    taken = (*given, label, *(plain.get(name) for name in (*SPLIT, "id")))
    free = {usual: name for usual, name in plain.items() if name not in taken}
    texts = {*TEXT, *(name for pair in PAIRS if plain.keys() >= {*pair} for name in pair)}
    odd = [name for usual, name in free.items() if usual not in texts and (label or usual not in RATING)]
    usual_label = any(usual in RATING for usual in free)
    if not given and texts.isdisjoint(free) and (len(odd) == 1 or (len(odd) == 2 and not usual_label)):
        lengths = {name: sum(len(_text(row[name])) for row in sample) for name in odd}
        given = (max(odd, key=lengths.__getitem__),)
        odd.remove(given[0])
    items = text_columns(names, given, where)
    if label is None:
        known = LABEL if len(items) == 1 else RATING
        label = next((free[name] for name in known if name in free and free[name] not in items), None)
    if label is None and len(odd) == 1 and not usual_label:
        label = odd[0]
    if label is None:
        raise FormatError(f"which column is the label? name it; {there}", where=where, line=1)
    if label in items:
        raise ValueError(f"label column {label!r}: that is the text; {there}")
    split = next((plain[name] for name in SPLIT if name in plain and plain[name] not in (*items, label)), "")
    return replace(wanted, items=items, label=label, split=split)


def text_columns(names: Sequence[str], text: Sequence[str], name: str, *, pairs: bool | None = None) -> Names:
    """Return the column of the texts, or the two columns of pairs: those in `text`, else those with usual names.

    `pairs` says whether pairs are wanted; None accepts both. Raise a FormatError that lists the
    columns if the choice is not clear.
    """
    there = f"the columns are {', '.join(map(repr, names))}"
    for column in text:
        if column not in names:
            raise FormatError(f"no column {column!r}; {there}", where=name, line=1)
    if text:
        if len(text) > 2 or (pairs is not None and len(text) != 1 + pairs):
            wanted = {True: "pairs have two", False: "one column", None: "one column, or two for pairs"}
            raise ValueError(f"text columns {', '.join(map(repr, text))}: {wanted[pairs]}")
        return tuple(text)
    plain = {name.strip().lower(): name for name in names}
    pair = next((pair for pair in PAIRS if all(name in plain for name in pair)), None)
    one = next((name for name in TEXT if name in plain), None)
    if pair and (pairs or (pairs is None and one is None)):
        return tuple(plain[name] for name in pair)
    if one and not pairs:
        return (plain[one],)
    if len(names) == 1 + bool(pairs) and pairs is not None:
        return tuple(names)
    which = "which two columns are the texts" if pairs else "which column is the text"
    raise FormatError(f"{which}? name {'them' if pairs else 'it'}; {there}", where=name, line=1)


def _brackets(path: Path, encoding: str | None) -> Iterator[Example]:
    number = 0

    def counted(lines: Iterable[tuple[int, str]]) -> Iterator[str]:
        nonlocal number
        for number, line in lines:  # noqa: B007
            yield line

    for tree in ptb.iterate(counted(numbered(path, str(path), encoding=encoding)), where=str(path)):
        label = None if tree.labels is None else tree.labels[tree.root]
        name = "" if label is None else str(label)
        yield Example(f"{path}:{number}", (tree,), name, name)


def _conllu(path: Path, encoding: str | None) -> Iterator[Example]:
    """Yield the sentences of a CoNLL-U file, each with a comment `# label = NAME`."""
    block: list[str] = []
    start, label = 1, ""
    for number, line in chain(numbered(path, str(path), encoding=encoding), [(0, "")]):
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
            yield Example(f"{path}:{start}", (tree.replace(labels=None),), label, label)
        block, label = [], ""
