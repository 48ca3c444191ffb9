"""Convert nested objects and trees of other libraries to a `Tree`, and back."""

import ast
import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from numbers import Real
from operator import itemgetter
from reprlib import repr as short
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from bough.errors import FormatError
from bough.trees.validate import Floats, ParentError

Field = str | Callable[[Any], Any]
Path = Callable[[int], str]
Strings = Sequence[str]
Fields = Mapping[str, Field | None]
T = TypeVar("T")
REVERSE = "if the edges run from child to parent, reverse the edges"
# the fields of nodes of `ast` that hold a name or a constant
_NAMED = ("id", "attr", "name", "arg", "value", "module", "rest")


class Conversions:
    """The methods of `Tree` that convert from and to other libraries. They import a library when it is needed."""

    if TYPE_CHECKING:

        def __init__(self, **columns: Any) -> None: ...

    @classmethod
    def from_nested(
        cls,
        obj: Any,
        *,
        root: str = "",
        children: str | Callable[[Any], Iterable[Any] | None] = "children",
        token: str | Callable[[Any], Any] | None = None,
        label: str | Callable[[Any], Any] | None = None,
        relation: str | Callable[[Any], Any] | None = None,
        numbers: Strings = (),
        categories: Strings = (),
        edge_numbers: Strings = (),
    ) -> Self:
        """Convert any nested object: JSON, dictionaries, dataclasses. The nodes are in preorder.

        A key may be a path with dots, such as `cost.total`.

        Args:
            obj: the root, or with `root` an object that holds it. A list of one object stands for the object.
            root: the path of the root in `obj`, such as `Plan`.
            children: the key or attribute that holds the list of a node's children, or a function of the node.
            token: the key or attribute of the token, or a function of the node.
            label: the key or attribute of the label, or a function of the node.
            relation: the key or attribute that names the edge to the parent, or a function of the node.
            numbers: the keys of the numbers, which become `features`; a missing one is NaN, a boolean 0 or 1. A list of
                numbers becomes several columns.
            categories: the keys of the categories; a missing one is None.
            edge_numbers: the keys of the numbers that belong to the edge to the parent: `edge_features`.

        Raises:
            FormatError: if a value has another type than expected; the message has the path of its object.

        Examples:
            >>> from bough import Tree
            >>> plan = {"Node Type": "Sort", "Total Cost": 9.5, "Plans": [{"Node Type": "Seq Scan"}]}
            >>> tree = Tree.from_nested(plan, children="Plans", token="Node Type", numbers=["Total Cost"])
            >>> tree, tree.features.tolist()
            (Tree((Sort Seq Scan), 2 nodes), [[9.5], [nan]])
        """
        top = value_at(obj, root)
        if top is None:
            raise FormatError(f"no {root!r} in {short(obj)}; give the path of the root as root=")
        objects, parents, path = _preorder(top, children)
        if len(objects) == 1 and isinstance(children, str):
            _check_children_are_not_deeper(top, children)
        fields = {"tokens": token, "labels": label, "relations": relation}
        names = {"numbers": numbers, "categories": categories, "edge_numbers": edge_numbers}
        return cls(parents=parents, **columns_of(objects, objects, path, path, fields, names))

    @classmethod
    def from_nltk(cls, tree: Any) -> Self:
        """Convert an `nltk.Tree` (anything with `label()` that iterates over subtrees and strings).

        A preterminal, a subtree that holds one string only, becomes one node with a label and a token.
        """
        if not hasattr(tree, "label"):
            raise TypeError(f"{short(tree)}; expected an nltk.Tree")

        def word(item: Any) -> str | None:
            if not hasattr(item, "label"):
                return str(item)
            return str(item[0]) if len(item) == 1 and not hasattr(item[0], "label") else None

        def label(item: Any) -> Hashable:
            given: Hashable = item.label() if hasattr(item, "label") else None
            return None if given == "" else given

        def children(item: Any) -> Iterable[Any]:
            return item if word(item) is None else ()

        return cls.from_nested(tree, children=children, token=word, label=label)._without_empty()

    @classmethod
    def from_networkx(
        cls, graph: Any, *, numbers: Strings = (), categories: Strings = (), edge_numbers: Strings = ()
    ) -> Self:
        """Convert a directed graph whose edges run from parent to child; `graph.reverse()` turns them around.

        Nodes keep the order of the graph. Their attributes `token`, `label` and `relation` are
        read, and those named in `numbers` and `categories`. If no node has a token or a label, names of
        nodes that are strings become the tokens. `edge_numbers` are attributes of the edges.
        """
        names, nodes, arrows = read_networkx(graph)
        parents = [-1] * len(names)
        edges: list[Mapping[str, Any]] = [{}] * len(names)
        for above, node, attributes in arrows:
            if parents[node] >= 0:
                wrong = f"node {names[node]!r} has two parents; in a tree every node but the root has one"
                raise ValueError(f"{wrong} ({REVERSE} with graph.reverse())")
            parents[node], edges[node] = above, attributes

        def path(node: int) -> str:
            return f"node {names[node]!r}"

        fields = {"tokens": "token", "labels": "label", "relations": "relation"}
        keys = {"numbers": numbers, "categories": categories, "edge_numbers": edge_numbers}
        columns = columns_of(nodes, edges, path, path, fields, keys)
        try:
            return cls(parents=parents, **columns)._without_empty()
        except ParentError as error:
            here = f"here node {error.node} is {path(error.node)[5:]} of the graph"
            raise ValueError(f"{error} ({here})") from None

    @classmethod
    def from_spacy(cls, sentence: Any) -> Self:
        """Convert a parsed sentence of spaCy, a `Span` or a `Doc`, with the names that spaCy has for dependencies."""
        words = [token for token in sentence if not token.is_space]  # no word depends on white space
        text, place = repr(str(sentence)[:40]), {token.i: node for node, token in enumerate(words)}
        unparsed = [token for token in words if not token.dep_ and token.head.i == token.i]
        if len(unparsed) == len(words) > 0:
            raise ValueError(f"{text} has no dependencies; give it to a spaCy pipeline with a parser")
        parents = [-1 if token.head.i == token.i else place.get(token.head.i, -1) for token in words]
        if (roots := parents.count(-1)) > 1:
            way_out = "take a sentence of `doc.sents`, or a phrase with one head"
            raise ValueError(f"{roots} roots in {text}; {way_out}")
        tokens, relations = [token.text for token in words], [token.dep_ for token in words]
        return cls(parents=parents, tokens=tokens, relations=relations)

    @classmethod
    def from_stanza(cls, sentence: Any) -> Self:
        """Convert a sentence of stanza to a dependency tree, or its `constituency` to a tree of phrases."""

        def only_word(node: Any) -> str | None:
            below = node.children
            return below[0].label if len(below) == 1 and not below[0].children else None

        def children(node: Any) -> Iterable[Any]:
            return node.children if only_word(node) is None else ()

        if hasattr(sentence, "children"):
            return cls.from_nested(sentence, children=children, token=only_word, label="label")
        words = sentence.words
        if any(word.head is None for word in words):
            text = sentence.text[:40]
            raise ValueError(f"{text!r} has no dependencies; stanza's processor 'depparse' makes them")
        tokens, relations = [word.text for word in words], [word.deprel for word in words]
        return cls(parents=[word.head - 1 for word in words], tokens=tokens, relations=relations)

    @classmethod
    def from_ast(cls, source: ast.AST | str) -> Self:
        """Convert Python code, or a node of its syntax tree; nodes are in preorder.

        The token of a node is its type (`Call`), its label the name or the constant that it holds,
        if any, and its relation the field of its parent that it is in (`args`).
        """
        if isinstance(source, str):
            try:
                source = ast.parse(source)
            except (SyntaxError, ValueError) as error:  # the latter for a null character
                line: int | None = getattr(error, "lineno", None)
                raise FormatError(f"not Python: {error.args[0]}", line=line, where="source") from None
        elif not isinstance(source, ast.AST):
            raise TypeError(f"{short(source)}; expected Python code or a node of ast")

        def label(node: ast.AST) -> Hashable:
            fields = vars(node)  # much faster than getattr, since most names are missing
            for name in _NAMED:
                value = fields.get(name)
                if value is not None and not isinstance(value, (ast.AST, list)):
                    found: Hashable = value
                    return found
            return None

        def children(node: ast.AST) -> Iterable[tuple[str, ast.AST]]:
            for name, value in ast.iter_fields(node):
                for item in value if isinstance(value, list) else [value]:
                    if isinstance(item, ast.AST) and not isinstance(item, ast.expr_context):
                        yield name, item

        return cls._from_fields(source, children, lambda node: type(node).__name__, label)

    @classmethod
    def from_tree_sitter(cls, tree: Any, *, named: bool = True) -> Self:
        """Convert a `tree_sitter.Tree` or one of its nodes; nodes are in preorder.

        The token of a node is its type (`call`), the label of a leaf its source text, and the
        relation of a node the field of its parent that it is in (`arguments`). `named=False` keeps
        keywords and punctuation.
        """

        def label(node: Any) -> str | None:
            text = None if node.child_count else node.text
            return text.decode(errors="replace") if text else None

        def children(node: Any) -> Iterable[tuple[str | None, Any]]:
            cursor = node.walk()
            more = cursor.goto_first_child()
            while more:
                if cursor.node.is_named or not named:
                    yield cursor.field_name, cursor.node
                else:  # the children of an omitted node become children of its parent
                    yield from children(cursor.node)
                more = cursor.goto_next_sibling()

        return cls._from_fields(getattr(tree, "root_node", tree), children, lambda node: node.type, label)

    @classmethod
    def _from_fields(
        cls,
        root: Any,
        children: Callable[[Any], Iterable[tuple[str | None, Any]]],
        token: Callable[[Any], str],
        label: Callable[[Any], Hashable],
    ) -> Self:
        """Convert a syntax tree; `children` yields each child with the field of its parent that it is in."""
        tree = cls.from_nested(
            (None, root),
            children=lambda pair: children(pair[1]),
            token=lambda pair: token(pair[1]),
            label=lambda pair: label(pair[1]),
            relation=itemgetter(0),
        )
        return tree._without_empty()

    def _without_empty(self) -> Self:
        """Return the tree without the columns that have no entry at any node."""
        tree: Any = self
        columns = {name: getattr(tree, name) for name in ("tokens", "labels", "relations")}
        empty = [name for name, column in columns.items() if column and column.count(None) == len(column)]
        smaller: Self = tree.replace(**dict.fromkeys(empty))
        return smaller

    def to_networkx(self: Any) -> Any:
        """Return a `networkx.DiGraph` with the nodes 0, 1, ... and their columns; `from_networkx` reads it again.

        Numbers and categories become attributes of the nodes and edges. Numbers without names are `x0`, `x1`, ...
        """
        try:
            from networkx import DiGraph
        except ImportError:
            raise ImportError("to_networkx needs networkx: pip install networkx") from None

        def numbers(rows: Any, names: Sequence[str]) -> dict[str, Sequence[Any]]:
            columns = [] if rows is None else rows.T.tolist()
            return dict(zip(names or [f"x{place}" for place in range(len(columns))], columns, strict=True))

        columns = {"token": self.tokens, "label": self.labels, "relation": self.relations}
        columns |= {**(self.categories or {}), **numbers(self.features, self.feature_names)}
        edge_columns = numbers(self.edge_features, self.edge_feature_names)
        graph = DiGraph()
        graph.add_nodes_from((node, entries_of(columns, node)) for node in range(len(self)))
        for node, parent in enumerate(self.parents.tolist()):
            if parent >= 0:
                graph.add_edge(parent, node, **entries_of(edge_columns, node))
        return graph


