"""Nested JSON, one object per line: `{"token": "Sort", "cost": 9.5, "children": [{"token": "Scan", "cost": 3}]}`.

The caller names the keys that hold the children, the token, the numbers and the categories; see
`bough.Tree.from_nested`. Objects may be nested to any depth.
"""

import json
from collections.abc import Sequence
from typing import Any, TypedDict, Unpack

from bough.errors import FormatError
from bough.formats.lines import Source, name_of, numbered, parse_json
from bough.trees.conversions import entries_of
from bough.trees.tree import Tree


class _Keys(TypedDict, total=False):
    """The keys of an object that hold the parts of a tree, as in `Tree.from_nested`."""

    children: str
    token: str | None
    label: str | None
    relation: str | None
    numbers: Sequence[str]
    categories: Sequence[str]
    edge_numbers: Sequence[str]


def read(source: Source, *, where: str | None = None, **keys: Unpack[_Keys]) -> list[Tree]:
    """Return the trees of a file or of lines, one JSON object per line. Blank lines are skipped.

    Args:
        source: a path, or an iterable of lines.
        where: the name of the source in errors.
        keys: the keys of the children, the token, the numbers and so on, as in `Tree.from_nested`.

    Examples:
        >>> from bough.formats import nested
        >>> nested.read(['{"name": "a", "parts": [{"name": "b"}]}'], token="name", children="parts")
        [Tree((a b), 2 nodes)]
    """
    where = name_of(source, where)
    trees = []
    for number, line in numbered(source, where):
        if line.strip():
            obj = parse_json(line, where, number)
            try:
                trees.append(Tree.from_nested(obj, **keys))
            except FormatError as error:
                raise FormatError(str(error), where=where, line=number) from None
    return trees


def parse(text: str, **keys: Unpack[_Keys]) -> Tree:
    """Return the tree of one JSON object, which may span several lines.

    Args:
        text: the object.
        keys: as in `read`.

    Examples:
        >>> from bough.formats import nested
        >>> nested.parse('{"token": "climb", "children": [{"token": "cats"}]}', token="token")
        Tree((climb cats), 2 nodes)
    """
    return Tree.from_nested(parse_json(text), **keys)


def write(tree: Tree, **keys: Unpack[_Keys]) -> str:
    """Return the tree as one line of JSON.

    The keys of numbers and categories are their names in the tree. Values that a node does not have
    are left out. `parse` with the same keys returns the same tree, numbered in preorder.

    Args:
        tree: a tree whose labels and relations, if any, are strings or numbers.
        keys: the keys of `children`, `token`, `label` and `relation`; by default these words.

    Examples:
        >>> import bough
        >>> bough.formats.nested.write(bough.Tree(parents=[1, -1], tokens=["cats", "climb"]))
        '{"token": "climb", "children": [{"token": "cats"}]}'
    """
    below = keys.get("children", "children")
    plain = {"token": tree.tokens, "label": tree.labels, "relation": tree.relations}
    named = [(str(keys.get(key) or key), values) for key, values in plain.items() if values is not None]
    named += (tree.categories or {}).items()
    numbers = {"features": tree.feature_names, "edge_features": tree.edge_feature_names}
    for what, names in numbers.items():
        rows = getattr(tree, what)
        if rows is not None and len(names) != rows.shape[1]:
            raise ValueError(f"the {what} have no names, which are keys in JSON; name them with tree.replace")
        if rows is not None:
            named += zip(names, rows.T.tolist(), strict=True)
    columns: dict[str, Sequence[Any]] = {}
    for name, values in named:
        if name in columns or name == below:
            raise ValueError(f"two columns of the tree are called {name!r}; choose another key")
        columns[name] = values
    pieces: list[str] = []
    for node, done in tree.walk():
        if done:
            pieces[-1] = "]}"  # in place of the last child's comma
        else:
            own = entries_of(columns, node)
            opened = json.dumps(own, ensure_ascii=False)[:-1]
            if tree.children[node]:
                pieces.append(f"{opened}{', ' if own else ''}{json.dumps(below)}: [")
                continue
            pieces.append(f"{opened}}}")
        pieces.append(", ")
    return "".join(pieces[:-1])
