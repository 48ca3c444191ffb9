"""Claims about the trees that a user asks for: of phrases and of dependencies, of one text or many, in every format."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bough
from bough import Tree
from bough.formats import conllu, ptb
from bough.pipelines import ParsedSentence, ParserPipeline
from bough.pipelines.parses import with_full_stop_on_top
from bough.text import BUILTIN, get_parser
from bough.text.tokenise import Token

TEXT = "The cat sat on the mat. Not a good film!"


@pytest.fixture(scope="module")
def parse() -> ParserPipeline:
    return bough.load("parser")


def test_a_text_is_parsed_sentence_by_sentence(parse: ParserPipeline) -> None:
    first, second = parse(TEXT).sentences
    words = [token.text for token in first.tokens]
    assert words == ["The", "cat", "sat", "on", "the", "mat", "."]
    (dependencies,) = get_parser("builtin").dependency([words])
    assert first.dependencies == dependencies
    assert [TEXT[token.start : token.end] for token in second.tokens] == ["Not", "a", "good", "film", "!"]


def test_texts_of_a_list_have_the_trees_of_single_texts(parse: ParserPipeline) -> None:
    texts = [TEXT, "", "Dogs sleep."]
    assert parse(texts) == [parse(text) for text in texts]
    assert list(ParserPipeline(parse.parser, 2).stream(texts)) == parse(texts)
    assert parse("").sentences == []


def test_the_formats_read_back_as_the_same_trees(parse: ParserPipeline) -> None:
    result = parse(TEXT)
    assert ptb.read(result.ptb().splitlines()) == [sentence.phrases for sentence in result.sentences]
    assert conllu.read(result.conllu().splitlines()) == [one.dependencies for one in result.sentences]
    assert result.conllu().startswith("# text = The cat sat on the mat.\n1\tThe\t")


def test_json_has_tokens_heads_and_phrases(parse: ParserPipeline) -> None:
    first, _ = json.loads(parse(TEXT).json())["sentences"]
    assert first["tokens"][5] == {"text": "mat", "start": 19, "end": 22}
    assert (first["heads"][1], first["relations"][1]) == (2, "nsubj")
    covered = {tuple(phrase["span"]) for phrase in first["phrases"]}
    assert {(0, 7), (0, 6), (0, 2), (4, 6), (6, 7)} <= covered
    for phrase in first["phrases"]:
        inner = [first["phrases"][child]["span"] for child in phrase["children"]]
        assert not inner or [inner[0][0], inner[-1][1]] == phrase["span"]


def test_the_picture_has_both_trees_and_says_if_it_is_too_large(parse: ParserPipeline) -> None:
    picture = parse("Cats climb trees.").svg()
    assert ElementTree.fromstring(picture).tag.endswith("svg")
    assert "dobj" in picture
    with pytest.raises(ValueError, match="no picture: there is no tree"):
        parse("").svg()
    with pytest.raises(ValueError, match="more than 500 nodes"):
        parse(" ".join(["cats"] * 400)).svg()


@st.composite
def sentences(draw: st.DrawFn) -> tuple[Tree, list[str]]:
    """A binary tree over words, the last of which may be a full stop."""
    words = [f"w{place}" for place in range(draw(st.integers(1, 7)))] + [
        draw(st.sampled_from([".", "!", "w"]))
    ]

    def bracketed(part: list[str]) -> str:
        if len(part) == 1:
            return part[0]
        middle = draw(st.integers(1, len(part) - 1))
        return f"( {bracketed(part[:middle])} {bracketed(part[middle:])})"

    return ptb.parse(bracketed(words)), words


def spans(tree: Tree) -> set[tuple[int, int]]:
    """The range of words of each node."""
    nobody: list[Token] = []
    return {*ParsedSentence(nobody, tree, None).spans}


@given(sentences())
def test_a_full_stop_goes_to_the_top_and_nothing_else_moves(sentence: tuple[Tree, list[str]]) -> None:
    tree, words = sentence
    raised, end = with_full_stop_on_top(tree), len(words)
    assert [(raised.tokens or ())[leaf] for leaf in raised.words.tolist()] == words
    if words[-1] == "w":
        assert raised == tree
        return
    others = {(low, min(high, end - 1)) for low, high in spans(tree) if low < end - 1}
    assert spans(raised) == others | {(0, end), (end - 1, end)}
    assert raised.preorder.tolist() == [*range(len(tree))]


def test_the_trees_that_the_models_read_are_the_parsers_own() -> None:
    words = ["Dogs", "sleep", "."]
    (own,) = get_parser("builtin").constituency([words])
    assert bough.load("sentiment")("Dogs sleep .").tree.parents.tolist() == own.parents.tolist()
    assert bough.load("parser")("Dogs sleep .").ptb() == "( ( Dogs sleep) .)"


def test_a_parser_with_one_kind_of_tree_leaves_the_other_out() -> None:
    class Heads:
        name, trees = "heads", ("dependency",)

        def dependency(self, sentences: list[list[str]]) -> list[Tree]:
            return [Tree([-1, *[0] * (len(words) - 1)], tokens=words) for words in sentences]

    result = ParserPipeline(Heads())("Cats climb.")  # type: ignore[arg-type]
    assert result.sentences[0].phrases is None
    assert "phrases" not in result.as_dict()["sentences"][0]
    with pytest.raises(ValueError, match="this parser finds no phrases; choose another"):
        result.ptb()


def test_a_parser_of_a_folder_is_loaded_by_the_argument_parser() -> None:
    assert bough.load("parser", parser=str(BUILTIN))(TEXT) == bough.load("parser")(TEXT)


def test_what_a_parser_cannot_do_is_refused() -> None:
    with pytest.raises(ValueError, match="a parser predicts nothing; `bough parse` shows its trees"):
        bough.load("parser").model  # noqa: B018
    with pytest.raises(ValueError, match="text 1 is 7; expected a string"):
        bough.load("parser")(["a", 7])  # type: ignore[list-item]
