"""Prepare sentences: lemmas, stems, dependencies, weights and vectors of their words."""

import math
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from bough import Tree
from bough.data.vectors import load_vectors
from bough.errors import DataError
from paper.sick import Pair
from paper.systems.wordnet import Term, WordNet

Floats = NDArray[np.float64]
Rarity = Callable[[str], float]  # the weight of a lemma
_WORDS = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
NEGATIONS, STOP = frozenset(_WORDS["negations"]), frozenset(_WORDS["stop"])
LIGHT, SUBJECTS = frozenset(_WORDS["light"]), frozenset(_WORDS["subjects"])
PART = {relation: part for part, relations in _WORDS["parts"].items() for relation in relations}


@dataclass(frozen=True, eq=False)
class Sentence:
    """A prepared sentence. Every field has one entry per word.

    `terms` are lemmas with their part of speech. `heads[i]` is the word that word i depends on by
    `relations[i]`, -1 for the root. `weights` are inverse document frequencies. `vectors` (n, d)
    has zeros for a word without a vector.
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
        """Return the base form of every word."""
        return tuple(lemma for lemma, _ in self.terms)

    @cached_property
    def content(self) -> list[int]:
        """Return the positions of words that are no stop words or negations, or else of all words."""
        spoken = [i for i, word in enumerate(self.words) if word not in STOP and word not in NEGATIONS]
        return spoken or list(range(len(self.words)))

    @cached_property
    def content_lemmas(self) -> set[str]:
        return {self.lemmas[i] for i in self.content}

    def positions(self, relations: Sequence[str]) -> list[int]:
        """Return the positions of the words that depend on another by one of the relations."""
        return [i for i, relation in enumerate(self.relations) if relation in relations]

    @cached_property
    def arcs(self) -> tuple[tuple[str, int, int], ...]:
        """Return the relation, head and dependent of each dependency, as positions.

        A preposition is part of the relation of its object. Determiners, auxiliaries, conjunctions
        and punctuation are left out.
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
        """Return `arcs` with lemmas instead of positions."""
        return frozenset((relation, self.lemmas[h], self.lemmas[d]) for relation, h, d in self.arcs)


@dataclass(frozen=True, eq=False)
class Prepared:
    """Two prepared sentences, and WordNet for the similarity of their words."""

    left: Sentence
    right: Sentence
    wordnet: WordNet

    @property
    def both(self) -> tuple[Sentence, Sentence]:
        return self.left, self.right

    @cached_property
    def cosines(self) -> Floats:
        """Return the cosines (left, right) of the vectors, at least 0, and 1 for equal lemmas."""
        cosines = np.clip(unit(self.left.vectors) @ unit(self.right.vectors).T, 0.0, 1.0)
        same = np.array([[a == b for b in self.right.lemmas] for a in self.left.lemmas])
        return np.where(same, 1.0, cosines)

    def table(self, similarity: Callable[[Term, Term], float]) -> Floats:
        """Return the similarities (left, right). That of a stop word is 1 with itself, else 0."""

        def alike(a: Term, b: Term) -> float:
            return similarity(a, b) if a[1] and b[1] else float(a == b)

        return np.array([[alike(a, b) for b in self.right.terms] for a in self.left.terms])


def unit(rows: Floats) -> Floats:
    """Return rows, or one vector, scaled to length 1; zeros stay zeros."""
    norms = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows / np.where(norms > 0, norms, 1.0))


class Preparation:
    """Prepare pairs of dependency trees. Equal trees are prepared once."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self.wordnet = WordNet(data / "wordnet")
        self.stem = cache(lab_module("nltk.stem.porter").PorterStemmer().stem)
        # lemma and part of speech of every word of a tree
        self.terms = cache(partial(tags, wordnet=self.wordnet))

    def rarity(self, pairs: Iterable[Pair]) -> Rarity:
        """Return the function from a lemma to its inverse document frequency in the distinct sentences of pairs.

        An unseen lemma has the frequency of one that was seen once.
        """
        trees = {tree for pair in pairs for tree in (pair.left, pair.right)}
        counts = Counter(lemma for tree in trees for lemma in {lemma for lemma, _ in self.terms(tree)})
        return lambda lemma: math.log((len(trees) + 1) / (counts[lemma] or 1))

    def counts(self, pairs: Iterable[Pair]) -> Counter[str]:
        """Count how often every word occurs in the pairs."""
        return Counter(word for pair in pairs for tree in (pair.left, pair.right) for word in words_of(tree))

    def __call__(self, pairs: Sequence[Pair], rarity: Rarity, vectors: Path) -> list[Prepared]:
        trees = list(dict.fromkeys(tree for pair in pairs for tree in (pair.left, pair.right)))
        known = load_vectors(vectors, self.counts(pairs))
        rows = dict(zip(known.words, known.rows.astype(np.float64), strict=True))
        sentences = {}
        for tree in trees:
            words, terms = words_of(tree), self.terms(tree)
            sentences[tree] = Sentence(
                words=words,
                terms=terms,
                stems=tuple(self.stem(word) for word in words),
                heads=tuple(tree.parents.tolist()),
                relations=tuple(map(str, tree.relations or ())),
                weights=np.array([rarity(lemma) for lemma, _ in terms]),
                vectors=np.stack([rows[word] for word in words]),
            )
        return [Prepared(sentences[pair.left], sentences[pair.right], self.wordnet) for pair in pairs]


def lab_module(name: str) -> ModuleType:
    """Import a module of the extra `lab`. Raise a DataError if it is not installed."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        package = name.partition(".")[0]
        message = f'{package} is not installed; the cited systems need it: `pip install "bough[lab]"`'
        raise DataError(message) from error


def words_of(tree: Tree) -> tuple[str, ...]:
    """Return the tokens of a dependency tree, lower-cased. Raise ValueError if a node has none."""
    if tree.tokens is None or None in tree.tokens or tree.relations is None:
        raise ValueError(f"{tree!r}: a node without token or relation; measures read dependency trees")
    return tuple(str(token).lower() for token in tree.tokens)


def tags(tree: Tree, wordnet: WordNet) -> tuple[Term, ...]:
    """Return the lemma and the part of speech of every word, guessed from the parse because SICK has no tags.

    A word that is not in WordNet is its own lemma and has no part of speech.
    """
    words, heads = words_of(tree), tree.parents.tolist()
    relations = [str(relation) for relation in tree.relations or ()]
    below: list[set[str]] = [set() for _ in words]
    for head, relation in zip(heads, relations, strict=True):
        if head >= 0:
            below[head].add(relation)
    found: list[Term] = []
    for node, word in enumerate(words):
        top = node
        while relations[top] == "conj" and not below[top] & SUBJECTS:
            top = heads[top]  # words joined by "and" have the same part of speech
        part = PART.get(relations[top], "v" if below[top] & SUBJECTS else "n")
        part = "a" if "cop" in below[node] else part
        term = word, ""
        if part and word not in STOP and word not in NEGATIONS:
            known = [(lemma, other) for other in (part, *"nvar") if (lemma := wordnet.lemma(word, other))]
            term = known[0] if known else term
            if word.endswith(("ing", "ed")) and part in "av" and (verb := wordnet.lemma(word, "v")):
                term = verb, "v"
        found.append(term)
    return tuple(found)
