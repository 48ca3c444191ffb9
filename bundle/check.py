"""Measure a model on plain text: sentiment on its sources, relatedness on STS and SICK."""

import csv
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.pipeline import make_pipeline

from bough.data import find_data
from bough.outputs.calibration import calibration_error
from bough.outputs.classes import POLARITIES, SENTIMENT, sentiment_classes
from bough.pipelines import PairPipeline, Pipeline
from bundle.opinions import SOURCES, Opinion, load_opinions
from bundle.sts import TextPair, load_sts
from paper.sick import TEXTS, read_texts
from paper.sst import load_sst, words_of

Floats = NDArray[np.float64]
Metrics = dict[str, float]
Tables = dict[str, dict[str, Metrics]]  # the metrics of each system on each set
Scorer = Callable[[Sequence[str]], Floats]  # texts -> (n, 5), the probability of each class
EVERYDAY = Path(__file__).with_name("everyday.csv")
ALIKE = 4.2  # on the scale of 1 to 5: a score of 4 in the STS benchmark


def check_sentiment(pipeline: Pipeline, data: Path | str | None, split: str = "test") -> Tables:
    """Measure a model, VADER and a bag of words that is trained on the bundled model's data."""
    sets = {"SST": sst_sentences(data, split)}
    sets |= {source: load_opinions(data, source, split) for source in SOURCES}
    if split == "test":  # the everyday sentences were written before the model was trained
        with EVERYDAY.open(encoding="utf-8", newline="") as file:
            sets["everyday"] = [Opinion(row["text"], row["label"]) for row in csv.DictReader(file)]
    systems = {"model": pipeline.predict_proba, "VADER": vader(), "bag of words": bag_of_words(data)}
    tables: Tables = {}
    for name, found in sets.items():
        texts = [opinion.text for opinion in found]
        tables[name] = {system: sentiment_metrics(score(texts), found) for system, score in systems.items()}
    return tables


def sentiment_metrics(p: Floats, opinions: Sequence[Opinion]) -> Metrics:
    """Return metrics in percent, and the calibration error, of probabilities (n, 5).

    `accuracy` and `macro-F1` are of negative, neutral and positive, by the sums of their classes.
    Of texts that are not neutral, `polar` is the share whose shown label has the right side, so
    that neutral is wrong; `polar, largest class` is the same by the largest of the five; `binary`
    is the side with neutral impossible.
    """
    output = sentiment_classes()
    side_of = np.array(output.polarity) + 1
    sums = np.stack([p[:, side_of == side].sum(axis=1) for side in range(len(POLARITIES))], axis=1)
    gold = np.array([POLARITIES.index(opinion.side) for opinion in opinions])
    polar = gold != 1
    found = {
        "accuracy": 100 * float((sums.argmax(axis=1) == gold).mean()),
        "macro-F1": 100 * float(f1_score(gold, sums.argmax(axis=1), average="macro", zero_division=0)),
        "polar": 100 * float((side_of[output.choose(p)] == gold)[polar].mean()),
        "polar, largest class": 100 * float((side_of[p.argmax(axis=1)] == gold)[polar].mean()),
        "binary": 100 * float((2 * (sums[:, 2] > sums[:, 0]) == gold)[polar].mean()),
        "ECE": calibration_error(sums, gold),
    }
    fine = np.array([SENTIMENT.index(opinion.label) for opinion in opinions])
    if any(opinion.label != opinion.side for opinion in opinions):
        found["five classes"] = 100 * float((p.argmax(axis=1) == fine).mean())
        found["five classes, shown"] = 100 * float((output.choose(p) == fine).mean())
    return found


def sst_sentences(data: Path | str | None, split: str) -> list[Opinion]:
    """Return SST's sentences as plain text: their words with spaces between."""
    opinions = []
    for tree in load_sst(data, split):
        label = (tree.labels or ())[tree.root]
        opinions.append(Opinion(" ".join(words_of(tree)), SENTIMENT[int(str(label))]))
    return opinions