def entries_of(columns: Mapping[str, Sequence[Any] | None], node: int) -> dict[str, Any]:
    """Return the entries of a node, without those that are missing."""
    known = {name: values[node] for name, values in columns.items() if values is not None}
    # a missing number is NaN, which differs from itself
    return {name: entry for name, entry in known.items() if entry is not None and entry == entry}


def value_at(obj: Any, path: str) -> Any:
    """Return the value at a path of keys or attributes with dots, None if it is missing.

    A list of one item on the way stands for the item. A key that has dots itself goes first.

    Examples:
        >>> value_at([{"Plan": {"Total Cost": 9.5}, "Execution Time": 2.0}], "Plan.Total Cost")
        9.5
    """
    while type(obj) in (list, tuple) and len(obj) == 1 and isinstance(obj[0], Mapping | list):
        obj = obj[0]
    if not path or obj is None:
        return obj
    if isinstance(obj, Mapping):
        if path in obj:
            return obj[path]
    elif hasattr(obj, path):
        return getattr(obj, path)
    key, _, rest = path.partition(".")
    below = obj.get(key) if isinstance(obj, Mapping) else getattr(obj, key, None)
    return value_at(below, rest) if rest else below


def _check_children_are_not_deeper(root: Any, children: str) -> None:
    """Raise a FormatError if a root without children holds an object, not a child, that has them."""
    waiting = [("", root)]
    for path, value in waiting:  # the list grows during the loop
        if isinstance(value, Mapping):
            if path and children in value:
                wrong = f'the root has no "{children}", but "{path}" has'
                raise FormatError(f'{wrong}; use from_nested(..., root="{path}")')
            waiting += [(f"{path}.{key}".lstrip("."), below) for key, below in value.items()]
        elif isinstance(value, list) and len(value) == 1:
            waiting.append((path, value[0]))


