"""What two sentences have in common: words, n-grams, dependencies, what follows from what, and what is opposed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from difflib import SequenceMatcher

from bough.models.pair_features import NEGATIONS
from paper.systems.sentence import Prepared, Sentence, lab_module
from paper.systems.wordnet import Term

AGENT, PATIENT = ("nsubj",), ("dobj", "nsubjpass")
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


def sequences(pair: Prepared) -> list[float]:
    """The longest common run and subsequence of lemmas, and one less their edit distance, over the longer length."""
    a, b = pair.left.lemmas, pair.right.lemmas
    distance = lab_module("nltk.metrics.distance").edit_distance
    longer = max(len(a), len(b))
    run = SequenceMatcher(None, a, b, autojunk=False).find_longest_match().size
    subsequence = (len(a) + len(b) - distance(a, b, substitution_cost=2)) // 2
    return [run / longer, subsequence / longer, 1 - distance(a, b) / longer]


def precision(pair: Prepared) -> list[float]:
    """Both ways, the mean share of one's runs of 1 to 4 words that the other has: translation's BLEU, unpenalised."""
    ways = ((pair.left.words, pair.right.words), (pair.right.words, pair.left.words))
    return [_precision(a, b) for a, b in ways]


def _precision(a: Sequence[str], b: Sequence[str]) -> float:
    sizes = range(1, min(4, len(a)) + 1)
    return sum(len(grams(a, n) & grams(b, n)) / len(grams(a, n)) for n in sizes) / len(sizes)


# ------------------------------------------------------------------- dependencies


def dependencies(pair: Prepared) -> list[float]:
    """Coefficients of the sets of dependencies, and Jaccard of those without the relation, the head, the dependent."""
    a, b = pair.left.triples, pair.right.triples
    parts = [jaccard({t[:i] + t[i + 1 :] for t in a}, {t[:i] + t[i + 1 :] for t in b}) for i in range(3)]
    return [*coefficients(a, b), *parts]


def predicates(pair: Prepared) -> float:
    """Jaccard of the words that depend or are depended on, and of the relations' names."""
    return jaccard(*({item for triple in s.triples for item in triple} for s in (pair.left, pair.right)))


def participants(pair: Prepared) -> list[float]:
    """Jaccard of the agents, and of the patients."""
    found = []
    for which in (AGENT, PATIENT):
        a, b = ({s.lemmas[i] for i in s.positions(which)} for s in (pair.left, pair.right))
        found.append(jaccard(a, b))
    return found


# -------------------------------------------------------------------- entailment


def instances(pair: Prepared) -> list[float]:
    """The share of either sentence's content words that follow from a word of the other; right, then left."""
    return [_instances(pair, pair.left, pair.right), _instances(pair, pair.right, pair.left)]


def relations(pair: Prepared) -> list[float]:
    """The share of either sentence's dependencies both of whose words follow from a dependency of the other."""
    return [_relations(pair, pair.left, pair.right), _relations(pair, pair.right, pair.left)]


def verdict(pair: Prepared) -> list[float]:
    """Either way: 1 if every content word follows, 0 if half of them do and negation or an antonym opposes, else ½."""
    against = negation(pair)[2] > 0 or antonyms(pair) > 0
    return [
        0.0 if against and share >= 0.5 else 1.0 if share == 1 and not against else 0.5
        for share in instances(pair)
    ]


def _instances(pair: Prepared, known: Sentence, said: Sentence) -> float:
    content = [said.terms[i] for i in said.content]
    return sum(_any(pair, known.terms, term) for term in content) / len(content)


def _relations(pair: Prepared, known: Sentence, said: Sentence) -> float:
    theirs = [(known.terms[head], known.terms[word]) for _, head, word in known.arcs]
    own = [(said.terms[head], said.terms[word]) for _, head, word in said.arcs]
    found = [any(_follows(pair, a, x) and _follows(pair, b, y) for a, b in theirs) for x, y in own]
    return sum(found) / len(found) if found else 1.0


def _any(pair: Prepared, known: tuple[Term, ...], said: Term) -> bool:
    return any(_follows(pair, term, said) for term in known)


def _follows(pair: Prepared, known: Term, said: Term) -> bool:
    """Whether what is `known` is `said`: the same lemma, a synonym, or something more general."""
    return known[0] == said[0] or pair.thesaurus.synonyms(known, said) or pair.thesaurus.hypernym(known, said)


# ---------------------------------------------------------------------- polarity


def negation(pair: Prepared) -> list[float]:
    """Whether the left, the right, exactly one, or both sentences have a word of negation."""
    left, right = (not NEGATIONS.isdisjoint(sentence.words) for sentence in (pair.left, pair.right))
    return [float(left), float(right), float(left != right), float(left and right)]


def negations(pair: Prepared) -> list[float]:
    """How many words of negation either sentence has, and the difference."""
    left, right = (sum(word in NEGATIONS for word in s.words) for s in (pair.left, pair.right))
    return [float(left), float(right), float(abs(left - right))]


def antonyms(pair: Prepared) -> float:
    """How many words of one sentence are opposed to one of the other that does not have the word itself."""
    left, right = set(pair.left.terms), set(pair.right.terms)
    return float(
        sum(any(pair.thesaurus.antonyms(a, b) for b in sorted(right - left)) for a in sorted(left - right))
    )


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
