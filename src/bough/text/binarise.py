"""Binarise labelled trees of any arity by head rules: each phrase grows outwards from its head.

The table of heads follows the one in Collins' thesis (1999), with the usual changes for the output
of parsers: unknown labels, bare parts of speech beside phrases, and punctuation that is never a
head if anything else is there.
"""

from collections.abc import Sequence

from bough.text.join_sentences import check_word_count
from bough.trees.builders import with_words
from bough.trees.tree import Tree


def _steps(rules: str) -> list[tuple[str, frozenset[str]]]:
    """Return the steps of a search for a head: where it begins, and the labels of a head."""
    steps = []
    for rule in filter(None, rules.split(";")):
        side, *labels = rule.split()
        groups = [labels[1:]] if labels[0] == "any" else [[label] for label in labels]
        steps += [(side, frozenset(group)) for group in groups]
    return steps


# The labels of a rule are in order of priority, but after `any` the first child with one of them is the head.
HEADS = {
    phrase: _steps(rules)
    for phrases, rules in {
        "ADJP": "left NNS QP NN $; left any JJ VBN VBG ADJP JJR NP JJS FW;"
        "left DT RBR RBS SBAR RB ADVP CD IN VBD",
        "ADVP": "right any RB RBR RBS FW ADVP; right TO CD JJR JJ IN NP JJS NN NNS NNP VBN",
        "CONJP": "right CC RB IN",
        "FRAG": "left any S SBAR NP VP SQ SBARQ; left any ADJP ADVP PP INTJ",
        "INTJ": "left any UH INTJ",
        "LST": "right LS :",
        "NAC": "left NN NNS NNP NNPS NML NP NAC EX $ CD QP PRP VBG JJ JJS JJR ADJP FW",
        "NP NML NX": "right any NN NNP NNS NNPS NX NML POS JJR; left any NP PRP; right any $ ADJP PRN FW;"
        "right CD; right any JJ JJS RB QP DT WDT NML PRP RBR RBS; left any ADVP X SBAR S VP PP INTJ",
        "PP": "right IN TO VBG VBN RP FW JJ; left PP",
        "PRN": "left VP SQ S SINV SBAR NP ADJP PP ADVP INTJ WHNP NN",
        "PRT": "right RP",
        "QP": "left $ IN NNS NN JJ CD PDT RB DT NCD QP JJR JJS",
        "RRC": "left RRC VP NP ADJP PP ADVP",
        "S": "left TO VP S FRAG SBAR ADJP UCP NP",
        "SBAR": "left WHNP WHPP WHADVP WHADJP IN DT S SQ SINV SBAR FRAG",
        "SBARQ": "left SQ S SINV SBARQ FRAG SBAR",
        "SINV": "left VBZ VBD VBP VB MD VP S SINV ADJP NP",
        "SQ": "left VBZ VBD VBP VB MD VP SQ S",
        "UCP": "",
        "VP": "left TO VBD VBN MD VBZ VB VBG VBP VP ADJP NN NNS JJ NP NNP",
        "WHADJP": "left WRB WP JJ ADJP RB",
        "WHADVP": "right WRB RB",
        "WHNP": "left WDT WP WP$ WHADJP WHPP WHNP",
        "WHPP": "right IN TO FW",
        "X": "right S VP ADJP NP SBAR PP X",
    }.items()
    for phrase in phrases.split()
}
_PUNCTUATION = frozenset(", . : `` '' -LRB- -RRB- ( ) HYPH NFP #".split())
_FROM_THE_RIGHT = frozenset("ADVP CONJP LST NAC NP NX NML PP PRT UCP WHADVP X".split())


def head_child(label: str, children: Sequence[str]) -> int:
    """Return the index of the head among the children of a phrase, by their labels.

    >>> head_child("VP", ["MD", "RB", "VP"])
    0
    >>> head_child("NP", ["NNP", "NNP", "POS"])
    2
    """
    names = [bare(child) for child in children]
    phrase = bare(label)
    orders = {"left": range(len(names)), "right": range(len(names) - 1, -1, -1)}
    steps = HEADS.get(phrase, ())
    head = next((i for side, wanted in steps for i in orders[side] if names[i] in wanted), None)
    if head is None:
        order = orders["right" if phrase in _FROM_THE_RIGHT else "left"]
        head = next((index for index in order if names[index] not in _PUNCTUATION), None)
        if head is None:
            return order[0]
    if head < 2 or names[head - 1] not in ("CC", "CONJP"):
        return head
    first = head - 2  # in `X and Y` the first conjunct is the head, whichever the search found
    while first > 0 and names[first] in _PUNCTUATION:
        first -= 1
    return first if names[first] not in _PUNCTUATION else head


