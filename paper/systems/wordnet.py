"""Read WordNet 3.0 from its own files, and compute the similarity of words.

nltk's reader is not used: it finds other base forms, and its similarities use other common
hypernyms, so the results of the cited systems would change.
"""

import math
from collections import Counter
from collections.abc import Callable
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

from bough.data.paths import require

PARTS = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
ENDINGS = {  # (ending, ending of the base form), in WordNet's order
    "n": [
        ("s", ""), ("ses", "s"), ("xes", "x"), ("zes", "z"),
        ("ches", "ch"), ("shes", "sh"), ("men", "man"), ("ies", "y"),
    ],
    "v": [("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")],
    "a": [("er", ""), ("est", ""), ("er", "e"), ("est", "e")],
    "r": [],
}  # fmt: skip
SENSES = 5  # the number of senses of a word that are used, the most frequent ones
Term = tuple[str, str]  # lemma and part of speech: one of `nvar`, or "" for a function word
# nodes on the longest path from the root to a sense; all verbs have a common root
DEPTHS = {"n": 20, "v": 14}


class Sense(NamedTuple):
    """The part of speech of a synset and its offset in the file; 0 is the root of all verbs."""

    part: str
    offset: int


class Pointer(NamedTuple):
    """A pointer between words of two synsets, counted from 1; 0 is the whole synset."""

    symbol: str
    sense: Sense
    source: int
    target: int


class Synset(NamedTuple):
    """The words of one meaning, and their pointers."""

    words: tuple[str, ...]
    pointers: tuple[Pointer, ...]