def _preorder(root: Any, children: Field) -> tuple[list[Any], list[int], Path]:
    """Return the objects of a nested structure in preorder, their parents, and a function for their paths."""
    objects: list[Any] = []
    parents: list[int] = []

    def path(node: int) -> str:
        """Return the path of a node, such as `Plans[0].Plans[1]`."""
        key = children if isinstance(children, str) else "children"
        steps: list[str] = []
        while (above := parents[node]) >= 0:
            steps.append(f"{key}[{parents[:node].count(above)}]")
            node = above
        if len(steps) > 8:
            steps[4:-4] = [f"({len(steps) - 8} more)"]
        return ".".join(reversed(steps)) or "root"

    ancestors: set[int] = set()  # the ids of the objects above the current one
    stack: list[tuple[int | None, Any]] = [(-1, root)]
    while stack:
        above, obj = stack.pop()
        if above is None:  # everything below this object is done
            ancestors.remove(id(obj))
            continue
        node = len(objects)
        objects.append(obj)
        parents.append(above)
        if id(obj) in ancestors:
            raise FormatError("the object is its own ancestor; a tree has no cycle", where=path(node))
        below = list(_read(_list, obj, children, path, node))
        if below:
            ancestors.add(id(obj))
            stack.append((None, obj))
            stack += [(node, child) for child in reversed(below)]
    return objects, parents, path


