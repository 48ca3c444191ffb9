"""What two sentences have in common as sets: of words, lemmas, synonyms, n-grams."""

from __future__ import annotations

import math
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from paper.systems.sentence import Prepared, Sentence

SKIPPED = {"a", "of", "is", "the"}  # all that The Meaning Factory takes for stop words


def jaccard(a: AbstractSet[object], b: AbstractSet[object]) -> float:
    """|a ∩ b| / |a ∪ b|; 1 for two empty sets."""
    return len(a & b) / len(a | b) if a or b else 1.0


def coefficients(a: AbstractSet[object], b: AbstractSet[object]) -> list[float]:
    """Jaccard's, Dice's, and the shares of the smaller, the larger, the left and the right set in common."""
    if not a or not b:
        return [float(a == b)] * 6
    common = len(a & b)
    return [
        jaccard(a, b), 2 * common / (len(a) + len(b)), common / min(len(a), len(b)), common / max(len(a), len(b)),
        common / len(a), common / len(b),
    ]  # fmt: skip


# ------------------------------------------------------------------------- words


def words(pair: Prepared) -> float:
    """Jaccard of the words but for the four most frequent."""
    return jaccard(set(pair.left.words) - SKIPPED, set(pair.right.words) - SKIPPED)


def words_or_synonyms(pair: Prepared) -> float:
    """The same, the words of one sentence replaced by the other's that WordNet calls their synonyms."""
    a, b = _terms(pair.left), _terms(pair.right)
    synonyms = pair.thesaurus.synonyms
    replaced = {x if x in b else next((y for y in sorted(b) if synonyms(x, y)), x) for x in a}
    return jaccard(replaced, b)


def lemmas(pair: Prepared) -> float:
    """Jaccard of the lemmas, stop words left out."""
    return jaccard(content_lemmas(pair.left), content_lemmas(pair.right))


def lemma_coefficients(pair: Prepared) -> list[float]:
    """Every coefficient of the lemmas, stop words left out."""
    return coefficients(content_lemmas(pair.left), content_lemmas(pair.right))


def word_coefficients(pair: Prepared) -> list[float]:
    """Every coefficient of the words as they stand."""
    return coefficients(set(pair.left.words), set(pair.right.words))


def nouns(pair: Prepared) -> float:
    """Jaccard of the nouns' lemmas."""
    return jaccard(_of_part(pair.left, "n"), _of_part(pair.right, "n"))


def verbs(pair: Prepared) -> float:
    """Jaccard of the verbs' lemmas."""
    return jaccard(_of_part(pair.left, "v"), _of_part(pair.right, "v"))


def weighted_lemmas(pair: Prepared) -> float:
    """Jaccard of the lemmas, each counted with its inverse document frequency."""
    weights = {**_weights(pair.left), **_weights(pair.right)}
    common = sum(weights[lemma] for lemma in sorted(set(pair.left.lemmas) & set(pair.right.lemmas)))
    return common / total if (total := sum(weights[lemma] for lemma in sorted(weights))) else 1.0


def rarity(pair: Prepared) -> float:
    """The sum over shared words of the share of sentences without them."""
    common = sorted(set(pair.left.lemmas) & set(pair.right.lemmas))
    weights = _weights(pair.left)
    return sum(1 - math.exp(-weights[lemma]) for lemma in common)


def synsets(pair: Prepared) -> float:
    """Jaccard of all words of the first five senses of the nouns."""
    return jaccard(_sense_words(pair, pair.left), _sense_words(pair, pair.right))


# ----------------------------------------------------------------------- lengths


def lengths(pair: Prepared) -> list[float]:
    """Sizes of both sets of words, of their differences, union and intersection, and how much one is longer."""
    a, b = set(pair.left.words), set(pair.right.words)
    sizes = [len(a), len(b), len(a - b), len(b - a), len(a | b), len(a & b)]
    return [*map(float, sizes), (len(a) - len(b)) / len(b), (len(b) - len(a)) / len(a)]


def length_difference(pair: Prepared) -> float:
    """How many words one sentence has more than the other, over the words of the shorter."""
    a, b = len(pair.left.words), len(pair.right.words)
    return abs(a - b) / min(a, b)


# ----------------------------------------------------------------------- n-grams


def character_grams(pair: Prepared) -> list[float]:
    """Jaccard of the sets of 2, 3, 4 and 5 characters in a row, spaces among them."""
    texts = [f" {' '.join(sentence.words)} " for sentence in (pair.left, pair.right)]
    return [jaccard(*(grams(text, size) for text in texts)) for size in (2, 3, 4, 5)]


def word_grams(pair: Prepared) -> list[float]:
    """Jaccard, and the share of the shorter, of 1, 2 and 3 stems in a row."""
    rows = []
    for size in (1, 2, 3):
        a, b = grams(pair.left.stems, size), grams(pair.right.stems, size)
        rows += [jaccard(a, b), len(a & b) / max(1, min(len(a), len(b)))]
    return rows


def grams(items: str | Sequence[str], size: int) -> set[object]:
    """All runs of so many items."""
    return {tuple(items[i : i + size]) for i in range(len(items) - size + 1)}


# ------------------------------------------------------------------------- parts


def content_lemmas(sentence: Sentence) -> set[str]:
    """The lemmas of a sentence without its stop words."""
    return {sentence.lemmas[i] for i in sentence.content}


def _terms(sentence: Sentence) -> set[tuple[str, str]]:
    return {term for term in sentence.terms if term[0] not in SKIPPED}


def _of_part(sentence: Sentence, part: str) -> set[str]:
    return {lemma for lemma, found in sentence.terms if found == part}


def _weights(sentence: Sentence) -> dict[str, float]:
    return dict(zip(sentence.lemmas, sentence.weights.tolist(), strict=True))


def _sense_words(pair: Prepared, sentence: Sentence) -> set[str]:
    wordnet = pair.thesaurus.wordnet
    senses = [sense for lemma in _of_part(sentence, "n") for sense in wordnet.senses(lemma, "n")[:5]]
    return {word for sense in senses for word in wordnet.synset(sense).words}
