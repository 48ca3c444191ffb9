"""The four systems of SemEval 2014 in Table 3: what each measures, how it learns, how it differs from the original."""

from __future__ import annotations

from typing import Any

import numpy as np

from paper.systems import alignment, cardinality, overlap
from paper.systems.sentence import Floats
from paper.systems.system import Regressor, System


class LogLinear:
    """Ratings 1 to K as classes of a log-linear model, whose expected rating is predicted.

    A rating between two whole numbers counts for both, for the nearer one more.
    """

    def __init__(self, strength: float) -> None:
        self.strength = strength

    def fit(self, x: Floats, y: Floats) -> None:
        """Learn from rows of measures (n, k) and their ratings (n,)."""
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        low = np.clip(np.floor(y), 1, max(1.0, np.ceil(y.max()) - 1))
        classes, weights = np.concatenate([low, low + 1]), np.concatenate([1 - (y - low), y - low])
        self._model: Any = make_pipeline(StandardScaler(), LogisticRegression(C=self.strength, max_iter=2000))
        self._model.fit(
            np.concatenate([x, x]), classes.astype(np.int64), logisticregression__sample_weight=weights
        )

    def predict(self, x: Floats) -> Floats:
        """(m,) the expected ratings of rows (m, k)."""
        return np.asarray(self._model.predict_proba(x) @ self._model.classes_)


def log_linear(seed: int) -> Regressor:
    """Return a log-linear model; the seed changes nothing."""
    return LogLinear(1.0)


def bagged_trees(seed: int) -> Regressor:
    """Return regression trees, each grown on a bag of the pairs."""
    from sklearn.ensemble import BaggingRegressor
    from sklearn.tree import DecisionTreeRegressor

    bags: Regressor = BaggingRegressor(
        DecisionTreeRegressor(min_samples_leaf=5), n_estimators=30, random_state=seed
    )
    return bags


def random_forest(seed: int) -> Regressor:
    """Return a random forest."""
    from sklearn.ensemble import RandomForestRegressor

    forest: Regressor = RandomForestRegressor(1000, max_depth=20, max_features=2, random_state=seed)
    return forest


def mean_of_three(seed: int) -> Regressor:
    """Return the mean of support vectors on standardised measures, a random forest and gradient boosting."""
    from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor, VotingRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVR

    support_vectors = make_pipeline(StandardScaler(), SVR(C=1.0, epsilon=0.1, gamma="auto"))
    forest = RandomForestRegressor(100, min_samples_leaf=3, max_features=0.3, random_state=seed)
    boosting = HistGradientBoostingRegressor(
        max_iter=200, learning_rate=0.06, max_leaf_nodes=12, min_samples_leaf=20, l2_regularization=1.0,
        max_features=0.3, random_state=seed,
    )  # fmt: skip
    mean: Regressor = VotingRegressor([("svr", support_vectors), ("forest", forest), ("boosting", boosting)])
    return mean


ILLINOIS_LH = System(
    name="illinois-lh",
    about="Illinois-LH (Lai and Hockenmaier, 2014): word overlap, composed phrases, aligned chunks, WordNet's "
    "relations and negation; a log-linear model",
    measures=(
        overlap.lemmas,
        overlap.negation,
        overlap.antonyms,
        alignment.content_sums,
        alignment.phrases,
        alignment.chunk_alignment,
        alignment.related_words,
    ),
    learner=log_linear,
    differences=(
        "no denotational similarities: they come from a graph of Flickr30k's captions and images",
        "word vectors are GloVe's, not counted in Flickr30k's captions",
        "chunks and parts of speech are read off the dependency parse, not by a chunker and a tagger",
        "the log-linear model's classes are the ratings 1 to 5, and its expected rating is the prediction",
    ),
)

UNAL_NLP = System(
    name="unal-nlp",
    about="UNAL-NLP (Jimenez et al., 2014): soft cardinalities of words and dependencies, negation and "
    "antonyms; bagged regression trees",
    measures=(
        cardinality.by_spelling,
        cardinality.by_wordnet,
        cardinality.by_vectors,
        cardinality.by_dependencies,
        overlap.negations,
        overlap.antonyms,
    ),
    learner=bagged_trees,
    differences=(
        "GloVe's cosines stand for explicit semantic analysis of Wikipedia",
        "words are compared by Dice's coefficient of their q-grams, with no constants tuned on other tasks",
        "inverse document frequencies are counted in the training sentences alone",
        "trees are scikit-learn's, with at least five pairs per leaf, not WEKA's, which prunes",
    ),
)

MEANING_FACTORY = System(
    name="meaning-factory",
    about="The Meaning Factory (Bjerva et al., 2014): overlap of words, synsets and predicates, and what one "
    "sentence says beyond the other; a random forest",
    measures=(
        overlap.words,
        overlap.words_or_synonyms,
        overlap.length_difference,
        alignment.sums,
        overlap.synsets,
        alignment.nearest_nouns,
        overlap.nouns,
        overlap.verbs,
        overlap.rarity,
        overlap.predicates,
        overlap.participants,
        overlap.instances,
        overlap.relations,
        overlap.verdict,
        overlap.negation,
        overlap.antonyms,
    ),
    learner=random_forest,
    differences=(
        "no Boxer: predicates, agents and patients are those of the dependency parse",
        "no theorem prover and no model builder: words that follow by WordNet's synonyms and hypernyms, negation "
        "and antonyms stand for their verdict and for the sizes of their models",
        "WordNet's synonyms stand for PPDB's paraphrases, and only in the overlap of words",
        "word vectors are GloVe's",
        "nothing is made of the numbers of the pairs, which the team's third run learnt from",
    ),
)

ECNU = System(
    name="ecnu",
    about="ECNU (Zhao, Zhu and Lan, 2014): lengths, surface overlap, WordNet's similarities, vectors, dependencies, "
    "negation and antonyms; the mean of three learners",
    measures=(
        overlap.lengths,
        overlap.word_coefficients,
        overlap.lemma_coefficients,
        overlap.weighted_lemmas,
        overlap.character_grams,
        overlap.word_grams,
        overlap.sequences,
        overlap.precision,
        alignment.best_paths,
        alignment.best_thesaurus,
        alignment.best_cosines,
        alignment.worst_cosines,
        alignment.related_words,
        alignment.sums,
        alignment.content_sums,
        alignment.part_sums,
        overlap.dependencies,
        alignment.roles,
        overlap.negation,
        overlap.antonyms,
    ),
    learner=mean_of_three,
    differences=(
        "GloVe stands for latent semantic analysis, matrix factorisation and co-occurrence counts",
        "Lin's similarity counts words in SemCor, by the counts that come with WordNet",
        "80 numbers of the same seven groups, not the team's own list of 72",
        "the mean of support vectors, a random forest and gradient boosting; which learners the team's best run "
        "joined is not known",
    ),
)

SYSTEMS = {system.name: system for system in (ILLINOIS_LH, UNAL_NLP, MEANING_FACTORY, ECNU)}
"""The four rebuilt systems by name."""
