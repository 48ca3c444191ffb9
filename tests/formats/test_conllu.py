"""CoNLL-U: words are nodes, everything else is left out or refused."""

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bough import FormatError, Tree
from bough.formats import conllu
from treegen import trees

FORMS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\r\n"), min_size=1)
MARKS = FORMS.filter(lambda text: text != "_")
untimed = settings(deadline=None)


def row(number: object, form: str, head: object, relation: str = "dep", upos: str = "_") -> str:
    return f"{number}\t{form}\t_\t{upos}\t_\t_\t{head}\t{relation}\t_\t_"


SENTENCE = [
    "# sent_id = 1",
    "# text = Vámonos al mar",
    "1-2\tVámonos\t_\t_\t_\t_\t_\t_\t_\t_",
    row(1, "Vamos", 0, "root", "VERB"),
    row(2, "nos", 1, "obj", "PRON"),
    "2.1\t_\t_\t_\t_\t_\t_\t_\t1:obj\t_",
    "3-4\tal\t_\t_\t_\t_\t_\t_\t_\t_",
    row(3, "a", 5, "case", "ADP"),
    row(4, "el", 5, "det", "DET"),
    row(5, "mar", 1, "obl", "NOUN"),
    "",
]


def test_words_are_nodes_and_nothing_else_is() -> None:
    (tree,) = conllu.read(SENTENCE)
    assert tree == Tree(
        [-1, 0, 4, 4, 0],
        tokens=["Vamos", "nos", "a", "el", "mar"],
        relations=["root", "obj", "case", "det", "obl"],
        labels=["VERB", "PRON", "ADP", "DET", "NOUN"],
    )


def test_an_empty_node_may_stand_first() -> None:
    lines = ["0.1\t_\t_\t_\t_\t_\t_\t_\t0:root\t_", row(1, "a", 0)]
    assert conllu.read(lines)[0].tokens == ("a",)


def test_underscore_is_none_but_a_form() -> None:
    (tree,) = conllu.read([row(1, "_", 2, "_", "_"), row(2, "b", 0, "root", "_")])
    assert tree == Tree([1, -1], tokens=["_", "b"], relations=[None, "root"])


def test_forms_may_hold_spaces() -> None:
    (tree,) = conllu.read([row(1, "10  000", 2), row(2, "\u00a0km ", 0)])
    assert tree.tokens == ("10  000", "\u00a0km ")


def test_blank_lines_part_sentences_however_many() -> None:
    lines = ["", row(1, "a", 0), "", " ", "", "# a comment", row(1, "b", 0)]
    assert [tree.tokens for tree in conllu.read(lines)] == [("a",), ("b",)]


def test_iterate_gives_each_sentence_at_its_blank_line() -> None:
    stream = conllu.iterate([row(1, "a", 0), "", row(1, "b", "x"), ""])
    assert next(stream).tokens == ("a",)
    with pytest.raises(FormatError, match=r"^3: "):
        next(stream)


# -------------------------------------------------------------------- writing


@untimed
@given(trees(tokens=FORMS, labels=st.none() | MARKS, relations=st.none() | MARKS))
def test_read_undoes_write(tree: Tree) -> None:
    columns: dict[str, Any] = {
        name: column if any(entry is not None for entry in column or ()) else None
        for name, column in (("labels", tree.labels), ("relations", tree.relations))
    }
    tree = Tree(tree.parents, tokens=tree.tokens, **columns)
    assert conllu.parse(conllu.write(tree)) == tree


@untimed
@given(st.lists(trees(tokens=FORMS), max_size=4))
def test_written_sentences_follow_one_another(drawn: Any) -> None:
    assert conllu.read("".join(map(conllu.write, drawn)).split("\n")) == drawn


def test_written_sentences_are_what_the_format_says() -> None:
    tree = Tree([1, -1], tokens=["elms", "bend"], relations=["nsubj", "root"], labels=["NOUN", None])
    assert conllu.write(tree) == (
        "1\telms\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tbend\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
    )


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (Tree([-1]), "node 0 has no token; in CoNLL-U every node is a word"),
        (Tree([-1, 0], tokens=["a", None]), "node 1 has no token"),
        (Tree([-1], tokens=["a\tb"]), r"node 0 has token 'a\tb'; no tabs, line ends or empty text there"),
        (Tree([-1], tokens=[""]), "node 0 has token ''"),
        (Tree([-1], tokens=["a"], labels=["_"]), "node 0 has label '_', which means none"),
        (Tree([-1], tokens=["a"], relations=["\n"]), r"node 0 has relation '\n'"),
    ],
)
def test_what_the_format_cannot_hold_is_refused(tree: Tree, message: Any) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        conllu.write(tree)


# ------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([row(1, "a", 0), row(2, "b", 0)], "2: 2 roots (nodes 1 and 2); a tree has one"),
        ([row(1, "a", 2), row(2, "b", 1)], "1: no root; exactly one parent is 0"),
        ([row(1, "a", 0), row(2, "b", 3), row(3, "c", 2)], "2: a cycle (2 -> 3 -> 2)"),
        ([row(1, "a", 0), row(2, "b", 2)], "2: a cycle (2 -> 2)"),
        (["# c", row(1, "a", 0), row(2, "b", 7)], "3: node 2 has parent 7; parents are 0 (the root) or 1..2"),
        ([row(1, "a", -1)], "1: node 1 has parent -1"),
        ([row(1, "a", "x")], "1: word 1 has head 'x'; a head is 0 (the root) or a word's id"),
        ([row(1, "a", "_")], "1: word 1 has head '_'"),
        ([row(1, "a", "1.5")], "1: word 1 has head '1.5'"),
        ([row(1, "a", 0), row(3, "b", 1)], "2: id '3' where 2 is next; words are numbered 1, 2, 3, ..."),
        ([row(0, "a", 0)], "1: id '0' where 1 is next"),
        ([row("_", "a", 0)], "1: id '_'; ids are 3, 3-4 or 3.1"),
        ([row("one", "a", 0)], "1: id 'one'; ids are 3, 3-4 or 3.1"),
        ([row("4-3", "a", 0)], "1: id '4-3'; ids are 3, 3-4 or 3.1"),
        ([row(1, "", 0)], "1: word 1 has no form"),
        ([row(1, "a", 0).replace("\t", "  ")], "1: 1 column; CoNLL-U has 10, with tabs between"),
        ([row(1, "a", 0) + "\tx"], "1: 11 columns"),
        ([row(1, "a", 0), "", "# nothing here"], "3: a sentence without words"),
    ],
)
def test_mistakes_carry_file_line_and_reason(lines: Any, message: Any) -> None:
    with pytest.raises(FormatError, match="^" + re.escape(f"trees.conllu:{message}")):
        conllu.read(lines, where="trees.conllu")


@pytest.mark.parametrize(("count", "text"), [(0, ""), (2, "\n\n".join([row(1, "a", 0)] * 2))])
def test_parse_takes_exactly_one_sentence(count: Any, text: Any) -> None:
    with pytest.raises(FormatError, match=f"{count} trees"):
        conllu.parse(text)
