"""Check the parts of trees and graphs. Errors name the wrong node and what is expected."""

from collections.abc import Mapping, Sequence
from reprlib import repr as short
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
T = TypeVar("T")
Array = TypeVar("Array", Ints, Floats)


class ParentError(ValueError):
    """Raised if the parents do not form a tree; `node` is the index of a wrong node."""

    def __init__(self, reason: str, node: int = 0) -> None:
        super().__init__(reason)
        self.node = node


def checked_parents(parents: Sequence[int] | Ints, first: int = 0) -> Ints:
    """Return the parents of a tree as an array, or raise a ParentError.

    Args:
        parents: the parent of each node, counted from 0; -1 for the root.
        first: the number of the first node in messages; a file may count from 1.
    """
    given = np.asarray(parents)
    if given.ndim != 1:
        raise ValueError(f"parents is {short(parents)}; expected one list of ints")
    if len(given) == 0:
        raise ValueError("an empty tree; a tree has at least one node")
    if given.dtype.kind not in "iu":
        raise ValueError(f"parents are {given.dtype}; they must be ints, -1 for the root")
    array = given.astype(np.int64)
    outside = np.flatnonzero((array < -1) | (array >= len(array)))
    if len(outside):
        node = int(outside[0])
        allowed = f"{first - 1} (the root) or {first}..{len(array) - 1 + first}"
        parent = array[node] + first
        raise ParentError(f"node {node + first} has parent {parent}; parents are {allowed}", node)
    roots = np.flatnonzero(array < 0)
    if len(roots) == 0:
        raise ParentError(f"no root; exactly one parent is {first - 1}")
    if len(roots) > 1:
        shown = " and ".join(map(str, roots[:2] + first)) + (", ..." if len(roots) > 2 else "")
        raise ParentError(f"{len(roots)} roots (nodes {shown}); a tree has one", int(roots[1]))
    if not parents_first(array):
        above, root = array.copy(), roots[0]
        above[root] = root
        for _ in range(len(array).bit_length()):  # each step looks twice as far up as the one before
            above = above[above]
        lost = above[above != root]  # after so many steps these are nodes of cycles
        if len(lost):
            node = int(lost.min())
            cycle = _cycle_from(array.tolist(), node, first)
            raise ParentError(f"a cycle ({cycle}); following parents must end at the root", node)
    return frozen(array)


def parents_first(parents: Ints) -> bool:
    """Return whether every parent has a smaller index than its children, as in preorder."""
    return bool((parents < np.arange(len(parents))).all())


def depths(parents: Ints) -> Ints:
    """Return the number of edges from each node to its root, from the parents (N,), -1 for a root."""
    steps: Ints = (parents >= 0).astype(np.int64)
    above = np.where(parents < 0, np.arange(len(parents)), parents)
    while steps[above].any():  # each round looks twice as far up as the one before
        steps, above = steps + steps[above], above[above]
    return steps


def checked_edges(
    edge_index: Any, num_nodes: int, batch: Any, relations: Any
) -> tuple[Ints, Ints, Ints, Ints | None]:
    """Return children (E,), parents (E,), the first node of each graph and relations (E,), or raise a ValueError."""
    if not isinstance(num_nodes, int | np.integer) or num_nodes < 0:
        raise ValueError(f"num_nodes is {num_nodes!r}; expected the number of nodes, an int")
    edges = _as_ints("edge_index", edge_index)
    if edges.ndim != 2 or len(edges) != 2:
        raise ValueError(f"edge_index is {edges.shape}; it is (2, edges): the children, then their parents")
    outside = np.argwhere((edges < 0) | (edges >= num_nodes))
    if len(outside):
        row, column = outside[0].tolist()
        wrong = f"edge_index[{row}, {column}] is {edges[row, column]}"
        raise ValueError(f"{wrong}; the nodes are 0..{num_nodes - 1}")
    lower, upper = edges
    starts = np.array([0, num_nodes])
    if batch is not None:
        graphs = _as_ints("batch", batch)
        if graphs.shape != (num_nodes,):
            raise ValueError(f"batch is {graphs.shape}; it must be ({num_nodes},): the graph of each node")
        if num_nodes and (graphs[0] < 0 or (np.diff(graphs) < 0).any()):
            raise ValueError("batch is not in ascending order from 0; sort the nodes by their graph")
        starts = np.concatenate([[0], np.cumsum(np.bincount(graphs))])
        across = np.flatnonzero(graphs[lower] != graphs[upper])
        if len(across):
            ends = f"{lower[across[0]]} -> {upper[across[0]]}"
            raise ValueError(f"edge {across[0]} ({ends}) leads from one graph to another")
    related = None if relations is None else _as_ints("relations", relations)
    if related is not None and related.shape != lower.shape:
        raise ValueError(f"relations is {related.shape}; it is ({len(lower)},): an int for each edge")
    return lower, upper, starts, related


