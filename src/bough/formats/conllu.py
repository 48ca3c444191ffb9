"""CoNLL-U: one word per line, ten columns with tabs between, a blank line after each sentence.

Nodes are the words in order: FORM is the token, DEPREL the relation, UPOS the label (`_` is None in the
latter two). Multiword tokens (`3-4`) and empty nodes (`5.1`) are not nodes of the basic tree and are left
out; so are comments.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from bough.errors import FormatError
from bough.formats.lines import HeadError, Source, name_of, numbered, parents_of, tree_of
from bough.trees.tree import Tree

_COLUMNS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")


class _Word(NamedTuple):
    line: int
    form: str
    upos: str | None
    head: int
    deprel: str | None


def read(source: Source, *, where: str | None = None) -> list[Tree]:
    r"""Every sentence of a file or of lines.

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
    r"""The one sentence that `text` holds.

    Args:
        text: one sentence, ten columns per word.

    Examples:
        >>> from bough.formats import conllu
        >>> line = "1\tcats\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tclimb\t_\tVERB\t_\t_\t0\troot\t_\t_"
        >>> conllu.parse(line).relations
        ('nsubj', 'root')
    """
    trees = read(text.split("\n"))
    if len(trees) != 1:
        raise FormatError(f"{len(trees)} sentences; parse takes a text with one, read takes a file or lines")
    return trees[0]


def iterate(source: Source, *, where: str | None = None) -> Iterator[Tree]:
    r"""Like `read`, but one sentence at a time.

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
    for number, line in numbered(source, where):
        if line.strip(" \t"):
            block.append((number, line))
        elif block:
            yield _sentence(block, where)
            block = []
    if block:
        yield _sentence(block, where)


def write(tree: Tree) -> str:
    """The sentence and the blank line that ends it; `parse(write(tree))` is the same tree.

    Every node is a word, in the order of the nodes, so each needs a token. Relations and labels that are not
    strings come back as strings.

    Args:
        tree: a tree with a token at every node.

    Examples:
        >>> import bough
        >>> text = bough.formats.conllu.write(bough.Tree(parents=[1, -1], tokens=["cats", "climb"]))
        >>> text.split()[:2]
        ['1', 'cats']
    """
    from conllu import Token, TokenList  # only those who ask for CoNLL-U load it

    words = []
    for node, parent in enumerate(tree.parents.tolist()):
        word = Token(dict.fromkeys(_COLUMNS))
        word["id"], word["head"] = node + 1, parent + 1
        columns = (
            ("form", "token", tree.tokens),
            ("upos", "label", tree.labels),
            ("deprel", "relation", tree.relations),
        )
        for column, kind, entries in columns:
            entry = None if entries is None else entries[node]
            text = None if entry is None else str(entry)
            if text is None and kind == "token":
                raise ValueError(f"node {node} has no token; in CoNLL-U every node is a word")
            if text == "_" and kind != "token":
                raise ValueError(f"node {node} has {kind} '_', which means none in CoNLL-U; use None")
            if text is not None and (not text or any(separator in text for separator in "\t\r\n")):
                raise ValueError(f"node {node} has {kind} {text!r}; no tabs, line ends or empty text there")
            word[column] = text
        words.append(word)
    return str(TokenList(words).serialize())


def _sentence(block: list[tuple[int, str]], where: str | None) -> Tree:
    words: list[_Word] = []
    for number, line in block:
        try:
            word = _word(line, number, expected=len(words) + 1)
        except FormatError as error:
            raise FormatError(error.reason, where=where, line=number) from error
        if word is not None:
            words.append(word)
    if not words:
        raise FormatError("a sentence without words", where=where, line=block[0][0])
    try:
        return tree_of(
            parents_of([word.head for word in words]),
            tokens=[word.form for word in words],
            relations=[word.deprel for word in words],
            labels=[word.upos for word in words],
        )
    except HeadError as error:
        raise FormatError(error.reason, where=where, line=words[error.node - 1].line) from error


def _word(line: str, number: int, expected: int) -> _Word | None:
    """What a line says of a word; None where it is a comment, a multiword token or an empty node."""
    from conllu.exceptions import ParseException
    from conllu.parser import parse_id_value, parse_int_value, parse_nullable_value

    if line.startswith("#"):
        return None
    values = line.split("\t")  # the library would break a form at two spaces, too
    if len(values) != len(_COLUMNS):
        columns = "column" if len(values) == 1 else "columns"
        raise FormatError(f"{len(values)} {columns}; CoNLL-U has {len(_COLUMNS)}, with tabs between")
    word = dict(zip(_COLUMNS, values, strict=True))
    try:
        identity = parse_id_value(word["id"])
    except ParseException as error:
        raise FormatError(f"id {word['id']!r}; ids are 3, 3-4 or 3.1") from error
    if isinstance(identity, tuple):
        return None
    if identity != expected:
        raise FormatError(f"id {word['id']!r} where {expected} is next; words are numbered 1, 2, 3, ...")
    if not word["form"]:
        raise FormatError(f"word {expected} has no form")
    try:
        head = parse_int_value(word["head"])
    except ParseException:
        head = None
    if head is None:
        raise FormatError(f"word {expected} has head {word['head']!r}; a head is 0 (the root) or a word's id")
    return _Word(
        number, word["form"], parse_nullable_value(word["upos"]), head, parse_nullable_value(word["deprel"])
    )
