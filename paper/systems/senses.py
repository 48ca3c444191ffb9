"""How near two words are in WordNet. Every similarity is symmetric, between 0 and 1, and 1 for a word and itself."""

from __future__ import annotations

import math
from collections.abc import Callable

from paper.systems.wordnet import DEPTHS, Sense, WordNet

SENSES = 5  # of a word that are looked at, the most frequent
Term = tuple[str, str]  # lemma and part of speech: one of `nvar`, or "" for a word of no meaning of its own


class Thesaurus:
    """WordNet's similarities and relations of two terms, each computed once."""

    def __init__(self, wordnet: WordNet) -> None:
        self.wordnet = wordnet
        self._known: dict[tuple[str, Term, Term], float] = {}

    # ----------------------------------------------------------- similarities

    def path(self, a: Term, b: Term) -> float:
        """1 / nodes on the way over the nearest common hypernym, for the nearest two senses."""
        return self._nearest("path", a, b, lambda s, t, _, way: 1 / (way + 1))

    def wu_palmer(self, a: Term, b: Term) -> float:
        """2 depth(common) / (depth(a) + depth(b)), the depths over the common hypernym."""

        def similarity(s: Sense, t: Sense, common: Sense, way: int) -> float:
            depth = self.wordnet.depth(common)
            return 2 * depth / (2 * depth + way)

        return self._nearest("wup", a, b, similarity)

    def leacock_chodorow(self, a: Term, b: Term) -> float:
        """log(2 D / nodes on the way) / log(2 D), with D the depth of the whole hierarchy."""

        def similarity(s: Sense, t: Sense, common: Sense, way: int) -> float:
            return 1 - math.log(way + 1) / math.log(2 * DEPTHS.get(s.part, 1))

        return self._nearest("lch", a, b, similarity)

    def lin(self, a: Term, b: Term) -> float:
        """2 IC(common) / (IC(a) + IC(b)), with information content IC from SemCor's counts."""
        content = self.wordnet.content

        def similarity(s: Sense, t: Sense, common: Sense, way: int) -> float:
            return 1.0 if s == t else 2 * content(common) / max(content(s) + content(t), 1e-9)

        return self._nearest("lin", a, b, similarity)

    def _nearest(
        self, name: str, a: Term, b: Term, similarity: Callable[[Sense, Sense, Sense, int], float]
    ) -> float:
        if a == b:
            return 1.0
        key = (name, min(a, b), max(a, b))
        if key not in self._known:
            senses = [(s, t) for s in self._senses(a) for t in self._senses(b)]
            met = [(s, t, meeting) for s, t in senses if (meeting := self._meeting(s, t)) is not None]
            values = [similarity(s, t, common, way) for s, t, (common, way) in met]
            self._known[key] = max(values, default=0.0)
        return self._known[key]

    def _meeting(self, s: Sense, t: Sense) -> tuple[Sense, int] | None:
        """The common hypernym with the fewest steps over it, of several the deepest, and those steps."""
        if s == t:
            return s, 0
        if s.part != t.part or s.part not in DEPTHS:
            return None
        above, others = self.wordnet.above(s), self.wordnet.above(t)
        ways = [(up + others[common], common) for common, up in above.items() if common in others]
        if not ways:
            return None
        way = min(ways)[0]
        return max((common for steps, common in ways if steps == way), key=self._deepest), way

    def _deepest(self, sense: Sense) -> tuple[int, Sense]:
        return self.wordnet.depth(sense), sense

    # -------------------------------------------------------------- relations

    def synonyms(self, a: Term, b: Term) -> bool:
        """Whether two different words share a sense, or two adjectives senses that are similar."""
        return a != b and self._holds("synonym", a, b, self._synonyms)

    def hypernym(self, a: Term, b: Term, steps: int = 3) -> bool:
        """Whether b is a hypernym of a, at most so many steps above a sense of it."""
        return a != b and self._holds(f"hypernym {steps}", a, b, lambda a, b: self._hypernym(a, b, steps))

    def antonyms(self, a: Term, b: Term) -> bool:
        """Whether a sense of one is opposed to the other, directly or by an adjective similar to it."""
        return a != b and self._holds(
            "antonym", a, b, lambda a, b: self._opposed(a, b) or self._opposed(b, a)
        )

    def _synonyms(self, a: Term, b: Term) -> bool:
        mine, others = set(self._senses(a)), set(self._senses(b))
        similar = {t for s in mine for t in self.wordnet.pointed(s, "&")}
        return bool((mine | similar) & others)

    def _hypernym(self, a: Term, b: Term, steps: int) -> bool:
        others = set(self._senses(b))
        return any(
            0 < up <= steps and sense in others
            for s in self._senses(a)
            for sense, up in self.wordnet.above(s).items()
        )

    def _opposed(self, a: Term, b: Term) -> bool:
        """Antonymy holds between words; the antonyms of adjectives similar to `a` count as its own."""
        mine = [(sense, a[0]) for sense in self._senses(a)]
        near = [(near, None) for sense, _ in mine for near in self.wordnet.pointed(sense, "&")]
        for sense, word in [*mine, *near]:
            synset = self.wordnet.synset(sense)
            for pointer in synset.pointers:
                spoken = word is None or synset.words[pointer.source - 1] == word
                if pointer.symbol == "!" and spoken:
                    other = self.wordnet.synset(pointer.sense)
                    if other.words[pointer.target - 1] == b[0] and pointer.sense.part == b[1]:
                        return True
        return False

    def _holds(self, name: str, a: Term, b: Term, relation: Callable[[Term, Term], bool]) -> bool:
        key = (name, a, b)
        if key not in self._known:
            self._known[key] = float(relation(a, b))
        return self._known[key] > 0

    def _senses(self, term: Term) -> tuple[Sense, ...]:
        return self.wordnet.senses(*term)[:SENSES]
