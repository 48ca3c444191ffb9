"""Newick, the format of phylogenetic trees: `((human:0.2,'Homo ''x''':0.3)apes:1,gibbon:2);`.

The name of a node is its token. The number after a colon is the length of its branch. If any node
has a length, `edge_features` has one column, `length`, with NaN for the nodes without. Quoted names
may contain any character; a doubled quote stands for one. Unquoted names are not changed, so
underscores stay. Comments in square brackets are skipped. Nodes are numbered in preorder.
"""

import math
import re
from collections.abc import Iterator

import numpy as np

from bough.errors import FormatError
from bough.formats.lines import Source, name_of, numbered, only_tree, unless_empty
from bough.trees.tree import Tree

LENGTH = "length"
_PIECE = re.compile(r"\s+|'(?:[^']|'')*'|[(),:;\[\]']|[^\s(),:;\[\]']+")
_COMMENT = re.compile(r"[\[\]]|[^\[\]]+")
_PLAIN = re.compile(r"[^\s(),:;\[\]']+")


def read(source: Source, *, where: str | None = None) -> list[Tree]:
    """Return the trees of a file or of lines. Each tree ends with a semicolon.

    Args:
        source: a path, or an iterable of lines.
        where: the name of the source in errors.

    Examples:
        >>> from bough.formats import newick
        >>> newick.read(["(cat:1,dog:2)pets;", "owl;"])
        [Tree((pets cat dog), 3 nodes), Tree(owl, 1 node)]
    """
    return list(_trees(source, name_of(source, where)))


def parse(text: str) -> Tree:
    """Return the one tree that `text` holds.

    Args:
        text: a tree, with or without the semicolon.

    Examples:
        >>> from bough.formats import newick
        >>> newick.parse("(cat:1.5,dog:2)pets:0;").edge_features.tolist()
        [[0.0], [1.5], [2.0]]
    """
    ended = not text.strip() or text.rstrip().endswith(";")
    return only_tree(read((text if ended else f"{text};").split("\n")))


def _trees(source: Source, where: str | None) -> Iterator[Tree]:
    parents, lengths = [-1], [math.nan]
    names: list[str | None] = [None]
    opened: list[int] = []  # the nodes whose bracket is still open
    node, start = 0, 0
    state = "start"  # what the current node has: "start", "children", "name", ":" or "length"
    for line, piece in _pieces(source, where):
        start = start or line
        if state == ":":
            lengths[node], state = _length(piece, where, line), "length"
        elif piece == "(" and state == "start":
            opened.append(node)
        elif piece == "," and opened:
            state = "start"
        elif piece == ")" and opened:
            node, state = opened.pop(), "children"
        elif piece == ":" and state != "length":
            state = ":"
        elif piece == ";" and not opened:
            tree = Tree(parents, tokens=unless_empty(names))
            if not np.isnan(lengths).all():
                rows = np.array(lengths)[:, None]
                tree = tree.replace(edge_features=rows, edge_feature_names=(LENGTH,))
            yield tree
            parents, names, lengths = [-1], [None], [math.nan]
            node, state, start = 0, "start", 0
        elif piece not in tuple("(),:;'[]") and state in ("start", "children"):
            names[node], state = piece[1:-1].replace("''", "'") if piece[0] == "'" else piece, "name"
        elif piece == ";":
            reason = f"{len(opened)} '(' never closed in the tree that starts on line {start}"
            raise FormatError(reason, where=where, line=line)
        else:
            reason = "a quote that is never closed" if piece == "'" else f"{piece!r} is not expected here"
            raise FormatError(reason, where=where, line=line)
        if piece == "," or (piece == "(" and state == "start"):  # a child begins
            node = len(parents)
            parents.append(opened[-1])
            names.append(None)
            lengths.append(math.nan)
    if start:
        raise FormatError("the tree that starts here has no ';' at its end", where=where, line=start)


def write(tree: Tree) -> str:
    """Return the tree on one line; `parse(write(tree))` is the same tree, numbered in preorder.

    Tokens are written as names, and `edge_features`, which must have one column, as the lengths of the branches.

    Args:
        tree: a tree without labels, relations, categories and features, which are a ValueError.

    Examples:
        >>> import bough
        >>> tree = bough.Tree(parents=[-1, 0, 0], tokens=["pets", "cat", "small dog"])
        >>> bough.formats.newick.write(tree)
        "(cat,'small dog')pets;"
    """
    for column in ("labels", "relations", "categories", "features"):
        if getattr(tree, column) is not None:
            raise ValueError(f"Newick holds no {column}; drop them with tree.replace({column}=None)")
    rows = tree.edge_features
    if rows is not None and rows.shape[1] != 1:
        raise ValueError(f"{rows.shape[1]} numbers for each edge; Newick holds one, the length of the branch")
    pieces: list[str] = []
    for node, done in tree.walk():
        if tree.children[node] and not done:
            pieces.append("(")
            continue
        token = None if tree.tokens is None else tree.tokens[node]
        name = "" if token is None else token
        if token is not None and not _PLAIN.fullmatch(token):
            name = "'" + token.replace("'", "''") + "'"
        length = math.nan if rows is None else float(rows[node, 0])
        if done:
            pieces[-1] = ")"  # in place of the last child's comma
        pieces += [name, "" if math.isnan(length) else f":{length!r}", ","]
    return "".join(pieces[:-1]) + ";"


def _pieces(source: Source, where: str | None) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each bracket, comma, name and so on; skip white space and comments."""
    text = "\n".join(line for _, line in numbered(source, where))
    line, at, inside = 1, 0, 0  # `inside` counts open comments
    begun = 1
    while at < len(text):
        match = (_COMMENT if inside else _PIECE).match(text, at)
        assert match is not None  # every character begins a piece
        piece, at = match[0], match.end()
        if piece == "[":
            begun = begun if inside else line
            inside += 1
        elif piece == "]" and inside:
            inside -= 1
        elif not inside and not piece.isspace():
            yield line, piece
        line += piece.count("\n")
    if inside:
        raise FormatError("a comment that starts here is never closed", where=where, line=begun)


def _length(piece: str, where: str | None, line: int) -> float:
    try:
        length = float(piece)
    except ValueError:
        length = math.nan
    if not math.isfinite(length):
        raise FormatError(f"the length of a branch is {piece!r}; expected a number", where=where, line=line)
    return length