def checked_kinds(kinds: Any, num_nodes: int) -> Ints:
    """Return the kind of each node (N,), or raise a ValueError if there is not an int from 0 for each."""
    ids = _as_ints("kinds", kinds)
    if ids.shape != (num_nodes,):
        raise ValueError(f"kinds is {ids.shape}; it must be ({num_nodes},): the kind of each node")
    if ids.min(initial=0) < 0:
        raise ValueError(f"kinds[{ids.argmin()}] is {ids.min()}; kinds are counted from 0")
    return ids


def checked_pairs(edges: Any, num_nodes: int) -> Ints:
    """Return the child and the parent of each edge (E, 2), or raise a ValueError."""
    if not isinstance(num_nodes, int | np.integer) or num_nodes < 1:
        raise ValueError(f"num_nodes is {num_nodes!r}; expected the number of nodes, an int of at least 1")
    pairs = _as_ints("edges", edges)
    if pairs.size == 0:
        return frozen(np.zeros((0, 2), dtype=np.int64))
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        way_out = "the child and the parent of each edge, which is the transpose of an edge_index"
        raise ValueError(f"edges have shape {pairs.shape}; expected (E, 2): {way_out}")
    outside = np.flatnonzero(((pairs < 0) | (pairs >= num_nodes)).any(axis=1))
    if len(outside):
        wrong = tuple(pairs[outside[0]].tolist())
        raise ValueError(f"edge {outside[0]} is {wrong}; the nodes are 0..{num_nodes - 1}")
    return frozen(np.ascontiguousarray(pairs))


def _as_ints(name: str, values: Any) -> Ints:
    """Return a tensor, an array or lists as an array of ints, or raise a ValueError."""
    try:
        array = np.asarray(values.detach().cpu() if hasattr(values, "detach") else values)
    except ValueError:
        raise ValueError(f"{name} has rows of different lengths") from None
    if array.dtype.kind not in "iu" and array.size:
        raise ValueError(f"{name} is {array.dtype}; it must hold ints")
    return array.astype(np.int64)


def checked_keys(keys: Sequence[Sequence[int] | Ints], sizes: Ints) -> Ints:
    """Return the keys of all nodes (N,), or raise a ValueError if they are not one int per node."""
    if len(keys) != len(sizes):
        raise ValueError(f"keys for {len(keys)} trees; the forest has {len(sizes)}")
    arrays = [np.asarray(part) for part in keys]
    for number, (part, size) in enumerate(zip(arrays, sizes.tolist(), strict=True)):
        if part.shape != (size,):
            raise ValueError(f"{part.size} keys for tree {number} of {size} nodes; give one int per node")
        if part.dtype.kind not in "iu":
            raise ValueError(f"keys of tree {number} are {part.dtype}; a key is an int")
    return joined([part.astype(np.int64, copy=False) for part in arrays])


def relation_ids(
    relations: Sequence[Sequence[Any] | None], vocabulary: Mapping[Any, int] | None
) -> Ints | None:
    """Return the id of each node's relation to its parent (N,), -1 for none.

    Return None if a tree has no relations, or if there is no vocabulary and the relations are not ids already.
    """
    if not relations or any(names is None for names in relations):
        return None
    names = [name for part in relations for name in part or ()]
    if vocabulary is None:
        if not all(name is None or isinstance(name, int | np.integer) for name in names):
            return None
        return np.array([-1 if name is None else name for name in names], dtype=np.int64)
    known = {None: -1, **vocabulary}
    for name in names:
        if name not in known:
            raise ValueError(f"relation {name!r} is not among the {len(vocabulary)} in `relations`")
    return np.array([known[name] for name in names], dtype=np.int64)


def joined(arrays: Sequence[Ints]) -> Ints:
    """Concatenate arrays of ints. Return an empty array if there are none."""
    return np.concatenate([np.zeros(0, dtype=np.int64), *arrays])


def inverse(order: Ints) -> Ints:
    """Return the inverse of a permutation."""
    positions = np.empty_like(order)
    positions[order] = np.arange(len(order))
    return positions


