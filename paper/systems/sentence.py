"""What the measures look at: two sentences, their words prepared once."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from bough import Tree
from bough.data.vectors import load_vectors
from bough.errors import DataError
from bough.models.pair_features import NEGATIONS
from paper.sick import Pair
from paper.systems.wordnet import Term, Thesaurus, WordNet

Floats = NDArray[np.float64]
LIGHT = {
    "det",
    "aux",
    "auxpass",
    "cop",
    "punct",
    "prep",
    "expl",
    "cc",
}  # relations that say nothing of their own
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


@dataclass(frozen=True, eq=False)
class Sentence:
    """The words of one sentence, in order, and one entry per word in every other column.

    `terms` are lemmas with their part of speech; `heads[i]` is the word that word i depends on, -1 for the
    root, by `relations[i]`; `weights` are inverse document frequencies; `vectors` (n, d) has zeros for a word
    without one.
    """

    words: tuple[str, ...]
    terms: tuple[Term, ...]
    stems: tuple[str, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]
    weights: Floats
    vectors: Floats

    @cached_property
    def lemmas(self) -> tuple[str, ...]:
        """The base form of every word."""
        return tuple(lemma for lemma, _ in self.terms)

    @cached_property
    def content(self) -> list[int]:
        """The positions of the words that are neither stop words nor negations; all if there is no other."""
        spoken = [i for i, word in enumerate(self.words) if word not in STOP and word not in NEGATIONS]
        return spoken or list(range(len(self.words)))

    def positions(self, relations: Sequence[str]) -> list[int]:
        """Return the positions of the words that depend on another by one of the relations."""
        return [i for i, relation in enumerate(self.relations) if relation in relations]

    @cached_property
    def arcs(self) -> tuple[tuple[str, int, int], ...]:
        """(relation, head, dependent) in positions; a preposition is part of the relation of its object.

        Determiners, auxiliaries, conjunctions and punctuation are left out.
        """
        found = []
        for i, relation in enumerate(self.relations):
            head = self.heads[i]
            if head < 0 or relation in LIGHT:
                continue
            if relation == "pobj" and self.heads[head] >= 0:
                relation, head = f"prep_{self.words[head]}", self.heads[head]
            found.append((relation, head, i))
        return tuple(found)

    @cached_property
    def triples(self) -> frozenset[tuple[str, str, str]]:
        """`arcs` in lemmas."""
        return frozenset((relation, self.lemmas[h], self.lemmas[d]) for relation, h, d in self.arcs)


@dataclass(frozen=True, eq=False)
class Prepared:
    """Two sentences, and the thesaurus to compare their words with."""

    left: Sentence
    right: Sentence
    thesaurus: Thesaurus

    @cached_property
    def cosines(self) -> Floats:
        """(left, right) the cosine of every two words' vectors, not below 0; 1 where the lemma is the same."""
        cosines = np.clip(unit(self.left.vectors) @ unit(self.right.vectors).T, 0.0, 1.0)
        same = np.array([[a == b for b in self.right.lemmas] for a in self.left.lemmas])
        return np.where(same, 1.0, cosines)

    @cached_property
    def paths(self) -> Floats:
        """(left, right) WordNet's path similarity of every two words."""
        return self.table(self.thesaurus.path)

    @cached_property
    def likeness(self) -> Floats:
        """(left, right) the greater of cosine and path similarity."""
        return np.maximum(self.cosines, self.paths)

    def table(self, similarity: Callable[[Term, Term], float]) -> Floats:
        """(left, right) a similarity of every two words; 0 with a stop word, unless it is the same."""
        return np.array(
            [
                [similarity(a, b) if a[1] and b[1] else float(a == b) for b in self.right.terms]
                for a in self.left.terms
            ]
        )


def unit(rows: Floats) -> Floats:
    """Rows (or one vector) of length 1; zeros stay zeros."""
    norms = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows / np.where(norms > 0, norms, 1.0))


