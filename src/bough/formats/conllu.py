"""CoNLL-U: one word per line in ten columns, separated by tabs, and a blank line after each sentence.

The nodes are the words in order. FORM is the token, DEPREL the relation and UPOS the label; `_` in
the last two means None. Multiword tokens (`3-4`), empty nodes (`5.1`) and comments are skipped.
"""

import re
from collections.abc import Iterator
from itertools import chain

from bough.errors import FormatError
from bough.formats.lines import INTEGER, Source, cell, name_of, numbered, only_tree, unless_empty
from bough.trees.tree import Tree
from bough.trees.validate import ParentError, checked_parents

COLUMNS = 10  # id, form, lemma, upos, xpos, feats, head, deprel, deps, misc
_NO_WORD = re.compile(r"([0-9]{1,18})-([0-9]{1,18})|[0-9]+\.[0-9]+")  # a multiword token, or an empty node


def read(source: Source, *, where: str | None = None) -> list[Tree]:
    r"""Return the sentences of a file or of lines.

    Args:
        source: a path, or an iterable of lines.
        where: the name of the source in errors.

    Examples:
        >>> from bough.formats import conllu
        >>> line = "1\tcats\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tclimb\t_\tVERB\t_\t_\t0\troot\t_\t_"
        >>> conllu.read(line.splitlines())
        [Tree((VERB:climb NOUN:cats), 2 nodes)]
    """
    return list(iterate(source, where=where))


def parse(text: str) -> Tree:
    r"""Return the one sentence that `text` holds.

    Args:
        text: one sentence, ten columns per word.

    Examples:
        >>> from bough.formats import conllu
        >>> line = "1\tcats\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tclimb\t_\tVERB\t_\t_\t0\troot\t_\t_"
        >>> conllu.parse(line).relations
        ('nsubj', 'root')
    """
    return only_tree(read(text.split("\n")))


def iterate(source: Source, *, where: str | None = None) -> Iterator[Tree]:
    r"""Yield the sentences of a file or of lines, one at a time.

    Args:
        source: a path, or an iterable of lines.
        where: the name of the source in errors.

    Examples:
        >>> from bough.formats import conllu
        >>> line = "1\tcats\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tclimb\t_\tVERB\t_\t_\t0\troot\t_\t_"
        >>> next(conllu.iterate(line.splitlines())).tokens
        ('cats', 'climb')
    """
    where = name_of(source, where)
    block: list[tuple[int, str]] = []
    for number, line in chain(numbered(source, where), [(0, "")]):  # a blank line ends the last sentence, too
        if line.strip(" \t"):
            block.append((number, line))
        elif block:
            yield _sentence(block, where)
            block = []


def write(tree: Tree) -> str:
    """Return the lines of the sentence, with a blank line at the end; `parse(write(tree))` is the same tree.

    Every node needs a token, since every line is a word. Labels and relations that are not strings
    are written as strings. Raise a ValueError for a node without a token, and for text that CoNLL-U
    cannot hold.

    Args:
        tree: a tree with a token at every node.

    Examples:
        >>> import bough
        >>> text = bough.formats.conllu.write(bough.Tree(parents=[1, -1], tokens=["cats", "climb"]))
        >>> text.split()[:2]
        ['1', 'cats']
    """
    lines = []
    columns = (("token", tree.tokens), ("label", tree.labels), ("relation", tree.relations))
    for node, parent in enumerate(tree.parents.tolist()):
        if tree.tokens is None or tree.tokens[node] is None:
            raise ValueError(f"node {node} has no token; in CoNLL-U every node is a word")
        form, upos, deprel = (cell(entries, node, kind, "_", "\t\r\n") for kind, entries in columns)
        lines.append(f"{node + 1}\t{form}\t_\t{upos}\t_\t_\t{parent + 1}\t{deprel}\t_\t_\n")
    return "".join(lines) + "\n"


def _sentence(block: list[tuple[int, str]], where: str | None) -> Tree:
    rows: list[tuple[str, str, int, str, int]] = []  # with the number of the line at the end
    for number, line in block:
        try:
            row = _word(line, expected=len(rows) + 1)
        except FormatError as error:
            raise FormatError(error.reason, where=where, line=number) from error
        if row is not None:
            rows.append((*row, number))
    if not rows:
        raise FormatError("a sentence without words", where=where, line=block[0][0])
    forms, tags, heads, names, lines = zip(*rows, strict=True)
    try:
        parents = checked_parents([head - 1 for head in heads], first=1)
    except ParentError as error:
        raise FormatError(str(error), where=where, line=lines[error.node]) from error
    labels, relations = ([None if mark == "_" else mark for mark in column] for column in (tags, names))
    return Tree(parents, tokens=forms, labels=unless_empty(labels), relations=unless_empty(relations))


def _word(line: str, expected: int) -> tuple[str, str, int, str] | None:
    """Return form, tag, head and relation; None for a comment, a multiword token or an empty node."""
    if line.startswith("#"):
        return None
    values = line.split("\t")
    if len(values) != COLUMNS:
        columns = "column" if len(values) == 1 else "columns"
        raise FormatError(f"{len(values)} {columns}; CoNLL-U has {COLUMNS}, with tabs between")
    identity, form, _, upos, _, _, head, deprel, _, _ = values
    if not identity.isdecimal():
        between = _NO_WORD.fullmatch(identity)
        if between is None or (between[1] and int(between[1]) >= int(between[2])):
            raise FormatError(f"id {identity!r}; ids are 3, 3-4 or 3.1")
        return None
    if int(identity) != expected:
        raise FormatError(f"id {identity!r} where {expected} is next; words are numbered 1, 2, 3, ...")
    if not form:
        raise FormatError(f"word {expected} has no form")
    if not INTEGER.fullmatch(head):
        raise FormatError(f"word {expected} has head {head!r}; a head is 0 (the root) or a word's id")
    return form, upos, int(head), deprel
