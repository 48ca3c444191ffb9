"""Universal Dependencies become Stanford Dependencies: the heads move, the tree stays a tree."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import treegen
from bough.formats import ptb
from bough.text.stanford_dependencies import dependency_heads, is_universal, universal_to_stanford
from bough.trees.tree import Tree

Row = tuple[str, str, int, str]
RELATIONS = (
    "acl acl:relcl advcl advmod amod appos aux aux:pass case cc ccomp compound conj cop csubj dep det expl "
    "fixed flat iobj mark nmod nmod:poss nsubj nsubj:pass nummod obj obl parataxis punct root xcomp"
)
WORDS = ["not", "well", "of", "'s", "while", "elm", "after", "is", "no"]
TAGS = ["IN", "NN", "NNP", "RB", "VBG", "VBZ", "JJ", "POS", "TO", "CD", ""]


def converted(text: str) -> list[str]:
    """`word tag head relation`, heads from 1, a word each -> SD as `relation(head, word)`."""
    rows = [row.split() for row in text.split(" / ")]
    tree = universal_to_stanford(
        [row[0] for row in rows],
        [int(row[2]) - 1 for row in rows],
        [row[3] for row in rows],
        [row[1] for row in rows],
    )
    return triples(tree)


def triples(tree: Tree) -> list[str]:
    words = tree.tokens or ()
    return [
        f"{relation}({words[head] if head >= 0 else ''}, {word})"
        for word, head, relation in zip(words, tree.parents.tolist(), tree.relations or (), strict=True)
    ]


@pytest.mark.parametrize(
    ("universal", "expected"),
    [
        pytest.param(
            "Owls NNS 2 nsubj / sleep VBP 0 root / in IN 4 case / barns NNS 2 obl",
            "nsubj(sleep, Owls) root(, sleep) prep(sleep, in) pobj(in, barns)",
            id="a preposition heads its noun",
        ),
        pytest.param(
            "rain NN 0 root / from IN 4 case / the DT 4 det / coast NN 1 nmod",
            "root(, rain) prep(rain, from) det(coast, the) pobj(from, coast)",
            id="below a noun too",
        ),
        pytest.param(
            "Ann NNP 2 nsubj / ran VBD 0 root / out IN 5 case / of IN 5 case / town NN 2 obl",
            "nsubj(ran, Ann) root(, ran) prep(ran, out) pcomp(out, of) pobj(of, town)",
            id="of two prepositions the first heads the second",
        ),
        pytest.param(
            "It PRP 2 nsubj / sank VBD 0 root / because IN 5 case / of IN 3 fixed / ice NN 2 obl",
            "nsubj(sank, It) root(, sank) mwe(of, because) prep(sank, of) pobj(of, ice)",
            id="the last word heads a fixed expression",
        ),
        pytest.param(
            "Ann NNP 3 nmod:poss / 's POS 1 case / kite NN 0 root",
            "poss(kite, Ann) possessive(Ann, 's) root(, kite)",
            id="a possessive is no preposition",
        ),
        pytest.param(
            "He PRP 2 nsubj / sat VBD 0 root / right RB 5 advmod / by IN 5 case / me PRP 2 obl",
            "nsubj(sat, He) root(, sat) advmod(by, right) prep(sat, by) pobj(by, me)",
            id="what modifies the phrase hangs from the preposition",
        ),
        pytest.param(
            "She PRP 2 nsubj / left VBD 0 root / without IN 4 mark / paying VBG 2 advcl",
            "nsubj(left, She) root(, left) prep(left, without) pcomp(without, paying)",
            id="a preposition before a participle",
        ),
        pytest.param(
            "She PRP 2 nsubj / sang VBD 0 root / while IN 4 mark / paying VBG 2 advcl",
            "nsubj(sang, She) root(, sang) mark(paying, while) advcl(sang, paying)",
            id="a subordinator before a participle",
        ),
        pytest.param(
            "It PRP 3 nsubj / is VBZ 3 cop / sweet JJ 0 root / . . 3 punct",
            "nsubj(sweet, It) cop(sweet, is) root(, sweet) punct(sweet, .)",
            id="a complement heads its copula",
        ),
        pytest.param(
            "It PRP 5 nsubj / is VBZ 5 cop / not RB 5 advmod / in IN 5 case / tins NNS 0 root / . . 5 punct",
            "nsubj(is, It) root(, is) neg(is, not) prep(is, in) pobj(in, tins) punct(is, .)",
            id="but a place does not",
        ),
        pytest.param(
            "She PRP 3 nsubj / is VBZ 3 cop / here RB 0 root",
            "nsubj(is, She) root(, is) advmod(is, here)",
            id="nor does an adverb",
        ),
        pytest.param(
            "Tea NN 0 root / , , 3 punct / milk NN 1 conj / and CC 5 cc / figs NNS 1 conj",
            "root(, Tea) punct(milk, ,) conj(Tea, milk) cc(Tea, and) conj(Tea, figs)",
            id="a conjunction hangs from the first conjunct",
        ),
        pytest.param(
            "go VB 0 root / by IN 3 case / sea NN 1 obl / or CC 6 cc / by IN 6 case / air NN 3 conj",
            "root(, go) prep(go, by) pobj(by, sea) cc(by, or) conj(by, by) pobj(by, air)",
            id="prepositional phrases are conjoined at their prepositions",
        ),
        pytest.param(
            "Mary NNP 4 nsubj / Ann NNP 1 flat / Moss NNP 1 flat / won VBD 0 root",
            "nn(Moss, Mary) nn(Moss, Ann) nsubj(won, Moss) root(, won)",
            id="the last word heads a name",
        ),
        pytest.param(
            "no DT 2 det / owl NN 5 nsubj:pass / was VBD 5 aux:pass / n't RB 5 advmod / seen VBN 0 root",
            "neg(owl, no) nsubjpass(seen, owl) auxpass(seen, was) neg(seen, n't) root(, seen)",
            id="negation and the passive have other names",
        ),
        pytest.param(
            "I PRP 2 nsubj / like VBP 0 root / to TO 4 mark / read VB 2 xcomp / two CD 6 nummod / books NNS 4 obj",
            "nsubj(like, I) root(, like) aux(read, to) xcomp(like, read) num(books, two) dobj(read, books)",
            id="so have infinitives, numbers and objects",
        ),
        pytest.param(
            "a DT 2 det / man NN 0 root / who WP 4 nsubj / sang VBD 2 acl:relcl / seen VBN 2 acl",
            "det(man, a) root(, man) nsubj(sang, who) rcmod(man, sang) vmod(man, seen)",
            id="and clauses below a noun",
        ),
    ],
)
def test_a_sentence(universal: str, expected: str) -> None:
    assert " ".join(converted(universal)) == expected


@given(tree=treegen.trees(max_nodes=10), data=st.data())
def test_any_tree_stays_a_tree_over_the_same_words(tree: Tree, data: st.DataObject) -> None:
    def column(values: list[str]) -> list[str]:
        return data.draw(st.lists(st.sampled_from(values), min_size=len(tree), max_size=len(tree)))

    words = column(WORDS)
    done = universal_to_stanford(words, tree.parents.tolist(), column(RELATIONS.split()), column(TAGS))
    assert done.tokens == tuple(words)
    assert (done.relations or ())[done.root] == "root"


@given(tree=treegen.trees(max_nodes=10), data=st.data())
def test_only_names_of_stanford_dependencies_come_out(tree: Tree, data: st.DataObject) -> None:
    relations = data.draw(
        st.lists(st.sampled_from(RELATIONS.split()), min_size=len(tree), max_size=len(tree))
    )
    done = universal_to_stanford(["elm"] * len(tree), tree.parents.tolist(), relations, ["NN"] * len(tree))
    assert not is_universal(str(relation) for relation in done.relations or ())


def test_universal_dependencies_are_known_by_their_names() -> None:
    assert is_universal(["nsubj", "obj"])
    assert is_universal(["nsubj:pass"])
    assert not is_universal(["nsubj", "dobj", "prep", "pobj", "cop", "punct"])


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
