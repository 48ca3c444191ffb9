"""Labelled trees of any arity as binary ones, each phrase built outwards from its head."""

from __future__ import annotations

from typing import NamedTuple

from bough.text.head_rules import head_child
from bough.trees.tree import Tree


def binarise(tree: Tree) -> Tree:
    """A labelled tree of any arity as a binary one: each phrase grows outwards from its head.

    The head child is joined with its right sisters, nearest first, then with its left sisters, nearest
    first; a node with one child is left out. Leaves keep their token and part of speech, a phrase its
    label, the nodes in between bear `@` and the phrase's label. Nodes come out in preorder.
    A label that starts with `@` in the input marks such a node too, and is dissolved first.
    """
    tree = flatten(tree)
    parents: list[int] = []
    tokens: list[str | None] = []
    labels: list[str | None] = []
    stack: list[tuple[int, _Part]] = [(-1, _part(tree, tree.root))]
    while stack:
        above, part = stack.pop()
        node = len(parents)
        parents.append(above)
        labels.append(part.label)
        if part.low == part.high:
            tokens.append(None if tree.tokens is None else tree.tokens[part.sisters[part.low]])
            continue
        tokens.append(None)
        stack.extend((node, below) for below in reversed(_halves(tree, part)))
    return Tree(parents, tokens=tokens, labels=labels)


def flatten(tree: Tree) -> Tree:
    """The tree without the nodes between root and words whose label starts with `@`: their children move up.

    A root bears its label without the mark.
    """
    kept = [n for n in tree.preorder.tolist() if n == tree.root or not _marked(tree, n)]
    marked = _marked(tree, tree.root)
    if len(kept) == len(tree) and not marked:
        return tree
    place = {node: new for new, node in enumerate(kept)}
    parents = []
    for node in kept:
        above = int(tree.parents[node])
        while above >= 0 and above not in place:
            above = int(tree.parents[above])
        parents.append(place.get(above, -1))
    tokens, labels = ([column[n] for n in kept] if column else None for column in (tree.tokens, tree.labels))
    if marked and labels is not None:
        labels[0] = (_label(tree, tree.root) or "").lstrip("@") or None
    return Tree(parents, tokens=tokens, labels=labels)


class _Part(NamedTuple):
    """The sisters `low..high` of a phrase around their head; one sister only: a leaf of the tree."""

    label: str | None
    sisters: tuple[int, ...]
    head: int
    low: int
    high: int


def _part(tree: Tree, node: int) -> _Part:
    """The whole phrase at a node, unary chains skipped."""
    label = _label(tree, node)
    children = tree.children[node]
    while len(children) == 1:
        node = children[0]
        children = tree.children[node]
        label = label if label not in (None, "ROOT", "TOP") and children else _label(tree, node)
    if not children:
        return _Part(label, (node,), 0, 0, 0)
    head = head_child(_label(tree, node) or "", [_label(tree, child) or "" for child in children])
    return _Part(label, children, head, 0, len(children) - 1)


def _halves(tree: Tree, part: _Part) -> tuple[_Part, _Part]:
    between = None if part.label is None else "@" + part.label.lstrip("@")
    if part.low < part.head:  # left sisters are joined last, so they come off first
        rest = part._replace(label=between, low=part.low + 1)
        return _part(tree, part.sisters[part.low]), _settled(tree, rest)
    rest = part._replace(label=between, high=part.high - 1)
    return _settled(tree, rest), _part(tree, part.sisters[part.high])


def _settled(tree: Tree, part: _Part) -> _Part:
    """A part that is down to its head alone is that child's own phrase."""
    return part if part.low < part.high else _part(tree, part.sisters[part.low])


def _marked(tree: Tree, node: int) -> bool:
    return bool(tree.children[node]) and (_label(tree, node) or "").startswith("@")


def _label(tree: Tree, node: int) -> str | None:
    label = None if tree.labels is None else tree.labels[node]
    return None if label is None else str(label)
