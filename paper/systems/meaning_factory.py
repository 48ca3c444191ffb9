"""The Meaning Factory (Bjerva, Bos, van der Goot and Nissim, 2014)."""

from paper.systems import alignment, composition, entailment, grammar, overlap, polarity
from paper.systems.learners import forest
from paper.systems.system import System

MEANING_FACTORY = System(
    name="meaning-factory",
    about="The Meaning Factory (Bjerva et al., 2014): overlap of words, synsets and predicates, and what one "
    "sentence says beyond the other; a random forest",
    measures=(
        overlap.words,
        overlap.words_or_synonyms,
        overlap.length_difference,
        composition.sums,
        overlap.synsets,
        alignment.nearest_nouns,
        overlap.nouns,
        overlap.verbs,
        overlap.rarity,
        grammar.predicates,
        grammar.participants,
        entailment.instances,
        entailment.relations,
        entailment.verdict,
        polarity.negation,
        polarity.antonyms,
    ),
    learner=forest(1000, max_depth=20, max_features=2),
    departures=(
        "no Boxer: predicates, agents and patients are those of the dependency parse",
        "no theorem prover and no model builder: words that follow by WordNet's synonyms and hypernyms, negation "
        "and antonyms stand for their verdict and for the sizes of their models",
        "WordNet's synonyms stand for PPDB's paraphrases, and only in the overlap of words",
        "word vectors are GloVe's",
        "nothing is made of the numbers of the pairs, which the team's third run learnt from",
    ),
)
