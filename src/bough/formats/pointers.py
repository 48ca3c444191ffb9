"""Parent pointers: one line per tree with the parent of each node, counted from 1; the root has 0.

Parallel lines hold the tokens, relations and labels, one entry per node, separated by single
spaces. `#` means no relation or no label. In a dependency tree the nodes are the words in order. In
a constituency tree the leaves are nodes 1..n in the order of the words, the inner nodes follow in
any order, and only leaves have tokens. `read` and `parse` renumber a constituency tree in preorder,
with children from left to right.
"""

from collections.abc import Hashable, Sequence
from itertools import zip_longest
from typing import Any, Literal, NamedTuple

from bough.errors import FormatError
from bough.formats.lines import INTEGER, Source, cell, name_of, numbered, unless_empty
from bough.trees.tree import Tree
from bough.trees.validate import ParentError, checked_parents

Kind = Literal["dependency", "constituency"]


class Lines(NamedTuple):
    """The lines of one tree; a column that the tree does not have is None.

    Examples:
        >>> from bough.formats import pointers
        >>> pointers.Lines(parents="2 0", tokens="cats climb").tokens
        'cats climb'
    """

    parents: str
    tokens: str | None = None
    relations: str | None = None
    labels: str | None = None


def read(
    parents: Source,
    tokens: Source | None = None,
    relations: Source | None = None,
    labels: Source | None = None,
    *,
    kind: Kind = "dependency",
    where: str | None = None,
) -> list[Tree]:
    """Return the trees of parallel files (paths) or lines.

    Args:
        parents: one line per tree, the parent of each node counted from 1, 0 for the root.
        tokens: the words, one line per tree.
        relations: the relations, one line per tree; `#` for none.
        labels: the labels, one line per tree; `#` for none.
        kind: `dependency` or `constituency`.
        where: the name of the source in errors; by default the parents' file.

    Examples:
        >>> from bough.formats import pointers
        >>> pointers.read(["2 0 2"], ["cats climb trees"])
        [Tree((climb cats trees), 3 nodes)]
        >>> pointers.read(["4 5 5 0 4"], ["cats climb trees"], kind="constituency")
        [Tree((· cats (· climb trees)), 5 nodes)]
    """
    columns = zip(Lines._fields, (parents, tokens, relations, labels), strict=True)
    given = {name: source for name, source in columns if source is not None}
    streams = [numbered(source, name_of(source, where)) for source in given.values()]
    where = name_of(parents, where)
    trees = []
    for number, row in enumerate(zip_longest(*streams), start=1):
        for name, entry in zip(given, row, strict=True):
            if entry is None:
                reason = f"{name} end before this line, but the others continue"
                raise FormatError(reason, where=where, line=number)
        try:
            trees.append(parse(**{name: line for name, (_, line) in zip(given, row, strict=True)}, kind=kind))
        except FormatError as error:
            raise FormatError(error.reason, where=where, line=number) from error
    return trees


def parse(
    parents: str,
    tokens: str | None = None,
    relations: str | None = None,
    labels: str | None = None,
    *,
    kind: Kind = "dependency",
) -> Tree:
    """Return the tree of one line of each kind; `parse(*write(tree))` is the same tree.

    Args:
        parents: the parent of each node counted from 1, 0 for the root.
        tokens: the words.
        relations: the relations, `#` for none.
        labels: the labels, `#` for none.
        kind: `dependency` or `constituency`.

    Examples:
        >>> from bough.formats import pointers
        >>> pointers.parse("2 0 2", "cats climb trees")
        Tree((climb cats trees), 3 nodes)
    """
    _check_kind(kind)
    heads = parents.split()
    if not heads:
        raise FormatError("no parents; a tree has at least one node")
    for node, head in enumerate(heads, start=1):
        if not INTEGER.fullmatch(head):
            raise FormatError(f"node {node} has parent {head!r}; parents are integers, 0 for the root")
    try:
        above = checked_parents([int(head) - 1 for head in heads], first=1).tolist()
    except ParentError as error:
        raise FormatError(str(error)) from None
    columns: dict[str, Any] = {}
    for name, line in (("relations", relations), ("labels", labels)):
        if line is not None:
            entries = _split(line, name, len(above))
            columns[name] = unless_empty([None if entry == "#" else entry for entry in entries])
    if kind == "dependency":
        columns["tokens"] = None if tokens is None else _split(tokens, "tokens", len(above))
        return Tree(above, **columns)
    inner = {node for node in above if node >= 0}
    leaves = len(above) - len(inner)
    for node in range(leaves):
        if node in inner:
            raise FormatError(f"node {node + 1} has children; the {leaves} leaves are nodes 1..{leaves}")
    if tokens is not None:
        columns["tokens"] = [*_split(tokens, "tokens", leaves, "leaves"), *[None] * len(inner)]
    order = _left_to_right(above, leaves)
    return Tree(above, **columns).renumbered(order)


