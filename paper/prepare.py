"""Parse SST and SICK and write the parse files, which are not published with the data sets."""

import itertools
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from bough import Tree
from bough.data import find_data
from bough.data.paths import SPLITS, require
from bough.errors import DataError
from bough.files import write_text
from bough.formats import pointers
from bough.text import Parser
from bough.text.tokenise import tokenise
from paper.sick import TEXTS, read_texts
from paper.sst import Parse, load_sst, sst_files, words_of

AT_ONCE = 512  # sentences in a call of the parser
# a progress callback: what is parsed, sentences done, sentences in all
Tell = Callable[[str, int, int], None]


def prepare_sst(
    parser: Parser, data: Path | str | None = None, out: Path | None = None, *, tell: Tell | None = None
) -> list[Path]:
    """Write dependency trees of SST's sentences to `sst/dep/SPLIT/` in `out` (else the data folder). Return the files.

    A node has the label that the treebank gives to the phrase of its subtree, or `#` if the
    treebank has no label for that phrase. The published phrase trees are copied to another `out`.
    """
    source = find_data(data)
    target = out or source
    unused([target / "sst" / "dep" / split / "dparents.txt" for split in SPLITS])
    splits = {split: load_sst(source, split, check=False) for split in SPLITS}
    # every labelled phrase of the treebank, with the counts of its labels, -2 to 2
    seen: dict[str, Counter[int]] = {}
    for tree in itertools.chain(*splits.values()):
        words = words_of(tree)
        for (start, end), label in zip(tree.spans.tolist(), tree.labels or (), strict=True):
            if label is not None:
                seen.setdefault(" ".join(words[start:end]), Counter())[int(str(label)) - 2] += 1
    labels = {phrase: counts.most_common(1)[0][0] for phrase, counts in seen.items()}
    written: list[Path] = []
    for split, trees in splits.items():
        found = _parsed(parser, "dependency", [words_of(tree) for tree in trees], f"sst {split}", tell)
        both = zip(found, trees, strict=True)
        lines = [pointers.write(_labelled(tree, labels, phrases)) for tree, phrases in both]
        columns = zip(*((one.parents, one.tokens, one.relations, one.labels) for one in lines), strict=True)
        for path, column in zip(sst_files(target, split, "dependency")[1:], columns, strict=True):
            written.append(_write(path, column))
        if target != source:
            written.append(_copied(sst_files(source, split)[0], target / "sst" / "trees" / f"{split}.txt"))
    return written


def prepare_sick(
    parser: Parser,
    data: Path | str | None,
    out: Path | None,
    *,
    kinds: Sequence[Parse],
    tell: Tell | None = None,
) -> list[Path]:
    """Write words, trees of `kinds`, ids and scores to `sick/SPLIT/` in `out`, else the data folder."""
    source = find_data(data)
    target = out or source
    unused([target / "sick" / split / "id.txt" for split in SPLITS])
    written: list[Path] = []
    for split, (name, _) in TEXTS.items():
        path, folder = source / "sick" / name, target / "sick" / split
        require([path], "sick")
        pairs = read_texts(path)
        for side, column in (("a", 1), ("b", 2)):
            sentences = [[token.text for token in tokenise(pair[column])] for pair in pairs]
            written.append(_write(folder / f"{side}.toks", (" ".join(words) for words in sentences)))
            for kind in kinds:
                trees = _parsed(parser, kind, sentences, f"sick {split} {side}", tell)
                lines = [pointers.write(tree, kind=kind) for tree in trees]
                ending = "parents" if kind == "dependency" else "cparents"
                written.append(_write(folder / f"{side}.{ending}", (line.parents for line in lines)))
                if kind == "dependency":
                    written.append(_write(folder / f"{side}.rels", (line.relations for line in lines)))
        written.append(_write(folder / "sim.txt", (pair[3] for pair in pairs)))
        written.append(_write(folder / "id.txt", (pair[0] for pair in pairs)))
        if target != source:
            written.append(_copied(path, target / "sick" / name))
    return written


def unused(paths: Sequence[Path]) -> None:
    """Raise a DataError if one of the files exists already."""
    for path in paths:
        if path.exists():
            raise DataError(f"{path} already exists; choose another folder with --out")


def _parsed(
    parser: Parser, kind: Parse, sentences: Sequence[Sequence[str]], what: str, tell: Tell | None
) -> list[Tree]:
    parse = parser.dependency if kind == "dependency" else parser.constituency
    trees: list[Tree] = []
    for start in range(0, len(sentences), AT_ONCE):
        trees += parse(sentences[start : start + AT_ONCE])
        if tell is not None:
            tell(f"{what}, {kind}", len(trees), len(sentences))
    return trees


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


def _write(path: Path, lines: Iterable[str | None]) -> Path:
    write_text(path, "".join(f"{line}\n" for line in lines))
    return path


def _copied(source: Path, target: Path) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    return target
