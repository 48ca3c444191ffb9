"""Trees and silver files as examples."""

from pathlib import Path

import pytest

from bough import Tree
from bough.errors import DataError
from bough.formats import ptb
from bough.train.parser.examples import UNKNOWN_HEAD, example_from_ptb, example_from_trees, read_silver


def test_a_labelled_tree_brings_spans_heads_and_tags() -> None:
    tree = ptb.parse("(ROOT (S (NP (DT The) (NN oak)) (VP (VBZ bends)) (. .)))")
    example = example_from_ptb("mine", tree)
    assert example.source == "mine"
    assert example.tokens == ("The", "oak", "bends", ".")
    assert example.spans == ((0, 4), (0, 2), (2, 4))
    assert example.heads == (2, 3, 0, 3)
    assert example.relations is None
    assert example.tags == ("DT", "NN", "VBZ", ".")
    assert example.labels == ("S", "NP", "@S")


def test_two_trees_bring_spans_heads_and_relations() -> None:
    phrase = Tree([-1, 0, 1, 1, 0], tokens=[None, None, "The", "oak", "bends"])
    arc = Tree([1, 2, -1], tokens=["The", "oak", "bends"], relations=["det", "nsubj", "root"])
    example = example_from_trees("mine", phrase, arc)
    assert example.tokens == ("The", "oak", "bends")
    assert example.spans == ((0, 3), (0, 2))
    assert example.heads == (2, 3, 0)
    assert example.relations == ("det", "nsubj", "root")
    assert example.tags is example.labels is None


@pytest.mark.parametrize(
    "line",
    [
        "",
        "[]",
        '{"tokens": ["oak"], "heads": [0]}',
        '{"tokens": ["oak"], "heads": [2], "relations": ["root"]}',
        '{"tokens": ["oak"], "heads": [null], "relations": ["root"]}',
        '{"tokens": ["oak", "bends"], "heads": [0], "relations": ["root"]}',
        '{"tokens": ["oak"], "heads": [0], "rela',
    ],
)
def test_a_torn_silver_sentence_is_named(tmp_path: Path, line: str) -> None:
    good = '{"tokens": ["oak", "bends"], "heads": [null, 0], "relations": [null, "root"]}'
    path = tmp_path / "silver.jsonl"
    path.write_text(f"{good}\n{line}\n")
    with pytest.raises(DataError, match=r"silver\.jsonl, line 2: no sentence with heads and relations"):
        read_silver(path)
    path.write_text(f"{good}\n")
    (example,) = read_silver(path)
    assert example.tokens == ("oak", "bends")
    assert example.heads == (UNKNOWN_HEAD, 0)
    with pytest.raises(DataError, match=r"gold\.jsonl: no such file; `bough parser silver` writes it"):
        read_silver(tmp_path / "gold.jsonl")
