"""Parse SST and SICK by a parser, for the trees that are not published with the data sets."""

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import bough
from bough import Tree
from bough.data.paths import SPLITS, require
from bough.errors import DataError, FormatError
from bough.files import read_json, replacing_folder, write_json, write_text
from bough.formats import pointers
from bough.text import Parser, get_parser
from paper.parses import AUTO, HEADS, MADE, NONE, OFFICIAL, PAPER, Parse, made_from, trees_folder
from paper.sick import TEXTS, read_texts, words_in
from paper.sst import load_sst, sst_files, words_of

AT_ONCE = 512  # sentences in a call of the parser
# a progress callback: what is parsed, sentences done, sentences in all
Tell = Callable[[str, int, int], None]


def prepare(dataset: str, name: str, data: Path, *, tell: Tell | None = None) -> str:
    """Parse a data set by the parser `name`, unless that is done. Return a line about its trees.

    The trees appear all at once, when every sentence is parsed.

    Args:
        dataset: "sst" or "sick".
        name: as `bough.text.get_parser` takes it.
        data: the data folder, with the official files.
        tell: is called with what is parsed, the sentences done, and the sentences in total.
    """
    require([data / dataset / file for file in OFFICIAL[dataset]], dataset)
    folder = trees_folder(data, dataset, trees_name(name))
    try:
        made = read_json(folder / MADE)
    except FormatError:
        made = {}
    if (made.get("parser"), made.get("from")) != (name, made_from(data, dataset, folder.name)):
        made = parse(dataset, get_parser(name), name, data, tell=tell)
    kinds = " and ".join(made["trees"])
    return f"{dataset}: {kinds} trees by {made['parser']}, made {made['made']}, in {folder}"


def trees_name(name: str) -> str:
    """Return the name under which the trees of a parser are kept: its own, or that of its folder."""
    label = Path(name).name if Path(name).is_dir() else name.partition(":")[0]
    if label in (AUTO, PAPER, NONE):
        raise ValueError(f"{name}: trees cannot be named {label!r}; rename the folder of the parser")
    return label


def parse(
    dataset: str, parser: Parser, name: str, data: Path, *, tell: Tell | None = None
) -> dict[str, object]:
    """Parse a data set into its folder of trees. Return the contents of `made.json`."""
    origin = made_from(data, dataset, trees_name(name))
    kinds = [kind for kind in HEADS[dataset] if _knows(parser, kind)]
    if not kinds:
        raise ValueError(f"{name} gives no {' or '.join(HEADS[dataset])} trees; choose another parser")
    final = trees_folder(data, dataset, trees_name(name))
    with replacing_folder(final) as folder:
        if dataset == "sst":
            sentences = _parse_sst(parser, data, folder, tell)
        else:
            sentences = _parse_sick(parser, kinds, data, folder, tell)
        made = {"parser": name, "trees": kinds, "sentences": sentences, "bough": bough.__version__}
        made |= {"made": datetime.now(UTC).isoformat(timespec="seconds"), "from": origin}
        write_json(folder / MADE, made)
    return made


def _knows(parser: Parser, kind: Parse) -> bool:
    try:
        _parsed(parser, kind, [("dogs", "sleep")])
    except DataError:  # it cannot work at all
        raise
    except ValueError:
        return False
    return True


def _parse_sst(parser: Parser, data: Path, folder: Path, tell: Tell | None) -> int:
    """Write dependency trees of SST's sentences. Return their number.

    A node has the label that the treebank gives to the phrase of its subtree, or `#` if the
    treebank has no label for that phrase.
    """
    splits = {split: load_sst(data, split, check=False) for split in SPLITS}
    # every labelled phrase of the treebank, with the counts of its labels, -2 to 2
    seen: dict[str, Counter[int]] = {}
    for tree in itertools.chain(*splits.values()):
        words = words_of(tree)
        for (start, end), label in zip(tree.spans.tolist(), tree.labels or (), strict=True):
            if label is not None:
                seen.setdefault(" ".join(words[start:end]), Counter())[int(str(label)) - 2] += 1
    labels = {phrase: counts.most_common(1)[0][0] for phrase, counts in seen.items()}
    for split, trees in splits.items():
        found = _parsed(parser, "dependency", [words_of(tree) for tree in trees], f"sst {split}", tell)
        both = zip(found, trees, strict=True)
        lines = [_lines(_labelled(tree, labels, phrases), "dependency") for tree, phrases in both]
        columns = zip(*((one.parents, one.tokens, one.relations, one.labels) for one in lines), strict=True)
        for file, column in zip(sst_files(data, split, "dependency")[1:], columns, strict=True):
            _write(folder / split / file.name, column)
    return sum(map(len, splits.values()))


def _parse_sick(parser: Parser, kinds: Sequence[Parse], data: Path, folder: Path, tell: Tell | None) -> int:
    """Write the words and the trees of SICK's sentences. Return the number of different sentences."""
    sides = {}
    for split, (name, _) in TEXTS.items():
        pairs = read_texts(data / "sick" / name)
        for side, column in (("a", 1), ("b", 2)):
            sides[split, side] = [words_in(pair[column]) for pair in pairs]
    distinct = list(dict.fromkeys(itertools.chain(*sides.values())))
    parsed = {}
    for kind in kinds:
        trees = _parsed(parser, kind, distinct, f"sick, {kind}", tell)
        parsed[kind] = dict(zip(distinct, (_lines(tree, kind) for tree in trees), strict=True))
    for (split, side), sentences in sides.items():
        start = folder / split / side
        _write(start.with_suffix(".toks"), map(" ".join, sentences))
        for kind, lines in parsed.items():
            heads = Path(HEADS["sick"][kind]).suffix
            _write(start.with_suffix(heads), (lines[words].parents for words in sentences))
            if kind == "dependency":
                _write(start.with_suffix(".rels"), (lines[words].relations for words in sentences))
    return len(distinct)


def _parsed(
    parser: Parser,
    kind: Parse,
    sentences: Sequence[Sequence[str]],
    what: str = "",
    tell: Tell | None = None,
) -> list[Tree]:
    parse = parser.dependency if kind == "dependency" else parser.constituency
    trees: list[Tree] = []
    for start in range(0, len(sentences), AT_ONCE):
        trees += parse(sentences[start : start + AT_ONCE])
        if tell is not None:
            tell(what, len(trees), len(sentences))
    return trees


def _lines(tree: Tree, kind: Parse) -> pointers.Lines:
    """Return the lines of a tree; without names of its edges, `#` for each."""
    lines = pointers.write(tree, kind=kind)
    return lines._replace(relations=lines.relations or " ".join("#" * len(tree)))


def _labelled(tree: Tree, labels: dict[str, int], phrases: Tree) -> Tree:
    """Return a dependency tree with the labels of phrases; the root has that of `phrases`."""
    sizes = [1] * len(tree)
    parents = tree.parents.tolist()
    for node in reversed(tree.preorder.tolist()):
        if parents[node] >= 0:
            sizes[parents[node]] += sizes[node]
    words = [str(token) for token in tree.tokens or ()]
    found: list[int | None] = [None] * len(tree)
    for node, (start, end) in enumerate(tree.spans.tolist()):
        if end - start == sizes[node]:  # a subtree of adjacent words
            found[node] = labels.get(" ".join(words[start:end]))
    if found[tree.root] is None:  # the parser split a word, so that the sentence is not a known phrase
        found[tree.root] = int(str((phrases.labels or ())[phrases.root])) - 2
    return tree.replace(labels=found)


def _write(path: Path, lines: Iterable[str | None]) -> None:
    write_text(path, "".join(f"{line}\n" for line in lines))
