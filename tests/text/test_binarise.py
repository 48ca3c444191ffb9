import pytest

from bough.formats import ptb
from bough.text.binarise import bare, binarise, flatten, head_child
from bough.trees.tree import Tree


def brackets(tree: Tree) -> str:
    def shown(node: int) -> str:
        below = tree.children[node]
        assert tree.tokens is not None
        return f"({' '.join(map(shown, below))})" if below else str(tree.tokens[node])

    return shown(tree.root)


@pytest.mark.parametrize(
    ("label", "children", "head"),
    [
        ("S", ["NP", "VP", "."], 1),
        ("S", ["S", "CC", "S", "."], 0),
        ("VP", ["MD", "RB", "VP"], 0),
        ("VP", ["TO", "VP"], 0),
        ("NP", ["DT", "JJ", "NN"], 2),
        ("NP", ["NP", "PP"], 0),
        ("NP", ["NN", "CC", "NN"], 0),
        ("NP", ["NNP", "NNP", "POS"], 2),
        ("PP", ["IN", "NP"], 0),
        ("SBAR", ["IN", "S"], 0),
        ("ADJP", ["RB", "JJ", "PP"], 1),
        ("NP-SBJ-1", ["DT", "NN"], 1),
        ("", ["``", "X", "''"], 1),
        ("NP", [",", "."], 1),
    ],
)
def test_the_table_finds_the_head(label: str, children: list[str], head: int) -> None:
    assert head_child(label, children) == head


def test_function_tags_and_indices_are_no_part_of_a_label() -> None:
    assert [bare(label) for label in ("NP-SBJ-1", "NP=2", "-LRB-", "S|FRAG", "PRP$")] == [
        "NP",
        "NP",
        "-LRB-",
        "S",
        "PRP$",
    ]


def test_the_head_takes_its_right_sisters_first_then_its_left_ones() -> None:
    tree = ptb.parse(
        "(S (ADVP (RB now)) (NP (PRP she)) (VP (VBZ sings) (NP (NNS songs)) (ADVP (RB well))) (. .))"
    )
    assert brackets(binarise(tree)) == "(now (she (((sings songs) well) .)))"


def test_nodes_in_between_bear_the_phrase_s_label() -> None:
    tree = binarise(ptb.parse("(ROOT (NP (DT the) (JJ old) (NN oak)))"))
    assert tree.labels == ("NP", "DT", "@NP", "JJ", "NN")
    assert tree.parents.tolist() == [-1, 0, 0, 2, 2]


def test_single_children_are_left_out() -> None:
    tree = binarise(ptb.parse("(ROOT (S (VP (VB Go))))"))
    assert len(tree) == 1
    assert tree.tokens == ("Go",)
    assert tree.labels == ("VB",)


def test_marks_of_another_binarisation_are_dissolved() -> None:
    marked = ptb.parse("(ROOT (NP (DT a) (@NP (JJ b) (@NP (NN c) (PP (IN d) (NP (NN e)))))))")
    assert [len(c) for c in flatten(marked).children if len(c) > 2] == [4]
    assert brackets(binarise(marked)) == "(a (b (c (d e))))"


def test_a_wide_phrase_is_no_problem() -> None:
    wide = ptb.parse("(NP " + "(NN x) " * 5_000 + ")")
    tree = binarise(wide)
    assert len(tree.leaves) == 5_000
    assert set(tree.degrees.tolist()) == {0, 2}


def test_a_root_loses_its_mark_and_a_single_word_keeps_its_tag() -> None:
    assert flatten(ptb.parse("(@S (A a) (B b))")).labels == ("S", "A", "B")
    assert flatten(ptb.parse("(@ (A a) (B b))")).labels == (None, "A", "B")
    assert flatten(ptb.parse("(@ hi)")).labels == ("@",)