def read_networkx(
    graph: Any,
) -> tuple[list[Any], list[dict[str, Any]], list[tuple[int, int, dict[str, Any]]]]:
    """Return the names and attributes of the nodes, and for each edge its start, its end and its attributes."""
    if not graph.is_directed():
        raise ValueError("an undirected graph has no root; pass a DiGraph, with edges to the children")
    names = list(graph.nodes)
    nodes = [dict(graph.nodes[name]) for name in names]
    if all(
        isinstance(name, str) and not {"token", "label"} & attributes.keys()
        for name, attributes in zip(names, nodes, strict=True)
    ):
        nodes = [{**attributes, "token": name} for name, attributes in zip(names, nodes, strict=True)]
    index = {name: node for node, name in enumerate(names)}
    return names, nodes, [(index[start], index[end], data) for start, end, data in graph.edges(data=True)]


def columns_of(
    objects: Sequence[Any],
    edges: Sequence[Any],
    path: Path,
    edge_path: Path,
    fields: Fields,
    names: Mapping[str, Strings],
) -> dict[str, Any]:
    """Return the columns of a tree or a graph, from one object per node and one per row of `edge_features`."""
    for what, keys in names.items():
        if isinstance(keys, str):
            raise TypeError(f"{what}={keys!r}; expected a list of names")

    def read(check: Callable[[Any], T], field: Field) -> list[T]:
        return [_read(check, obj, field, path, node) for node, obj in enumerate(objects)]

    columns: dict[str, Any] = {"categories": {key: read(_text, key) for key in names["categories"]} or None}
    for name, field in fields.items():
        if field is not None:
            columns[name] = read(_text if name == "tokens" else _hashable, field)
    for name, what, owners, where in (
        ("feature", "numbers", objects, path),
        ("edge_feature", "edge_numbers", edges, edge_path),
    ):
        if keys := names[what]:
            columns[f"{name}s"], columns[f"{name}_names"] = _number_columns(owners, keys, where)
    return columns


