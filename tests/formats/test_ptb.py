"""PTB brackets: every shape in, the same shape out."""

import os
import re
import time
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bough import FormatError, Tree
from bough.formats import ptb
from treegen import constituents, trees

DATA = Path(os.environ.get("BOUGH_DATA", "absent"))
SST = DATA / "sst" / "trees"
needs_sst = pytest.mark.skipif(not SST.is_dir(), reason="no SST: set BOUGH_DATA to the data folder")
TREEBANKS = [path for name in ("ewt-silver", "gum") if (path := DATA / "treebank" / f"{name}.txt").is_file()]

SEPARATORS = " \t\r\n"
TOKENS = st.text(min_size=1).filter(lambda text: not set(text) & set(SEPARATORS))
NASTY = st.text("-LRSCB()[]{}/\\*a\u00a0\u2028\x0b", min_size=1, max_size=12)
LABELS = TOKENS.filter(lambda text: not set(text) & set("()"))
untimed = settings(deadline=None)


# -------------------------------------------------------------------- reading


@pytest.mark.parametrize(
    ("text", "parents", "tokens", "labels"),
    [
        ("(DT the)", [-1], ["the"], ["DT"]),
        ("(3 (2 dull) (4 bright))", [-1, 0, 0], [None, "dull", "bright"], ["3", "2", "4"]),
        ("(NP the old elm)", [-1, 0, 0, 0], [None, "the", "old", "elm"], ["NP", None, None, None]),
        ("(NP (DT the) elm)", [-1, 0, 0], [None, "the", "elm"], ["NP", "DT", None]),
        ("( (S (V go)))", [-1, 0, 1], [None, None, "go"], [None, "S", "V"]),
        ("((S (V go)))", [-1, 0, 1], [None, None, "go"], [None, "S", "V"]),
        ("(A (B (C end)))", [-1, 0, 1], [None, None, "end"], ["A", "B", "C"]),
        ("( ( the elm ) bends )", [-1, 0, 1, 1, 0], [None, None, "the", "elm", "bends"], None),
        ("( elm)", [-1], ["elm"], None),
        ("(NN ( elm))", [-1, 0], [None, "elm"], ["NN", None]),
        ("(If (Call) (Return))", [-1, 0, 0], None, ["If", "Call", "Return"]),
        ("(X)", [-1], None, ["X"]),
        ("  (S\t(NP\n  elms)\r\n(VP grow  ) )\n", [-1, 0, 0], [None, "elms", "grow"], ["S", "NP", "VP"]),
        ("(NP\u00a0x 21\u00a01/2\u2028y)", [-1], ["21\u00a01/2\u2028y"], ["NP\u00a0x"]),
    ],
)
def test_brackets_become_nodes_in_the_order_they_open(
    text: Any, parents: Any, tokens: Any, labels: Any
) -> None:
    assert ptb.parse(text) == Tree(parents, tokens=tokens, labels=labels)


def test_one_tree_or_many_a_line_or_one_over_many_lines() -> None:
    lines = ["(A a) (B b)(C c)", "", "(D", "  (E", "e)", "", ") (F f)"]
    assert [tree.labels[0] for tree in ptb.read(lines) if tree.labels] == ["A", "B", "C", "D", "F"]


def test_iterate_gives_each_tree_as_soon_as_it_closes() -> None:
    def lines() -> Any:
        yield "(A a)"
        raise AssertionError("the second line was asked for too early")

    assert next(ptb.iterate(lines())).labels == ("A",)


def test_iterate_gives_the_trees_before_a_mistake() -> None:
    stream = ptb.iterate(["(A a)", "(B b))"])
    assert next(stream).tokens == ("a",)
    assert next(stream).tokens == ("b",)
    with pytest.raises(FormatError, match=r"2: a '\)' that closes nothing"):
        next(stream)


def test_labelled_says_whether_text_at_a_bracket_is_a_label() -> None:
    text = "((the elm) ( S bends))"
    labels = [None, "the", None, None, None]
    expected = Tree([-1, 0, 0, 2, 2], tokens=[None, "elm", None, "S", "bends"], labels=labels)
    assert ptb.parse(text) == expected
    tokens = [None, None, "the", "elm", None, "S", "bends"]
    assert ptb.parse(text, labelled=False) == Tree([-1, 0, 1, 1, 0, 4, 4], tokens=tokens)


