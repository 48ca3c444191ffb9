"""Find the heads of Stanford Dependencies in phrase structure, by the rules of `binarise` and a few more.

The head of a phrase is the word that carries its meaning: the main verb, not its auxiliary; the
complement of a copula (`is happy`, `is a poet`), not `is`; the clause, not its `that`. A
preposition, though, is the head of the noun that follows it, and the verb in `is in the park` is
the head of its clause.
"""

from bough.text.binarise import bare, flatten, head_child, node_label
from bough.trees.tree import Tree

BE = frozenset("be am is are was were been being 's 'm 're ai".split())
_COPULAS = BE | {"s"}
_AUXILIARIES = _COPULAS | {*"have has had having 've 'd do does did done get gets got getting".split()}
_VERBS = frozenset("VB VBD VBG VBN VBP VBZ MD TO AUX".split())
_COMPLEMENTS = ("ADJP", "NP", "WHNP", "WHADJP", "JJ", "NN", "NNS", "NNP", "UCP", "QP")
_CLAUSES = ("S", "SQ", "SINV", "SBAR", "FRAG", "X", "VP")


def dependency_heads(tree: Tree) -> list[int]:
    """Return the head of each word of a labelled tree, from 1, 0 for the root; it is projective."""
    tree = flatten(tree)
    # node -> the number of the word that heads it
    lexical = {node: number for number, node in enumerate(tree.leaves.tolist(), 1)}
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
    # `there is` has no copula
    if word not in _COPULAS or any(node_label(tree, leaf) == "EX" for leaf in near):
        return None
    complements = [i for i, label in enumerate(labels) if label in _COMPLEMENTS and i > verb]
    if phrase == "VP":
        return complements[0] if complements else None
    # in a question (SQ) the first of two is the subject
    return complements[-1] if len(complements) > (1 if phrase == "SQ" else 0) else None
