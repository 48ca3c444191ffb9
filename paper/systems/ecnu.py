"""ECNU (Zhao, Zhu and Lan, 2014)."""

from paper.systems import alignment, composition, grammar, overlap, polarity, strings
from paper.systems.learners import boosting, forest, mean_of, support_vectors
from paper.systems.system import System

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
        strings.sequences,
        strings.precision,
        alignment.best_paths,
        alignment.best_thesaurus,
        alignment.best_cosines,
        alignment.worst_cosines,
        alignment.related_words,
        composition.sums,
        composition.content_sums,
        composition.part_sums,
        grammar.dependencies,
        grammar.roles,
        polarity.negation,
        polarity.antonyms,
    ),
    learner=mean_of(
        support_vectors(C=1.0, epsilon=0.1, gamma="auto"),
        forest(100, min_samples_leaf=3, max_features=0.3),
        boosting(
            max_iter=200,
            learning_rate=0.06,
            max_leaf_nodes=12,
            min_samples_leaf=20,
            l2_regularization=1.0,
            max_features=0.3,
        ),
    ),
    departures=(
        "GloVe stands for latent semantic analysis, matrix factorisation and co-occurrence counts",
        "Lin's similarity counts words in SemCor, by the counts that come with WordNet",
        "80 numbers of the same seven groups, not the team's own list of 72",
        "the mean of support vectors, a random forest and gradient boosting; which learners the team's best run "
        "joined is not known",
    ),
)