def test_labels_stay_strings() -> None:
    assert ptb.parse("(3 (02 a) (-1 b))").labels == ("3", "02", "-1")


# -------------------------------------------------------------------- escapes


@pytest.mark.parametrize(
    ("escaped", "plain"),
    [
        ("-LRB-", "("),
        ("-RRB-", ")"),
        ("-LSB-", "["),
        ("-RSB-", "]"),
        ("-LCB-", "{"),
        ("-RCB-", "}"),
        (r"1\/2", "1/2"),
        (r"\*\*\*", "***"),
        ("elm-LRB-s-RRB-", "elm(s)"),
        (";--RRB-", ";-)"),
        (r"\\", "\\"),
        (r"\-LRB-", "-LRB-"),
    ],
)
def test_tokens_lose_their_escapes_and_get_them_back(escaped: Any, plain: Any) -> None:
    text = f"(X {escaped})"
    tree = ptb.parse(text)
    assert tree.tokens == (plain,)
    assert ptb.write(tree) == text
    raw = ptb.parse(text, unescape=False)
    assert raw.tokens == (escaped,)
    assert ptb.write(raw, escape=False) == text


@pytest.mark.parametrize(("text", "token"), [("[sic]", "[sic]"), ("and/or", "and/or"), (r"\o_O", r"\o_O")])
def test_what_needs_no_escape_reads_as_it_stands(text: Any, token: Any) -> None:
    assert ptb.parse(f"(X {text})").tokens == (token,)


def test_labels_have_no_escapes() -> None:
    tree = ptb.parse(r"(-LRB- -LRB-)")
    assert (tree.labels, tree.tokens) == (("-LRB-",), ("(",))
    assert ptb.write(tree) == "(-LRB- -LRB-)"


def test_a_trace_keeps_its_star() -> None:
    text = r"(NP (-NONE- *T*-1) (SYM \*))"
    assert ptb.write(ptb.parse(text)) == text


# -------------------------------------------------------------------- writing


@untimed
@given(constituents(words=TOKENS | NASTY, labels=st.none() | LABELS))
def test_read_undoes_write(tree: Tree) -> None:
    if all(label is None for label in tree.labels or ()):
        tree = Tree(tree.parents, tokens=tree.tokens)
    text = ptb.write(tree)
    assert "\n" not in text
    assert ptb.parse(text) == tree.renumbered(tree.preorder)


@untimed
@given(trees(labels=LABELS))
def test_read_undoes_write_for_trees_of_labels_only(tree: Tree) -> None:
    assert ptb.parse(ptb.write(tree)) == tree.renumbered(tree.preorder)


@untimed
@given(st.lists(constituents(), max_size=5), st.sampled_from(["", " ", "\n", " \r\n\t"]))
def test_many_trees_with_anything_between(drawn: Any, between: Any) -> None:
    text = between.join(map(ptb.write, drawn))
    assert ptb.read(text.split("\n")) == [tree.renumbered(tree.preorder) for tree in drawn]


@untimed
@given(st.text("()ab \n-\\", max_size=30))
def test_any_text_is_read_or_refused_with_a_line(text: Any) -> None:
    lines = text.split("\n")
    drawn, line = [], None
    try:
        drawn = ptb.read(lines)
    except FormatError as error:
        line = error.line
    assert line is None or 1 <= line <= len(lines)
    assert ptb.read(map(ptb.write, drawn)) == drawn


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (Tree([1, -1], tokens=["a", "b"]), "node 1 has children and a token"),
        (Tree([-1, 0], labels=["S", None]), "leaf 1 has neither token nor label"),
        (Tree([-1], tokens=["a b"]), "node 0 has token 'a b'; no brackets, white space or empty text there"),
        (Tree([-1], tokens=[""]), "node 0 has token ''"),
        (Tree([-1], tokens=["a"], labels=["X("]), "node 0 has label 'X('"),
        (Tree([-1], tokens=["a"], labels=[""]), "node 0 has label ''"),
        (Tree([-1], tokens=["a"], relations=["det"]), "brackets hold no relations"),
    ],
)
def test_what_brackets_cannot_hold_is_refused(tree: Tree, message: Any) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        ptb.write(tree)


