"""What two trees have in common beside their vectors: words, numbers, names, negation, who does what to whom."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.models.stemmer import base
from bough.trees.tree import Tree

Floats = NDArray[np.float32]
NAMES = (
    "rare words shared",  # of all, by rarity
    "rare words shared, of the poorer side",
    "rare words shared, of the richer side",
    "words shared",
    "rare words shared, whatever their form",
    "aligned, poorer side",  # every word's nearest on the other side, by rarity
    "aligned, better side",
    "unaligned most, worse side",  # the rarest word without a counterpart
    "unaligned most, better side",
    "cosine of means",
    "cosine of means by rarity",
    "letters shared",
    "neighbours shared",
    "order kept",
    "numbers differ",
    "numbers shared",
    "numbers on one side",
    "names shared",
    "names differ",
    "negated on one side",
    "negated on both sides",
    "dependencies shared",
    "dependencies aligned, poorer side",
    "dependencies aligned, better side",
    "roles exchanged",
    "roles kept",
    "roots alike",
    "one longer than the other",
    "length",
    "a question on one side",
    "words without a vector",
)
NEGATIONS = frozenset(
    ["no", "not", "n't", "nobody", "nothing", "none", "never", "without", "neither", "nor", "cannot"]
)
LIGHT = frozenset(  # relations that say nothing of their own
    ["det", "aux", "auxpass", "cop", "punct", "prep", "expl", "cc", "mark", "possessive", "predet", "neg"]
)
_ROLES = {"nsubj": "agent", "dobj": "patient", "nsubjpass": "patient", "iobj": "prep to"}
_PARTS = {"agent", "patient", "prep to", "prep from"}  # who takes part, and may be exchanged with another
_NUMBER = re.compile(r"[-+]?\d[\d.,:/]*")
_SPELLED = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
]
_COUNT = {word: str(count) for count, word in enumerate(_SPELLED)}
Arc = tuple[int, int, str]  # head, dependent, role
Named = tuple[str, str, str]  # the same by the words' bases


@dataclass(frozen=True, eq=False)
class Side:
    """One tree as the features see it: its words and their bases, and one entry per word in `rarity` and `units`."""

    words: tuple[str, ...]
    bases: tuple[str, ...]
    rarity: Floats  # (n,) from 0, a word of every sentence, to 1
    units: Floats  # (n, X) the vectors, of length 1 or 0
    arcs: tuple[Arc, ...]
    root: int
    numbers: frozenset[str]
    names: frozenset[str]
    negated: bool
    asks: bool


def side(tree: Tree, rarity: Floats, vectors: Floats) -> Side:
    """What is seen of a tree; `rarity` (n,) and `vectors` (n, X) are those of its nodes."""
    tokens = [str(token or "") for token in tree.tokens or ("",) * len(tree)]
    spoken = tree.words.tolist()
    place = {node: i for i, node in enumerate(spoken)}
    words = tuple(tokens[node].lower() for node in spoken)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    units = vectors / np.where(lengths > 0, lengths, 1)
    bases = tuple(map(base, words))
    return Side(
        words,
        bases,
        rarity[spoken],
        units[spoken].astype(np.float32),
        _arcs(tree, words, place),
        place.get(tree.root, 0),
        frozenset(filter(None, map(_number, words))),
        frozenset(tokens[node].lower() for node in spoken[1:] if _is_name(tokens[node])),
        not NEGATIONS.isdisjoint(words),
        "?" in words,
    )


def rows(pairs: Sequence[tuple[Side, Side]]) -> Floats:
    """(pairs, features) of each pair."""
    return np.stack([compare(*pair) for pair in pairs]) if pairs else np.zeros((0, len(NAMES)), np.float32)


def compare(a: Side, b: Side) -> Floats:
    """(features,) of two sides; the same whichever is first."""
    same = np.array([[x == y for y in b.words] for x in a.words])
    alike = np.array([[x == y for y in b.bases] for x in a.bases])
    cosines = np.where(same, 1.0, np.clip(a.units @ b.units.T, 0, 1))
    best = (cosines.max(axis=1), cosines.max(axis=0))
    weights = (a.rarity + 1e-3, b.rarity + 1e-3)
    aligned = [float(w @ c / w.sum()) for w, c in zip(weights, best, strict=True)]
    lost = [float((w * (1 - c)).max()) for w, c in zip(weights, best, strict=True)]
    hits = (same.any(axis=1), same.any(axis=0))
    shared = [float(w @ h / w.sum()) for w, h in zip(weights, hits, strict=True)]
    total = float(weights[0].sum() + weights[1].sum())
    common = float(weights[0] @ hits[0] + weights[1] @ hits[1]) / total
    forms = float(weights[0] @ alike.any(axis=1) + weights[1] @ alike.any(axis=0)) / total
    values = [
        common, min(shared), max(shared), _jaccard(a.words, b.words), forms,
        min(aligned), max(aligned), max(lost), min(lost),
        _cosine(a.units.sum(axis=0), b.units.sum(axis=0)),
        _cosine(weights[0] @ a.units, weights[1] @ b.units),
        _jaccard(_grams(" ".join(a.words), 3), _grams(" ".join(b.words), 3)),
        _jaccard(_grams(a.words, 2), _grams(b.words, 2)),
        _in_order(a.words, b.words),
        float(bool(a.numbers - b.numbers) and bool(b.numbers - a.numbers)),
        float(bool(a.numbers & b.numbers)),
        float(bool(a.numbers) != bool(b.numbers)),
        _jaccard(a.names, b.names) if a.names and b.names else 0.5,
        float(bool(a.names - b.names) and bool(b.names - a.names)),
        float(a.negated != b.negated), float(a.negated and b.negated),
        *_grammar(a, b, np.where(alike, 1.0, cosines)),
        float(cosines[a.root, b.root]),
        abs(len(a.words) - len(b.words)) / max(len(a.words), len(b.words)),
        float(np.log(len(a.words) + len(b.words))),
        float(a.asks != b.asks),
        float((~a.units.any(axis=1)).mean() + (~b.units.any(axis=1)).mean()) / 2,
    ]  # fmt: skip
    return np.array(values, dtype=np.float32)


def _grammar(a: Side, b: Side, cosines: NDArray[np.floating[Any]]) -> list[float]:
    """Dependencies shared, aligned, exchanged and kept."""
    left, right = ({(s.bases[h], s.bases[d], r) for h, d, r in s.arcs} for s in (a, b))
    aligned = [1.0, 1.0]
    if a.arcs and b.arcs:
        heads = cosines[np.ix_([h for h, _, _ in a.arcs], [h for h, _, _ in b.arcs])]
        below = cosines[np.ix_([d for _, d, _ in a.arcs], [d for _, d, _ in b.arcs])]
        roles = np.array([[1.0 if r == s else 0.3 for _, _, s in b.arcs] for _, _, r in a.arcs])
        table = heads * below * roles
        aligned = [float(table.max(axis=1).mean()), float(table.max(axis=0).mean())]
    elif a.arcs or b.arcs:
        aligned = [0.0, 1.0]
    counts = [_roles(left, right, b.bases), _roles(right, left, a.bases)]
    exchanged, kept, met = max(counts)[0], counts[0][1] + counts[1][1], counts[0][2] + counts[1][2]
    return [_jaccard(left, right), min(aligned), max(aligned), float(exchanged), kept / met if met else 0.5]


def _roles(own: set[Named], other: set[Named], words: Sequence[str]) -> tuple[int, int, int]:
    """How many dependencies are exchanged on the other side, how many kept, and of how many it has both words."""
    exchanged = kept = met = 0
    roles_of: dict[tuple[str, str], set[str]] = {}
    for head, dependent, role in other:
        roles_of.setdefault((head, dependent), set()).add(role)
    for head, dependent, role in own:
        others = roles_of.get((head, dependent), set())
        met += head in words and dependent in words
        kept += role in others
        exchanged += role in _PARTS and role not in others and bool(others & _PARTS)
    return exchanged, kept, met


def _arcs(tree: Tree, words: Sequence[str], place: dict[int, int]) -> tuple[Arc, ...]:
    """Head, dependent and role; a preposition is part of the role of its object, `by` with a passive is an agent."""
    if tree.relations is None or len(place) < len(tree):
        return ()
    parents, relations = tree.parents.tolist(), [str(name) for name in tree.relations]
    passive = {parents[node] for node, name in enumerate(relations) if name in ("nsubjpass", "auxpass")}
    found = []
    for node, name in enumerate(relations):
        head = parents[node]
        if head < 0 or name in LIGHT:
            continue
        role = _ROLES.get(name, name)
        if name == "pobj" and parents[head] >= 0:
            by, head = words[place[head]], parents[head]
            role = "agent" if by == "by" and head in passive else f"prep {by}"
        found.append((place[head], place[node], role))
    return tuple(found)


def _is_name(token: str) -> bool:
    """Of a word that is not the first, which has its capital anyway."""
    return token[:1].isupper() and token != "I"


def _number(word: str) -> str | None:
    if word in _COUNT:
        return _COUNT[word]
    found = _NUMBER.search(word)
    return found.group().strip(".,:/").replace(",", "") if found else None


def _jaccard(a: object, b: object) -> float:
    one, two = set(a), set(b)  # type: ignore[call-overload]
    return len(one & two) / len(one | two) if one or two else 1.0


def _grams(items: Sequence[str], size: int) -> set[tuple[str, ...]]:
    return {tuple(items[i : i + size]) for i in range(len(items) - size + 1)}


def _cosine(x: NDArray[np.floating[Any]], y: NDArray[np.floating[Any]]) -> float:
    lengths = float(np.linalg.norm(x) * np.linalg.norm(y))
    return float(x @ y) / lengths if lengths else 0.0


def _in_order(a: Sequence[str], b: Sequence[str]) -> float:
    """The longest common subsequence, as a share of the longer side."""
    row = [0] * (len(b) + 1)
    for x in a:
        before = 0
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], before + 1 if x == y else max(row[j], row[j - 1])
    return row[-1] / max(len(a), len(b))