def bare(label: str) -> str:
    """Return a label without function tags and indices: `NP` for `NP-SBJ-1` and `NP=2`."""
    if label.startswith("-"):
        return label
    return label.partition("-")[0].partition("=")[0].partition("|")[0]


def node_label(tree: Tree, node: int) -> str:
    """Return the label of a node as text, empty if it has none."""
    label = None if tree.labels is None else tree.labels[node]
    return "" if label is None else str(label)


def binarise(tree: Tree) -> Tree:
    """Return a labelled tree as a binary one: each phrase grows outwards from its head.

    The head child is joined with its right sisters, nearest first, then with its left sisters,
    nearest first; a node with one child is left out. Leaves keep their token and part of speech, a
    phrase its label; a node in between has `@` and the phrase's label. Nodes come out in preorder.
    Nodes of the input whose label starts with `@` are removed first; see `flatten`.
    """
    tree = flatten(tree)
    parents: list[int] = []
    tokens: list[str | None] = []
    labels: list[str | None] = []
    # the parent and label of a new node, and the sisters low..high around their head that it covers
    stack: list[tuple[int, str, tuple[int, ...], int, int, int]] = [(-1, "", (tree.root,), 0, 0, 0)]
    while stack:
        above, label, sisters, head, low, high = stack.pop()
        token = None
        if low == high:  # one sister: the whole phrase below it, or a word
            old = sisters[low]
            sisters, label = tree.children[old], node_label(tree, old)
            while len(sisters) == 1:
                old = sisters[0]
                sisters = tree.children[old]
                if label in ("", "ROOT", "TOP") or not sisters:
                    label = node_label(tree, old)
            if sisters:
                head = head_child(node_label(tree, old), [node_label(tree, child) for child in sisters])
                low, high = 0, len(sisters) - 1
            elif tree.tokens is not None:
                token = tree.tokens[old]
        node = len(parents)
        parents.append(above)
        labels.append(label or None)
        tokens.append(token)
        if not sisters:
            continue
        between = "@" + label.lstrip("@") if label else ""
        if low < head:  # left sisters are joined last, so they come off first
            cuts = ((low + 1, high), (low, low))
        else:
            cuts = ((high, high), (low, high - 1))
        stack += [(node, between, sisters, head, *cut) for cut in cuts]
    return Tree(parents, tokens=tokens, labels=labels)


def flatten(tree: Tree) -> Tree:
    """Return the tree without the inner nodes whose label starts with `@`: their children move up.

    The root stays, its label without the mark.
    """
    marked = [bool(tree.children[n]) and node_label(tree, n).startswith("@") for n in range(len(tree))]
    if not any(marked):
        return tree
    kept = [n for n in tree.preorder.tolist() if n == tree.root or not marked[n]]
    index = {node: new for new, node in enumerate(kept)}
    parents = []
    for node in kept:
        above = int(tree.parents[node])
        while above >= 0 and above not in index:
            above = int(tree.parents[above])
        parents.append(index.get(above, -1))
    tokens, labels = ([column[n] for n in kept] if column else None for column in (tree.tokens, tree.labels))
    if marked[tree.root] and labels is not None:
        labels[0] = node_label(tree, tree.root).lstrip("@") or None
    return Tree(parents, tokens=tokens, labels=labels)


def binary_phrases(tree: Tree, words: Sequence[str], parser: str) -> Tree:
    """Return another parser's labelled tree as a binary one without labels.

    Parsers escape brackets and quotes in their own ways, so the leaves get the words that the
    parser was given.
    """
    binary = binarise(tree)
    check_word_count(len(binary.leaves), words, parser)
    return with_words(binary.replace(labels=None), words)
