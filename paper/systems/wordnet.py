"""WordNet 3.0, read from its own files, and how near two words are in it.

nltk's reader finds other base forms, and its similarities meet at other hypernyms. The figures of the cited systems
are those of the reader below.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

from bough.data.paths import require

PARTS = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
ENDINGS = {  # (ending, what the base form has in its place), in WordNet's order
    "n": [
        ("s", ""), ("ses", "s"), ("xes", "x"), ("zes", "z"),
        ("ches", "ch"), ("shes", "sh"), ("men", "man"), ("ies", "y"),
    ],
    "v": [("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")],
    "a": [("er", ""), ("est", ""), ("er", "e"), ("est", "e")],
    "r": [],
}  # fmt: skip
SENSES = 5  # of a word that are looked at, the most frequent
Term = tuple[str, str]  # lemma and part of speech: one of `nvar`, or "" for a word of no meaning of its own
DEPTHS = {"n": 20, "v": 14}  # nodes on the longest way from a root to a sense, a common root of verbs counted


class Sense(NamedTuple):
    """A synset's place: part of speech and the offset in its data file; offset 0 is the root of all verbs."""

    part: str
    offset: int


class Pointer(NamedTuple):
    """From word `source` of a synset to word `target` of another, counted from 1; 0 means the whole synset."""

    symbol: str
    sense: Sense
    source: int
    target: int


class Synset(NamedTuple):
    """Words of one meaning, and where they point."""

    words: tuple[str, ...]
    pointers: tuple[Pointer, ...]


class WordNet:
    """The files `index.*`, `data.*` and `*.exc` of one folder; a synset is parsed when it is first asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        names = [f"{kind}.{part}" for kind in ("index", "data") for part in PARTS.values()]
        names += [f"{part}.exc" for part in PARTS.values()]
        require([folder / name for name in [*names, "cntlist.rev"]], "wordnet")
        self._index = {part: self._read_index(name) for part, name in PARTS.items()}
        self._exceptions = {part: self._read_exceptions(name) for part, name in PARTS.items()}
        self._data = {part: (folder / f"data.{name}").read_bytes() for part, name in PARTS.items()}
        self.synset = cache(self._synset)
        self.lemma = cache(self._lemma)
        self.senses = cache(self._senses)
        self.above = cache(self._above)
        self.depth = cache(self._depth)

    # ------------------------------------------------------------------ words

    def _lemma(self, word: str, part: str) -> str | None:
        """The word's base form that WordNet has as this part of speech, or None."""
        index = self._index[part]
        if (irregular := self._exceptions[part].get(word)) is not None and irregular in index:
            return irregular
        if word in index:
            return word
        for ending, base in ENDINGS[part]:
            form = word.removesuffix(ending) + base
            if word.endswith(ending) and len(form) > 1 and form in index:
                return form
        return None

    def _senses(self, lemma: str, part: str) -> tuple[Sense, ...]:
        """The lemma's senses, the most frequent first; none for a word that WordNet does not have."""
        fields = self._index.get(part, {}).get(lemma, b"").split()
        count = int(fields[2]) if fields else 0
        return tuple(Sense(part, int(offset)) for offset in fields[len(fields) - count :])

    # ----------------------------------------------------------------- senses

    def _synset(self, sense: Sense) -> Synset:
        data = self._data[sense.part]
        line = data[sense.offset : data.index(b"\n", sense.offset)].split(b" | ")[0].decode()
        fields = line.split()
        words = fields[4 : 4 + 2 * int(fields[3], 16) : 2]
        rest = fields[4 + 2 * len(words) :]
        pointers = [
            Pointer(
                rest[i], Sense(rest[i + 2].replace("s", "a"), int(rest[i + 1])),
                int(rest[i + 3][:2], 16), int(rest[i + 3][2:], 16),
            )
            for i in range(1, 1 + 4 * int(rest[0]), 4)
        ]  # fmt: skip
        return Synset(tuple(word.split("(")[0].lower() for word in words), tuple(pointers))

    def pointed(self, sense: Sense, *symbols: str) -> list[Sense]:
        """The senses that the whole synset points to by one of the symbols."""
        return [p.sense for p in self.synset(sense).pointers if p.symbol in symbols and not p.source]

    def _above(self, sense: Sense) -> dict[Sense, int]:
        """The sense itself and all its hypernyms, each with the fewest steps up to it."""
        steps = {sense: 0}
        waiting = [sense]
        for current in waiting:  # grows while it is walked, nearest first
            hypernyms = self.pointed(current, "@", "@i") if current.offset else []
            if not hypernyms and current.offset and sense.part == "v":
                hypernyms = [Sense("v", 0)]
            for hypernym in hypernyms:
                if hypernym not in steps:
                    steps[hypernym] = steps[current] + 1
                    waiting.append(hypernym)
        return steps

    def _depth(self, sense: Sense) -> int:
        """Nodes on the longest way from a root down to the sense, both counted."""
        hypernyms = self.pointed(sense, "@", "@i") if sense.offset else []
        if not hypernyms:
            return 2 if sense.part == "v" and sense.offset else 1
        return 1 + max(self.depth(hypernym) for hypernym in hypernyms)

    def content(self, sense: Sense) -> float:
        """Information content: -log of the share of SemCor's words, of this part of speech, at or below the sense."""
        counts = self._counts
        everything = max(counts.get(Sense(sense.part, 0), 0), 1)
        return -math.log((counts.get(sense, 0) + 1) / (everything + 1))

    @cached_property
    def _counts(self) -> dict[Sense, int]:
        """How often a sense or one below it stands in SemCor; at offset 0 the whole of its part of speech."""
        counts: dict[Sense, int] = {}
        for line in (self.folder / "cntlist.rev").read_text("ascii").splitlines():
            key, number, count = line.split()
            lemma, _, kind = key.partition("%")
            part = {"1": "n", "2": "v"}.get(kind[0])
            senses = self.senses(lemma, part) if part else ()
            if int(number) <= len(senses):
                sense = senses[int(number) - 1]
                for above in {*self.above(sense), Sense(sense.part, 0)}:
                    counts[above] = counts.get(above, 0) + int(count)
        return counts

    # ------------------------------------------------------------------ files

    def _read_index(self, name: str) -> dict[str, bytes]:
        lines = (self.folder / f"index.{name}").read_bytes().splitlines()
        return {line[: line.index(b" ")].decode(): line for line in lines if not line.startswith(b" ")}

    def _read_exceptions(self, name: str) -> dict[str, str]:
        lines = (self.folder / f"{name}.exc").read_text("ascii").splitlines()
        return {fields[0]: fields[1] for line in lines if len(fields := line.split()) > 1}


