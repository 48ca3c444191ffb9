"""Which child of a phrase is its head.

The table follows the one in Collins' thesis (1999), with the changes usual for parser output: unknown
labels, bare parts of speech beside phrases, punctuation never a head if anything else is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from bough.text.words import word_set

Side = Literal["left", "right"]


class Rule(NamedTuple):
    """One way to look for a head: from which side, for which labels.

    By priority the first label found anywhere wins; otherwise the first child that bears any of them.
    """

    side: Side
    labels: frozenset[str] | tuple[str, ...]

    def find(self, labels: Sequence[str]) -> int | None:
        """The position of the head among the children's labels, None where the rule finds none."""
        places = range(len(labels)) if self.side == "left" else range(len(labels) - 1, -1, -1)
        if isinstance(self.labels, frozenset):
            return next((place for place in places if labels[place] in self.labels), None)
        for wanted in self.labels:
            for place in places:
                if labels[place] == wanted:
                    return place
        return None


def _first(side: Side, labels: str) -> tuple[Rule, ...]:
    return (Rule(side, tuple(labels.split())),)


def _any(side: Side, labels: str) -> Rule:
    return Rule(side, word_set(labels))


_NOUN_PHRASE = (
    _any("right", "NN NNP NNS NNPS NX NML POS JJR"),
    _any("left", "NP PRP"),
    _any("right", "$ ADJP PRN FW"),
    _any("right", "CD"),
    _any("right", "JJ JJS RB QP DT WDT NML PRP RBR RBS"),
    _any("left", "ADVP X SBAR S VP PP INTJ"),
)

HEADS: dict[str, tuple[Rule, ...]] = {
    "ADJP": (
        *_first("left", "NNS QP NN $"),
        _any("left", "JJ VBN VBG ADJP JJR NP JJS FW"),
        *_first("left", "DT RBR RBS SBAR RB ADVP CD IN VBD"),
    ),
    "ADVP": (
        _any("right", "RB RBR RBS FW ADVP"),
        *_first("right", "TO CD JJR JJ IN NP JJS NN NNS NNP VBN"),
    ),
    "CONJP": _first("right", "CC RB IN"),
    "FRAG": (_any("left", "S SBAR NP VP SQ SBARQ"), _any("left", "ADJP ADVP PP INTJ")),
    "INTJ": (_any("left", "UH INTJ"),),
    "LST": _first("right", "LS :"),
    "NAC": _first("left", "NN NNS NNP NNPS NML NP NAC EX $ CD QP PRP VBG JJ JJS JJR ADJP FW"),
    "NML": _NOUN_PHRASE,
    "NP": _NOUN_PHRASE,
    "NX": _NOUN_PHRASE,
    "PP": (
        *_first("right", "IN TO VBG VBN RP FW JJ"),
        *_first("left", "PP"),
    ),
    "PRN": _first("left", "VP SQ S SINV SBAR NP ADJP PP ADVP INTJ WHNP NN"),
    "PRT": _first("right", "RP"),
    "QP": _first("left", "$ IN NNS NN JJ CD PDT RB DT NCD QP JJR JJS"),
    "RRC": _first("left", "RRC VP NP ADJP PP ADVP"),
    "S": _first("left", "TO VP S FRAG SBAR ADJP UCP NP"),
    "SBAR": _first("left", "WHNP WHPP WHADVP WHADJP IN DT S SQ SINV SBAR FRAG"),
    "SBARQ": _first("left", "SQ S SINV SBARQ FRAG SBAR"),
    "SINV": _first("left", "VBZ VBD VBP VB MD VP S SINV ADJP NP"),
    "SQ": _first("left", "VBZ VBD VBP VB MD VP SQ S"),
    "UCP": (),
    "VP": _first("left", "TO VBD VBN MD VBZ VB VBG VBP VP ADJP NN NNS JJ NP NNP"),
    "WHADJP": _first("left", "WRB WP JJ ADJP RB"),
    "WHADVP": _first("right", "WRB RB"),
    "WHNP": _first("left", "WDT WP WP$ WHADJP WHPP WHNP"),
    "WHPP": _first("right", "IN TO FW"),
    "X": _first("right", "S VP ADJP NP SBAR PP X"),
}
_PUNCTUATION = word_set(", . : `` '' -LRB- -RRB- ( ) HYPH NFP #")
_CONJUNCTIONS = frozenset(["CC", "CONJP"])
_FROM_THE_RIGHT = word_set("ADVP CONJP LST NAC NP NX NML PP PRT UCP WHADVP X")


def head_child(label: str, children: Sequence[str]) -> int:
    """The position of the head among the children of a phrase, by their labels.

    >>> head_child("VP", ["MD", "RB", "VP"])
    0
    >>> head_child("NP", ["NNP", "NNP", "POS"])
    2
    """
    names = [bare(child) for child in children]
    phrase = bare(label)
    for rule in HEADS.get(phrase, ()):
        place = rule.find(names)
        if place is not None:
            return _before_conjunction(names, place)
    places = range(len(names) - 1, -1, -1) if phrase in _FROM_THE_RIGHT else range(len(names))
    spoken = [place for place in places if names[place] not in _PUNCTUATION]
    return _before_conjunction(names, spoken[0]) if spoken else places[0]


def bare(label: str) -> str:
    """A label without function tags and indices: `NP-SBJ-1` and `NP=2` are `NP`; `-LRB-` stays."""
    if label.startswith("-"):
        return label
    return label.partition("-")[0].partition("=")[0].partition("|")[0]


def _before_conjunction(names: Sequence[str], head: int) -> int:
    """In `X and Y` the first conjunct is the head, whichever the search found."""
    if head >= 2 and names[head - 1] in _CONJUNCTIONS:
        place = head - 2
        while place > 0 and names[place] in _PUNCTUATION:
            place -= 1
        return place if names[place] not in _PUNCTUATION else head
    return head
