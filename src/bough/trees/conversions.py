"""Trees of other libraries as the columns of a `Tree`; the libraries themselves are not imported."""

from __future__ import annotations

import ast
from collections.abc import Hashable
from typing import Any

from bough.errors import FormatError


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


def spacy_columns(sentence: Any) -> dict[str, Any]:
    """Of spaCy's `Span` or `Doc`; white space, which spaCy has tokens for, is no word and heads none."""
    words = [token for token in sentence if not token.is_space]
    place = {token.i: node for node, token in enumerate(words)}
    unparsed = [token for token in words if not token.dep_ and token.head.i == token.i]
    if len(unparsed) == len(words) > 0:
        raise ValueError(
            f"{str(sentence)[:40]!r} has no dependencies; give it to a spaCy pipeline with a parser"
        )
    parents = [-1 if token.head.i == token.i else place.get(token.head.i, -1) for token in words]
    if (roots := parents.count(-1)) > 1:
        raise ValueError(
            f"{roots} roots in {str(sentence)[:40]!r}; take a sentence of `doc.sents`, or a phrase with one head"
        )
    return {
        "parents": parents,
        "tokens": [token.text for token in words],
        "relations": [token.dep_ for token in words],
    }


def stanza_columns(sentence: Any) -> dict[str, Any]:
    """Of stanza's `Sentence`, or of the `ParseTree` that is its `constituency`."""
    if hasattr(sentence, "children"):
        return _stanza_phrases(sentence)
    words = sentence.words
    if any(word.head is None for word in words):
        raise ValueError(
            f"{sentence.text[:40]!r} has no dependencies; stanza's processor 'depparse' makes them"
        )
    return {
        "parents": [word.head - 1 for word in words],
        "tokens": [word.text for word in words],
        "relations": [word.deprel for word in words],
    }


def _stanza_phrases(root: Any) -> dict[str, Any]:
    """`label` and `children` at each node, a word being a node below its part of speech."""
    parents: list[int] = []
    tokens: list[str | None] = []
    labels: list[str | None] = []
    stack = [(-1, root)]
    while stack:
        above, node = stack.pop()
        here, children = len(parents), node.children
        parents.append(above)
        labels.append(node.label)
        if len(children) == 1 and not children[0].children:
            tokens.append(children[0].label)
        else:
            tokens.append(None)
            stack.extend((here, child) for child in reversed(children))
    return {"parents": parents, "tokens": tokens, "labels": labels}


# the fields of `ast` that hold a name or a constant
_NAMED = ("id", "attr", "name", "arg", "value", "module", "rest")


def ast_columns(source: ast.AST | str) -> dict[str, Any]:
    """Of Python's own syntax trees."""
    if isinstance(source, str):
        try:
            source = ast.parse(source)
        except (SyntaxError, ValueError) as error:  # the latter for a null character
            raise FormatError(
                f"not Python: {error.args[0]}", line=getattr(error, "lineno", None), where="source"
            ) from None
    parents: list[int] = []
    tokens: list[str] = []
    labels: list[Hashable] = []
    relations: list[str | None] = []
    stack: list[tuple[ast.AST, int, str | None]] = [(source, -1, None)]
    while stack:
        node, above, field = stack.pop()
        here = len(parents)
        parents.append(above)
        tokens.append(type(node).__name__)
        relations.append(field)
        fields = dict(ast.iter_fields(node))
        named = (fields.get(name) for name in _NAMED)
        plain = (name for name in named if name is not None and not isinstance(name, ast.AST | list))
        labels.append(next(plain, None))
        below = [
            (item, here, name)
            for name, value in fields.items()
            for item in (value if isinstance(value, list) else [value])
            if isinstance(item, ast.AST) and not isinstance(item, ast.expr_context)
        ]
        stack += reversed(below)
    columns: dict[str, list[Any]] = {"tokens": tokens, "labels": labels, "relations": relations}
    return {"parents": parents, **{name: _unless_empty(values) for name, values in columns.items()}}


def _unless_empty(values: list[Any]) -> list[Any] | None:
    return values if any(value is not None for value in values) else None


def nltk_tree(tree: Any) -> Any:
    """Return a `Tree` as an `nltk.Tree`, made from the leaves up."""
    try:
        import nltk
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
            made[node] = nltk.Tree("" if label is None else label, parts)
    return made[tree.root]


def networkx_graph(tree: Any) -> Any:
    """Return a `Tree` as a `networkx.DiGraph`."""
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