class Thesaurus:
    """WordNet's similarities and relations of two terms.

    Every similarity is symmetric, between 0 and 1, and 1 for a word and itself.
    """

    def __init__(self, wordnet: WordNet) -> None:
        self.wordnet = wordnet
        self._meetings = cache(self._find_meetings)
        self.synonyms = cache(self._synonyms)
        self.hypernym = cache(self._hypernym)
        self.antonyms = cache(self._antonyms)

    def path(self, a: Term, b: Term) -> float:
        """1 / nodes on the way over the nearest common hypernym, for the nearest two senses."""
        return self._nearest(a, b, lambda s, t, common, way: 1 / (way + 1))

    def wu_palmer(self, a: Term, b: Term) -> float:
        """2 depth(common) / (depth(a) + depth(b)), the depths over the common hypernym."""
        depth = self.wordnet.depth
        return self._nearest(a, b, lambda s, t, common, way: 2 * depth(common) / (2 * depth(common) + way))

    def leacock_chodorow(self, a: Term, b: Term) -> float:
        """log(2 D / nodes on the way) / log(2 D), with D the depth of the whole hierarchy."""
        return self._nearest(
            a, b, lambda s, t, common, way: 1 - math.log(way + 1) / math.log(2 * DEPTHS.get(s.part, 1))
        )

    def lin(self, a: Term, b: Term) -> float:
        """2 IC(common) / (IC(a) + IC(b)), with information content IC from SemCor's counts."""
        content = self.wordnet.content

        def similarity(s: Sense, t: Sense, common: Sense, way: int) -> float:
            return 1.0 if s == t else 2 * content(common) / max(content(s) + content(t), 1e-9)

        return self._nearest(a, b, similarity)

    def _nearest(self, a: Term, b: Term, similarity: Callable[[Sense, Sense, Sense, int], float]) -> float:
        if a == b:
            return 1.0
        meetings = self._meetings(min(a, b), max(a, b))
        return max((similarity(*meeting) for meeting in meetings), default=0.0)

    def _find_meetings(self, a: Term, b: Term) -> list[tuple[Sense, Sense, Sense, int]]:
        """Return every two senses of a and b, their nearest common hypernym, and the steps over it.

        Of several hypernyms that are equally near it is the deepest.
        """
        found = []
        for s in self._senses(a):
            for t in self._senses(b):
                if s == t:
                    found.append((s, t, s, 0))
                elif s.part == t.part and s.part in DEPTHS:
                    above, others = self.wordnet.above(s), self.wordnet.above(t)
                    ways = [(up + others[common], common) for common, up in above.items() if common in others]
                    if ways:
                        way = min(ways)[0]
                        nearest = [common for steps, common in ways if steps == way]
                        found.append((s, t, max(nearest, key=lambda c: (self.wordnet.depth(c), c)), way))
        return found

    def _synonyms(self, a: Term, b: Term) -> bool:
        """Return whether two different words share a sense, or two adjectives senses that are similar."""
        mine, others = set(self._senses(a)), set(self._senses(b))
        similar = {t for s in mine for t in self.wordnet.pointed(s, "&")}
        return a != b and bool((mine | similar) & others)

    def _hypernym(self, a: Term, b: Term, steps: int = 3) -> bool:
        """Return whether b is a hypernym of a, at most so many steps above a sense of it."""
        others = set(self._senses(b))
        return a != b and any(
            0 < up <= steps and sense in others
            for s in self._senses(a)
            for sense, up in self.wordnet.above(s).items()
        )

    def _antonyms(self, a: Term, b: Term) -> bool:
        """Return whether a sense of one is opposed to the other, directly or by an adjective similar to it."""
        return a != b and (self._opposed(a, b) or self._opposed(b, a))

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

    def _senses(self, term: Term) -> tuple[Sense, ...]:
        return self.wordnet.senses(*term)[:SENSES]
