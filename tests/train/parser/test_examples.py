"""Treebanks as examples."""

from pathlib import Path

import pytest

from bough.errors import DataError, FormatError
from bough.train.parser.examples import Example, read_treebanks

PENN = "(ROOT (S (NP (DT The) (NN oak)) (VP (VBZ bends)) (. .)))\n"
OAK = [
    ("The", "DET", 2, "det"),
    ("oak", "NOUN", 3, "nsubj"),
    ("bends", "VERB", 0, "root"),
    (".", "PUNCT", 3, "punct"),
]

FALLS = [("oak", "NOUN", 2, "nsubj"), ("falls", "VERB", 0, "root")]


def conllu(words: list[tuple[str, str, int, str]]) -> str:
    lines = [
        f"{i}\t{form}\t_\t{tag}\t_\t_\t{head}\t{name}\t_\t_"
        for i, (form, tag, head, name) in enumerate(words, 1)
    ]
    return "\n".join([*lines, "", ""])


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_a_labelled_tree_brings_spans_converted_heads_and_tags(tmp_path: Path) -> None:
    (example,) = read_treebanks([written(tmp_path / "penn.txt", PENN)])
    assert example == Example(
        tokens=("The", "oak", "bends", "."),
        spans=((0, 4), (0, 2), (2, 4)),
        heads=(2, 3, 0, 3),
        tags=("DT", "NN", "VBZ", "."),
        labels=("S", "NP", "@S"),
        converted=True,
    )


def test_a_sentence_of_both_kinds_has_the_phrases_of_one_and_the_heads_of_the_other(tmp_path: Path) -> None:
    phrases = written(tmp_path / "penn.txt", PENN + PENN.replace("oak", "-LRB-"))
    arcs = written(tmp_path / "ud.conllu", conllu(OAK) + conllu(FALLS))
    joined, alone, bracket = read_treebanks([phrases, arcs])
    assert joined.spans == ((0, 4), (0, 2), (2, 4))
    assert joined.relations == ("det", "nsubj", "root", "punct")
    assert joined.tags == ("DET", "NOUN", "VERB", "PUNCT")
    assert not joined.converted
    assert alone == Example(("oak", "falls"), (), (2, 0), ("nsubj", "root"), ("NOUN", "VERB"))
    assert bracket.tokens[1] == "("
    assert bracket.converted


def test_labels_of_another_treebank_are_not_converted(tmp_path: Path) -> None:
    german = (
        "(S (NP (ART Die) (NN Eiche)) (VVFIN wächst))\n(CS (S (PPER Es) (VVFIN regnet)) (S (VVFIN friert)))\n"
    )
    for example in read_treebanks([written(tmp_path / "tiger.txt", german)]):
        assert example.spans
        assert example.tags
        assert example.heads == ()


def test_a_tree_without_labels_brings_spans_alone(tmp_path: Path) -> None:
    (example,) = read_treebanks([written(tmp_path / "bare.txt", "( ( The oak) bends)\n")])
    assert example == Example(("The", "oak", "bends"), ((0, 3), (0, 2)))


def test_traces_and_phrases_of_traces_are_left_out(tmp_path: Path) -> None:
    text = (
        "( (S (NP-SBJ-1 (NN oak)) (VP (VBZ seems) (S (NP-SBJ (-NONE- *-1)) (VP (TO to) (VP (VB bend)))))))\n"
    )
    (example,) = read_treebanks([written(tmp_path / "wsj.mrg", text)])
    assert example.tokens == ("oak", "seems", "to", "bend")
    assert example.spans == ((0, 4), (1, 4), (2, 4))


@pytest.mark.parametrize(
    ("name", "text", "error", "message"),
    [
        ("empty.txt", "", DataError, r"empty\.txt: no sentence of two words or more"),
        ("one.conllu", conllu([("Oak", "NOUN", 0, "root")]), DataError, "no sentence of two words or more"),
        ("open.txt", "(S (NP oak)", FormatError, r"open\.txt:1: 1 '\(' is never closed"),
        (
            "bare.txt",
            f"{PENN}(S (NP) (VP (VBZ bends)))",
            DataError,
            r"bare\.txt, tree 2: the leaf 'NP' has no word",
        ),
        ("trace.txt", "(S (NP (-NONE- *)))", DataError, r"trace\.txt, tree 1: no words"),
        (
            "loop.conllu",
            conllu([("a", "X", 2, "dep"), ("b", "X", 1, "dep")]),
            FormatError,
            r"loop\.conllu:1: no root",
        ),
    ],
)
def test_a_file_that_is_no_treebank_is_named(
    name: str, text: str, error: type[Exception], message: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=message):
        read_treebanks([written(tmp_path / name, text)])


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"gold\.conllu: no such file; a treebank is"):
        read_treebanks([tmp_path / "gold.conllu"])
