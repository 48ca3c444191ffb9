"""The parser in the package: what it promises, at a fraction of the full measurement's cost."""

import pytest
import torch
from safetensors import safe_open

from bough.text import BUILTIN, get_parser
from bough.text.builtin.parser import BuiltinParser
from bough.text.tokenise import tokenise


@pytest.fixture(scope="module")
def parser() -> BuiltinParser:
    return BuiltinParser.load(BUILTIN)


def test_it_is_small_and_knows_many_words(parser: BuiltinParser) -> None:
    assert sum(file.stat().st_size for file in BUILTIN.iterdir()) < 9_000_000
    assert len(parser.lexicon) > 40_000


def test_it_holds_rows_of_its_own_not_word_vectors() -> None:
    with safe_open(BUILTIN / "model.safetensors", "pt") as file:
        assert file.get_slice("words.codes").get_shape()[1] < 300
        assert file.get_tensor("words.codes").dtype == torch.int8


def test_it_says_where_it_comes_from_and_is_free_to_use(parser: BuiltinParser) -> None:
    card = (BUILTIN / "README.md").read_text(encoding="utf-8")
    names = " ".join(row["name"] for row in parser.about["data"])
    for source in ("Stanford Sentiment Treebank", "English Web Treebank", "GUM", "GloVe"):
        assert source in names
    for row in parser.about["data"]:
        assert f"| {row['name']} | {row['use']} | {row['terms']} |" in card
    assert "NC" not in " ".join(row["terms"] for row in parser.about["data"])
    assert parser.about["license"] in card


def test_a_simple_sentence_comes_out_right() -> None:
    parser = get_parser()
    tokens = [token.text for token in tokenise("The old man slowly climbs a tall tree.")]
    (phrases,) = parser.constituency([tokens])
    assert {(0, 3), (1, 3), (5, 8), (6, 8)} <= {tuple(span) for span in phrases.spans.tolist()}
    (arcs,) = parser.dependency([tokens])
    assert arcs.parents.tolist() == [2, 2, 4, 4, -1, 7, 7, 4, 4]
    assert arcs.relations == ("det", "amod", "nsubj", "advmod", "root", "det", "amod", "dobj", "punct")
