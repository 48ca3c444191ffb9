"""The parse files of SST and SICK, for people who have the data sets as published, which is without parses."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from pathlib import Path
from typing import Literal

from bough import Tree
from bough.data import find_data
from bough.data.paths import SPLITS, require
from bough.errors import DataError
from bough.files import write_text
from bough.formats import pointers
from bough.text import Parser
from bough.text.tokenise import tokenise
from paper.sick import TEXTS, read_texts
from paper.sst import load_sst, sst_files

AT_ONCE = 512
Kind = Literal["constituency", "dependency"]
Tell = Callable[[str, int, int], None]  # what is parsed, sentences done, sentences in all
Labels = dict[str, Hashable]
SST_FILES = {
    "parents": "dparents.txt",
    "tokens": "sents.toks",
    "relations": "rels.txt",
    "labels": "dlabels.txt",
}


def prepare_sst(
    parser: Parser, data: Path | str | None = None, out: Path | None = None, *, tell: Tell | None = None
) -> list[Path]:
    """Write `sst/dep/SPLIT/` below `out` (else the data folder): dependency trees of SST's own sentences.

    A node's label is that of the phrase that its words are, wherever in the treebank that phrase is
    labelled; `#` where it is not. The phrase trees are the treebank's own: with another `out` they are
    copied there.
    """
    source = find_data(data)
    target = out or source
    unused([target / "sst" / "dep" / split / "dparents.txt" for split in SPLITS])
    splits = {split: load_sst(source, split, check=False) for split in SPLITS}
    labels = _phrase_labels([tree for trees in splits.values() for tree in trees])
    written: list[Path] = []
    for split, trees in splits.items():
        sentences = [_words(tree) for tree in trees]
        found = _parsed(parser, "dependency", sentences, f"sst {split}", tell)
        parsed = [_labelled(tree, labels, phrases) for tree, phrases in zip(found, trees, strict=True)]
        folder = target / "sst" / "dep" / split
        lines = [pointers.write_dependency(tree) for tree in parsed]
        written += _write_pointers(folder, lines, SST_FILES)
        if target != source:
            written.append(_copied(sst_files(source, split)[0], target / "sst" / "trees" / f"{split}.txt"))
    return written


def prepare_sick(
    parser: Parser,
    data: Path | str | None = None,
    out: Path | None = None,
    *,
    kinds: Sequence[Kind] = ("dependency", "constituency"),
    tell: Tell | None = None,
) -> list[Path]:
    """Write `sick/SPLIT/` below `out` (else the data folder): words, trees, ids and scores of SICK's own files.

    `kinds` says which trees: a parser may know only one of the two.
    """
    source = find_data(data)
    target = out or source
    unused([target / "sick" / split / "id.txt" for split in SPLITS])
    written: list[Path] = []
    for split, (name, _) in TEXTS.items():
        path = source / "sick" / name
        require([path], "sick")
        written += write_pairs(
            parser, target / "sick" / split, read_texts(path), f"sick {split}", kinds, tell
        )
        if target != source:
            written.append(_copied(path, target / "sick" / name))
    return written


def write_pairs(
    parser: Parser,
    folder: Path,
    pairs: Sequence[Sequence[str]],
    what: str,
    kinds: Sequence[Kind] = ("dependency", "constituency"),
    tell: Tell | None = None,
) -> list[Path]:
    """Write pairs in the layout of SICK's; of each the id, two texts and the score, as texts."""
    written: list[Path] = []
    for side, column in (("a", 1), ("b", 2)):
        sentences = [[token.text for token in tokenise(pair[column])] for pair in pairs]
        write_text(folder / f"{side}.toks", _lines(" ".join(words) for words in sentences))
        written.append(folder / f"{side}.toks")
        for kind in kinds:
            trees = _parsed(parser, kind, sentences, f"{what} {side}", tell)
            if kind == "dependency":
                names = {"parents": f"{side}.parents", "relations": f"{side}.rels"}
                lines = [pointers.write_dependency(tree) for tree in trees]
            else:
                names = {"parents": f"{side}.cparents"}
                lines = [pointers.write_constituency(tree) for tree in trees]
            written += _write_pointers(folder, lines, names)
    write_text(folder / "sim.txt", _lines(pair[3] for pair in pairs))
    write_text(folder / "id.txt", _lines(pair[0] for pair in pairs))
    return [*written, folder / "sim.txt", folder / "id.txt"]


def _parsed(
    parser: Parser, kind: Kind, sentences: Sequence[Sequence[str]], what: str, tell: Tell | None
) -> list[Tree]:
    parse = parser.dependency if kind == "dependency" else parser.constituency
    trees: list[Tree] = []
    for start in range(0, len(sentences), AT_ONCE):
        trees += parse(sentences[start : start + AT_ONCE])
        if tell is not None:
            tell(f"{what}, {kind}", len(trees), len(sentences))
    return trees


def _phrase_labels(trees: Sequence[Tree]) -> Labels:
    """Every labelled phrase of the treebank, from its words to its label, -2 to 2."""
    seen: dict[str, Counter[int]] = {}
    for tree in trees:
        words, labels = _words(tree), tree.labels or ()
        for node, (start, end) in enumerate(tree.spans.tolist()):
            if labels[node] is not None:
                counts = seen.setdefault(" ".join(words[start:end]), Counter())
                counts[int(str(labels[node])) - 2] += 1
    return {phrase: counts.most_common(1)[0][0] for phrase, counts in seen.items()}


def _labelled(tree: Tree, labels: Labels, phrases: Tree) -> Tree:
    sizes = [1] * len(tree)
    parents = tree.parents.tolist()
    for node in reversed(tree.preorder.tolist()):
        if parents[node] >= 0:
            sizes[parents[node]] += sizes[node]
    words = [str(token) for token in tree.tokens or ()]
    found = [
        labels.get(" ".join(words[start:end])) if end - start == sizes[node] else None  # no gap in it
        for node, (start, end) in enumerate(tree.spans.tolist())
    ]
    if found[tree.root] is None:  # words that the parser could not keep together
        assert phrases.labels is not None
        found[tree.root] = int(str(phrases.labels[phrases.root])) - 2
    return tree.replace(labels=found)


def _words(tree: Tree) -> list[str]:
    return [str(tree.tokens[node]) for node in tree.words.tolist()] if tree.tokens else []


def unused(paths: Sequence[Path]) -> None:
    """A DataError that names the first of the files that is there already."""
    for path in paths:
        if path.exists():
            raise DataError(f"{path} already exists; choose another folder with --out")


def _write_pointers(folder: Path, trees: Sequence[pointers.Lines], names: dict[str, str]) -> list[Path]:
    for column, name in names.items():
        write_text(folder / name, _lines(str(getattr(tree, column)) for tree in trees))
    return [folder / name for name in names.values()]


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _copied(source: Path, target: Path) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    return target
