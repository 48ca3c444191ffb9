"""Parent pointers: dependency and constituency lines."""

import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bough import FormatError, Tree
from bough.formats import pointers, ptb
from treegen import constituents, trees

DATA = Path(os.environ.get("BOUGH_DATA", "absent"))
SICK, SST = DATA / "sick", DATA / "sst" / "dep"
needs_sick = pytest.mark.skipif(not SICK.is_dir(), reason="no SICK: set BOUGH_DATA to the data folder")
needs_sst = pytest.mark.skipif(not SST.is_dir(), reason="no SST: set BOUGH_DATA to the data folder")
WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=" \r\n\ufeff"), min_size=1)
MARKS = st.none() | WORDS.filter(lambda text: text != "#")
PHRASES: Any = "constituency"
KINDS: Any = ("dependency", PHRASES)
untimed = settings(deadline=None)


def without_empty_columns(tree: Tree) -> Tree:
    def kept(column: Any) -> Any:
        return column if column is not None and any(entry is not None for entry in column) else None

    return Tree(tree.parents, tokens=tree.tokens, labels=kept(tree.labels), relations=kept(tree.relations))


# ----------------------------------------------------------------- dependency


def test_dependency_lines() -> None:
    tree = pointers.parse("2 0 2", "cats climb trees", "nsubj # dobj", "# 1 #")
    assert tree == Tree(
        [1, -1, 1],
        tokens=["cats", "climb", "trees"],
        relations=["nsubj", None, "dobj"],
        labels=[None, "1", None],
    )


def test_tokens_part_at_plain_spaces_only() -> None:
    assert pointers.parse("2 0", "21\u00a01/2 #").tokens == ("21\u00a01/2", "#")


def test_a_column_of_nothing_is_no_column() -> None:
    assert pointers.parse("2 0", "a b", "# #").relations is None


@untimed
@given(trees(tokens=WORDS, labels=MARKS, relations=MARKS))
def test_dependency_read_undoes_write(tree: Tree) -> None:
    tree = without_empty_columns(tree)
    lines = pointers.write(tree)
    assert pointers.parse(*lines) == tree
    columns: list[Any] = [None if line is None else [line] * 2 for line in lines]
    assert pointers.read(*columns) == [tree, tree]


@untimed
@given(trees())
def test_parents_alone_are_enough(tree: Tree) -> None:
    line = pointers.write(tree).parents
    assert pointers.parse(line) == tree
    assert pointers.read([line]) == [tree]


# --------------------------------------------------------------- constituency


def test_constituency_children_stand_left_to_right_by_first_leaf() -> None:
    tree = pointers.parse("5 5 4 6 6 0", "the elm bends", labels="DT NN VBZ VP NP S", kind=PHRASES)
    assert tree == ptb.parse("(S (NP (DT the) (NN elm)) (VP (VBZ bends)))")  # node 5 comes before node 4


@pytest.mark.parametrize(
    ("parents", "tokens", "brackets"),
    [
        ("0", "elm", "( elm)"),
        ("2 3 0", "elm", "( ( ( elm)))"),
        ("4 4 4 0", "a b c", "( a b c)"),
    ],
)
def test_constituency_shapes(parents: Any, tokens: Any, brackets: Any) -> None:
    assert pointers.parse(parents, tokens, kind=PHRASES) == ptb.parse(brackets)


@untimed
@given(constituents(words=WORDS, labels=MARKS), st.data())
def test_constituency_read_undoes_write(tree: Tree, data: Any) -> None:
    relations = data.draw(st.none() | st.lists(MARKS, min_size=len(tree), max_size=len(tree)))
    tree = without_empty_columns(
        Tree(tree.parents, tokens=tree.tokens, labels=tree.labels, relations=relations)
    )
    lines = pointers.write(tree, kind=PHRASES)
    assert pointers.parse(*lines, kind=PHRASES) == tree.renumbered(tree.preorder)
    columns: list[Any] = [None if line is None else [line] * 2 for line in lines]
    assert pointers.read(*columns, kind=PHRASES) == [tree.renumbered(tree.preorder)] * 2


@untimed
@given(constituents(), st.randoms(use_true_random=False))
def test_the_numbers_of_inner_nodes_do_not_matter(tree: Tree, random: Any) -> None:
    leaves, inner = tree.leaves.tolist(), np.flatnonzero(tree.degrees).tolist()
    random.shuffle(inner)
    shuffled = tree.renumbered([*leaves, *inner])
    lines = (
        pointers.write(Tree(shuffled.parents)).parents,
        pointers.write(tree, kind=PHRASES).tokens,
    )
    assert pointers.parse(*lines, kind=PHRASES) == tree.renumbered(tree.preorder)