def test_brackets_need_their_escapes() -> None:
    with pytest.raises(ValueError, match=r"node 0 has token '\('"):
        ptb.write(Tree([-1], tokens=["("]), escape=False)


# ------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(S (NP a)", "1: 1 '(' is never closed in the tree that starts here"),
        ("(A a)\n(S\n(NP a\n", "2: 2 '(' are never closed in the tree that starts here"),
        ("(S a))", "1: a ')' that closes nothing"),
        ("\n(S ())", "2: an empty '()'"),
        ("( )", "1: an empty '()'"),
        ("(S (\n))", "2: an empty '()'"),
        ("(S a) b", "1: text outside brackets: 'b'"),
        ("a", "1: text outside brackets: 'a'"),
        ("x" * 99, "1: text outside brackets: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…'"),
    ],
)
def test_mistakes_carry_line_and_reason(text: Any, message: Any) -> None:
    with pytest.raises(FormatError, match=re.escape(message)):
        ptb.parse(text)
    with pytest.raises(FormatError, match="^" + re.escape(f"trees.txt:{message}")):
        ptb.read(text.split("\n"), where="trees.txt")


@pytest.mark.parametrize(("text", "count"), [("", 0), (" \n", 0), ("(A a) (B b)", 2)])
def test_parse_takes_exactly_one_tree(text: Any, count: Any) -> None:
    with pytest.raises(FormatError, match=f"{count} trees"):
        ptb.parse(text)


# ------------------------------------------------------------------- the real


@needs_sst
@pytest.mark.parametrize(("split", "count"), [("train", 8544), ("dev", 1101), ("test", 2210)])
def test_sst_reads_and_writes_byte_for_byte(split: Any, count: Any) -> None:
    path = SST / f"{split}.txt"
    drawn = ptb.read(path)
    assert len(drawn) == count
    assert all(set(tree.degrees) <= {0, 2} and None not in (tree.labels or (None,)) for tree in drawn)
    assert "".join(ptb.write(tree) + "\n" for tree in drawn).encode() == path.read_bytes()
    if split == "train":
        assert sum(map(len, drawn)) == 318_582
        assert sum("\u00a0" in token for tree in drawn for token in tree.tokens or () if token) == 3
        assert sum((tree.labels or ())[0] != "2" for tree in drawn) == 6920


@needs_sst
def test_sst_reads_fast() -> Any:
    def seconds() -> float:
        start = time.process_time()
        ptb.read(SST / "train.txt")
        return time.process_time() - start

    assert any(seconds() < 2 for _ in range(3))  # 0.7 on an idle machine; a busy one gets three tries


@pytest.mark.parametrize(
    "path", TREEBANKS or [pytest.param(None, marks=pytest.mark.skip(reason="no treebanks: set BOUGH_DATA"))]
)
def test_treebanks_survive_writing_and_reading(path: Any) -> None:
    with open(path, encoding="utf-8", newline="\n") as file:
        lines = [line.rstrip("\n") for line in islice(file, 0, None, 10)]  # every tenth: seconds matter
    assert [ptb.write(tree, escape=False) for tree in ptb.read(lines, unescape=False)] == lines
    drawn = ptb.read(lines)
    assert ptb.read(map(ptb.write, drawn)) == drawn


@pytest.mark.parametrize(
    ("token", "word"),
    [
        ("-LRB-", "("),
        ("-RCB-", "}"),
        (r"and\/or", "and/or"),
        (r"\*\*\*", "***"),
        ("2\u00a01\\/2", "2\u00a01/2"),
        ("--", "--"),
        ("-lrb-", "-lrb-"),
        ("elm", "elm"),
        ("back\\slash", "back\\slash"),
    ],
)
def test_escapes_are_undone_and_nothing_else(token: str, word: str) -> None:
    assert ptb.unescaped(token) == word
    assert ptb.unescaped(word) == word