def vader() -> Scorer:
    """Return a scorer by a lexicon: positive from 0.05 and negative from -0.05, as its authors say."""
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

    analyser = SentimentIntensityAnalyzer()

    def score(texts: Sequence[str]) -> Floats:
        compound = np.array([analyser.polarity_scores(text)["compound"] for text in texts])
        neutral = np.where(np.abs(compound) < 0.05, 1.0, 0.0)  # above either other, but not of two classes
        sides = np.stack([(1 - compound) / 2, neutral, (1 + compound) / 2 - 1e-9], axis=1)
        return in_five_classes(sides / sides.sum(axis=1, keepdims=True))

    return score


def bag_of_words(data: Path | str | None) -> Scorer:
    """Return a scorer by TF-IDF of one and two words, and a logistic regression."""
    known = sst_sentences(data, "train")
    known += [opinion for source in SOURCES for opinion in load_opinions(data, source, "train")]
    words = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True, token_pattern=r"\S*\w\S*|\S+")
    bag = make_pipeline(words, LogisticRegression(C=4.0, max_iter=300, class_weight="balanced"))
    bag.fit([opinion.text for opinion in known], [opinion.side for opinion in known])
    # its classes are in alphabetical order, as `POLARITIES`
    return lambda texts: in_five_classes(bag.predict_proba(texts))


def in_five_classes(sides: Floats) -> Floats:
    """Return (n, 5) for (n, 3): negative and positive without their degrees."""
    nothing = np.zeros(len(sides))
    return np.stack([nothing, sides[:, 0], sides[:, 1], sides[:, 2], nothing], axis=1)


def check_relatedness(pipeline: PairPipeline, data: Path | str | None, split: str = "test") -> Tables:
    """Measure a model beside TF-IDF, by cosines, on the STS benchmark and SICK's test split."""
    pairs = load_sts(data, split)
    corpus = list(dict.fromkeys(text for pair in pairs for text in pair[:2]))
    words = TfidfVectorizer().fit(corpus)
    systems: dict[str, Scorer] = {
        "model": lambda texts: np.asarray(pipeline.encode(texts), dtype=np.float64),
        "TF-IDF": lambda texts: words.transform(texts).toarray(),
    }
    sets = {"all": pairs}
    for pair in pairs:
        sets.setdefault(pair.genre, []).append(pair)
    if split == "test":
        rows = read_texts(find_data(data) / "sick" / TEXTS["test"][0])
        sets["SICK test"] = [TextPair(a, b, float(score), "SICK") for _, a, b, score, _ in rows]
    by_set = {
        name: {which: correlation(encode, some) for which, some in sets.items()}
        for name, encode in systems.items()
    }
    nearest = {name: retrieval(encode, pairs, corpus) for name, encode in systems.items()}
    return {"Pearson's r of the cosine": by_set, "nearest": nearest}


def correlation(encode: Scorer, pairs: Sequence[TextPair]) -> float:
    """Return Pearson's r of the cosine of two texts and their score."""
    left, right = encode([pair.a for pair in pairs]), encode([pair.b for pair in pairs])
    norms = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    cosines = (left * right).sum(axis=1) / np.maximum(norms, 1e-12)
    return float(np.corrcoef(cosines, [pair.score for pair in pairs])[0, 1])


def retrieval(encode: Scorer, pairs: Sequence[TextPair], corpus: Sequence[str]) -> Metrics:
    """Measure the rank of a sentence's partner among all others, for pairs with a score of 4 or more."""
    index = {text: number for number, text in enumerate(corpus)}
    asked = [(index[pair.a], index[pair.b]) for pair in pairs if pair.score >= ALIKE and pair.a != pair.b]
    vectors = encode(corpus)
    ranks = []
    for one, other in asked:
        cosines = vectors @ vectors[one]
        cosines[one] = -np.inf
        ranks.append(1 + int((cosines > cosines[other]).sum()))
    at = np.array(ranks)
    shares = {"first": at == 1, "among ten": at <= 10, "MRR": 1 / at}
    return {name: float(values.mean()) for name, values in shares.items()}
