"""The four systems of SemEval 2014 in Table 3: their features, and their regressors."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import ensemble, linear_model, pipeline, preprocessing, svm, tree

from bough.data import find_data
from bough.data.vector_sets import choose
from paper.sick import Pair
from paper.systems import measures as m
from paper.systems.sentence import NEGATIONS, Floats, Preparation, Prepared, Sentence, lab_module, unit
from paper.systems.wordnet import Term

Features = dict[str, float | list[float]]  # the features of a pair by name, in the order of their columns
AGENT, PATIENT = ("nsubj",), ("dobj", "nsubjpass")
SKIPPED = {"a", "of", "is", "the"}  # the stop words of The Meaning Factory


# ---------------------------------------------------------------------- measures


def illinois_lh(pair: Prepared) -> Features:
    """Return features of overlap, composed phrases, chunks, WordNet's relations and negation."""
    phrases = []  # for chunks composed by sum and by product, the mean best cosine with a chunk of the other sentence
    for compose in (np.sum, np.prod):
        a, b = ([compose(s.vectors[chunk], axis=0) for chunk in m.chunks(s)] for s in pair.both)
        table = unit(np.stack(a)) @ unit(np.stack(b)).T
        phrases.append(float(table.max(axis=1).mean() + table.max(axis=0).mean()) / 2)
    return {
        "lemmas": m.jaccard(pair.left.content_lemmas, pair.right.content_lemmas),
        "negation": m.negation(pair),
        "antonyms": m.antonyms(pair),
        "content sums": m.content_sums(pair),
        "phrases": phrases,
        "chunks": m.chunk_alignment(pair),
        "related words": m.related_words(pair),
    }


def unal_nlp(pair: Prepared) -> Features:
    """Return soft cardinalities by spelling, WordNet, vectors and dependencies, and negation."""

    def alike(a: tuple[str, str, str], b: tuple[str, str, str]) -> float:
        return (float(a[0] == b[0]) + m.spelling(a[1], b[1]) + m.spelling(a[2], b[2])) / 3

    left, right = pair.both
    stems = [sentence.stems[i] for sentence in pair.both for i in sentence.content]
    terms = [sentence.terms[i] for sentence in pair.both for i in sentence.content]
    rows = np.concatenate([left.vectors[left.content], right.vectors[right.content]])
    same = np.array(stems)[:, None] == np.array(stems)[None, :]
    cosines = np.where(same, 1.0, np.clip(unit(rows) @ unit(rows).T, 0.0, 1.0))
    weights = np.concatenate([left.weights[left.content], right.weights[right.content]])
    count = len(left.content)
    # an empty triple for a sentence without dependencies
    triples = [sorted(sentence.triples) or [("", "", "")] for sentence in pair.both]
    arcs = m.similarities([*triples[0], *triples[1]], alike)
    negations = [sum(word in NEGATIONS for word in sentence.words) for sentence in pair.both]
    return {
        "spelling": m.ratios(m.similarities(stems, m.spelling), weights, count, 1.0),
        "wordnet": m.ratios(m.similarities(terms, pair.wordnet.path), weights, count, 1.0),
        "vectors": m.ratios(cosines, weights, count, 2.0),
        "dependencies": m.ratios(arcs, np.ones(len(arcs)), len(triples[0]), 1.0),
        "negations": [*map(float, negations), float(abs(negations[0] - negations[1]))],
        "antonyms": m.antonyms(pair),
    }


