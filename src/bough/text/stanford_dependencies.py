"""Universal Dependencies as Stanford Dependencies, which the paper's data and the relatedness model speak.

The two differ in what heads a phrase. In `sits in the park` the noun hangs from the verb and `in` from the
noun in UD; in SD `in` hangs from the verb (`prep`) and heads the noun (`pobj`). In `is in the park` and `is
here` the verb is the head again, while `is happy` and `is a poet` have theirs in the complement in both.
A conjunction hangs from the first conjunct, the last word of a name heads it, and many names differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bough.text.editable_tree import Draft
from bough.text.words import plain, word_set
from bough.trees.tree import Tree

_NAMES = {
    "acl:relcl": "rcmod",
    "advcl:relcl": "rcmod",
    "aux:pass": "auxpass",
    "case": "prep",
    "cc:preconj": "preconj",
    "compound": "nn",
    "compound:prt": "prt",
    "csubj:pass": "csubjpass",
    "det:predet": "predet",
    "dislocated": "dep",
    "fixed": "mwe",
    "flat": "nn",
    "list": "dep",
    "nmod": "npadvmod",
    "nmod:desc": "nn",
    "nmod:poss": "poss",
    "nmod:tmod": "tmod",
    "nsubj:pass": "nsubjpass",
    "nummod": "num",
    "obj": "dobj",
    "obl": "npadvmod",
    "obl:tmod": "tmod",
    "orphan": "dep",
    "reparandum": "dep",
    "vocative": "dep",
}
_UNIVERSAL = word_set("acl case compound fixed flat nmod nummod obj obl")
_NEGATIONS = word_set("not n't never no")
_POSSESSIVES = word_set("'s '")
# words that open a clause even before a participle: `while reading` is no prepositional phrase
_SUBORDINATORS = word_set("although as because if lest once so than that though unless whereas whether while")
# what belongs to a clause, not to the noun or adverb that is its predicate
_CLAUSAL = word_set("nsubj csubj aux cop mark advcl ccomp parataxis discourse vocative expl punct obl cc")
_MODIFIERS = word_set("obl nmod xcomp advcl acl obj iobj dep")


def is_universal(relations: Iterable[str]) -> bool:
    """Whether there is a relation among these that UD has and SD has not."""
    return any(":" in relation or relation in _UNIVERSAL for relation in relations)


def to_stanford(
    words: Sequence[str], heads: Sequence[int], relations: Sequence[str], tags: Sequence[str]
) -> Tree:
    """UD heads (from 0, -1 above the root), relations and Penn tags of a sentence -> its SD tree."""
    draft = Draft(words, heads, relations)
    _lift_last_words(draft)
    phrases = _prepositions(draft, tags)
    _lift_copulas(draft, tags, phrases)
    for noun, cases in phrases.items():
        _lift_prepositions(draft, noun, cases, tags)
    _gather_conjuncts(draft, phrases)
    draft.rename(lambda node: _name(draft, node, tags))
    return draft.tree()


# ------------------------------------------------------------------------ heads


def _lift_last_words(draft: Draft) -> None:
    """The last word heads a name (`Mary Ann Evans`) and a fixed expression (`because of`), `well` its own."""
    for kind, name in (("flat", "compound"), ("fixed", "fixed")):
        groups: dict[int, list[int]] = {}
        for node, relation in enumerate(draft.relations):
            if _base(relation) == kind:
                draft.relations[node] = name
                groups.setdefault(draft.heads[node], []).append(node)
        for parts in groups.values():
            chosen = next((part for part in parts if plain(draft.words[part]) == "well"), parts[-1])
            draft.lift_all(chosen, name)


def _prepositions(draft: Draft, tags: Sequence[str]) -> dict[int, list[int]]:
    """Nouns and participles -> the prepositions that they hang below in SD, first word first."""
    found: dict[int, list[int]] = {}
    for node in range(len(draft)):
        above = draft.heads[node]
        relation = draft.relations[node]
        if (relation == "case" and not _possessive(draft, node, tags)) or (
            relation == "mark" and _before_participle(draft, node, tags)
        ):
            found.setdefault(above, []).append(node)
    return found


def _before_participle(draft: Draft, mark: int, tags: Sequence[str]) -> bool:
    verb = draft.heads[mark]
    return (
        tags[mark] == "IN"
        and plain(draft.words[mark]) not in _SUBORDINATORS
        and tags[verb] == "VBG"
        and not any(_base(draft.relations[child]) in ("aux", "cop") for child in draft.below(verb))
    )


def _lift_copulas(draft: Draft, tags: Sequence[str], phrases: dict[int, list[int]]) -> None:
    """`is` heads its clause where what it links is a place, a time or a manner."""
    for verb in range(len(draft)):
        predicate = draft.heads[verb]
        if draft.relations[verb] != "cop" or not (predicate in phrases or tags[predicate] in ("RB", "WRB")):
            continue
        draft.lift(verb, "obl" if predicate in phrases else "advmod")
        _move_clause(draft, predicate, verb)


def _lift_prepositions(draft: Draft, noun: int, cases: list[int], tags: Sequence[str]) -> None:
    """The noun hangs from its last preposition, that from the one before, the first from the noun's head."""
    below = noun
    for case in reversed(cases):
        draft.hang(case, below)
        verbal = below != noun or tags[noun].startswith("VB")
        draft.lift(case, "pcomp" if verbal else "pobj")
        below = case
    first = cases[0]
    if _base(draft.relations[first]) in _MODIFIERS:
        draft.relations[first] = "prep"
    else:  # the phrase is a clause of its own, `At last !`, or a conjunct
        _move_clause(draft, noun, first)
    for child in draft.below(noun, "advmod"):
        if child < first:  # `right in the park`
            draft.hang(child, first)


