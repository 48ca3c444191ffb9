"""Trees of other libraries as the columns of a `Tree`; the libraries themselves are not imported."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any


def nltk_columns(tree: Any) -> dict[str, Any]:
    """Of an `nltk.Tree`."""
    parents: list[int] = []
    tokens: list[str | None] = []
    labels: list[Hashable] = []
    stack: list[tuple[int, Any]] = [(-1, tree)]
    while stack:
        above, item = stack.pop()
        node = len(parents)
        parents.append(above)
        if not hasattr(item, "label"):
            tokens.append(str(item))
            labels.append(None)
            continue
        below = list(item)
        labels.append(None if item.label() == "" else item.label())
        if len(below) == 1 and not hasattr(below[0], "label"):
            tokens.append(str(below[0]))
            continue
        tokens.append(None)
        stack.extend((node, child) for child in reversed(below))
    return {"parents": parents, "tokens": _unless_empty(tokens), "labels": _unless_empty(labels)}


def networkx_columns(graph: Any) -> dict[str, Any]:
    """Of a `networkx.DiGraph`."""
    if not graph.is_directed():
        raise ValueError("an undirected graph has no root; pass a DiGraph with edges from parent to child")
    names = list(graph.nodes)
    index = {name: i for i, name in enumerate(names)}
    parents = [-1] * len(names)
    for above, below in graph.edges():
        if parents[index[below]] >= 0:
            raise ValueError(f"node {below!r} has two parents; in a tree every node but the root has one")
        parents[index[below]] = index[above]
    data = [attributes for _, attributes in graph.nodes(data=True)]
    columns = {
        plural: _unless_empty([attributes.get(single) for attributes in data])
        for single, plural in (("token", "tokens"), ("label", "labels"), ("relation", "relations"))
    }
    return {"parents": parents, **columns}


def _unless_empty(values: list[Any]) -> list[Any] | None:
    return values if any(value is not None for value in values) else None
