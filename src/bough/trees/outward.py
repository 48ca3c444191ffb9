"""A `Tree` as other libraries have it; they are imported when asked for, not before."""

from __future__ import annotations

from typing import Any

from bough.draw.structure import Structure


def nltk_tree(tree: Structure) -> Any:
    """As an `nltk.Tree`, made from the leaves up."""
    try:
        from nltk import Tree
    except ImportError:
        raise ImportError("to_nltk needs nltk: pip install nltk") from None
    tokens, labels = tree.tokens, tree.labels
    made: dict[int, Any] = {}
    for node in reversed(tree.preorder.tolist()):
        token, below = tokens[node] if tokens else None, tree.children[node]
        label = None if labels is None else labels[node]
        if below and token is not None:
            raise ValueError(
                f"node {node}, {token!r}, is a word with others below it; nltk has words at the leaves only, "
                "to_networkx() keeps them all"
            )
        # a word without a label is a string, unless it would make a preterminal of the node above it
        above = int(tree.parents[node])
        if token is not None and label is None and above >= 0 and len(tree.children[above]) > 1:
            made[node] = token
        else:
            parts = [made.pop(child) for child in below] if token is None else [token]
            made[node] = Tree("" if label is None else label, parts)
    return made[tree.root]


def networkx_graph(tree: Structure) -> Any:
    """As a `networkx.DiGraph`."""
    try:
        from networkx import DiGraph
    except ImportError:
        raise ImportError("to_networkx needs networkx: pip install networkx") from None
    graph = DiGraph()
    above = tree.parents.tolist()
    columns = (("token", tree.tokens), ("label", tree.labels), ("relation", tree.relations))
    for node in range(len(above)):
        entries = {name: column[node] for name, column in columns if column is not None}
        graph.add_node(node, **{name: entry for name, entry in entries.items() if entry is not None})
    graph.add_edges_from((parent, node) for node, parent in enumerate(above) if parent >= 0)
    return graph
