"""`Tree`: one tree as flat arrays. No function recurses, so a tree may be 100,000 nodes deep."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from bough.trees import validate
from bough.trees.conversions import Conversions
from bough.trees.structure import FEATURES, NODE_COLUMNS, Structure
from bough.trees.validate import Ints, depths, frozen, inverse


class Tree(Conversions, Structure):
    """Immutable tree: `parents[i]` is the parent of node i, -1 for the root; see `replace` for changes.

    Args:
        parents: the parent of each node; the children of a node are ordered by node index.
        tokens: one word per node, None where a node has none.
        labels: one label per node, of any hashable type, None where a node has none.
        relations: one name per node for the edge to its parent.
        features: the numbers of each node, (n, F); NaN where one is missing.
        feature_names: one name per column of `features`, or empty.
        categories: for each name one category per node, a string, or None where a node has none.
        edge_features: the numbers of the edge from each node to its parent, (n, G); layers do not use the root's row.
        edge_feature_names: one name per column of `edge_features`, or empty.

    Examples:
        >>> Tree(parents=[1, -1, 1], tokens=["cats", "climb", "trees"])
        Tree((climb cats trees), 3 nodes)
        >>> Tree(parents=[-1, 0], features=[[2.5], [1.0]], feature_names=["cost"]).features.shape
        (2, 1)
    """

    shape, edge_owner = "parents", "node"  # the edge to its parent
    parents: Ints

    def __init__(
        self,
        parents: Sequence[int] | Ints,
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
        self.__dict__["parents"] = validate.checked_parents(parents)
        columns: dict[str, Any] = {"tokens": tokens, "labels": labels, "relations": relations}
        if features is not None or len(feature_names):
            columns |= {"features": features, "feature_names": feature_names}
        if edge_features is not None or len(edge_feature_names):
            columns |= {"edge_features": edge_features, "edge_feature_names": edge_feature_names}
        if categories is not None:
            columns["categories"] = categories
        self._set_columns(columns)

    def __len__(self) -> int:
        return len(self.parents)

    @property
    def _edge_rows(self) -> int:
        return len(self)  # the root has an entry, too

    def __repr__(self) -> str:
        return f"Tree({self.sketch()}, {len(self)} node{'s' if len(self) > 1 else ''})"

    @cached_property
    def root(self) -> int:
        """The node without a parent."""
        return int(np.flatnonzero(self.parents < 0)[0])

    @cached_property
    def degrees(self) -> Ints:
        """(n,) number of children."""
        return frozen(np.bincount(self.parents[self.parents >= 0], minlength=len(self)).astype(np.int64))

    @cached_property
    def child_list(self) -> Ints:
        """(n - 1,) every node except the root, sorted by parent, then by index."""
        order = np.argsort(self.parents, kind="stable")
        return frozen(order[1:])  # the root's -1 sorts first

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The children of each node, in order."""
        below: list[list[int]] = [[] for _ in range(len(self))]
        for node, parent in enumerate(self.parents.tolist()):
            if parent >= 0:
                below[parent].append(node)
        return tuple(map(tuple, below))

    @cached_property
    def heights(self) -> Ints:
        """(n,) the number of edges on the longest path down to a leaf; 0 for a leaf."""
        parents = self.parents.tolist()
        heights = [0] * len(parents)
        for node in self._upwards:
            parent, height = parents[node], heights[node] + 1
            if parent >= 0 and heights[parent] < height:
                heights[parent] = height
        return frozen(np.array(heights, dtype=np.int64))

    @cached_property
    def leaves(self) -> Ints:
        """The nodes without children, left to right."""
        below = self.children
        return frozen(np.array([node for node in self.preorder.tolist() if not below[node]], dtype=np.int64))

    @cached_property
    def preorder(self) -> Ints:
        """Every node, a parent before its children, children left to right."""
        children, order, stack = self.children, [], [self.root]
        while stack:
            node = stack.pop()
            order.append(node)
            if below := children[node]:
                stack += below[::-1]
        return frozen(np.array(order, dtype=np.int64))

    def walk(self) -> Iterator[tuple[int, bool]]:
        """Yield (node, False) for every node in preorder, and (node, True) after the children of an inner node.

        Examples:
            >>> list(Tree(parents=[-1, 0]).walk())
            [(0, False), (1, False), (0, True)]
        """
        children, stack = self.children, [(self.root, False)]
        while stack:
            node, done = stack.pop()
            yield node, done
            if not done and (below := children[node]):
                stack.append((node, True))
                stack += [(child, False) for child in reversed(below)]

    @property
    def _upwards(self) -> Iterable[int]:
        """All nodes, children before their parents."""
        if validate.parents_first(self.parents):
            return range(len(self) - 1, -1, -1)
        deepest_first: list[int] = np.argsort(-depths(self.parents)).tolist()
        return deepest_first

    @cached_property
    def words(self) -> Ints:
        """The nodes that are the words of the sentence, in order.

        If an inner node has a token (a dependency tree), these are all nodes with a token, by
        index. Otherwise (a constituency tree, or a tree without tokens) they are the leaves.
        """
        if self.tokens is not None:
            spoken = [node for node, token in enumerate(self.tokens) if token is not None]
            below = self.children
            if any(below[node] for node in spoken):
                return frozen(np.array(spoken, dtype=np.int64))
        return self.leaves

    @cached_property
    def spans(self) -> Ints:
        """(n, 2) the half-open range of word positions (see `words`) that each node's subtree covers."""
        none = len(self)
        low, high = [none] * none, [0] * none
        for place, node in enumerate(self.words.tolist()):
            low[node], high[node] = place, place + 1
        parents = self.parents.tolist()
        for node in self._upwards:
            parent = parents[node]
            if parent >= 0:
                if low[node] < low[parent]:
                    low[parent] = low[node]
                if high[node] > high[parent]:
                    high[parent] = high[node]
        spans = np.array([low, high], dtype=np.int64).T
        return frozen(np.where(spans[:, :1] >= spans[:, 1:], 0, spans))  # (0, 0) for a subtree without words

    def replace(self, **changes: Any) -> Tree:
        """Return a tree with some columns replaced; None removes a column. Other columns are shared with this tree.

        Takes the arguments of `Tree`. Removing `features` also removes their names.

        Examples:
            >>> Tree(parents=[1, -1], tokens=["dogs", "sleep"]).replace(tokens=["cats", "sleep"])
            Tree((sleep cats), 2 nodes)
        """
        if unknown := changes.keys() - set(self._fields()):
            raise TypeError(f"a Tree has no {min(unknown)!r}; it has {', '.join(self._fields())}")
        if "parents" in changes:
            for name, names in FEATURES:
                if changes.get(name, ()) is None:
                    changes.setdefault(names, ())
            return Tree(**{name: getattr(self, name) for name in self._fields()} | changes)
        other = object.__new__(Tree)
        other.__dict__.update(self.__dict__)  # with the cached properties of the structure
        other._set_columns(changes)
        if "tokens" in changes:  # which determine the words
            for known in ("words", "spans"):
                other.__dict__.pop(known, None)
        return other

    def binarise(self, direction: Literal["left", "right"] = "right") -> Tree:
        """Return a tree with at most two children per node: (a b c) becomes (a (b c)) or, to the left, ((a b) c).

        New nodes have no token, label, relation or category, and NaN for every number. The nodes
        are renumbered in preorder. A binary tree keeps its shape, including unary nodes.
        """
        if direction not in ("left", "right"):
            raise ValueError(f"direction {direction!r}: 'left' or 'right'")
        parents: list[int] = []
        origin: list[int | None] = []
        # (new parent, old siblings, start and end of those to attach); ranges, so that wide nodes are not copied
        stack: list[tuple[int, tuple[int, ...], int, int]] = [(-1, (self.root,), 0, 1)]
        while stack:
            above, group, start, end = stack.pop()
            node = len(parents)
            parents.append(above)
            origin.append(group[start] if end - start == 1 else None)
            if end - start == 1:
                group = self.children[group[start]]
                start, end = 0, len(group)
            if end - start <= 2:
                cuts = list(range(start, end + 1))
            else:
                cuts = [start, start + 1 if direction == "right" else end - 1, end]
            stack.extend((node, group, low, high) for low, high in reversed(list(pairwise(cuts))))
        return self._rebuilt(parents, origin)

    def renumbered(self, order: Sequence[int] | Ints) -> Tree:
        """Return the same tree with node `order[i]` as node i. Siblings are reordered, too."""
        old = np.asarray(order, dtype=np.int64)
        if not np.array_equal(np.sort(old), np.arange(len(self))):
            raise ValueError(f"order is not a permutation of 0..{len(self) - 1}")
        above = self.parents[old]
        return self._rebuilt(np.where(above < 0, -1, inverse(old)[above]), old.tolist())

    def _rebuilt(self, parents: Sequence[int] | Ints, origin: Sequence[int | None]) -> Tree:
        """Return a tree whose node i is node `origin[i]` of this tree, or a new node if that is None."""

        def pick(values: Sequence[Any] | None) -> list[Any] | None:
            return None if values is None else [None if old is None else values[old] for old in origin]

        fields: dict[str, Any] = {name: pick(getattr(self, name)) for name in (*NODE_COLUMNS, "relations")}
        if self.categories is not None:
            fields["categories"] = {name: pick(values) for name, values in self.categories.items()}
        for name, names in FEATURES:
            rows = getattr(self, name)
            if rows is not None:
                new = np.array([old is None for old in origin])
                chosen = rows[[old or 0 for old in origin]]
                fields |= {name: np.where(new[:, None], np.nan, chosen), names: getattr(self, names)}
        return Tree(parents, **fields)

    def sketch(self, limit: int = 60) -> str:
        """Return the tree in brackets on one line, cut after `limit` characters."""
        text = ""
        for node, done in self.walk():
            bracket = "(" if self.children[node] else ""
            text += ")" if done else (" " if text else "") + bracket + self.node_name(node)
            if len(text) > limit:
                break
        return text if len(text) <= limit else text[: limit - 1] + "…"

    def node_name(self, node: int) -> str:
        """Return a node's label and token; for a leaf that has neither, its number."""
        return self._entries_shown(node) or ("·" if self.children[node] else str(node))