def _number_columns(owners: Sequence[Any], keys: Strings, path: Path) -> tuple[Floats, list[str]]:
    """Return the numbers of all objects, and the names of their columns: `a[0]`, `a[1]` for the lists of a key a."""
    columns, names = list[Floats](), list[str]()
    for key in keys:
        rows = [_read(_numbers, owner, key, path, node) for node, owner in enumerate(owners)]
        present = next((row for row in rows if row is not math.nan), math.nan)  # it says what the others are
        width = len(present) if isinstance(present, list) else None
        for node, row in enumerate(rows):
            if row is math.nan:
                rows[node] = math.nan if width is None else [math.nan] * width
            elif (len(row) if isinstance(row, list) else None) != width:
                expected = "a number" if width is None else f"a list of {width} numbers, as before"
                raise FormatError(f'"{key}" is {short(row)}; expected {expected}', where=path(node))
        columns.append(np.array(rows, dtype=np.float64).reshape(len(rows), -1 if rows else 0))
        names += [key] if width is None else [f"{key}[{column}]" for column in range(width)]
    return np.hstack(columns), names


def _read(check: Callable[[Any], T], obj: Any, field: Field, path: Path, node: int) -> T:
    """Return a value of a node after a check. Raise a FormatError with the path of the node if the check fails."""
    if not isinstance(field, str):
        value = field(obj)
    elif isinstance(obj, Mapping):
        value = obj.get(field)
        if value is None and "." in field:
            value = value_at(obj, field)
    elif isinstance(obj, str | bytes | Real | list | None) or type(obj) is tuple:
        raise FormatError(f"{short(obj)} is no object with {field!r}", where=path(node))
    else:
        value = value_at(obj, field)
    try:
        return check(value)
    except TypeError as error:
        name = field if isinstance(field, str) else getattr(field, "__name__", "value")
        raise FormatError(f'"{name}" is {short(value)}; expected {error}', where=path(node)) from None


def _numbers(value: Any) -> float | list[float]:
    if isinstance(value, list | tuple) and value:
        return [_number(entry) for entry in value]
    return _number(value)


def _number(value: Any) -> float:
    if value is None:
        return math.nan
    try:
        number = float(value) if isinstance(value, Real | np.bool_) else math.inf
    except OverflowError:
        number = math.inf
    if math.isinf(number):
        raise TypeError("a number")
    return number


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Real | np.bool_):
        return str(value)
    raise TypeError("a string")


def _hashable(value: Any) -> Hashable:
    if isinstance(value, Hashable):
        return value
    raise TypeError("a string or a number")


def _list(value: Any) -> Iterable[Any]:
    if value is None:
        return ()
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise TypeError("a list")
    return value