def meaning_factory(pair: Prepared) -> Features:
    """Return overlaps, and what share of a sentence follows from the other."""
    left, right = pair.both
    wordnet = pair.wordnet
    lengths = len(left.words), len(right.words)
    a, b = ({term for term in sentence.terms if term[0] not in SKIPPED} for sentence in pair.both)
    replaced = {x if x in b else next((y for y in sorted(b) if wordnet.synonyms(x, y)), x) for x in a}
    nouns, verbs = ([{lemma for lemma, p in s.terms if p == part} for s in pair.both] for part in "nv")
    synsets = []  # for each sentence, all words of the first five senses of its nouns
    for lemmas in nouns:
        senses = [sense for lemma in lemmas for sense in wordnet.senses(lemma, "n")[:5]]
        synsets.append({word for sense in senses for word in wordnet.synset(sense).words})
    noun_terms = [[term for term in sentence.terms if term[1] == "n"] for sentence in pair.both]
    nearest = [max((wordnet.path(x, y) for y in noun_terms[1]), default=0.0) for x in noun_terms[0]]
    hits = [value for value in nearest if value > 0]
    weights = dict(zip(left.lemmas, left.weights.tolist(), strict=True))
    shared = sorted(set(left.lemmas) & set(right.lemmas))
    participants = [
        m.jaccard(*({s.lemmas[i] for i in s.positions(which)} for s in pair.both))
        for which in (AGENT, PATIENT)
    ]
    instances = [_instances(pair, left, right), _instances(pair, right, left)]
    against = m.negation(pair)[2] > 0 or m.antonyms(pair) > 0
    return {
        "words": m.jaccard(set(left.words) - SKIPPED, set(right.words) - SKIPPED),
        "words or synonyms": m.jaccard(replaced, b),
        "length difference": abs(lengths[0] - lengths[1]) / min(lengths),
        "sums": m.cosine_of_sums(pair, [*range(lengths[0])], [*range(lengths[1])]),
        "synsets": m.jaccard(*synsets),
        "nearest nouns": sum(hits) / len(hits) if hits else 0.0,
        "nouns": m.jaccard(*nouns),
        "verbs": m.jaccard(*verbs),
        # the sum over shared words of the share of sentences without them
        "rarity": sum(1 - math.exp(-weights[lemma]) for lemma in shared),
        "predicates": m.jaccard(*({item for triple in s.triples for item in triple} for s in pair.both)),
        "participants": participants,
        "instances": instances,
        "relations": [_relations(pair, left, right), _relations(pair, right, left)],
        # 1 if every content word follows, 0 if half of them do and negation or an antonym opposes
        "verdict": [
            0.0 if against and share >= 0.5 else 1.0 if share == 1 and not against else 0.5
            for share in instances
        ],
        "negation": m.negation(pair),
        "antonyms": m.antonyms(pair),
    }


def _instances(pair: Prepared, premise: Sentence, hypothesis: Sentence) -> float:
    """Return the share of the content words of `hypothesis` that follow from `premise`."""
    content = [hypothesis.terms[i] for i in hypothesis.content]
    return sum(any(_follows(pair, other, term) for other in premise.terms) for term in content) / len(content)


def _relations(pair: Prepared, premise: Sentence, hypothesis: Sentence) -> float:
    """Return the share of dependencies of `hypothesis` whose words both follow from one of `premise`."""
    theirs = [(premise.terms[head], premise.terms[word]) for _, head, word in premise.arcs]
    own = [(hypothesis.terms[head], hypothesis.terms[word]) for _, head, word in hypothesis.arcs]
    found = [any(_follows(pair, a, x) and _follows(pair, b, y) for a, b in theirs) for x, y in own]
    return sum(found) / len(found) if found else 1.0


def _follows(pair: Prepared, premise: Term, hypothesis: Term) -> bool:
    """Return whether `hypothesis` has the lemma of `premise`, or is its synonym or hypernym."""
    return (
        premise[0] == hypothesis[0]
        or pair.wordnet.synonyms(premise, hypothesis)
        or pair.wordnet.hypernym(premise, hypothesis)
    )


