"""Trees over the words of any language, without a parser."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bough.data.oov import mostly_unknown
from bough.models.bundled import WEIGHTS
from bough.text import get_parser
from bough.text.tokenise import tokenise


@given(st.lists(st.text(alphabet="aß語", min_size=1), min_size=1, max_size=70))
def test_both_trees_have_the_words_in_order_and_are_as_low_as_can_be(words: list[str]) -> None:
    parser = get_parser("balanced")
    (phrases,), (arcs,) = parser.constituency([words]), parser.dependency([words])
    assert [(phrases.tokens or ())[leaf] for leaf in phrases.leaves] == words
    assert phrases.heights[0] == np.ceil(np.log2(len(words)))
    assert list(arcs.tokens or ()) == words
    assert arcs.heights[arcs.root] == int(np.log2(len(words)))
    for node in range(len(words)):  # every subtree covers words that follow one another
        below = [node]
        for child in below:
            below.extend(arcs.children[child])
        assert sorted(below) == list(range(min(below), max(below) + 1))


def test_an_empty_sentence_is_refused() -> None:
    with pytest.raises(ValueError, match="sentence 0 is empty"):
        get_parser("balanced").constituency([[]])


def test_each_chinese_or_japanese_character_is_a_token() -> None:
    text = "这部电影 iPhone手机 すごい café"
    tokens = tokenise(text)
    assert [token.text for token in tokens] == [*"这部电影", "iPhone", *"手机すごい", "café"]
    assert all(text[token.start : token.end] == token.text for token in tokens)


OTHERS = [
    "Der Film war leider viel zu lang, aber die Schauspieler haben mir sehr gut gefallen.",
    "Je ne comprends pas pourquoi ma facture n'est pas encore arrivée ce matin.",
    "La película es demasiado larga, pero los actores son realmente maravillosos.",
    "De film duurt veel te lang, maar de acteurs spelen werkelijk heel goed.",
    "Film çok uzundu ama oyuncular gerçekten çok iyiydi.",
    "Фильм слишком длинный, но актёры играют замечательно.",
    "这部电影太长了 但是演员们演得非常好",
]
ENGLISH = [
    "The film was unfortunately much too long, but the actors were very good.",
    "omg soooo gooood, luv this #bestmovie of 2020 lol",
    "Verbinski implements every hack-artist trick to give us the ooky-spookies.",
    "Bonjour !",
    "12 34 56 78 90 11",
]


@pytest.mark.parametrize(("texts", "foreign"), [(OTHERS, True), (ENGLISH, False)])
def test_another_language_is_known_by_its_unknown_words(texts: list[str], foreign: bool) -> None:
    index = {
        word: row for row, word in enumerate((WEIGHTS / "sentiment" / "vocab.txt").read_text().split("\n"))
    }
    for text in texts:
        share = mostly_unknown([token.text for token in tokenise(text)], index)
        assert (share is not None) == foreign, text
