"""Illinois-LH (Lai and Hockenmaier, 2014)."""

from paper.systems import alignment, composition, overlap, polarity
from paper.systems.learners import log_linear
from paper.systems.system import System

ILLINOIS_LH = System(
    name="illinois-lh",
    about="Illinois-LH (Lai and Hockenmaier, 2014): word overlap, composed phrases, aligned chunks, WordNet's "
    "relations and negation; a log-linear model",
    measures=(
        overlap.lemmas,
        polarity.negation,
        polarity.antonyms,
        composition.content_sums,
        composition.phrases,
        alignment.chunk_alignment,
        alignment.related_words,
    ),
    learner=log_linear(1.0),
    departures=(
        "no denotational similarities: they come from a graph of Flickr30k's captions and images",
        "word vectors are GloVe's, not counted in Flickr30k's captions",
        "chunks and parts of speech are read off the dependency parse, not by a chunker and a tagger",
        "the log-linear model's classes are the ratings 1 to 5, and its expected rating is the prediction",
    ),
)
