"""One tree as flat arrays. Nothing here recurses: a chain of 100,000 nodes is a tree like any other."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Sequence
from functools import cached_property
from itertools import pairwise
from types import EllipsisType
from typing import Any, Literal, NoReturn

import numpy as np

from bough.trees.conversions import (
    ast_columns,
    networkx_columns,
    networkx_graph,
    nltk_columns,
    nltk_tree,
    spacy_columns,
    stanza_columns,
)
from bough.trees.validate import Ints, checked_parents, column, frozen, parents_first, upwards

_COLUMNS = ("tokens", "labels", "relations")


class Tree:
    """One structure: `parents[i]` is node i's parent, -1 for the root. It never changes; see `replace`.

    Args:
        parents: the parent of each node; the children of a node are ordered by node index.
        tokens: one word per node, None where a node has none.
        labels: one label per node, of any hashable type, None where a node has none.
        relations: one name per node for the edge to its parent.

    Examples:
        >>> Tree(parents=[1, -1, 1], tokens=["cats", "climb", "trees"])
        Tree((climb cats trees), 3 nodes)
    """

    parents: Ints
    tokens: tuple[str | None, ...] | None
    labels: tuple[Hashable, ...] | None
    relations: tuple[Hashable, ...] | None

    def __init__(
        self,
        parents: Sequence[int] | Ints,
        *,
        tokens: Sequence[str | None] | None = None,
        labels: Sequence[Hashable] | None = None,
        relations: Sequence[Hashable] | None = None,
    ) -> None:
        self.__dict__["parents"] = checked_parents(parents)
        self._set_columns(tokens=tokens, labels=labels, relations=relations)
        if not parents_first(self.parents):  # then there may be a cycle, which `heights` finds
            self.heights  # noqa: B018

    def _set_columns(self, **columns: Sequence[Any] | None) -> None:
        for name, values in columns.items():
            self.__dict__[name] = column(name, values, len(self))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Tree does not change; tree.replace({name}=...) makes another")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a Tree does not change; tree.replace({name}=None) makes another")

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in ("parents", *_COLUMNS)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, parents=frozen(state["parents"]))

    def __copy__(self) -> Tree:
        return self

    def __deepcopy__(self, memo: object) -> Tree:
        return self

    def __len__(self) -> int:
        return len(self.parents)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        same = all(getattr(self, column) == getattr(other, column) for column in _COLUMNS)
        return same and np.array_equal(self.parents, other.parents)

    def __hash__(self) -> int:
        return hash((self.parents.tobytes(), self.tokens, self.labels, self.relations))

    def __repr__(self) -> str:
        return f"Tree({self.sketch()}, {len(self)} node{'s' if len(self) > 1 else ''})"

    # ---------------------------------------------------------------- structure

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
        for node in upwards(self.parents):
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

    @cached_property
    def words(self) -> Ints:
        """The nodes that are the sentence's words, first word first.

        Where an inner node carries a token (a dependency tree), every node with a token, by index;
        elsewhere (a constituency tree, or no tokens at all) the leaves.
        """
        if self.tokens is not None:
            spoken = [node for node, token in enumerate(self.tokens) if token is not None]
            below = self.children
            if any(below[node] for node in spoken):
                return frozen(np.array(spoken, dtype=np.int64))
        return self.leaves

    @cached_property
    def spans(self) -> Ints:
        """(n, 2) half-open range of word positions (see `words`) that a node's subtree covers."""
        none = len(self)
        low, high = [none] * none, [0] * none
        for place, node in enumerate(self.words.tolist()):
            low[node], high[node] = place, place + 1
        parents = self.parents.tolist()
        for node in upwards(self.parents):
            parent = parents[node]
            if parent >= 0:
                if low[node] < low[parent]:
                    low[parent] = low[node]
                if high[node] > high[parent]:
                    high[parent] = high[node]
        spans = np.array([low, high], dtype=np.int64).T
        return frozen(np.where(spans[:, :1] >= spans[:, 1:], 0, spans))  # no word below: the empty (0, 0)

    # ------------------------------------------------------------------ changes

    def replace(
        self,
        *,
        parents: Sequence[int] | Ints | EllipsisType = ...,
        tokens: Sequence[str | None] | EllipsisType | None = ...,
        labels: Sequence[Hashable] | EllipsisType | None = ...,
        relations: Sequence[Hashable] | EllipsisType | None = ...,
    ) -> Tree:
        """Another tree that shares with this one whatever is not given; None removes a column."""
        given = {"tokens": tokens, "labels": labels, "relations": relations}
        columns = {name: values for name, values in given.items() if not isinstance(values, EllipsisType)}
        if not isinstance(parents, EllipsisType):
            return Tree(parents, **{name: getattr(self, name) for name in _COLUMNS} | columns)
        other = object.__new__(Tree)
        other.__dict__.update(self.__dict__)  # with what is known of the structure
        other._set_columns(**columns)
        if "tokens" in columns:  # which nodes are words
            for known in ("words", "spans"):
                other.__dict__.pop(known, None)
        return other

    def binarise(self, direction: Literal["left", "right"] = "right") -> Tree:
        """At most two children per node: (a b c) becomes (a (b c)) to the right, ((a b) c) to the left.

        New nodes carry no token, label or relation. The nodes come out in preorder; a tree that is
        already binary keeps its shape, unary nodes included.
        """
        if direction not in ("left", "right"):
            raise ValueError(f"direction {direction!r}: 'left' or 'right'")
        parents: list[int] = []
        origin: list[int | None] = []
        # (new parent, old siblings, the range of them to hang there): a wide node is never copied
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
        """The same tree with node `order[0]` as node 0, `order[1]` as node 1, ...; children reorder too."""
        old = np.asarray(order, dtype=np.int64)
        if not np.array_equal(np.sort(old), np.arange(len(self))):
            raise ValueError(f"order is not a permutation of 0..{len(self) - 1}")
        new = np.empty_like(old)
        new[old] = np.arange(len(old))
        above = self.parents[old]
        return self._rebuilt(np.where(above < 0, -1, new[above]), old.tolist())

    def _rebuilt(self, parents: Sequence[int] | Ints, origin: Sequence[int | None]) -> Tree:
        def pick(column: tuple[Any, ...] | None) -> list[Any] | None:
            return None if column is None else [None if o is None else column[o] for o in origin]

        return Tree(parents, **{name: pick(getattr(self, name)) for name in _COLUMNS})

    # ------------------------------------------------------------ other people's

    @classmethod
    def from_nltk(cls, tree: Any) -> Tree:
        """From an `nltk.Tree` (anything with `label()` that iterates over subtrees and strings).

        A preterminal, a subtree that holds one string only, becomes one node with a label and a token.
        """
        return cls(**nltk_columns(tree))

    @classmethod
    def from_networkx(cls, graph: Any) -> Tree:
        """From a directed graph whose edges run from parent to child (`nodes(data=True)` and `edges`).

        Nodes keep the graph's order; their attributes `token`, `label` and `relation` are taken over.
        """
        return cls(**networkx_columns(graph))

    @classmethod
    def from_spacy(cls, sentence: Any) -> Tree:
        """From a parsed sentence of spaCy, a `Span` or a `Doc`: words and dependencies, as spaCy names them."""
        return cls(**spacy_columns(sentence))

    @classmethod
    def from_stanza(cls, sentence: Any) -> Tree:
        """From a parsed sentence of stanza: words and dependencies; of `sentence.constituency` the phrases."""
        return cls(**stanza_columns(sentence))

    @classmethod
    def from_ast(cls, source: ast.AST | str) -> Tree:
        """From Python code, or a node of its syntax tree, in preorder.

        A node's token is the kind of its syntax (`Call`), its label the name or the constant that it holds, if any,
        its relation the field of its parent that it stands in (`args`).
        """
        return cls(**ast_columns(source))

    def to_nltk(self) -> Any:
        """As an `nltk.Tree`, which has no relations; words are at the leaves only. `from_nltk` is the way back."""
        return nltk_tree(self)

    def to_networkx(self) -> Any:
        """As a `networkx.DiGraph` with the nodes 0, 1, ... and their columns; `from_networkx` is the way back."""
        return networkx_graph(self)

    # ------------------------------------------------------------------ display

    def sketch(self, limit: int = 60) -> str:
        """Return the tree in brackets on one line, cut after `limit` characters."""
        text = ""
        stack: list[int | None] = [self.root]
        while stack and len(text) <= limit:
            node = stack.pop()
            if node is None:
                text += ")"
                continue
            below = self.children[node]
            text += (" " if text else "") + ("(" if below else "") + self.node_name(node)
            if below:
                stack.append(None)
                stack.extend(reversed(below))
        return text if len(text) <= limit else text[: limit - 1] + "…"

    def node_name(self, node: int) -> str:
        """Return a node's label and token; for a leaf that has neither, its number."""
        parts = [column[node] for column in (self.labels, self.tokens) if column is not None]
        named = ":".join(str(part) for part in parts if part is not None)
        return named or ("·" if self.children[node] else str(node))

    def _repr_svg_(self) -> str | None:
        """A notebook shows the tree as a picture, unless it is too large for one."""
        from bough.draw.tree_svg import svg

        return svg([self], self.sketch())
