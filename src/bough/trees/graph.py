"""`Graph`: one acyclic graph, whose nodes may have several parents, as flat arrays."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bough.trees import validate
from bough.trees.conversions import Strings, columns_of, read_networkx
from bough.trees.structure import COLUMNS, Structure
from bough.trees.validate import Ints, frozen


class Graph(Structure):
    """Immutable graph without cycles: a node may have several parents, and there may be several roots.

    Circuits, computation graphs and query plans with shared parts are such graphs. A `Forest` takes
    them in place of trees. An edge leads from a child to its parent, as in `Forest.from_edges`.

    Args:
        edges: (E, 2) the child and the parent of each edge; the children of a node are in the order of its edges.
        num_nodes: the number n of nodes; not needed if there is a column of nodes.
        tokens: one word per node, None where a node has none.
        labels: one label per node, of any hashable type, None where a node has none.
        relations: one name per edge.
        features: the numbers of each node, (n, F); NaN where one is missing.
        feature_names: one name per column of `features`, or empty.
        categories: for each name one category per node, a string, or None where a node has none.
        edge_features: the numbers of each edge, (E, G).
        edge_feature_names: one name per column of `edge_features`, or empty.

    Examples:
        >>> from bough import Forest, Graph, Tree
        >>> graph = Graph([(0, 1), (0, 2), (1, 3), (2, 3)], tokens=["input", "relu", "conv", "add"])
        >>> graph, graph.roots.tolist(), graph.leaves.tolist()
        (Graph(4 nodes, 4 edges), [3], [0])
        >>> Forest([graph, Tree(parents=[1, -1])])
        Forest(2 graphs, 6 nodes, 5 edges, 3 levels)
    """

    shape = "edges"
    edges: Ints
    num_nodes: int

    def __init__(
        self,
        edges: Sequence[Sequence[int]] | ArrayLike,
        num_nodes: int | None = None,
        *,
        tokens: Sequence[str | None] | None = None,
        labels: Sequence[Hashable] | None = None,
        relations: Sequence[Hashable] | None = None,
        features: ArrayLike | None = None,
        feature_names: Sequence[str] = (),
        categories: Mapping[str, Sequence[str | None]] | None = None,
        edge_features: ArrayLike | None = None,
        edge_feature_names: Sequence[str] = (),
    ) -> None:
        columns: dict[str, Any] = {"tokens": tokens, "labels": labels, "relations": relations}
        columns |= {"features": features, "feature_names": feature_names, "categories": categories}
        columns |= {"edge_features": edge_features, "edge_feature_names": edge_feature_names}
        if num_nodes is None:
            sized = [tokens, labels, features, *(categories or {}).values()]
            rows: Any = next((column for column in sized if column is not None), None)
            if rows is None or not hasattr(rows, "__len__"):
                raise ValueError("a graph without columns of nodes; give num_nodes")
            num_nodes = len(rows)
        self.__dict__["num_nodes"] = num_nodes
        self.__dict__["edges"] = validate.checked_pairs(edges, num_nodes)
        self._set_columns(columns)
        self.heights  # noqa: B018 - raises an error if there is a cycle

    @classmethod
    def from_networkx(
        cls, graph: Any, *, numbers: Strings = (), categories: Strings = (), edge_numbers: Strings = ()
    ) -> Graph:
        """Convert a directed graph whose edges run from parent to child; `graph.reverse()` turns them around.

        Nodes and edges keep the order of the graph. The attributes `token` and `label` of the nodes
        and `relation` of the edges are read, and those named in `numbers`, `categories` and
        `edge_numbers`. If no node has a token or a label, names of nodes that are strings become the tokens.
        """
        names, nodes, arrows = read_networkx(graph)

        def path(node: int) -> str:
            return f"node {names[node]!r}"

        def edge_path(edge: int) -> str:
            return f"edge {names[arrows[edge][0]]!r} -> {names[arrows[edge][1]]!r}"

        attributes = [data for _, _, data in arrows]
        keys = {"numbers": numbers, "categories": categories, "edge_numbers": edge_numbers}
        fields = {"tokens": "token", "labels": "label"}
        columns = columns_of(nodes, attributes, path, edge_path, fields, keys)
        columns["relations"] = [data.get("relation") for data in attributes]
        for name in ("tokens", "labels", "relations"):
            if columns[name].count(None) == len(columns[name]):
                del columns[name]
        return cls([(child, parent) for parent, child, _ in arrows], len(names), **columns)

    def __len__(self) -> int:
        return self.num_nodes

    @property
    def _edge_rows(self) -> int:
        return len(self.edges)

    @classmethod
    def _fields(cls) -> tuple[str, ...]:
        return (cls.shape, "num_nodes", *COLUMNS)

    def __repr__(self) -> str:
        counts = (len(self), "node"), (len(self.edges), "edge")
        return f"Graph({', '.join(f'{n} {what}' + 's' * (n != 1) for n, what in counts)})"

    @cached_property
    def heights(self) -> Ints:
        """(n,) the number of edges on the longest path down to a leaf; 0 for a leaf."""
        return frozen(validate.longest_paths(self.edges[:, 0], self.edges[:, 1], len(self)))

    @cached_property
    def degrees(self) -> Ints:
        """(n,) number of children."""
        return frozen(np.bincount(self.edges[:, 1], minlength=len(self)))

    @cached_property
    def edge_order(self) -> Ints:
        """(E,) the edges sorted by parent, then by index."""
        return frozen(np.argsort(self.edges[:, 1], kind="stable"))

    @cached_property
    def child_list(self) -> Ints:
        """(E,) the child of each edge, in the order of `edge_order`."""
        return frozen(self.edges[self.edge_order, 0])

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The children of each node, in order."""
        parts = np.split(self.child_list, np.cumsum(self.degrees)[:-1])
        return tuple(tuple(part.tolist()) for part in parts[: len(self)])

    @cached_property
    def roots(self) -> Ints:
        """The nodes without parents."""
        return frozen(np.flatnonzero(np.bincount(self.edges[:, 0], minlength=len(self)) == 0))

    @cached_property
    def leaves(self) -> Ints:
        """The nodes without children."""
        return frozen(np.flatnonzero(self.degrees == 0))

    def replace(self, **changes: Any) -> Graph:
        """Return a graph with some columns replaced; None removes a column. Takes the arguments of `Graph`.

        Examples:
            >>> Graph([(0, 1)], tokens=["a", "b"]).replace(tokens=["c", "d"]).tokens
            ('c', 'd')
        """
        fields = self._fields()
        if unknown := changes.keys() - set(fields):
            raise TypeError(f"a Graph has no {min(unknown)!r}; it has {', '.join(fields)}")
        for name in ("features", "edge_features"):
            if changes.get(name, ()) is None:
                changes.setdefault(f"{name.removesuffix('s')}_names", ())
        return Graph(**{name: getattr(self, name) for name in fields} | changes)

    def node_name(self, node: int) -> str:
        """Return a node's label and token; its number if it has neither."""
        return self._entries_shown(node) or str(node)
