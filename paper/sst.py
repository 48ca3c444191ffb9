"""Read the Stanford Sentiment Treebank: a tree for each sentence, with sentiment labels of its phrases.

Fine-grained labels are 0 (very negative) to 4 (very positive), with 2 for neutral. In the binary
task they are 0 (negative), 1 (neutral) and 2 (positive). It leaves out sentences with a neutral
root. Neutral phrases in other sentences stay and are a class.
"""

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from bough import Tree
from bough.data.paths import SPLITS, check_count, check_split, choose_from, find_data, require
from bough.errors import DataError, FormatError
from bough.formats import pointers, ptb
from paper.parses import PAPER, PARSES, Parse, check_trees, trees_folder


class Known(NamedTuple):
    """The known sizes of a split."""

    sentences: int
    not_neutral: int
    phrases: int  # nodes of the constituency trees, each with a label
    words: int  # nodes of the dependency trees
    labelled_words: int


KNOWN = {
    "train": Known(8_544, 6_920, 318_582, 163_563, 149_278),
    "dev": Known(1_101, 872, 41_447, 21_274, 19_483),
    "test": Known(2_210, 1_821, 82_600, 42_405, 38_850),
}
CLASSES: Mapping[str, Mapping[Hashable, int | None]] = {
    "fine": {None: None, 0: 0, 1: 1, 2: 2, 3: 3, 4: 4},
    "binary": {None: None, 0: 0, 1: 0, 2: 1, 3: 2, 4: 2},
}
NEUTRAL = 2
HINT = "the official archive has no dependency parses, `python -m paper fetch sst --from DIR` takes copies that have"
HINT += ", `python -m paper prepare sst` parses the sentences"


def load_sst(
    data: Path | str | None,
    split: str,
    *,
    task: Literal["fine", "binary"] = "fine",
    parse: Parse = "constituency",
    trees: str = PAPER,
    neutral: bool = False,
    check: bool = True,
) -> list[Tree]:
    """Read one split of the Stanford Sentiment Treebank; labels are ints, None where a node has none.

    In a dependency tree a node has the label of the phrase that its subtree spans, if the treebank
    labels that phrase. Its root always has the sentence's label, that of the constituency tree on
    the same line; a dependency file with another label there does not belong to it and is a
    DataError.

    Args:
        data: the data folder; None looks where `find_data` does.
        split: "train", "dev" or "test".
        task: "fine" for labels 0 to 4; "binary" for 0 negative, 1 neutral, 2 positive without neutral sentences.
        parse: "constituency" or "dependency".
        trees: whose dependency trees: "paper", or the name of a parser; see `paper.parses`.
        neutral: True keeps the binary task's sentences with a neutral root, for the phrases inside them.
        check: False skips the count of sentences and nodes, for your own data in the same layout.

    Examples:
        >>> from paper.sst import load_sst
        >>> load_sst(None, "dev")[0].labels[0]  # doctest: +SKIP
        3
    """
    check_split(split)
    choose_from("task", task, ("fine", "binary"))
    choose_from("parse", parse, PARSES)
    folder = find_data(data)
    sentences = _constituency(folder, split, check)
    if parse == "dependency":
        labels = [(tree.labels or ())[tree.root] for tree in sentences]
        sentences = _dependency(folder, split, trees, labels, check)
    if task == "binary" and not neutral:
        sentences = [tree for tree in sentences if (tree.labels or ())[tree.root] != NEUTRAL]
        if check:
            known = KNOWN[split].not_neutral
            check_count(sst_files(folder, split)[0], len(sentences), known, "sentences that are not neutral")
    return [tree.replace(labels=[CLASSES[task][label] for label in tree.labels or ()]) for tree in sentences]


def sst_files(data: Path, split: str, parse: Parse = "constituency", trees: str = PAPER) -> list[Path]:
    """Return the files that `load_sst` reads.

    Args:
        data: the data folder.
        split: "train", "dev" or "test".
        parse: "constituency" or "dependency".
        trees: whose dependency trees, "paper" or the name of a parser.

    Examples:
        >>> import pathlib
        >>> from paper.sst import sst_files
        >>> [file.name for file in sst_files(pathlib.Path("data"), "dev")]
        ['dev.txt']
    """
    phrases = data / "sst" / "trees" / f"{split}.txt"
    if parse == "constituency":
        return [phrases]
    names = ("dparents.txt", "sents.toks", "rels.txt", "dlabels.txt")
    return [phrases, *(trees_folder(data, "sst", trees) / split / name for name in names)]


def words_of(tree: Tree) -> list[str]:
    """Return the words of a sentence in order."""
    tokens = tree.tokens or ()
    return [str(tokens[node]) for node in tree.words.tolist()]


def check_folder(data: Path, *, counts: bool) -> None:
    """Read the treebank, with parses if there are any. Raise an error if it is incomplete."""
    for split in SPLITS:
        load_sst(data, split, check=counts)
        if (data / "sst" / "dep").is_dir():
            load_sst(data, split, parse="dependency", check=counts)


def _constituency(data: Path, split: str, check: bool) -> list[Tree]:
    [file] = sst_files(data, split)
    require([file], "sst")
    trees = []
    for number, tree in enumerate(ptb.iterate(file), 1):
        where = f"{file}: tree {number}"
        labels = _numbers(tree, {str(label): label for label in range(5)}, where)
        if labels[tree.root] is None:
            raise FormatError("no label at the root; a sentence has one", where=where)
        trees.append(tree.replace(labels=labels))
    if check:
        check_count(file, len(trees), KNOWN[split].sentences, "sentences")
        labelled = sum(label is not None for tree in trees for label in tree.labels or ())
        check_count(file, labelled, KNOWN[split].phrases, "labelled nodes")
    return trees


def _dependency(data: Path, split: str, whose: str, sentences: Sequence[Hashable], check: bool) -> list[Tree]:
    """Read the dependency trees of sentences, given the label of each sentence."""
    trees_file, heads, words, relations, labels_file = files = sst_files(data, split, "dependency", whose)
    if whose == PAPER:
        require(files, "sst", HINT)
    else:
        check_trees(files, data, "sst", whose)
    raw = pointers.read(heads, words, relations, labels_file)
    if len(raw) != len(sentences):
        counts = f"{heads}: {len(raw):,} lines, {trees_file} has {len(sentences):,}"
        raise DataError(f"{counts}; give one per sentence in each")
    trees, labelled = [], 0
    for number, (tree, sentence) in enumerate(zip(raw, sentences, strict=True), 1):
        labels = _numbers(tree, {str(label - 2): label for label in range(5)}, str(labels_file), number)
        if labels[tree.root] not in (None, sentence):
            raise DataError(
                f"{labels_file}:{number}: root label {labels[tree.root]}, but {sentence} in {trees_file}; "
                "the two files hold different sentences"
            )
        labels[tree.root] = sentence
        labelled += len(labels) - labels.count(None)
        tokens = [token and ptb.unescaped(token) for token in tree.tokens or ()]
        trees.append(tree.replace(tokens=tokens, labels=labels))
    if check and whose == PAPER:
        check_count(heads, sum(map(len, trees)), KNOWN[split].words, "nodes")
        check_count(labels_file, labelled, KNOWN[split].labelled_words, "labelled nodes")
    return trees


def _numbers(tree: Tree, values: Mapping[str, int], where: str, line: int | None = None) -> list[Hashable]:
    try:
        return [None if label is None else values[str(label)] for label in tree.labels or [None] * len(tree)]
    except KeyError as error:
        reason = f"label {error}; a label is one of {' '.join(values)}"
        raise FormatError(reason, where=where, line=line) from None
