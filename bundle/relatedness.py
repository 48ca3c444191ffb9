"""Train the bundled relatedness model: the cosine of means of weighted word vectors."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

from bough.data import find_data, user_cache
from bough.data.vector_sets import choose
from bough.data.vectors import Vectors, first_vectors, random_rows
from bough.models.batching import prepare_all
from bough.models.bundled import BundledModel
from bough.models.model import Model
from bough.nn import CosineSimilarity
from bough.outputs import Ratings
from bough.text.join_sentences import chain_of_words
from bough.text.tokenise import sentences, without_addresses
from bough.train.checkpoint import TrainingState
from bough.train.config import TrainConfig
from bough.train.loop import Callback, learn
from bough.train.optimizer import ModelOptimizer
from bough.train.recipes import read_recipe
from bough.train.tasks import PairsTask, RatedPair
from bundle.export import compress
from bundle.sts import load_sts

RECIPES = Path(__file__).parent / "recipes"
WORDS = 42_000  # of the vectors' file, the most frequent first
OUTPUT = Ratings(1.0, 5.0)
COMMON = 1e-3  # the share of all words at which a word has half the weight of a rare one
FLAT, ZIPF = 10, 0.1  # the word at rank r is a share of about ZIPF / (FLAT + r) of all words
OFTEN = 2  # times in training that a word without a vector must occur to have a row of its own


def train_relatedness(
    run: Path, *, data: Path | str | None, seed: int, callback: Callback
) -> tuple[BundledModel, TrainingState, str]:
    """Train into the folder `run`; return the exported model, the run's state and the name of the word vectors.

    The pairs held out of train choose the epoch.
    """
    config = read_recipe(TrainConfig(), "relatedness", RECIPES)
    pairs = {split: load_sts(data, split) for split in ("train", "dev")}
    counts = Counter(word for pair in pairs["train"] for text in pair[:2] for word in _words(text))
    cache = user_cache() / "vectors"
    vectors = first_vectors(choose(find_data(data), counts, config.vectors, cache=cache), WORDS, cache=cache)
    words, table = weighted_rows(vectors, counts, seed)
    torch.manual_seed(seed)
    model = Model(config.for_model(), OUTPUT, words, table=torch.from_numpy(table), trees="chain")
    prepared = {}
    for split, found in pairs.items():
        trees = [chain_of_words(_words(text)) for pair in found for text in pair[:2]]
        both, ratings = prepare_all(trees, model), [pair.score for pair in found]
        prepared[split] = [RatedPair(*pair) for pair in zip(both[::2], both[1::2], ratings, strict=True)]
    task = PairsTask(config, OUTPUT)
    state = TrainingState(ModelOptimizer(model, config), seed)
    state.restore(run)
    learn(run, task, config, state, prepared, callback)
    state.use_best()
    fit_scale(model, task, prepared["dev"])
    return compress(model, words, model.table.detach(), table.shape[1]), state, vectors.name


@torch.no_grad()
def fit_scale(model: Model, task: PairsTask, pairs: Sequence[RatedPair]) -> None:
    """Set the line from the cosine to the rating by least squares on unseen pairs."""
    assert isinstance(model.head, CosineSimilarity)
    left, right = task.vectors(model.eval(), pairs)
    cosines = functional.cosine_similarity(left, right).double().numpy()
    places = (np.array([pair.rating for pair in pairs]) - 1) / (model.head.classes - 1)
    slope, offset = np.polyfit(cosines, places, 1)
    model.head.a.fill_(float(slope))
    model.head.b.fill_(float(offset))


def weighted_rows(
    vectors: Vectors, counts: Counter[str], seed: int
) -> tuple[list[str], np.ndarray[tuple[int, int], np.dtype[np.float32]]]:
    """Return words and their first rows (words + 1, X), the unknown word's, which is zero, before them.

    A row is the vector less the mean of all vectors, of length 1, times the weight of the word: a /
    (a + p) for a word that is a share p of all words (Arora et al., 2017). A frequent word of
    training without a vector has a random row.
    """
    index = {word: rank for rank, word in enumerate(vectors.words)}
    own = [word for word, count in counts.items() if count >= OFTEN and word not in index]
    rows = np.concatenate([vectors.rows - vectors.rows.mean(axis=0), random_rows(own, vectors.dim, seed)])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    shares = ZIPF / (FLAT + np.arange(len(rows)))
    weighted = rows * (COMMON / (COMMON + shares))[:, None]
    table = np.concatenate([np.zeros((1, vectors.dim)), weighted]).astype(np.float32)
    return [*vectors.words, *own], table


def _words(text: str) -> list[str]:
    return [token.text.lower() for sentence in without_addresses(sentences(text)) for token in sentence]
