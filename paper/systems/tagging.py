"""Parts of speech and lemmas, told from a dependency parse: SICK comes with parses and without tags."""

from __future__ import annotations

from collections.abc import Sequence

from bough.models.pair_features import NEGATIONS
from paper.systems.senses import Term
from paper.systems.wordnet import WordNet

STOP = {
    "a", "an", "the", "this", "that", "these", "those", "some", "is", "are", "am", "be", "been", "being",
    "was", "were", "do", "does", "did", "has", "have", "had", "having", "of", "in", "on", "at", "to",
    "into", "onto", "from", "by", "with", "for", "and", "or", "but", "as", "it", "its", "he", "his", "him",
    "she", "her", "they", "their", "them", "there", "who", "which", "while", "whose", ",", ".", ";", ":",
    "'", "'s",
}  # fmt: skip
PART = {
    **dict.fromkeys(("nsubj", "nsubjpass", "dobj", "iobj", "pobj", "nn", "poss", "appos", "npadvmod", "tmod"), "n"),
    **dict.fromkeys(("vmod", "xcomp", "rcmod", "pcomp", "ccomp", "advcl", "parataxis", "csubj"), "v"),
    **dict.fromkeys(("amod", "acomp"), "a"),
    **dict.fromkeys(("advmod", "prt"), "r"),
    **dict.fromkeys(
        ("det", "predet", "prep", "aux", "auxpass", "cop", "cc", "neg", "expl", "mark", "possessive", "punct", "num"),
        "",
    ),
}  # fmt: skip
SUBJECTS = {"nsubj", "nsubjpass", "aux", "auxpass", "dobj", "expl"}


def tags(
    words: Sequence[str], heads: Sequence[int], relations: Sequence[str], wordnet: WordNet
) -> tuple[Term, ...]:
    """Lemma and part of speech of every word; a word that WordNet does not have in any stays as it is, without."""
    below: list[set[str]] = [set() for _ in words]
    for head, relation in zip(heads, relations, strict=True):
        if head >= 0:
            below[head].add(relation)
    return tuple(_term(word, _part(i, heads, relations, below), wordnet) for i, word in enumerate(words))


def _part(node: int, heads: Sequence[int], relations: Sequence[str], below: list[set[str]]) -> str:
    if "cop" in below[node]:
        return "a"
    while relations[node] == "conj" and not below[node] & SUBJECTS:
        node = heads[node]  # what is joined by "and" is of one kind
    if relations[node] in PART:
        return PART[relations[node]]
    return "v" if below[node] & SUBJECTS else "n"


def _term(word: str, part: str, wordnet: WordNet) -> Term:
    if not part or word in STOP or word in NEGATIONS:
        return word, ""
    if word.endswith(("ing", "ed")) and part in "av" and (verb := wordnet.lemma(word, "v")):
        return verb, "v"
    for other in (part, *"nvar"):
        if (lemma := wordnet.lemma(word, other)) is not None:
            return lemma, other
    return word, ""
