"""spaCy's dependencies come out as Stanford's, with its own words left alone."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from bough.errors import DataError
from bough.text import spacy as adapter
from bough.text.spacy import SpacyParser, clearnlp_to_stanford
from bough.trees.tree import Tree
from paper.sick import load_sick


def triples(tree: Tree) -> str:
    words = tree.tokens or ()
    return " ".join(
        f"{relation}({words[head] if head >= 0 else ''}, {word})"
        for word, head, relation in zip(words, tree.parents.tolist(), tree.relations or (), strict=True)
    )


# ------------------------------------------------------------------- conversion


@pytest.mark.parametrize(
    ("clear", "expected"),
    [
        pytest.param(
            "Tea NN 2 nsubj / is VBZ 0 ROOT / sweet JJ 2 acomp / . . 2 punct",
            "nsubj(sweet, Tea) cop(sweet, is) root(, sweet) punct(sweet, .)",
            id="an adjective rises above its copula",
        ),
        pytest.param(
            "She PRP 2 nsubj / was VBD 0 ROOT / a DT 4 det / poet NN 2 attr",
            "nsubj(poet, She) cop(poet, was) det(poet, a) root(, poet)",
            id="so does a noun",
        ),
        pytest.param(
            "She PRP 2 nsubj / is VBZ 0 ROOT / in IN 2 prep / town NN 3 pobj",
            "nsubj(is, She) root(, is) prep(is, in) pobj(in, town)",
            id="a place does not",
        ),
        pytest.param(
            "There EX 2 expl / is VBZ 0 ROOT / no DT 4 det / tea NN 2 attr",
            "expl(is, There) root(, is) neg(tea, no) nsubj(is, tea)",
            id="what there is, is the subject",
        ),
        pytest.param(
            "tea NN 0 ROOT / milk NN 1 conj / and CC 2 cc / figs NNS 2 conj",
            "root(, tea) conj(tea, milk) cc(tea, and) conj(tea, figs)",
            id="all conjuncts hang from the first",
        ),
        pytest.param(
            "give VB 0 ROOT / her PRP 1 dative / tea NN 4 compound / leaves NNS 1 dobj",
            "root(, give) iobj(give, her) nn(leaves, tea) dobj(give, leaves)",
            id="names differ",
        ),
    ],
)
def test_a_sentence(clear: str, expected: str) -> None:
    rows = [row.split() for row in clear.split(" / ")]
    words, tags, heads, relations = zip(*rows, strict=True)
    assert (
        triples(clearnlp_to_stanford(words, [int(head) - 1 for head in heads], relations, tags)) == expected
    )


# --------------------------------------------------------------- a real pipeline


@pytest.fixture(scope="module")
def parser() -> SpacyParser:
    """The best English pipeline here; made for another spaCy version or not."""
    pytest.importorskip("spacy", reason="spaCy is not installed")
    if not adapter.installed():
        pytest.skip("no English spaCy pipeline is installed")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"\[W095\]")
        return SpacyParser()


def test_words_are_taken_as_they_are_given(parser: SpacyParser) -> None:
    sentences = [["It", "is", "n't", "New York", "(", "yet", ")", "."], ["Stop", "!", "Go", "!"], ["Tea"]]
    trees = parser.dependency(sentences)
    assert [list(tree.tokens or ()) for tree in trees] == sentences


def test_a_complement_heads_its_sentence(parser: SpacyParser) -> None:
    (tree,) = parser.dependency([["The", "old", "kettle", "is", "very", "noisy", "."]])
    assert (tree.tokens or ())[tree.root] == "noisy"
    assert "cop(noisy, is)" in triples(tree)


def test_no_sentences_no_trees(parser: SpacyParser) -> None:
    assert parser.dependency([]) == []


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [([], "sentence 1 is empty"), (["tea", " "], "sentence 1: word 1 is ' '"), ("tea", "sentence 1 is text")],
)
def test_a_sentence_without_words_is_an_error(
    parser: SpacyParser, sentence: Sequence[str], reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        parser.dependency([["fine"], sentence])


def test_phrases_are_refused_with_the_way_out(parser: SpacyParser) -> None:
    with pytest.raises(ValueError, match=r"spaCy has dependencies only; .*'builtin'"):
        parser.constituency([["tea"]])


def test_a_pipeline_is_found_by_its_name_or_its_package(parser: SpacyParser) -> None:
    for name, package in adapter.installed().items():
        assert name.startswith("en_")
        assert Path(package).name == package
    assert parser.model in adapter.installed()


def test_heads_agree_with_those_of_sick(parser: SpacyParser) -> None:
    """Stanford's own heads of 300 sentences: 95% before the copula rule, 96% with it."""
    if not os.environ.get("BOUGH_DATA"):
        pytest.skip("BOUGH_DATA is not set: no real data")
    gold = [pair.left for pair in load_sick(None, "dev")[:300]]
    found = parser.dependency([[str(token) for token in tree.tokens or ()] for tree in gold])
    right = sum(int(np.sum(one.parents == two.parents)) for one, two in zip(gold, found, strict=True))
    assert right / sum(map(len, gold)) > 0.95


# ------------------------------------------------------------ what is not there


def test_without_spacy_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(DataError, match=r'^spaCy is not installed; `pip install "bough\[spacy\]"`.*$'):
        SpacyParser()


def test_without_a_pipeline_the_error_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("spacy", reason="spaCy is not installed")
    monkeypatch.setattr(adapter, "installed", dict)
    with pytest.raises(
        DataError, match=r"^spaCy has no English pipeline here; `python -m spacy download \w+`$"
    ):
        SpacyParser()


def test_an_unknown_pipeline_is_an_error_that_lists_those_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("spacy", reason="spaCy is not installed")
    monkeypatch.setattr(adapter, "installed", lambda: {"en_core_web_sm": "en_core_web_sm"})
    with pytest.raises(
        DataError, match=r"^no spaCy pipeline 'en_moss' \(installed: en_core_web_sm\); .*en_moss`$"
    ):
        SpacyParser("en_moss")


def test_the_largest_pipeline_is_preferred(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("spacy", reason="spaCy is not installed")
    names = dict.fromkeys(["en_other", "en_core_web_sm", "en_core_web_md"], "package")
    monkeypatch.setattr(adapter, "installed", lambda: names)
    monkeypatch.setattr("spacy.load", lambda package, exclude: SimpleNamespace(pipe_names=["parser"]))
    assert SpacyParser().model == "en_core_web_md"
