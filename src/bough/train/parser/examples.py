"""Read treebanks: the sentences that a parser is trained and evaluated on."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from bough.errors import DataError
from bough.formats import conllu, ptb
from bough.formats.ptb import unescaped
from bough.text.binarise import HEADS, bare, binarise, node_label
from bough.text.stanford_dependencies import dependency_heads
from bough.trees.tree import Tree

Spans = tuple[tuple[int, int], ...]
TRACE = "-NONE-"  # the label of an empty element, which is not a word
_PENN = frozenset(HEADS) | {"", "ROOT", "TOP"}


@dataclass(frozen=True)
class Example:
    """One sentence with its annotations, as far as its treebank has them."""

    tokens: tuple[str, ...]
    spans: Spans = ()  # (start, end) of every phrase of two or more words
    heads: tuple[int, ...] = ()  # the head of each word, counted from 1, 0 for the root
    relations: tuple[str, ...] | None = None  # of each word to its head
    tags: tuple[str, ...] | None = None  # the part of speech of each word
    labels: tuple[str, ...] | None = None  # of each span
    converted: bool = False  # whether the heads were converted from the phrase tree


def read_treebanks(paths: Iterable[Path | str]) -> list[Example]:
    """Return the sentences of at least two words in files of CoNLL-U (`.conllu`) or bracketed trees.

    A sentence that is in files of both kinds has the phrases of one file and the heads of the
    other. If all labels of a bracketed file are those of the Penn Treebank, heads are converted
    from its trees by rules. Raise a DataError for a file that does not exist, or that has no such
    sentence.
    """
    arcs, phrases = list[Example](), list[Example]()
    for path in map(Path, paths):
        if not path.is_file():
            raise DataError(f"{path}: no such file; a treebank is a file of bracketed trees or CoNLL-U")
        read, all_of_kind = (_dependencies, arcs) if path.suffix == ".conllu" else (_phrases, phrases)
        found = [example for example in read(path) if len(example.tokens) > 1]
        if not found:
            raise DataError(f"{path}: no sentence of two words or more")
        all_of_kind += found
    phrases_of = {one.tokens: one for one in phrases}
    for place, arc in enumerate(arcs):
        if arc.tokens in phrases_of:
            one = phrases_of[arc.tokens]
            arcs[place] = replace(arc, spans=one.spans, labels=one.labels, tags=arc.tags or one.tags)
    known = {arc.tokens for arc in arcs}
    return arcs + [one for one in phrases if one.tokens not in known]


def spans_of(tree: Tree) -> Spans:
    """Return the distinct spans of two or more words, sorted by start, the longest first."""
    found = {(start, end) for start, end in tree.spans.tolist() if end - start >= 2}
    return tuple(sorted(found, key=lambda span: (span[0], -span[1])))


def _dependencies(path: Path) -> Iterator[Example]:
    for tree in conllu.iterate(path):
        yield Example(
            tokens=_words(tree.tokens or ()),
            heads=tuple((tree.parents + 1).tolist()),
            relations=_all_known(tree.relations) if tree.relations else None,
            tags=_all_known(tree.labels) if tree.labels else None,
        )


def _phrases(path: Path) -> Iterator[Example]:
    trees = [_without_traces(tree, f"{path}, tree {i}") for i, tree in enumerate(ptb.iterate(path), 1)]
    inner = (node_label(tree, node) for tree in trees for node in range(len(tree)) if tree.children[node])
    penn = {bare(label.removeprefix("@")) for label in inner} <= _PENN
    for tree in trees:
        leaves = tree.leaves.tolist()
        tags = _all_known(node_label(tree, leaf) for leaf in leaves)
        binary = binarise(tree)
        spans = spans_of(binary)
        labels = [bare(node_label(binary, node)) for node in range(len(binary))]
        label_of = dict(zip(map(tuple, binary.spans.tolist()), labels, strict=True))
        converted = penn and tags is not None
        yield Example(
            tokens=_words((tree.tokens or ())[leaf] for leaf in leaves),
            spans=spans,
            heads=tuple(dependency_heads(tree)) if converted else (),
            tags=tags,
            labels=_all_known(label_of[span] for span in spans),
            converted=converted,
        )


def _without_traces(tree: Tree, where: str) -> Tree:
    """Return the tree without traces. Raise a DataError for another leaf without a word."""
    kept: set[int] = set()
    for node in tree.leaves.tolist():
        if node_label(tree, node) == TRACE:
            continue
        if tree.tokens is None or tree.tokens[node] is None:
            raise DataError(f"{where}: the leaf {node_label(tree, node)!r} has no word")
        while node >= 0 and node not in kept:
            kept.add(node)
            node = int(tree.parents[node])
    if not kept:
        raise DataError(f"{where}: no words")
    new = {node: i for i, node in enumerate(sorted(kept))}
    parents = [new.get(int(tree.parents[node]), -1) for node in new]
    tokens = [tree.tokens[node] for node in new] if tree.tokens else None
    labels = [tree.labels[node] for node in new] if tree.labels else None
    return Tree(parents, tokens=tokens, labels=labels)


def _words(tokens: Iterable[object]) -> tuple[str, ...]:
    return tuple(unescaped(str(token)) for token in tokens)


def _all_known(names: Iterable[object]) -> tuple[str, ...] | None:
    """Return the names, or None if one of them is missing."""
    found = tuple(str(name or "") for name in names)
    return found if all(found) else None
