"""Parent pointers: one line per tree, the parent of each node counted from 1, 0 for the root.

Tokens, relations and labels stand in lines of their own, one entry per node with one plain space between;
`#` means no relation, or no label. In a dependency tree the nodes are the words in order. In a constituency
tree the leaves are nodes 1..n in word order, then come the inner nodes in any order, and tokens are the
leaves' only; such a tree is renumbered on reading, so that nodes stand in preorder and children left to
right by first leaf, which the pointers' own numbers do not promise.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

import numpy as np

from bough.errors import FormatError
from bough.formats.lines import Source, name_of, numbered, parents_of, tree_of
from bough.trees.tree import Tree

_INTEGER = re.compile(r"-?[0-9]{1,18}")


class Lines(NamedTuple):
    """One tree as lines; a column that the tree does not have is None.

    Examples:
        >>> from bough.formats import pointers
        >>> pointers.Lines(parents="2 0", tokens="cats climb", relations=None, labels=None).tokens
        'cats climb'
    """

    parents: str
    tokens: str | None
    relations: str | None
    labels: str | None


def read_dependency(
    parents: Source,
    tokens: Source | None = None,
    relations: Source | None = None,
    labels: Source | None = None,
    *,
    where: str | None = None,
) -> list[Tree]:
    """The dependency trees of parallel files (paths) or lines.

    Args:
        parents: one line per tree, the parent of each node counted from 1, 0 for the root.
        tokens: the words in the same way.
        relations: the relations in the same way, `#` for none.
        labels: the labels in the same way, `#` for none.
        where: the name of the source in errors; else the parents' file.

    Examples:
        >>> from bough.formats import pointers
        >>> pointers.read_dependency(["2 0 2"], ["cats climb trees"])
        [Tree((climb cats trees), 3 nodes)]
    """
    return list(_read(parse_dependency, (parents, tokens, relations, labels), where))


def read_constituency(
    parents: Source,
    tokens: Source | None = None,
    relations: Source | None = None,
    labels: Source | None = None,
    *,
    where: str | None = None,
) -> list[Tree]:
    """The constituency trees of parallel files (paths) or lines.

    Args:
        parents: one line per tree, the parent of each node counted from 1, 0 for the root.
        tokens: the words in the same way.
        relations: the relations in the same way, `#` for none.
        labels: the labels in the same way, `#` for none.
        where: the name of the source in errors; else the parents' file.

    Examples:
        >>> from bough.formats import pointers
        >>> pointers.read_constituency(["4 5 5 0 4"], ["cats climb trees"])
        [Tree((· cats (· climb trees)), 5 nodes)]
    """
    return list(_read(parse_constituency, (parents, tokens, relations, labels), where))


def parse_parents(line: str) -> list[int]:
    """Parents as `Tree` counts them, from 0 and -1 for the root.

    Args:
        line: parents counted from 1, 0 for the root, with spaces between.

    Examples:
        >>> from bough.formats import pointers
        >>> pointers.parse_parents("2 0 2")
        [1, -1, 1]
    """
    heads = line.split()
    if not heads:
        raise FormatError("no parents; a tree has at least one node")
    for node, head in enumerate(heads, start=1):
        if not _INTEGER.fullmatch(head):
            raise FormatError(f"node {node} has parent {head!r}; parents are integers, 0 for the root")
    return parents_of([int(head) for head in heads])


def parse_dependency(
    parents: str, tokens: str | None = None, relations: str | None = None, labels: str | None = None
) -> Tree:
    """The tree of one line each; `parse_dependency(*write_dependency(tree))` is the same tree.

    Args:
        parents: the parent of each node counted from 1, 0 for the root.
        tokens: the words in the same way.
        relations: the relations in the same way, `#` for none.
        labels: the labels in the same way, `#` for none.

    Examples:
        >>> from bough.formats import pointers
        >>> pointers.parse_dependency("2 0 2", "cats climb trees")
        Tree((climb cats trees), 3 nodes)
    """
    above = parse_parents(parents)
    return tree_of(
        above,
        tokens=None if tokens is None else _split(tokens, "tokens", len(above)),
        relations=_optional(relations, "relations", len(above)),
        labels=_optional(labels, "labels", len(above)),
    )


def parse_constituency(
    parents: str, tokens: str | None = None, relations: str | None = None, labels: str | None = None
) -> Tree:
    """The tree of one line each; `parse_constituency(*write_constituency(tree))` is the same tree, in preorder.

    Args:
        parents: the parent of each node counted from 1, 0 for the root.
        tokens: the words in the same way.
        relations: the relations in the same way, `#` for none.
        labels: the labels in the same way, `#` for none.

    Examples:
        >>> from bough.formats import pointers
        >>> pointers.parse_constituency("3 3 0", "cats climb")
        Tree((· cats climb), 3 nodes)
    """
    above = parse_parents(parents)
    n = len(above)
    inner = {node for node in above if node >= 0}
    leaves = n - len(inner)
    for node in range(leaves):
        if node in inner:
            raise FormatError(f"node {node + 1} has children; the {leaves} leaves are nodes 1..{leaves}")
    words = None if tokens is None else [*_split(tokens, "tokens", leaves, "leaves"), *[None] * len(inner)]
    order = _left_to_right(above, leaves)
    position = {node: new for new, node in enumerate(order)} | {-1: -1}

    def moved(column: Sequence[str | None] | None) -> list[str | None] | None:
        return None if column is None else [column[node] for node in order]

    return tree_of(
        [position[above[node]] for node in order],
        tokens=moved(words),
        relations=moved(_optional(relations, "relations", n)),
        labels=moved(_optional(labels, "labels", n)),
    )


def write_dependency(tree: Tree) -> Lines:
    """The tree as lines, nodes in order; if it has tokens, every node needs one.

    Args:
        tree: a tree whose nodes are its words.

    Examples:
        >>> import bough
        >>> bough.formats.pointers.write_dependency(bough.Tree(parents=[1, -1, 1])).parents
        '2 0 2'
    """
    return _lines(tree, list(range(len(tree))), words=len(tree))


def write_constituency(tree: Tree) -> Lines:
    """The tree as lines, leaves first; if it has tokens, every leaf has one and no other node.

    Args:
        tree: a tree whose words are at the leaves.

    Examples:
        >>> import bough
        >>> bough.formats.pointers.write_constituency(bough.Tree(parents=[-1, 0, 0])).parents
        '3 3 0'
    """
    if tree.tokens is not None:
        inner = [node for node in np.flatnonzero(tree.degrees) if tree.tokens[node] is not None]
        if inner:
            raise ValueError(f"node {inner[0]} has children and a token; write it with write_dependency")
    order = [*tree.leaves.tolist(), *tree.preorder[tree.degrees[tree.preorder] > 0].tolist()]
    return _lines(tree, order, words=len(tree.leaves))


def _read(
    parse: Callable[..., Tree],
    sources: tuple[Source, Source | None, Source | None, Source | None],
    where: str | None,
) -> Iterator[Tree]:
    given = {name: source for name, source in zip(Lines._fields, sources, strict=True) if source is not None}
    streams = [numbered(source, name_of(source, where)) for source in given.values()]
    where = name_of(sources[0], where)
    for number, row in enumerate(zip_longest(*streams), start=1):
        for name, entry in zip(given, row, strict=True):
            if entry is None:
                raise FormatError(
                    f"{name} end before this line, but the others continue", where=where, line=number
                )
        try:
            yield parse(**{name: line for name, (_, line) in zip(given, row, strict=True)})
        except FormatError as error:
            raise FormatError(error.reason, where=where, line=number) from error


def _split(line: str, name: str, count: int, of: str = "nodes") -> list[str]:
    entries = line.split(" ")  # not split(): U+00A0 is part of a word
    if "" in entries:
        raise FormatError(f"{name}: entry {entries.index('') + 1} is empty; one space stands between entries")
    if len(entries) != count:
        raise FormatError(f"{len(entries)} {name} for {count} {of}; give one each")
    return entries


def _optional(line: str | None, name: str, count: int) -> list[str | None] | None:
    if line is None:
        return None
    return [None if entry == "#" else entry for entry in _split(line, name, count)]


def _left_to_right(parents: list[int], leaves: int) -> list[int]:
    """The nodes in preorder, where nodes 0..leaves-1 are the words from left to right."""
    order: list[int] = []
    opened: list[int] = []  # the way from the root to the last word
    seen = [False] * len(parents)
    for leaf in range(leaves):
        path, node = [], leaf
        while node >= 0 and not seen[node]:
            seen[node] = True
            path.append(node)
            node = parents[node]
        while opened and opened[-1] != node:
            opened.pop()
        if order and not opened:
            tree_of(parents)  # a cycle is the better reason, if there is one
            reason = f"node {node + 1} covers word {leaf + 1} and an earlier one, but not word {leaf}"
            raise FormatError(f"{reason}; the words of a phrase follow one another")
        opened += reversed(path)
        order += reversed(path)
    if len(order) < len(parents):
        tree_of(parents)  # nodes above no leaf go round in a cycle: this says which
    return order


def _lines(tree: Tree, order: list[int], words: int) -> Lines:
    position = {node: new for new, node in enumerate(order, start=1)} | {-1: 0}
    parents = tree.parents.tolist()
    tokens = None
    if tree.tokens is not None:
        tokens = " ".join(_entry(tree.tokens[node], "token", node) for node in order[:words])
        if tokens.startswith("\ufeff"):
            raise ValueError(
                f"node {order[0]} has token {tree.tokens[order[0]]!r}; U+FEFF in front is lost as a BOM"
            )
    return Lines(
        parents=" ".join(str(position[parents[node]]) for node in order),
        tokens=tokens,
        relations=_marked(tree.relations, "relation", order),
        labels=_marked(tree.labels, "label", order),
    )


def _marked(column: Sequence[Hashable] | None, kind: str, order: list[int]) -> str | None:
    if column is None:
        return None
    for node in order:
        if column[node] is not None and str(column[node]) == "#":
            raise ValueError(f"node {node} has {kind} '#', which means none in pointer files; use None")
    return " ".join("#" if column[node] is None else _entry(column[node], kind, node) for node in order)


def _entry(entry: Hashable, kind: str, node: int) -> str:
    if entry is None:
        raise ValueError(f"node {node} has no {kind}; here all have one, or the tree has none")
    text = str(entry)
    if not text or any(separator in text for separator in " \r\n"):
        raise ValueError(f"node {node} has {kind} {text!r}; no spaces, line ends or empty text there")
    return text