def write(tree: Tree, *, kind: Kind = "dependency") -> Lines:
    """Return the tree as lines.

    If a dependency tree has tokens, every node needs one. If a constituency tree has tokens, every
    leaf needs one and inner nodes have none; its leaves are written first. Raise a ValueError
    otherwise, and for text with spaces.

    Args:
        tree: the tree.
        kind: `dependency` or `constituency`.

    Examples:
        >>> import bough
        >>> bough.formats.pointers.write(bough.Tree(parents=[1, -1, 1])).parents
        '2 0 2'
        >>> bough.formats.pointers.write(bough.Tree(parents=[-1, 0, 0]), kind="constituency").parents
        '3 3 0'
    """
    _check_kind(kind)
    order, words = list(range(len(tree))), len(tree)
    if kind == "constituency":
        inner = tree.preorder[tree.degrees[tree.preorder] > 0].tolist()
        order, words = [*tree.leaves.tolist(), *inner], len(tree.leaves)
        spoken = [node for node in sorted(inner) if tree.tokens is not None and tree.tokens[node] is not None]
        if spoken:
            raise ValueError(f"node {spoken[0]} has children and a token; write it as a dependency tree")
    position = {node: new for new, node in enumerate(order, start=1)} | {-1: 0}
    parents = tree.parents.tolist()
    silent = [node for node in order[:words] if tree.tokens is not None and tree.tokens[node] is None]
    if silent:
        raise ValueError(f"node {silent[0]} has no token; give every word a token, or remove them all")

    def joined(column: Sequence[Hashable] | None, kind: str, nodes: list[int]) -> str | None:
        return None if column is None else " ".join(cell(column, node, kind, "#", " \r\n") for node in nodes)

    tokens = joined(tree.tokens, "token", order[:words])
    if tokens is not None and tokens.startswith("\ufeff"):
        reason = "U+FEFF in front is lost as a BOM"
        raise ValueError(f"node {order[0]} has token {tokens.split()[0]!r}; {reason}")
    above = " ".join(str(position[parents[node]]) for node in order)
    relations, labels = joined(tree.relations, "relation", order), joined(tree.labels, "label", order)
    return Lines(above, tokens, relations, labels)


def _check_kind(kind: str) -> None:
    if kind not in ("dependency", "constituency"):
        raise ValueError(f"kind {kind!r}: 'dependency' or 'constituency'")


def _split(line: str, name: str, count: int, of: str = "nodes") -> list[str]:
    entries = line.split(" ")  # not split(), which would split at U+00A0 inside a word
    if "" in entries:
        raise FormatError(f"{name}: entry {entries.index('') + 1} is empty; one space stands between entries")
    if len(entries) != count:
        raise FormatError(f"{len(entries)} {name} for {count} {of}; give one each")
    return entries


def _left_to_right(parents: list[int], leaves: int) -> list[int]:
    """Return the nodes in preorder. Nodes 0..leaves-1 are the words from left to right."""
    order: list[int] = []
    opened: list[int] = []  # the path from the root to the last word
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
            reason = f"node {node + 1} covers word {leaf + 1} and an earlier one, but not word {leaf}"
            raise FormatError(f"{reason}; the words of a phrase follow one another")
        opened += reversed(path)
        order += reversed(path)
    return order