@untimed
@given(trees())
def test_constituency_parents_alone_are_enough(tree: Tree) -> None:
    parents = pointers.write(tree, kind=PHRASES).parents
    assert pointers.parse(parents, kind=PHRASES) == tree.renumbered(tree.preorder)


def test_written_leaves_come_first_in_word_order() -> None:
    tree = ptb.parse("(S (NP (DT the) (NN elm)) (VP (VBZ bends)))")
    assert pointers.write(tree, kind=PHRASES) == pointers.Lines(
        parents="5 5 6 0 4 4", tokens="the elm bends", relations=None, labels="DT NN VBZ S NP VP"
    )


def test_100_000_deep_lines() -> None:
    deep = 100_000
    line = " ".join(map(str, [*range(2, deep + 1), 0]))
    tree = pointers.parse(line, "end", kind=PHRASES)
    assert tree.heights[0] == deep - 1
    assert pointers.parse(*pointers.write(tree, kind=PHRASES), kind=PHRASES) == tree
    assert pointers.write(pointers.parse(line)).parents == line


# ------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["0 0"], "2 roots (nodes 1 and 2); a tree has one"),
        (["0 0 0"], "3 roots (nodes 1 and 2, ...); a tree has one"),
        (["2 1"], "no root; exactly one parent is 0"),
        (["0 3 2"], "a cycle (2 -> 3 -> 2)"),
        (["0 3"], "node 2 has parent 3; parents are 0 (the root) or 1..2"),
        (["0 -1"], "node 2 has parent -1"),
        (["0 x"], "node 2 has parent 'x'; parents are integers, 0 for the root"),
        (["0 1.0"], "node 2 has parent '1.0'"),
        (["0 1_0"], "node 2 has parent '1_0'"),
        (["0 " + "9" * 5000], "node 2 has parent '999"),
        ([""], "no parents; a tree has at least one node"),
        (["0 1", "a"], "1 tokens for 2 nodes; give one each"),
        (["0 1", "a  b"], "tokens: entry 2 is empty; one space stands between entries"),
        (["0 1", "a b "], "tokens: entry 3 is empty"),
        (["0 1", "a b", "x y z"], "3 relations for 2 nodes"),
        (["0 1", "a b", "x y", ""], "labels: entry 1 is empty"),
    ],
)
def test_dependency_mistakes_carry_line_and_reason(columns: Any, message: Any) -> None:
    with pytest.raises(FormatError, match="^" + re.escape(message)):
        pointers.parse(*columns)
    good = ["0", "a", "x", "y"][: len(columns)]
    files = [[first, second] for first, second in zip(good, columns, strict=True)]
    with pytest.raises(FormatError, match="^" + re.escape(f"a.parents:2: {message}")):
        pointers.read(*files, where="a.parents")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["3 3 0", "a"], "1 tokens for 2 leaves; give one each"),
        (["3 3 0", "a b c"], "3 tokens for 2 leaves"),
        (["0 1 1", "a b"], "node 1 has children; the 2 leaves are nodes 1..2"),
        (["4 5 4 5 0", "a b c"], "node 4 covers word 3 and an earlier one, but not word 2"),
        (["0 3 2", "a"], "a cycle (2 -> 3 -> 2)"),
        (["0 3 4 3", "a b"], "a cycle (3 -> 4 -> 3)"),
        (["4 0 4 3", "a b"], "a cycle (3 -> 4 -> 3)"),
        (["3 0 4 3", "a b"], "a cycle (3 -> 4 -> 3)"),
        (["0 0", "a b"], "2 roots"),
        (["3 3 0", "a b", "x y"], "2 relations for 3 nodes"),
        (["3 3 0", "a b", "x y z", "x"], "1 labels for 3 nodes"),
    ],
)
def test_constituency_mistakes_carry_line_and_reason(columns: Any, message: Any) -> None:
    with pytest.raises(FormatError, match=re.escape(message)):
        pointers.parse(*columns, kind=PHRASES)
    with pytest.raises(FormatError, match="^" + re.escape(f"a.cparents:1: {message}")):
        pointers.read(*([column] for column in columns), where="a.cparents", kind=PHRASES)


@untimed
@given(st.lists(st.integers(-1, 7), min_size=1, max_size=7))
def test_any_pointers_are_read_or_refused(heads: Any) -> None:
    line = " ".join(map(str, heads))
    for kind in KINDS:
        try:
            tree = pointers.parse(line, kind=kind)
        except FormatError:
            continue
        assert len(tree) == len(heads)
        assert kind == "dependency" or tree.preorder.tolist() == list(range(len(tree)))


