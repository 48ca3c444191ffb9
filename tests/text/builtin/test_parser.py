"""The parser that a trained network becomes: its trees and its folder."""

from pathlib import Path

import pytest

from bough import Tree
from bough.errors import FormatError
from bough.text import builtin, get_parser
from bough.text.builtin.parser import LONGEST, BuiltinParser
from bough.train.parser.learner import build_parser
from small_parser import EXAMPLES, learner


@pytest.fixture
def parser() -> BuiltinParser:
    return build_parser(learner())


def both(parser: BuiltinParser, sentences: list[list[str]]) -> list[tuple[Tree, Tree]]:
    return list(zip(parser.constituency(sentences), parser.dependency(sentences), strict=True))


def test_trees_are_well_formed_for_any_words(parser: BuiltinParser) -> None:
    sentences = [
        ["Go"],
        ["a", "b"],
        ["שלום", "👍", "\ufffd", "x" * 500],
        ["oak"] * 40,
        ["the", "elm", "1,000"],
    ]
    for tokens, (phrase, arc) in zip(sentences, both(parser, sentences), strict=True):
        assert [phrase.tokens[leaf] for leaf in phrase.leaves] == tokens  # type: ignore[index]
        assert set(phrase.degrees.tolist()) <= {0, 2}
        assert phrase.preorder.tolist() == list(range(len(phrase)))
        assert arc.tokens == tuple(tokens)
        assert arc.relations is not None
        assert [i for i, name in enumerate(arc.relations) if name == "root"] == [arc.root]


def test_a_sentence_parses_the_same_in_any_company(parser: BuiltinParser) -> None:
    sentences = [["the", "oak", "bends"], ["now"] * 11, ["elm", "grows", "slowly", "now", "the"]]
    sentences.append(list(sentences[0]))
    assert both(parser, sentences) == [both(parser, [tokens])[0] for tokens in sentences]


def test_a_very_long_sentence_is_parsed_in_pieces(parser: BuiltinParser) -> None:
    tokens = ["oak", "and", "elm", ","] * 1_250
    phrase, arc = both(parser, [tokens])[0]
    assert len(phrase.leaves) == len(arc) == 5_000 > LONGEST
    assert set(phrase.degrees.tolist()) == {0, 2}


def test_no_words_no_tree(parser: BuiltinParser) -> None:
    assert both(parser, []) == []
    with pytest.raises(ValueError, match="sentence 1 is empty"):
        parser.constituency([["oak"], []])


def test_a_folder_gives_the_same_parser_and_a_broken_one_says_why(
    parser: BuiltinParser, tmp_path: Path
) -> None:
    parser.save(tmp_path)
    again = get_parser(str(tmp_path))
    sentences = [list(EXAMPLES[0].tokens), ["unknown", "words"]]
    assert again.constituency(sentences) == parser.constituency(sentences)
    assert again.dependency(sentences) == parser.dependency(sentences)
    config = (tmp_path / "config.json").read_text()
    tensors = (tmp_path / "model.safetensors").read_bytes()
    words = (tmp_path / "vocab.txt").read_text()
    for name, content, message in (
        ("config.json", b'{"kind": "sentiment", "format": 1}', "kind 'sentiment'"),
        ("config.json", config[:40].encode(), r"config\.json.*damaged, or not JSON"),
        ("config.json", config.replace('"size"', '"sizes"').encode(), "not a readable model: no 'size'"),
        ("config.json", config.replace('"format": 1', '"format": 2').encode(), "made by a newer bough"),
        ("config.json", config.replace('"hidden": 16', '"hidden": 8').encode(), r"codes is .*, .* wanted"),
        ("model.safetensors", tensors[:-30], r"model\.safetensors: damaged"),
        ("vocab.txt", b"\xff\n", r"vocab\.txt: cannot be read"),
        ("vocab.txt", words[:-1].encode(), r"words\.codes is \(.*, 16\) .*, \(.*, 16\) .* wanted"),
    ):
        before = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(content)
        with pytest.raises(FormatError, match=message):
            BuiltinParser.load(tmp_path)
        (tmp_path / name).write_bytes(before)
    (tmp_path / "vocab.txt").unlink()
    with pytest.raises(FormatError, match=r"vocab\.txt"):
        BuiltinParser.load(tmp_path)


def test_a_folder_says_which_trees_it_gives_and_where_they_come_from(tmp_path: Path) -> None:
    about = {"license": "MIT", "data": [{"name": "oaks"}]}
    made = build_parser(learner())
    made.trees, made.about = ("dependency",), about
    made.save(tmp_path)
    parser = BuiltinParser.load(tmp_path)
    assert parser.about == about
    assert len(parser.dependency([["oak", "bends"]])) == 1
    with pytest.raises(ValueError, match="learned dependency trees only, no constituency trees"):
        parser.constituency([["oak", "bends"]])


def test_an_unknown_parser_is_refused() -> None:
    with pytest.raises(ValueError, match="no parser 'oracle'"):
        get_parser("oracle")


def test_parsing_needs_nothing_of_training() -> None:
    for file in Path(builtin.__file__).parent.glob("*.py"):
        assert "bough.train" not in file.read_text(), file
