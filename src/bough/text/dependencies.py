"""Dependency heads out of labelled phrase structure, in the manner of Stanford Dependencies.

The heads here are the words that carry the meaning: the main verb, not its auxiliary; the complement of a
copula, not `is`; the clause, not its `that`; but the preposition, not what follows it.
"""

from __future__ import annotations

from collections.abc import Sequence

from bough.text.binarise import flatten
from bough.text.head_rules import bare, head_child
from bough.text.words import BE, word_set
from bough.trees.tree import Tree

_COPULAS = BE | {"s"}
_AUXILIARIES = _COPULAS | word_set("have has had having 've 'd do does did done get gets got getting")
_VERBS = word_set("VB VBD VBG VBN VBP VBZ MD TO AUX")
_COMPLEMENTS = ("ADJP", "NP", "WHNP", "WHADJP", "JJ", "NN", "NNS", "NNP", "UCP", "QP")
_CLAUSES = ("S", "SQ", "SINV", "SBAR", "FRAG", "X", "VP")


def dependency_heads(tree: Tree) -> list[int]:
    """The head of each word of a labelled tree, counted from 1, 0 for the root; always a projective tree."""
    tree = flatten(tree)
    words = tree.leaves.tolist()
    position = {node: place for place, node in enumerate(words, start=1)}
    lexical = dict(position)  # node -> the word that heads it
    heads = [0] * len(words)
    for node in reversed(tree.preorder.tolist()):
        children = tree.children[node]
        if not children:
            continue
        chosen = lexical[children[_semantic_head(tree, node, children, lexical)]]
        lexical[node] = chosen
        for child in children:
            if lexical[child] != chosen:
                heads[lexical[child] - 1] = chosen
    return heads


def _semantic_head(tree: Tree, node: int, children: Sequence[int], lexical: dict[int, int]) -> int:
    labels = [bare(_label(tree, child)) for child in children]
    phrase = bare(_label(tree, node))
    if phrase in ("VP", "SQ", "SINV"):
        found = _main_verb(tree, labels, children, phrase, lexical)
        if found is not None:
            return found
    if phrase == "SBAR":
        found = _first_of(labels, _CLAUSES)
        if found is not None:
            return found
    if phrase in ("NP", "NX") and labels[-1] == "POS" and len(labels) > 1:
        return head_child(phrase, labels[:-1])
    return head_child(phrase, labels)


def _main_verb(
    tree: Tree, labels: list[str], children: Sequence[int], phrase: str, lexical: dict[int, int]
) -> int | None:
    """Below an auxiliary the verb phrase, beside a copula its complement."""
    verb = next((i for i, label in enumerate(labels) if label in _VERBS), None)
    if verb is None:
        return None
    word = (tree.tokens[children[verb]] or "").lower() if tree.tokens is not None else ""
    if labels[verb] in ("MD", "TO") or word in _AUXILIARIES:
        below = next((i for i, label in enumerate(labels) if label == "VP" and i > verb), None)
        if below is not None:
            return below
    if word in _COPULAS and not _existential(tree, lexical[children[verb]]):
        places = [i for i, label in enumerate(labels) if label in _COMPLEMENTS and i > verb]
        if phrase == "VP":
            return places[0] if places else None
        return places[-1] if len(places) > (phrase == "SQ") else None
    return None


def _existential(tree: Tree, verb: int) -> bool:
    """Whether `there` stands next to the verb (word `verb`, counted from 1): no copula then."""
    near = tree.leaves[max(0, verb - 3) : verb + 1].tolist()
    return any(_label(tree, leaf) == "EX" for leaf in near)


def _first_of(labels: list[str], wanted: tuple[str, ...]) -> int | None:
    return next((i for label in wanted for i, have in enumerate(labels) if have == label), None)


def _label(tree: Tree, node: int) -> str:
    label = None if tree.labels is None else tree.labels[node]
    return "" if label is None else str(label)