@pytest.mark.parametrize(
    ("parents", "tokens", "message"),
    [
        (["0", "0"], ["a"], "2: tokens end before this line, but the others continue"),
        (["0"], ["a", "b"], "2: parents end before this line, but the others continue"),
    ],
)
def test_files_of_unequal_length_are_refused(parents: Any, tokens: Any, message: Any) -> None:
    for kind in KINDS:
        with pytest.raises(FormatError, match=f"^{message}"):
            pointers.read(parents, tokens, kind=kind)


def test_bad_utf8_is_blamed_on_its_own_file(tmp_path: Path) -> None:
    (tmp_path / "a.parents").write_text("0\n0\n")
    (tmp_path / "a.toks").write_bytes(b"fine\n\xff\n")
    with pytest.raises(FormatError, match=r"a\.toks:2: byte 0xff"):
        pointers.read(tmp_path / "a.parents", tmp_path / "a.toks")


@pytest.mark.parametrize(
    ("kind", "tree", "message"),
    [
        ("dependency", Tree([-1, 0], tokens=["a", None]), "node 1 has no token"),
        (
            "dependency",
            Tree([-1], tokens=["a b"]),
            "node 0 has token 'a b'; no spaces, line ends or empty text",
        ),
        ("dependency", Tree([-1], tokens=[""]), "node 0 has token ''"),
        ("dependency", Tree([-1], tokens=["\ufeffa"]), "U+FEFF in front is lost as a BOM"),
        ("dependency", Tree([-1], labels=["#"]), "node 0 has label '#', which means none here"),
        ("dependency", Tree([-1], relations=["a\n"]), r"node 0 has relation 'a\n'"),
        ("constituency", Tree([1, -1], tokens=["a", "b"]), "node 1 has children and a token"),
        ("constituency", Tree([-1, 0, 0], tokens=[None, "a", None]), "node 2 has no token"),
    ],
)
def test_what_lines_cannot_hold_is_refused(kind: Any, tree: Tree, message: Any) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        pointers.write(tree, kind=kind)


# ------------------------------------------------------------------- the real


@needs_sick
def test_sick_reads_and_comes_back() -> None:
    sentences = 0
    for side in ("a", "b"):
        path = {end: SICK / "dev" / f"{side}.{end}" for end in ("parents", "cparents", "toks", "rels")}
        dependency = pointers.read(path["parents"], path["toks"], path["rels"])
        constituency = pointers.read(path["cparents"], path["toks"], kind=PHRASES)
        for words, phrases in zip(dependency, constituency, strict=True):
            assert words.tokens == tuple((phrases.tokens or ())[leaf] for leaf in phrases.leaves)
            assert len(phrases) == 2 * len(words) - 1
        for phrases in constituency[::5]:
            assert pointers.parse(*pointers.write(phrases, kind=PHRASES), kind=PHRASES) == phrases
        for column, name in enumerate(("parents", "toks", "rels")):
            written = [pointers.write(tree)[column] for tree in dependency]
            assert written == path[name].read_text(encoding="utf-8").split("\n")[:-1]
        sentences += len(dependency)
    assert sentences == 1_000


@needs_sst
@pytest.mark.parametrize(("split", "count"), [("train", 8544), ("dev", 1101), ("test", 2210)])
def test_all_of_sst_reads_and_comes_back(split: Any, count: Any) -> None:
    paths = [SST / split / name for name in ("dparents.txt", "sents.toks", "rels.txt", "dlabels.txt")]
    drawn = pointers.read(*paths)
    assert len(drawn) == count
    if split == "train":
        assert sum(map(len, drawn)) == 163_563
        assert sum(label is not None for tree in drawn for label in tree.labels or ()) == 149_278
    for path, column in zip(paths, zip(*map(pointers.write, drawn), strict=True), strict=True):
        assert list(column) == path.read_text(encoding="utf-8").split("\n")[:-1]


@needs_sst
def test_sst_words_are_the_same_in_pointers_and_brackets() -> None:
    """But for slashes and stars, still escaped there."""
    words = pointers.read(SST / "dev" / "dparents.txt", SST / "dev" / "sents.toks")
    phrases = ptb.read(DATA / "sst" / "trees" / "dev.txt")
    for flat, deep in zip(words, phrases, strict=True):
        plain = tuple(str(token).replace("\\/", "/").replace("\\*", "*") for token in flat.tokens or ())
        assert plain == tuple((deep.tokens or ())[leaf] for leaf in deep.leaves)


def test_an_unknown_kind_is_refused() -> None:
    for call in (lambda: pointers.parse("0", kind="tree"), lambda: pointers.write(Tree([-1]), kind="tree")):  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="kind 'tree': 'dependency' or 'constituency'"):
            call()
