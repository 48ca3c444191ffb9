"""Convert phrase structure and Universal Dependencies (UD) to Stanford Dependencies (SD).

UD and SD differ in what heads a phrase. In `sits in the park` the noun hangs from the verb and `in`
from the noun in UD; in SD `in` hangs from the verb (`prep`) and heads the noun (`pobj`). In `is in
the park` and `is here` the verb is the head again, while `is happy` and `is a poet` have theirs in
the complement in both. A conjunction hangs from the first conjunct, the last word of a name heads
it, and many names differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bough.text.binarise import bare, flatten, head_child, node_label
from bough.trees.tree import Tree

BE = frozenset("be am is are was were been being 's 'm 're ai".split())
_COPULAS = BE | {"s"}
_AUXILIARIES = _COPULAS | frozenset(
    "have has had having 've 'd do does did done get gets got getting".split()
)
_VERBS = frozenset("VB VBD VBG VBN VBP VBZ MD TO AUX".split())
_COMPLEMENTS = ("ADJP", "NP", "WHNP", "WHADJP", "JJ", "NN", "NNS", "NNP", "UCP", "QP")
_CLAUSES = ("S", "SQ", "SINV", "SBAR", "FRAG", "X", "VP")

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
_UNIVERSAL = frozenset("acl case compound fixed flat nmod nummod obj obl".split())
_NEGATIONS = frozenset("not n't never no".split())
_POSSESSIVES = frozenset("'s '".split())
# words that open a clause even before a participle: `while reading` is no prepositional phrase
_SUBORDINATORS = frozenset(
    "although as because if lest once so than that though unless whereas whether while".split()
)
# what belongs to a clause, not to the noun or adverb that is its predicate
_CLAUSAL = frozenset(
    "nsubj csubj aux cop mark advcl ccomp parataxis discourse vocative expl punct obl cc".split()
)
_MODIFIERS = frozenset("obl nmod xcomp advcl acl obj iobj dep".split())


def plain(word: str) -> str:
    """Return the word in lower case, with a typewriter's apostrophe: `N\u2019T` is `n't`."""
    return word.lower().replace("\u2019", "'")


class EditableTree:
    """The heads (from 0, -1 above the root) and relations of a sentence, changed step by step.

    To keep it a tree, promote a word above its head, or give it a head that is not below it.
    """

    def __init__(self, words: Sequence[str], heads: Sequence[int], relations: Sequence[str]) -> None:
        self.words = list(words)
        self.heads = list(heads)
        self.relations = [
            "root" if head < 0 else relation for head, relation in zip(heads, relations, strict=True)
        ]

    def below(self, node: int, *relations: str) -> list[int]:
        """Return the children of `node`, in order; if `relations` are given, those with one of them."""
        return [
            child
            for child, head in enumerate(self.heads)
            if head == node and (not relations or self.relations[child] in relations)
        ]

    def promote(self, node: int, relation: str, *, siblings: bool = False) -> None:
        """Put `node` above its head, which hangs from it by `relation`; with `siblings` move these, too."""
        above = self.heads[node]
        others = [child for child in self.below(above) if child != node] if siblings else []
        self.heads[node], self.relations[node] = self.heads[above], self.relations[above]
        self.heads[above], self.relations[above] = node, relation
        for child in others:
            self.heads[child] = node

    def tree(self) -> Tree:
        """Return the tree: node i is word i."""
        return Tree(self.heads, tokens=self.words, relations=self.relations)


# ----------------------------------------------------- from phrase structure


def dependency_heads(tree: Tree) -> list[int]:
    """Return the head of each word of a labelled tree, from 1, 0 for the root; always projective.

    The heads are the words that carry the meaning: the main verb, not its auxiliary; the complement
    of a copula, not `is`; the clause, not its `that`; but the preposition, not what follows it.
    """
    tree = flatten(tree)
    lexical = {
        node: number for number, node in enumerate(tree.leaves.tolist(), 1)
    }  # node -> the word that heads it
    heads = [0] * len(lexical)
    for node in reversed(tree.preorder.tolist()):
        children = tree.children[node]
        if not children:
            continue
        chosen = lexical[children[_semantic_head(tree, node, lexical)]]
        lexical[node] = chosen
        for child in children:
            if lexical[child] != chosen:
                heads[lexical[child] - 1] = chosen
    return heads


def _semantic_head(tree: Tree, node: int, lexical: dict[int, int]) -> int:
    """Return the index of the head among the children of a phrase."""
    labels = [bare(node_label(tree, child)) for child in tree.children[node]]
    phrase = bare(node_label(tree, node))
    if phrase in ("VP", "SQ", "SINV"):
        main = _main_verb(tree, node, phrase, labels, lexical)
        if main is not None:
            return main
    if phrase == "SBAR":
        clauses = (i for clause in _CLAUSES for i, label in enumerate(labels) if label == clause)
        clause = next(clauses, None)
        if clause is not None:
            return clause
    if phrase in ("NP", "NX") and labels[-1] == "POS" and len(labels) > 1:
        return head_child(phrase, labels[:-1])
    return head_child(phrase, labels)


def _main_verb(tree: Tree, node: int, phrase: str, labels: list[str], lexical: dict[int, int]) -> int | None:
    """Return the index of the phrase below an auxiliary or of the complement of a copula."""
    verb = next((i for i, label in enumerate(labels) if label in _VERBS), None)
    if verb is None:
        return None
    child = tree.children[node][verb]
    word = (tree.tokens[child] or "").lower() if tree.tokens is not None else ""
    if labels[verb] in ("MD", "TO") or word in _AUXILIARIES:
        below = next((i for i, label in enumerate(labels) if label == "VP" and i > verb), None)
        if below is not None:
            return below
    near = tree.leaves[max(0, lexical[child] - 3) : lexical[child] + 1].tolist()
    if word not in _COPULAS or any(
        node_label(tree, leaf) == "EX" for leaf in near
    ):  # `there is` has no copula
        return None
    complements = [i for i, label in enumerate(labels) if label in _COMPLEMENTS and i > verb]
    if phrase == "VP":
        return complements[0] if complements else None
    # in a question (SQ) the first of two is the subject
    return complements[-1] if len(complements) > (1 if phrase == "SQ" else 0) else None


# ----------------------------------------------- from Universal Dependencies


def is_universal(relations: Iterable[str]) -> bool:
    """Return whether one of these relations belongs to UD and not to SD."""
    return any(":" in relation or relation in _UNIVERSAL for relation in relations)


def universal_to_stanford(
    words: Sequence[str], heads: Sequence[int], relations: Sequence[str], tags: Sequence[str]
) -> Tree:
    """Convert UD heads (from 0, -1 above the root), relations and Penn tags to an SD tree."""
    tree = EditableTree(words, heads, relations)
    _promote_last_words(tree)
    # nouns and participles -> the prepositions that they hang below in SD, first word first
    phrases: dict[int, list[int]] = {}
    for node, relation in enumerate(tree.relations):
        if (relation == "case" and not _is_possessive(tree, node, tags)) or (
            relation == "mark" and _is_before_participle(tree, node, tags)
        ):
            phrases.setdefault(tree.heads[node], []).append(node)
    for verb, relation in enumerate(tree.relations):
        predicate = tree.heads[verb]
        # `is` heads its clause where what it links is a place, a time or a manner
        if relation == "cop" and (predicate in phrases or tags[predicate] in ("RB", "WRB")):
            tree.promote(verb, "obl" if predicate in phrases else "advmod")
            _move_clause(tree, predicate, verb)
    for noun, cases in phrases.items():
        _promote_prepositions(tree, noun, cases, tags)
    _gather_conjuncts(tree, {noun: cases[0] for noun, cases in phrases.items()})
    tree.relations = [_name(tree, node, tags) for node in range(len(words))]
    return tree.tree()


def _promote_last_words(tree: EditableTree) -> None:
    """Make the last word head of a name (`Mary Ann Evans`) or fixed expression (`because of`)."""
    for kind, name in (("flat", "compound"), ("fixed", "fixed")):
        groups: dict[int, list[int]] = {}
        for node, relation in enumerate(tree.relations):
            if _base(relation) == kind:
                tree.relations[node] = name
                groups.setdefault(tree.heads[node], []).append(node)
        for parts in groups.values():
            chosen = next((part for part in parts if plain(tree.words[part]) == "well"), parts[-1])
            tree.promote(chosen, name, siblings=True)


def _is_before_participle(tree: EditableTree, mark: int, tags: Sequence[str]) -> bool:
    verb = tree.heads[mark]
    return (
        tags[mark] == "IN"
        and plain(tree.words[mark]) not in _SUBORDINATORS
        and tags[verb] == "VBG"
        and not any(_base(tree.relations[child]) in ("aux", "cop") for child in tree.below(verb))
    )


def _promote_prepositions(tree: EditableTree, noun: int, cases: list[int], tags: Sequence[str]) -> None:
    """Hang the noun from its last preposition, and the first one from the noun's head."""
    below = noun
    for case in reversed(cases):
        tree.heads[case] = below
        verbal = below != noun or tags[noun].startswith("VB")
        tree.promote(case, "pcomp" if verbal else "pobj")
        below = case
    first = cases[0]
    if _base(tree.relations[first]) in _MODIFIERS:
        tree.relations[first] = "prep"
    else:  # the phrase is a clause of its own, `At last !`, or a conjunct
        _move_clause(tree, noun, first)
    for child in tree.below(noun, "advmod"):
        if child < first:  # `right in the park`
            tree.heads[child] = first


def _move_clause(tree: EditableTree, old: int, new: int) -> None:
    """Hang what belongs to the clause from its new head."""
    for child in tree.below(old):
        relation = _base(tree.relations[child])
        if relation == "advmod":
            clausal = child < new or plain(tree.words[child]) in _NEGATIONS
        elif relation == "conj":
            below = [_base(tree.relations[grandchild]) for grandchild in tree.below(child)]
            clausal = not {"nsubj", "cop", "aux"}.isdisjoint(below)
        else:
            clausal = relation in _CLAUSAL
        if clausal and child != new:
            tree.heads[child] = new


def _gather_conjuncts(tree: EditableTree, first: dict[int, int]) -> None:
    """Hang conjuncts from the first preposition, a conjunction from the first conjunct."""
    for preposition in first.values():
        above = tree.heads[preposition]
        if tree.relations[preposition] == "conj" and above in first:
            tree.heads[preposition] = first[above]
    for node, relation in enumerate(tree.relations):
        above = tree.heads[node]
        if relation == "cc" and above >= 0 and tree.relations[above] == "conj" and tree.heads[above] >= 0:
            tree.heads[node] = tree.heads[above]


def _name(tree: EditableTree, node: int, tags: Sequence[str]) -> str:
    relation, word, tag = tree.relations[node], plain(tree.words[node]), tags[node]
    base = _base(relation)
    if base in ("advmod", "det") and word in _NEGATIONS:
        return "neg"
    if base == "mark" and tag == "TO":
        return "aux"
    if base == "case" and _is_possessive(tree, node, tags):
        return "possessive"
    if base == "compound" and tag == tags[tree.heads[node]] == "CD":
        return "number"
    if base == "xcomp" and tag.startswith("JJ") and not tree.below(node, "mark", "cop"):
        return "acomp"
    if relation == "acl":
        return "ccomp" if any(tags[mark] != "TO" for mark in tree.below(node, "mark")) else "vmod"
    if relation == "advcl" and tag in ("VBG", "VBN") and not tree.below(node, "mark", "nsubj", "aux"):
        return "vmod"
    return _NAMES.get(relation) or _NAMES.get(base, base)


def _is_possessive(tree: EditableTree, node: int, tags: Sequence[str]) -> bool:
    return tags[node] == "POS" or plain(tree.words[node]) in _POSSESSIVES


def _base(relation: str) -> str:
    return relation.partition(":")[0]
