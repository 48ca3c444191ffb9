r"""Bracketed trees, as in the Penn Treebank: `(S (NP (DT The) (NN elm)) (VP (VBZ bends)))`.

A bracket is a node and the text that touches its `(` is its label; a space there means no label, so
`( (S ...))` has an unlabelled root and `( the elm )` is an unlabelled node over two words. A bracket around
one word only, `(DT The)`, is one node with a label and a token. A bare word beside other children is a node
with a token and no label. Nodes are numbered in preorder. Space, tab, CR and newline separate, nothing
else does: U+00A0 is a letter like any other.

Tokens lose their escapes on reading and get them back on writing: `-LRB- -RRB- -LSB- -RSB- -LCB- -RCB-` for
brackets, `\/` and `\*`; also `\\` for a backslash and `\-` for the hyphen of a literal `-LRB-`. Labels have
no escapes: `-LRB-` is a real part of speech.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bough.errors import FormatError
from bough.formats.escapes import BRACKETS
from bough.formats.lines import Source, name_of, numbered, unless_empty
from bough.trees.tree import Tree

_PIECE = re.compile(r"\([^() \t\r\n]*|\)|[^() \t\r\n]+")
_PIECE_UNLABELLED = re.compile(r"[()]|[^() \t\r\n]+")
_ATOM = re.compile(r"[^() \t\r\n]+")
_ESCAPE = {bracket: name for name, bracket in BRACKETS.items()}
_ESCAPED = re.compile(r"-[LR][RSC]B-|\\[/*\\-]")
_UNSAFE = re.compile(r"[()\[\]{}/*\\]|-(?=[LR][RSC]B)")


def read(
    source: Source, *, where: str | None = None, unescape: bool = True, labelled: bool | None = None
) -> list[Tree]:
    """Every tree of a file or of lines: one or many per line, or one over many lines.

    Args:
        source: a path, or an iterable of lines.
        where: the name of the source in errors.
        unescape: False leaves tokens as they stand.
        labelled: True takes the first word in a bracket as its label even after a space; False takes none.

    Examples:
        >>> from bough.formats import ptb
        >>> ptb.read(["(3 (2 a) (4 delight))", "(1 dull)"])
        [Tree((3 2:a 4:delight), 3 nodes), Tree(1:dull, 1 node)]
    """
    return list(iterate(source, where=where, unescape=unescape, labelled=labelled))


def parse(text: str, *, unescape: bool = True, labelled: bool | None = None) -> Tree:
    """The one tree that `text` holds.

    Args:
        text: one tree in brackets.
        unescape: as in `read`.
        labelled: as in `read`.

    Examples:
        >>> from bough.formats import ptb
        >>> ptb.parse("(S (NP cats) (VP climb))").tokens
        (None, 'cats', 'climb')
    """
    trees = read(text.split("\n"), unescape=unescape, labelled=labelled)
    if len(trees) != 1:
        raise FormatError(
            f"{len(trees)} trees in the text; parse takes exactly one, read any number of lines"
        )
    return trees[0]


def iterate(
    source: Source, *, where: str | None = None, unescape: bool = True, labelled: bool | None = None
) -> Iterator[Tree]:
    """Like `read`, but one tree at a time.

    Args:
        source: a path, or an iterable of lines.
        where: the name of the source in errors.
        unescape: as in `read`.
        labelled: as in `read`.

    Examples:
        >>> from bough.formats import ptb
        >>> next(ptb.iterate(["(1 dull)"]))
        Tree(1:dull, 1 node)
    """
    where = name_of(source, where)
    pieces = (_PIECE_UNLABELLED if labelled is False else _PIECE).findall
    parents: list[int] = []
    tokens: list[str | None] = []
    labels: list[str | None] = []
    opened: list[int] = []  # the nodes whose bracket is still open, root first
    bare = -1  # the last node made of a word without a bracket of its own
    start = 0
    for number, line in numbered(source, where):
        escapes = unescape and _ESCAPED.search(line) is not None
        for piece in pieces(line):
            if piece == ")":
                if not opened:
                    raise FormatError("a ')' that closes nothing", where=where, line=number)
                node, last = opened.pop(), len(parents) - 1
                if node == last:
                    if labels[node] is None:
                        raise FormatError(
                            "an empty '()'; a node has a label, a word or children", where=where, line=number
                        )
                elif bare == last == node + 1:  # one word is all there is: it belongs to the node itself
                    parents.pop()
                    labels.pop()
                    tokens[node] = tokens.pop()
                    bare = -1
                if not opened:
                    yield Tree(parents, tokens=unless_empty(tokens), labels=unless_empty(labels))
                    parents, tokens, labels, bare = [], [], [], -1
            elif piece[0] == "(":
                if not opened:
                    start = number
                parents.append(opened[-1] if opened else -1)
                opened.append(len(tokens))
                tokens.append(None)
                labels.append(piece[1:] or None)
            elif not opened:
                raise FormatError(f"text outside brackets: {_shown(piece)}", where=where, line=number)
            elif labelled and opened[-1] == len(parents) - 1 and labels[-1] is None:
                labels[-1] = piece
            else:
                bare = len(parents)
                parents.append(opened[-1])
                if escapes:
                    piece = _ESCAPED.sub(lambda match: BRACKETS.get(match[0]) or match[0][1], piece)
                tokens.append(piece)
                labels.append(None)
    if opened:
        count = f"{len(opened)} '(' {'is' if len(opened) == 1 else 'are'}"
        raise FormatError(f"{count} never closed in the tree that starts here", where=where, line=start)


def write(tree: Tree, *, escape: bool = True) -> str:
    """The tree on one line; `parse(write(tree))` is the same tree, numbered in preorder.

    Labels that are not strings come back as strings. A tree that brackets cannot hold (a token at an inner node,
    relations, a leaf with neither token nor label, white space in a word) is a ValueError.

    Args:
        tree: a tree whose words are at the leaves.
        escape: whether brackets in tokens become -LRB- and so on.

    Examples:
        >>> import bough
        >>> bough.formats.ptb.write(bough.Tree(parents=[-1, 0, 0], tokens=[None, "cats", "climb"]))
        '( cats climb)'
    """
    if tree.relations is not None:
        raise ValueError("brackets hold no relations; write this tree as CoNLL-U or pointers, or drop them")
    pieces: list[str] = []
    stack = [tree.root]
    while stack:
        node = stack.pop()
        if node < 0:
            pieces.append(")")
            continue
        label = None if tree.labels is None else tree.labels[node]
        token = None if tree.tokens is None else tree.tokens[node]
        if token is not None and escape:
            trace = label == "-NONE-"  # the star of `*T*-1` needs no escape
            token = _UNSAFE.sub(lambda match: "*" if trace and match[0] == "*" else _escaped(match), token)  # noqa: B023
        label = None if label is None else str(label)
        for kind, text in (("label", label), ("token", token)):
            if text is not None and not _ATOM.fullmatch(text):
                reason = "no brackets, white space or empty text there"
                raise ValueError(f"node {node} has {kind} {_shown(text)}; {reason}")
        below = tree.children[node]
        if below:
            if token is not None:
                raise ValueError(f"node {node} has children and a token; brackets hold words at leaves only")
            pieces.append(f" ({label or ''}")
            stack.append(-1)
            stack.extend(reversed(below))
        elif label is not None:
            pieces.append(f" ({label})" if token is None else f" ({label} {token})")
        elif token is None:
            raise ValueError(f"leaf {node} has neither token nor label; brackets need one of them")
        else:
            parent = int(tree.parents[node])
            alone = parent < 0 or tree.degrees[parent] == 1  # without a bracket it would belong to its parent
            pieces.append(f" ( {token})" if alone else f" {token}")
    return "".join(pieces)[1:]


def _escaped(match: re.Match[str]) -> str:
    return _ESCAPE.get(match[0]) or "\\" + match[0]


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:39] + "…")