def ecnu(pair: Prepared) -> Features:
    """Return features of lengths, overlap, WordNet, vectors, dependencies and opposites."""
    left, right = pair.both
    a, b = set(left.words), set(right.words)
    sizes = [len(a), len(b), len(a - b), len(b - a), len(a | b), len(a & b)]
    weights = {lemma: w for s in pair.both for lemma, w in zip(s.lemmas, s.weights.tolist(), strict=True)}
    total = sum(weights[lemma] for lemma in sorted(weights))
    shared = sum(weights[lemma] for lemma in sorted(set(left.lemmas) & set(right.lemmas)))
    texts = [f" {' '.join(sentence.words)} " for sentence in pair.both]
    stems = []  # Jaccard, and the share of the shorter sentence, of n-grams of 1, 2 and 3 stems
    for size in (1, 2, 3):
        x, y = (m.grams(sentence.stems, size) for sentence in pair.both)
        stems += [m.jaccard(x, y), len(x & y) / max(1, min(len(x), len(y)))]
    distance = lab_module("nltk.metrics.distance").edit_distance
    longer = max(len(left.lemmas), len(right.lemmas))
    run = SequenceMatcher(None, left.lemmas, right.lemmas, autojunk=False).find_longest_match().size
    edits = distance(left.lemmas, right.lemmas, substitution_cost=2)
    subsequence = (len(left.lemmas) + len(right.lemmas) - edits) // 2
    precision = []  # the mean share of n-grams of 1 to 4 words that the other has: BLEU without its brevity penalty
    for one, other in ((left.words, right.words), (right.words, left.words)):
        runs = [(m.grams(one, n), m.grams(other, n)) for n in range(1, min(4, len(one)) + 1)]
        precision.append(sum(len(x & y) / len(x) for x, y in runs) / len(runs))
    wordnet = pair.wordnet
    others = (wordnet.wu_palmer, wordnet.leacock_chodorow, wordnet.lin)
    cosines = pair.cosines[np.ix_(left.content, right.content)]
    parts = [[[i for i, term in enumerate(s.terms) if term[1] == part] for s in pair.both] for part in "nv"]
    roles = [[s.positions(which) for s in pair.both] for which in (("root",), AGENT, PATIENT)]
    # Jaccard of the dependencies without the relation, without the head, and without the dependent
    without = [m.jaccard(*({t[:i] + t[i + 1 :] for t in s.triples} for s in pair.both)) for i in range(3)]
    return {
        "lengths": [*map(float, sizes), (len(a) - len(b)) / len(b), (len(b) - len(a)) / len(a)],
        "words": m.coefficients(a, b),
        "lemmas": m.coefficients(left.content_lemmas, right.content_lemmas),
        "weighted lemmas": shared / total if total else 1.0,
        "characters": [m.jaccard(*(m.grams(text, size) for text in texts)) for size in (2, 3, 4, 5)],
        "stems": stems,
        "sequences": [run / longer, subsequence / longer, 1 - distance(left.lemmas, right.lemmas) / longer],
        "precision": precision,
        "best paths": m.best_matches(pair, pair.table(wordnet.path)),
        "best in WordNet": [value for one in others for value in m.best_matches(pair, pair.table(one))],
        "best cosines": m.best_matches(pair, pair.cosines),
        # the best match of the word with the worst best match
        "worst cosines": [float(cosines.max(axis=1).min()), float(cosines.max(axis=0).min())],
        "related words": m.related_words(pair),
        "sums": m.cosine_of_sums(pair, [*range(len(left.words))], [*range(len(right.words))]),
        "content sums": m.content_sums(pair),
        "part sums": [m.cosine_of_sums(pair, *positions) for positions in parts],
        "dependencies": [*m.coefficients(left.triples, right.triples), *without],
        "roles": [m.cosine_of_sums(pair, *positions) for positions in roles],
        "negation": m.negation(pair),
        "antonyms": m.antonyms(pair),
    }


# ---------------------------------------------------------------------- learners


class LogLinear:
    """Predict the expected rating of a log-linear model whose classes are the ratings 1 to K. The seed is not used.

    A rating between two whole numbers is an example of both, with a larger weight for the nearer one.
    """

    def __init__(self, seed: int, strength: float = 1.0) -> None:
        regression = linear_model.LogisticRegression(C=strength, max_iter=2000)
        self._model: Any = pipeline.make_pipeline(preprocessing.StandardScaler(), regression)

    def fit(self, x: Floats, y: Floats) -> None:
        """Fit the model to features (n, k) and ratings (n,)."""
        low = np.clip(np.floor(y), 1, max(1.0, np.ceil(y.max()) - 1))
        classes, weights = np.concatenate([low, low + 1]), np.concatenate([1 - (y - low), y - low])
        rows = np.concatenate([x, x])
        self._model.fit(rows, classes.astype(np.int64), logisticregression__sample_weight=weights)

    def predict(self, x: Floats) -> Floats:
        """Return the expected ratings (m,) for features (m, k)."""
        return np.asarray(self._model.predict_proba(x) @ self._model.classes_)


