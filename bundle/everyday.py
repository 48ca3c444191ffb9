"""Measure sentiment outside films: models, VADER and a bag of words side by side, on text as people write it.

    python -m bundle.everyday sentiment runs/mine            # everyday sentences and the other dev parts
    python -m bundle.everyday sentiment --test               # the test parts instead, once all is chosen

Needs the data folder (--data, or BOUGH_DATA) and `vaderSentiment`, which the extra `lab` has. `everyday.csv` and
`blind_spots.csv` beside this file are development sets: whoever wrote the templates that the bundled model learned
from knew their sentences. The bag of words is a logistic regression on one and two words, weighted by TF-IDF, trained
on what the models may train on: SST's sentences, GoEmotions and Amazon titles.
Everyday sentences and GoEmotions have three classes, Amazon titles and SST, whose neutral sentences are left out, two.
VADER is positive from 0.05 and negative from -0.05; of two classes, positive above 0.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score, recall_score
from sklearn.pipeline import make_pipeline

import bough
from bough.pipelines import SentimentPipeline
from bundle.card import markdown_table, replace_section
from bundle.export import spoken
from bundle.opinions import Opinion, load_opinions
from paper.sst import load_sst

CLASSES = ("negative", "neutral", "positive")
SECTION = "## Outside the films"
ABOUT = (
    "By `python -m bundle.everyday --test`, in percent. The first two tables are development sets: the project wrote "
    "their sentences, and later the sayings that the model learned from, some of them near twins of these sentences. "
    "They do not show how the model does on other text. The last three are test splits, read once all was chosen."
)
DEVELOPMENT = {
    "development set: everyday sentences": "everyday.csv",
    "development set: blind spots": "blind_spots.csv",
}
Scorer = Callable[[Sequence[str]], np.ndarray]  # texts -> (n, 3), how likely each class is


def read_sentences(name: str) -> list[Opinion]:
    """Read one of the files of sentences beside this module."""
    with Path(__file__).with_name(name).open(encoding="utf-8", newline="") as file:
        return [Opinion(row["text"], row["label"]) for row in csv.DictReader(file)]


def sst_sentences(data: str | None, split: str) -> list[Opinion]:
    """Return SST's sentences as plain text, in three classes."""
    found = []
    for tree in load_sst(data, split):
        root = int(str((tree.labels or ())[tree.root]))
        found.append(Opinion(spoken(tree), "negative" if root < 2 else "positive" if root > 2 else "neutral"))
    return found


def vader() -> Scorer:
    """Return a scorer by a lexicon and rules."""
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

    analyser = SentimentIntensityAnalyzer()

    def score(texts: Sequence[str]) -> np.ndarray:
        compound = np.array([analyser.polarity_scores(text)["compound"] for text in texts])
        neutral = np.where(np.abs(compound) < 0.05, 1.0, 0.0)  # above either other, but not of two classes
        return np.stack([(1 - compound) / 2 - 1e-9, neutral, (1 + compound) / 2 - 2e-9], axis=1)

    return score


def bag_of_words(data: str | None) -> Scorer:
    """Return a scorer by TF-IDF of one and two words, and a logistic regression."""
    known = sst_sentences(data, "train")
    known += load_opinions(data, "goemotions", "train") + load_opinions(data, "titles", "train")
    words = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True, token_pattern=r"\S*\w\S*|\S+")
    bag = make_pipeline(words, LogisticRegression(C=4.0, max_iter=300, class_weight="balanced"))
    bag.fit([opinion.text for opinion in known], [opinion.label for opinion in known])
    return lambda texts: bag.predict_proba(texts)  # its classes are in alphabetical order, as `CLASSES`


def model(name: str) -> Scorer:
    """Return a scorer by a model of five classes, given its name or folder."""
    pipeline = bough.load(name)
    assert isinstance(pipeline, SentimentPipeline)

    def score(texts: Sequence[str]) -> np.ndarray:
        p = np.array([result.probabilities for result in pipeline(list(texts))])
        return np.stack([p[:, :2].sum(axis=1), p[:, 2], p[:, 3:].sum(axis=1)], axis=1)

    return score


def three_classes(p: np.ndarray, labels: Sequence[str]) -> dict[str, float]:
    """Return the accuracy and the macro F1."""
    predicted = [CLASSES[k] for k in p.argmax(axis=1)]
    macro = f1_score(labels, predicted, labels=CLASSES, average="macro", zero_division=0)
    return {"accuracy": float(accuracy_score(labels, predicted)), "macro-F1": float(macro)}


def two_classes(p: np.ndarray, labels: Sequence[str]) -> dict[str, float]:
    """Return the accuracy of negative or positive, and the recall of each."""
    predicted = np.where(p[:, 2] > p[:, 0], "positive", "negative")
    return {
        "binary": float(accuracy_score(labels, predicted)),
        "recall of negatives": float(recall_score(labels, predicted, pos_label="negative")),
        "recall of positives": float(recall_score(labels, predicted, pos_label="positive")),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", nargs="*", default=["sentiment"], help="names or folders of models")
    parser.add_argument("--data", help="data folder; else BOUGH_DATA")
    parser.add_argument("--test", action="store_true", help="the test parts, not the dev parts")
    parser.add_argument("--json", action="store_true", help="print one line of JSON")
    parser.add_argument("--card", type=Path, help="a model's README.md, for the tables to stand in")
    given = parser.parse_args()
    split = "test" if given.test else "dev"
    polar = [sentence for sentence in sst_sentences(given.data, split) if sentence.label != "neutral"]
    sets = {
        **{name: (read_sentences(file), three_classes) for name, file in DEVELOPMENT.items()},
        f"GoEmotions {split}": (load_opinions(given.data, "goemotions", split), three_classes),
        f"Amazon titles {split}": (load_opinions(given.data, "titles", split), two_classes),
        f"SST {split}": (polar, two_classes),
    }
    scorers = {name: model(name) for name in given.models}
    scorers |= {"VADER": vader(), "bag of words": bag_of_words(given.data)}
    metrics: dict[str, dict[str, dict[str, float]]] = {}
    for name, (opinions, measure) in sets.items():
        texts, labels = [opinion.text for opinion in opinions], [opinion.label for opinion in opinions]
        metrics[name] = {system: measure(score(texts), labels) for system, score in scorers.items()}
    if given.json:
        print(json.dumps(metrics))
        return
    tables = []
    for name, rows in metrics.items():
        percent = {system: {key: 100 * value for key, value in row.items()} for system, row in rows.items()}
        tables.append(markdown_table(f"{name} ({len(sets[name][0]):,} texts)", percent, ".1f"))
    print("\n\n".join(tables))
    if given.card is not None:
        replace_section(given.card, SECTION, "\n\n".join([ABOUT, *tables]))


if __name__ == "__main__":
    main()
