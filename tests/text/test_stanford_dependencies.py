"""The heads of Stanford Dependencies are found in phrase structure."""

from __future__ import annotations

import pytest

from bough.formats import ptb
from bough.text.stanford_dependencies import dependency_heads


@pytest.mark.parametrize(
    ("text", "heads"),
    [
        ("(S (NP (NNS Cats)) (VP (VBP climb) (NP (NNS trees))) (. .))", [2, 0, 2, 2]),
        ("(S (NP (PRP It)) (VP (VBZ is) (ADJP (RB very) (JJ old))))", [4, 4, 4, 0]),
        ("(S (NP (PRP She)) (VP (VBZ has) (VP (VBN been) (VP (VBG singing)))))", [4, 4, 4, 0]),
        ("(S (NP (EX There)) (VP (VBZ is) (NP (DT an) (NN oak))))", [2, 0, 4, 2]),
        ("(S (NP (PRP He)) (VP (VBZ is) (PP (IN in) (NP (NNP Rome)))))", [2, 0, 2, 3]),
        ("(NP (NP (DT the) (NN dog) (POS 's)) (NN tail))", [2, 4, 2, 0]),
        (
            "(S (NP (PRP I)) (VP (VBP think) (SBAR (IN that) (S (NP (PRP he)) (VP (VBD left))))))",
            [2, 0, 5, 5, 2],
        ),
        ("(NP (NN tea) (CC and) (NN milk))", [0, 1, 1]),
        ("(NP (DT a) (@NP (JJ big) (NN oak)))", [3, 3, 0]),
        ("(NN oak)", [0]),
    ],
)
def test_heads_are_the_words_that_carry_the_meaning(text: str, heads: list[int]) -> None:
    assert dependency_heads(ptb.parse(text)) == heads