def bagged_trees(seed: int) -> Any:
    one = tree.DecisionTreeRegressor(min_samples_leaf=5)
    return ensemble.BaggingRegressor(one, n_estimators=30, random_state=seed)


def random_forest(seed: int) -> Any:
    return ensemble.RandomForestRegressor(1000, max_depth=20, max_features=2, random_state=seed)


def mean_of_three(seed: int) -> Any:
    """Return the mean of a support vector regression, a random forest and gradient boosting."""
    vectors = svm.SVR(C=1.0, epsilon=0.1, gamma="auto")
    forest = ensemble.RandomForestRegressor(100, min_samples_leaf=3, max_features=0.3, random_state=seed)
    boosting = ensemble.HistGradientBoostingRegressor(
        max_iter=200, learning_rate=0.06, max_leaf_nodes=12, min_samples_leaf=20, l2_regularization=1.0,
        max_features=0.3, random_state=seed,
    )  # fmt: skip
    scaled = pipeline.make_pipeline(preprocessing.StandardScaler(), vectors)
    return ensemble.VotingRegressor([("svr", scaled), ("forest", forest), ("boosting", boosting)])


# ----------------------------------------------------------------------- systems


@dataclass(frozen=True, eq=False)
class System:
    """One feature-based system. `differences.toml` lists how it differs from the original.

    Examples:
        >>> from paper.systems import SYSTEMS
        >>> sorted(SYSTEMS)
        ['ecnu', 'illinois-lh', 'meaning-factory', 'unal-nlp']
    """

    name: str
    features: Callable[[Prepared], Features]
    learner: Callable[[int], Any] = field(repr=False)  # a regressor of scikit-learn, from a seed

    def fit(
        self, pairs: Sequence[Pair], seed: int, data: Path | str | None = None, vectors: str | Path = "auto"
    ) -> Fitted:
        """Fit the system to pairs of dependency trees and their scores, which start at 1.

        WordNet and GloVe are read from the folder `data`. `vectors` is a set, a file, or `auto`, as
        in `bough.data.vector_sets.choose`.
        """
        prepare = preparation(find_data(data))
        rarity = prepare.rarity(pairs)
        path = choose(prepare.data, prepare.counts(pairs), vectors)
        regressor, gold = self.learner(seed), np.array([pair.score for pair in pairs])
        regressor.fit(self.rows(prepare(pairs, rarity, path)), gold)
        return Fitted(self, regressor, (gold.min(), gold.max()), rarity, prepare, path)

    def rows(self, pairs: Sequence[Prepared]) -> Floats:
        """Return the features of pairs as an array (pairs, features)."""
        return np.array([np.hstack([*self.features(pair).values()]) for pair in pairs])


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fitted system, with the range of the ratings that it was fitted to.

    Examples:
        >>> from paper.sick import load_sick
        >>> from paper.systems import SYSTEMS
        >>> pairs = load_sick(None, "train")  # doctest: +SKIP
        >>> fitted = SYSTEMS["ecnu"].fit(pairs, seed=1)  # doctest: +SKIP
        >>> fitted.predict(load_sick(None, "dev")).shape  # doctest: +SKIP
        (500,)
    """

    system: System
    regressor: Any
    range: tuple[float, float]
    rarity: Callable[[str], float] = field(repr=False)
    prepare: Preparation = field(repr=False)
    vectors: Path

    def predict(self, pairs: Sequence[Pair]) -> Floats:
        """Return a rating for every pair, (n,), within the range of the training ratings."""
        if not pairs:
            return np.zeros(0)
        rows = self.system.rows(self.prepare(pairs, self.rarity, self.vectors))
        return np.asarray(np.clip(self.regressor.predict(rows), *self.range))


# cached, because a preparation caches what it reads from WordNet
preparation = cache(Preparation)
SYSTEMS = {
    system.name: system
    for system in (
        System("illinois-lh", illinois_lh, LogLinear),
        System("unal-nlp", unal_nlp, bagged_trees),
        System("meaning-factory", meaning_factory, random_forest),
        System("ecnu", ecnu, mean_of_three),
    )
}
"""The four rebuilt systems by name."""