def _move_clause(draft: Draft, old: int, new: int) -> None:
    """What belongs to the clause hangs from its new head."""
    for child in draft.below(old):
        relation = _base(draft.relations[child])
        if relation == "advmod":
            clausal = child < new or plain(draft.words[child]) in _NEGATIONS
        elif relation == "conj":
            below = [_base(draft.relations[grandchild]) for grandchild in draft.below(child)]
            clausal = not {"nsubj", "cop", "aux"}.isdisjoint(below)
        else:
            clausal = relation in _CLAUSAL
        if clausal and child != new:
            draft.hang(child, new)


def _gather_conjuncts(draft: Draft, phrases: dict[int, list[int]]) -> None:
    """Prepositional conjuncts hang from the first preposition; a conjunction from the first conjunct."""
    first = {noun: cases[0] for noun, cases in phrases.items()}
    for preposition in first.values():
        above = draft.heads[preposition]
        if draft.relations[preposition] == "conj" and above in first:
            draft.hang(preposition, first[above])
    for node, relation in enumerate(draft.relations):
        above = draft.heads[node]
        if relation == "cc" and above >= 0 and draft.relations[above] == "conj" and draft.heads[above] >= 0:
            draft.hang(node, draft.heads[above])


# ------------------------------------------------------------------------ names


def _name(draft: Draft, node: int, tags: Sequence[str]) -> str:
    relation, word, tag = draft.relations[node], plain(draft.words[node]), tags[node]
    base = _base(relation)
    if base in ("advmod", "det") and word in _NEGATIONS:
        return "neg"
    if base == "mark" and tag == "TO":
        return "aux"
    if base == "case" and _possessive(draft, node, tags):
        return "possessive"
    if base == "compound" and tag == tags[draft.heads[node]] == "CD":
        return "number"
    if base == "xcomp" and tag.startswith("JJ") and not draft.below(node, "mark", "cop"):
        return "acomp"
    if relation == "acl":
        return "ccomp" if any(tags[mark] != "TO" for mark in draft.below(node, "mark")) else "vmod"
    if relation == "advcl" and tag in ("VBG", "VBN") and not draft.below(node, "mark", "nsubj", "aux"):
        return "vmod"
    return _NAMES.get(relation) or _NAMES.get(base, base)


def _possessive(draft: Draft, node: int, tags: Sequence[str]) -> bool:
    return tags[node] == "POS" or plain(draft.words[node]) in _POSSESSIVES


def _base(relation: str) -> str:
    return relation.partition(":")[0]
