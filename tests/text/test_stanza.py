"""stanza's answers, in the shapes that its documentation gives them, become bough's trees."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from bough.errors import DataError, FormatError
from bough.formats import ptb
from bough.text import stanza as adapter
from bough.text.stanza import StanzaParser

SENTENCE = ["Two", "owls", "sat", "in", "(", "old", ")", "barns"]
PHRASES = (
    "(ROOT (S (NP (CD Two) (NNS owls)) (VP (VBD sat) (PP (IN in) "
    "(NP (-LRB- -LRB-) (JJ old) (-RRB- -RRB-) (NNS barns))))))"
)


@dataclass
class Node:
    """A node of stanza's constituency trees."""

    label: str
    children: tuple[Node, ...] = ()


@dataclass
class Recorded:
    """The module `stanza` as far as it is used: a Pipeline that takes lists of words."""

    sentences: list[Any]
    calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = field(default_factory=list)
    given: list[Any] = field(default_factory=list)
    missing: bool = False

    def pipeline(self, *args: Any, **options: Any) -> Any:
        if self.missing:
            raise FileNotFoundError("Could not find the model file")
        self.calls.append((args, options))

        def run(sentences: list[list[str]]) -> Any:
            self.given.append(sentences)
            return SimpleNamespace(sentences=self.sentences[: len(sentences)])

        return run


def nodes(text: str) -> Node:
    tree = ptb.parse(text, unescape=False)
    made: dict[int, Node] = {}
    for node in reversed(tree.preorder.tolist()):
        word = (tree.tokens or ())[node]
        below = tuple(made[child] for child in tree.children[node]) or (Node(str(word)),)
        made[node] = Node(str((tree.labels or ())[node]), below)
    return made[tree.root]


@pytest.fixture
def stanza(monkeypatch: pytest.MonkeyPatch) -> Recorded:
    recorded = Recorded([SimpleNamespace(constituency=nodes(PHRASES))] * 1000)
    module = ModuleType("stanza")
    module.Pipeline = recorded.pipeline  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "stanza", module)
    return recorded


def test_phrases_are_built_outwards_from_their_heads(stanza: Recorded) -> None:
    (tree,) = StanzaParser().constituency([SENTENCE])
    expected = "( ( Two owls ) ( sat ( in ( -LRB- ( old ( -RRB- barns ) ) ) ) ) )"
    assert tree == ptb.parse(expected, labelled=False)
    assert tree.labels is None


def test_heads_are_found_in_the_phrases(stanza: Recorded) -> None:
    (tree,) = StanzaParser().dependency([SENTENCE])
    assert list(tree.tokens or ()) == SENTENCE
    assert tree.parents.tolist() == [1, 2, -1, 2, 7, 7, 7, 3]


def test_the_words_are_handed_over_as_they_are_and_nothing_is_downloaded(stanza: Recorded) -> None:
    StanzaParser().dependency([SENTENCE])
    ((args, options),) = stanza.calls
    assert args == ("en",)
    assert options["tokenize_pretokenized"] is True
    assert options["download_method"] is None
    assert stanza.given == [[SENTENCE]]


def test_models_are_loaded_once_with_the_first_sentence(stanza: Recorded) -> None:
    parser = StanzaParser()
    assert stanza.calls == []
    parser.constituency([SENTENCE])
    parser.dependency([SENTENCE])
    assert [options["processors"] for _, options in stanza.calls] == ["tokenize,pos,constituency"]


def test_many_sentences_are_handed_over_in_parts(stanza: Recorded) -> None:
    trees = StanzaParser().dependency([SENTENCE] * (adapter.BATCH + 1))
    assert len(trees) == adapter.BATCH + 1
    assert [len(part) for part in stanza.given] == [adapter.BATCH, 1]


def test_no_sentences_need_no_models(stanza: Recorded) -> None:
    assert StanzaParser().constituency([]) == StanzaParser().dependency([]) == []
    assert stanza.calls == []


def test_other_words_than_those_given_are_an_error(stanza: Recorded) -> None:
    with pytest.raises(FormatError, match="stanza made 8 words of a sentence of 2, 'Two owls'"):
        StanzaParser().dependency([["Two", "owls"]])
    with pytest.raises(FormatError, match="stanza made 8 words of a sentence of 2, 'Two owls'"):
        StanzaParser().constituency([["Two", "owls"]])


def test_lost_sentences_are_an_error(stanza: Recorded) -> None:
    del stanza.sentences[1:]
    with pytest.raises(FormatError, match="stanza returned 1 sentences for 2"):
        StanzaParser().dependency([SENTENCE, SENTENCE])


def test_without_stanza_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "stanza", None)
    with pytest.raises(DataError, match=r'^stanza is not installed; `pip install "bough\[stanza\]"`.*$'):
        StanzaParser()


def test_without_models_the_error_says_how_to_get_them(stanza: Recorded) -> None:
    stanza.missing = True
    with pytest.raises(DataError, match=r"^stanza has no English models .*stanza\.download\('en'\).*$"):
        StanzaParser().dependency([SENTENCE])
