r"""Bracketed trees, as in the Penn Treebank: `(S (NP (DT The) (NN elm)) (VP (VBZ bends)))`.

A bracket is a node, and the text that touches its `(` is its label. A space after `(` means no
label: `( (S ...))` has an unlabelled root, and `( the elm )` is an unlabelled node over two words.
A bracket around a single word, `(DT The)`, is one node with a label and a token. A word without a
bracket, beside other children, is a node with a token and no label. Nodes are numbered in preorder.
Only space, tab, CR and newline separate words; U+00A0 is part of a word.

Reading removes the escapes of tokens and writing adds them: `-LRB- -RRB- -LSB- -RSB- -LCB- -RCB-`
for brackets, `\/` and `\*`, `\\` for a backslash and `\-` for the hyphen of a literal `-LRB-`.
Labels have no escapes: `-LRB-` is also the name of a part of speech.
"""

import re
from collections.abc import Iterator

from bough.errors import FormatError
from bough.formats.lines import Source, name_of, numbered, only_tree, unless_empty
from bough.trees.tree import Tree

_PIECE = re.compile(r"\([^() \t\r\n]*|\)|[^() \t\r\n]+")
_PIECE_UNLABELLED = re.compile(r"[()]|[^() \t\r\n]+")
_ATOM = re.compile(r"[^() \t\r\n]+")
BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
_ESCAPE = {bracket: name for name, bracket in BRACKETS.items()}
_ESCAPED = re.compile(r"-[LR][RSC]B-|\\[/*\\-]")
_ESCAPED_ELSEWHERE = re.compile(r"-[LR][RSC]B-|\\[/*]")
_UNSAFE = re.compile(r"[()\[\]{}/*\\]|-(?=[LR][RSC]B)")
_UNSAFE_IN_TRACE = re.compile(r"[()\[\]{}/\\]|-(?=[LR][RSC]B)")


def read(
    source: Source, *, where: str | None = None, unescape: bool = True, labelled: bool = True
) -> list[Tree]:
    """Return the trees of a file or of lines: one or many per line, or one over many lines.

    Args:
        source: a path, or an iterable of lines.
        where: the name of the source in errors.
        unescape: whether to remove the escapes of tokens.
        labelled: whether the text that touches an opening bracket is a label; False makes it a word.

    Examples:
        >>> from bough.formats import ptb
        >>> ptb.read(["(3 (2 a) (4 delight))", "(1 dull)"])
        [Tree((3 2:a 4:delight), 3 nodes), Tree(1:dull, 1 node)]
    """
    return list(iterate(source, where=where, unescape=unescape, labelled=labelled))


def parse(text: str, *, unescape: bool = True, labelled: bool = True) -> Tree:
    """Return the one tree that `text` holds.

    Args:
        text: one tree in brackets.
        unescape: as in `read`.
        labelled: as in `read`.

    Examples:
        >>> from bough.formats import ptb
        >>> ptb.parse("(S (NP cats) (VP climb))").tokens
        (None, 'cats', 'climb')
    """
    return only_tree(read(text.split("\n"), unescape=unescape, labelled=labelled))


def iterate(
    source: Source, *, where: str | None = None, unescape: bool = True, labelled: bool = True
) -> Iterator[Tree]:
    """Yield the trees of a file or of lines, one at a time.

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
    pieces = (_PIECE if labelled else _PIECE_UNLABELLED).findall
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
                if node == last and labels[node] is None:
                    reason = "an empty '()'; a node has a label, a word or children"
                    raise FormatError(reason, where=where, line=number)
                # the bracket holds a single word, which becomes the token of the bracket's node
                if bare == last == node + 1:
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
    """Return the tree on one line; `parse(write(tree))` is the same tree, numbered in preorder.

    Labels that are not strings are written as strings. Raise a ValueError for a tree that brackets
    cannot hold: with relations, a token at an inner node, a leaf with neither token nor label, or
    white space in a word.

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
    for node, done in tree.walk():
        if done:
            pieces.append(")")
            continue
        label = None if tree.labels is None else tree.labels[node]
        token = None if tree.tokens is None else tree.tokens[node]
        if token is not None and escape:
            # treebanks do not escape the star of a trace such as `*T*-1`
            unsafe = _UNSAFE_IN_TRACE if label == "-NONE-" else _UNSAFE
            token = unsafe.sub(lambda match: _ESCAPE.get(match[0]) or "\\" + match[0], token)
        label = None if label is None else str(label)
        for kind, text in (("label", label), ("token", token)):
            if text is not None and not _ATOM.fullmatch(text):
                reason = "no brackets, white space or empty text there"
                raise ValueError(f"node {node} has {kind} {_shown(text)}; {reason}")
        if tree.children[node]:
            if token is not None:
                raise ValueError(f"node {node} has children and a token; brackets hold words at leaves only")
            pieces.append(f" ({label or ''}")
        elif label is not None:
            pieces.append(f" ({label})" if token is None else f" ({label} {token})")
        elif token is None:
            raise ValueError(f"leaf {node} has neither token nor label; brackets need one of them")
        else:
            parent = int(tree.parents[node])
            # without a bracket the word would be read as the token of its parent
            alone = parent < 0 or tree.degrees[parent] == 1
            pieces.append(f" ( {token})" if alone else f" {token}")
    return "".join(pieces)[1:]


def unescaped(token: str) -> str:
    r"""Return a token of a pointer file or a word list without its escapes: `(` for `-LRB-`, `/` for `\/`."""
    return _ESCAPED_ELSEWHERE.sub(lambda match: BRACKETS.get(match[0], match[0][-1]), token)


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:39] + "…")