@dataclass(frozen=True)
class Frequencies:
    """In how many of `total` sentences each lemma stands."""

    counts: Mapping[str, int]
    total: int

    def weight(self, lemma: str) -> float:
        """Inverse document frequency, at least 0; a lemma never seen weighs as much as one seen once."""
        return math.log((self.total + 1) / (self.counts.get(lemma, 0) or 1))


class Preparation:
    """Turns pairs of dependency trees into pairs of sentences; equal trees are prepared once."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self.wordnet = WordNet(data / "wordnet")
        self.thesaurus = Thesaurus(self.wordnet)
        self.stem = cache(lab_module("nltk.stem.porter").PorterStemmer().stem)
        self._terms: dict[Tree, tuple[Term, ...]] = {}

    def frequencies(self, pairs: Iterable[Pair]) -> Frequencies:
        """Counted over the distinct sentences of the pairs."""
        trees = {tree for pair in pairs for tree in (pair.left, pair.right)}
        counts = Counter(lemma for tree in trees for lemma in {lemma for lemma, _ in self.terms(tree)})
        return Frequencies(dict(sorted(counts.items())), len(trees))

    def counts(self, pairs: Iterable[Pair]) -> Counter[str]:
        """How often every word stands in the pairs."""
        return Counter(word for pair in pairs for tree in (pair.left, pair.right) for word in words_of(tree))

    def __call__(self, pairs: Sequence[Pair], frequencies: Frequencies, vectors: Path) -> list[Prepared]:
        trees = list(dict.fromkeys(tree for pair in pairs for tree in (pair.left, pair.right)))
        known = load_vectors(vectors, self.counts(pairs))
        rows = dict(zip(known.words, known.rows.astype(np.float64), strict=True))
        sentences = {tree: self._sentence(tree, rows, frequencies) for tree in trees}
        return [Prepared(sentences[pair.left], sentences[pair.right], self.thesaurus) for pair in pairs]

    def terms(self, tree: Tree) -> tuple[Term, ...]:
        """Every word's lemma and part of speech."""
        if tree not in self._terms:
            words, relations = words_of(tree), relations_of(tree)
            self._terms[tree] = tags(words, tree.parents.tolist(), relations, self.wordnet)
        return self._terms[tree]

    def _sentence(self, tree: Tree, rows: Mapping[str, Floats], frequencies: Frequencies) -> Sentence:
        words, terms = words_of(tree), self.terms(tree)
        return Sentence(
            words=words,
            terms=terms,
            stems=tuple(self.stem(word) for word in words),
            heads=tuple(tree.parents.tolist()),
            relations=relations_of(tree),
            weights=np.array([frequencies.weight(lemma) for lemma, _ in terms]),
            vectors=np.stack([rows[word] for word in words]),
        )


def lab_module(name: str) -> ModuleType:
    """Import a module of the extra `lab`; a DataError says how to get it if it is not installed."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        package = name.partition(".")[0]
        raise DataError(
            f'{package} is not installed; the cited systems need it: `pip install "bough[lab]"`'
        ) from error


def words_of(tree: Tree) -> tuple[str, ...]:
    """The tokens of a dependency tree, lower-cased; a ValueError if a node has none."""
    if tree.tokens is None or None in tree.tokens or tree.relations is None:
        raise ValueError(f"{tree!r}: a node without token or relation; measures read dependency trees")
    return tuple(str(token).lower() for token in tree.tokens)


def relations_of(tree: Tree) -> tuple[str, ...]:
    """The relation of every node to its head."""
    return tuple(str(relation) for relation in tree.relations or ())


# ------------------------------------------------------------------ lemmas and parts of speech


def tags(
    words: Sequence[str], heads: Sequence[int], relations: Sequence[str], wordnet: WordNet
) -> tuple[Term, ...]:
    """Return lemma and part of speech of every word, told from a dependency parse: SICK comes without tags.

    A word that WordNet does not have in any part of speech stays as it is, without one.
    """
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
