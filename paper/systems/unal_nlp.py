"""UNAL-NLP (Jimenez, Duenas, Baquero and Gelbukh, 2014)."""

from functools import partial

from paper.systems import cardinality, polarity
from paper.systems.learners import bagged_trees
from paper.systems.system import System

UNAL_NLP = System(
    name="unal-nlp",
    about="UNAL-NLP (Jimenez et al., 2014): soft cardinalities of words and dependencies, negation and "
    "antonyms; bagged regression trees",
    measures=(
        partial(cardinality.by_spelling, softness=1.0),
        partial(cardinality.by_wordnet, softness=1.0),
        partial(cardinality.by_vectors, softness=2.0),
        partial(cardinality.by_dependencies, softness=1.0),
        polarity.negations,
        polarity.antonyms,
    ),
    learner=bagged_trees(bags=30, leaf=5),
    departures=(
        "GloVe's cosines stand for explicit semantic analysis of Wikipedia",
        "words are compared by Dice's coefficient of their q-grams, with no constants tuned on other tasks",
        "inverse document frequencies are counted in the training sentences alone",
        "trees are scikit-learn's, with at least five pairs per leaf, not WEKA's, which prunes",
    ),
)