class WordNet:
    """Read the files `index.*`, `data.*` and `*.exc` of a folder. A synset is parsed when it is first used.

    Every similarity of two terms is symmetric, between 0 and 1, and 1 for equal terms.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        names = [f"{kind}.{part}" for kind in ("index", "data") for part in PARTS.values()]
        names += [f"{part}.exc" for part in PARTS.values()]
        require([folder / name for name in [*names, "cntlist.rev"]], "wordnet")
        self._index: dict[str, dict[str, bytes]] = {}
        self._exceptions: dict[str, dict[str, str]] = {}
        for part, name in PARTS.items():
            lines = (folder / f"index.{name}").read_bytes().splitlines()
            self._index[part] = {
                line[: line.index(b" ")].decode(): line for line in lines if not line.startswith(b" ")
            }
            irregular = [line.split() for line in (folder / f"{name}.exc").read_text("ascii").splitlines()]
            self._exceptions[part] = {fields[0]: fields[1] for fields in irregular if len(fields) > 1}
        self._data = {part: (folder / f"data.{name}").read_bytes() for part, name in PARTS.items()}
        self.synset = cache(self._synset)
        self.lemma = cache(self._lemma)
        self.senses = cache(self._senses)
        self.above = cache(self._above)
        self.depth = cache(self._depth)
        self._meetings = cache(self._find_meetings)
        self.synonyms = cache(self._synonyms)
        self.hypernym = cache(self._hypernym)
        self.antonyms = cache(self._antonyms)

    def _lemma(self, word: str, part: str) -> str | None:
        """Return the base form of a word that WordNet has with this part of speech, or None."""
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
        """Return the senses of a lemma, the most frequent first; none for an unknown lemma."""
        fields = self._index.get(part, {}).get(lemma, b"").split()
        count = int(fields[2]) if fields else 0
        return tuple(Sense(part, int(offset)) for offset in fields[len(fields) - count :])

    def _synset(self, sense: Sense) -> Synset:
        data = self._data[sense.part]
        line = data[sense.offset : data.index(b"\n", sense.offset)].split(b" | ")[0].decode()
        fields = line.split()
        words = fields[4 : 4 + 2 * int(fields[3], 16) : 2]
        rest, pointers = fields[4 + 2 * len(words) :], []
        for i in range(1, 1 + 4 * int(rest[0]), 4):
            symbol, offset, part, ends = rest[i : i + 4]
            sense = Sense(part.replace("s", "a"), int(offset))
            pointers.append(Pointer(symbol, sense, int(ends[:2], 16), int(ends[2:], 16)))
        return Synset(tuple(word.split("(")[0].lower() for word in words), tuple(pointers))

    def pointed(self, sense: Sense, *symbols: str) -> list[Sense]:
        """Return the senses that a whole synset points to with one of the symbols."""
        return [p.sense for p in self.synset(sense).pointers if p.symbol in symbols and not p.source]

    def _above(self, sense: Sense) -> dict[Sense, int]:
        """Return the sense and all its hypernyms, each with the smallest number of steps to it."""
        steps = {sense: 0}
        waiting = [sense]
        for current in waiting:  # the list grows during the loop, nearest first
            hypernyms = self.pointed(current, "@", "@i") if current.offset else []
            if not hypernyms and current.offset and sense.part == "v":
                hypernyms = [Sense("v", 0)]
            for hypernym in hypernyms:
                if hypernym not in steps:
                    steps[hypernym] = steps[current] + 1
                    waiting.append(hypernym)
        return steps

    def _depth(self, sense: Sense) -> int:
        """Return the number of nodes on the longest path from a root to the sense."""
        hypernyms = self.pointed(sense, "@", "@i") if sense.offset else []
        if not hypernyms:
            return 2 if sense.part == "v" and sense.offset else 1
        return 1 + max(self.depth(hypernym) for hypernym in hypernyms)

    def content(self, sense: Sense) -> float:
        """Return -log of the share of SemCor's nouns or verbs at or below the sense."""
        everything = max(self._counts[Sense(sense.part, 0)], 1)
        return -math.log((self._counts[sense] + 1) / (everything + 1))

    @cached_property
    def _counts(self) -> Counter[Sense]:
        """Return the counts in SemCor at or below each sense; offset 0 has all of a part of speech."""
        counts = Counter[Sense]()
        for line in (self.folder / "cntlist.rev").read_text("ascii").splitlines():
            key, number, count = line.split()
            lemma, _, kind = key.partition("%")
            part = {"1": "n", "2": "v"}.get(kind[0])
            senses = self.senses(lemma, part) if part else ()
            if int(number) <= len(senses):
                sense = senses[int(number) - 1]
                for above in {*self.above(sense), Sense(sense.part, 0)}:
                    counts[above] += int(count)
        return counts

    def path(self, a: Term, b: Term) -> float:
        """Return 1 / nodes on the path through the nearest common hypernym, for the nearest senses."""
        return self._nearest(a, b, lambda s, t, common, way: 1 / (way + 1))

    def wu_palmer(self, a: Term, b: Term) -> float:
        """Return 2 depth(common) / (depth(a) + depth(b)), with depths through the common hypernym."""
        depth = self.depth
        return self._nearest(a, b, lambda s, t, common, way: 2 * depth(common) / (2 * depth(common) + way))

    def leacock_chodorow(self, a: Term, b: Term) -> float:
        """Return log(2 D / nodes on the path) / log(2 D), with D the depth of the hierarchy."""
        whole = math.log(2 * DEPTHS.get(a[1], 1))
        return self._nearest(a, b, lambda s, t, common, way: 1 - math.log(way + 1) / whole)

    def lin(self, a: Term, b: Term) -> float:
        """Return 2 IC(common) / (IC(a) + IC(b)), with IC the information content."""

        def similarity(s: Sense, t: Sense, common: Sense, way: int) -> float:
            content = self.content
            return 1.0 if s == t else 2 * content(common) / max(content(s) + content(t), 1e-9)

        return self._nearest(a, b, similarity)

    def _nearest(self, a: Term, b: Term, similarity: Callable[[Sense, Sense, Sense, int], float]) -> float:
        if a == b:
            return 1.0
        meetings = self._meetings(min(a, b), max(a, b))
        return max((similarity(*meeting) for meeting in meetings), default=0.0)

    def _find_meetings(self, a: Term, b: Term) -> list[tuple[Sense, Sense, Sense, int]]:
        """Return every two senses of a and b with their nearest common hypernym and the steps through it.

        If several hypernyms are equally near, the deepest is returned.
        """
        found = []
        for s in self._first_senses(a):
            for t in self._first_senses(b):
                if s == t:
                    found.append((s, t, s, 0))
                elif s.part == t.part and s.part in DEPTHS:
                    above, others = self.above(s), self.above(t)
                    ways = [(up + others[common], common) for common, up in above.items() if common in others]
                    if ways:
                        way = min(ways)[0]
                        nearest = [common for steps, common in ways if steps == way]
                        found.append((s, t, max(nearest, key=lambda c: (self.depth(c), c)), way))
        return found

    def _synonyms(self, a: Term, b: Term) -> bool:
        """Return whether two words share a sense, or have similar senses as adjectives."""
        mine, others = set(self._first_senses(a)), set(self._first_senses(b))
        similar = {t for s in mine for t in self.pointed(s, "&")}
        return a != b and bool((mine | similar) & others)

    def _hypernym(self, a: Term, b: Term, steps: int = 3) -> bool:
        """Return whether b is a hypernym of a, at most `steps` above a sense of it."""
        others = set(self._first_senses(b))
        above = [found for sense in self._first_senses(a) for found in self.above(sense).items()]
        return a != b and any(0 < up <= steps and sense in others for sense, up in above)

    def _antonyms(self, a: Term, b: Term) -> bool:
        """Return whether the words are antonyms, directly or through a similar adjective."""
        return a != b and (self._opposed(a, b) or self._opposed(b, a))

    def _opposed(self, a: Term, b: Term) -> bool:
        """Return whether `b` is an antonym of `a` or of an adjective similar to `a`."""
        mine = [(sense, a[0]) for sense in self._first_senses(a)]
        near = [(near, None) for sense, _ in mine for near in self.pointed(sense, "&")]
        for sense, word in [*mine, *near]:
            synset = self.synset(sense)
            for pointer in synset.pointers:
                spoken = word is None or synset.words[pointer.source - 1] == word
                if pointer.symbol == "!" and spoken:
                    other = self.synset(pointer.sense)
                    if other.words[pointer.target - 1] == b[0] and pointer.sense.part == b[1]:
                        return True
        return False

    def _first_senses(self, term: Term) -> tuple[Sense, ...]:
        return self.senses(*term)[:SENSES]