def longest_paths(tails: Ints, heads: Ints, size: int) -> Ints:
    """Return the length of the longest path to each node (N,). Raise a ValueError if there is a cycle."""
    heads_of = heads[np.argsort(tails, kind="stable")].tolist()  # sorted by tail
    ends = np.cumsum(np.bincount(tails, minlength=size)).tolist()
    starts = [0, *ends]
    waiting = np.bincount(heads, minlength=size).tolist()
    lengths = [0] * size
    ready = [node for node, count in enumerate(waiting) if count == 0]
    for node in ready:  # the list grows during the loop: a node is ready once the tails of all its edges are
        length = lengths[node] + 1
        for head in heads_of[starts[node] : ends[node]]:
            if lengths[head] < length:
                lengths[head] = length
            waiting[head] -= 1
            if waiting[head] == 0:
                ready.append(head)
    if len(ready) < size:
        # a node that is left has an edge from another one that is left; following these backwards ends in a cycle
        left = np.array(waiting, dtype=np.int64) > 0
        before = [-1] * size
        for tail, head in zip(tails.tolist(), heads.tolist(), strict=True):
            if left[tail]:
                before[head] = tail
        cycle = _cycle_from(before, int(left.argmax()), backwards=True)
        raise ValueError(f"a cycle ({cycle}); following the edges must end at a root")
    return np.array(lengths, dtype=np.int64)


def column(name: str, values: Sequence[T] | None, n: int, per: str = "node") -> tuple[T, ...] | None:
    """Return a column as a tuple, or raise an error if it has not one entry per node (or per edge)."""
    if values is None:
        return None
    if isinstance(values, str) or not hasattr(values, "__len__"):
        raise TypeError(f"{name} is {short(values)}; expected a list with one entry per {per}")
    if len(values) != n:
        raise ValueError(f"{len(values)} {name} for {n} {per}s; give one per {per}, None where it has none")
    return tuple(values)


def _cycle_from(following: list[int], node: int, first: int = 0, *, backwards: bool = False) -> str:
    """Return the cycle that is reached by following the nodes from `node`, such as `0 -> 2 -> 0`."""
    seen: dict[int, None] = {}
    while node not in seen:
        seen[node] = None
        node = following[node]
    walk = list(seen)
    cycle = [str(step + first) for step in [*walk[walk.index(node) :], node]][:: -1 if backwards else 1]
    return " -> ".join(cycle if len(cycle) <= 7 else [*cycle[:6], "...", cycle[-1]])


def feature_rows(
    what: str, values: ArrayLike | None, names: Sequence[str], n: int, per: str = "node"
) -> tuple[Floats | None, tuple[str, ...]]:
    """Return `features` or `edge_features` as (n, F) floats, and the names of their columns."""
    names = checked_names(what, names)
    if values is None:
        if names:
            raise ValueError(f"{len(names)} names of {what}, but no {what}")
        return None, ()
    try:
        rows = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{what} are no numbers: {error}") from None
    if rows.ndim != 2 or len(rows) != n:
        raise ValueError(f"{what} have shape {rows.shape}; expected ({n}, F), one row per {per}")
    if names and len(names) != rows.shape[1]:
        raise ValueError(f"{len(names)} names for {rows.shape[1]} columns of {what}")
    if np.isinf(rows).any():
        node, place = np.argwhere(np.isinf(rows))[0].tolist()
        wrong = f"column {repr(names[place]) if names else place}: {rows[node, place]}"
        raise ValueError(f"{what} of {per} {node}, {wrong}; expected a finite number or NaN")
    return frozen(rows), names


def category_columns(
    given: Mapping[str, Sequence[str | None]] | None, n: int
) -> Mapping[str, tuple[str | None, ...]] | None:
    """Return the categories as an immutable mapping, or raise an error if they are not strings or None."""
    if given is None:
        return None
    if not isinstance(given, Mapping):
        expected = "a mapping of name to one category per node"
        raise TypeError(f"categories are a {type(given).__name__}; expected {expected}")
    checked_names("categories", tuple(given))
    columns: dict[str, tuple[str | None, ...]] = {}
    for name, values in given.items():
        columns[name] = column(f"categories {name!r}", values, n) or ()
        for node, value in enumerate(columns[name]):
            if value is not None and not isinstance(value, str):
                raise ValueError(f"category {name!r} of node {node} is {value!r}; expected a string or None")
    return MappingProxyType(columns)


def checked_names(what: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of columns as a tuple, or raise an error if they are not different strings."""
    if isinstance(names, str):
        raise TypeError(f"the names of {what} are {names!r}; expected a list of strings")
    for place, name in enumerate(names):
        if not isinstance(name, str):
            raise TypeError(f"{what}: the name {name!r} is no string")
        if name in names[:place]:
            raise ValueError(f"{what}: two columns are called {name!r}")
    return tuple(names)


def frozen(array: Array) -> Array:
    """Make an array read-only, and return it."""
    array.setflags(write=False)
    return array
