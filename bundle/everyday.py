"""Sentiment outside the films: models, VADER and a bag of words side by side, on text as people write it.

    python -m bundle.everyday sentiment runs/mine            # everyday sentences and the other dev parts
    python -m bundle.everyday sentiment --test               # the test parts instead, once all is chosen

Needs the folder of data (--data, or BOUGH_DATA) and `vaderSentiment`, which the extra `lab` has. `everyday.csv` and
`blind_spots.csv` beside this file are development sets: the sayings that the shipped model learned from were written
with their sentences known. The bag of words is a logistic regression on one and two words, weighed by TF-IDF, trained
on what the models may train on: SST's sentences, GoEmotions and Amazon titles.
Three classes are scored on everyday sentences and GoEmotions, two on Amazon titles and SST, whose neutral
sentences are left out. VADER is positive from 0.05 and negative from -0.05, of two classes positive above 0.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from bundle import card_sections as cards

CLASSES = ("negative", "neutral", "positive")
SECTION = "## Outside the films"
HERE = Path(__file__).parent
DEVELOPED = {
    "development set: everyday sentences": "everyday.csv",
    "development set: blind spots": "blind_spots.csv",
}
Scorer = Callable[[Sequence[str]], np.ndarray]  # texts -> (n, 3), how likely each class is
Set = tuple[list[str], list[str]]  # texts and their classes


def table(name: str) -> Set:
    """Read one of the files of sentences beside this module."""
    with (HERE / name).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [row["text"] for row in rows], [row["label"] for row in rows]


def treebank(data: str | None, split: str) -> Set:
    """SST's sentences as plain text, in three classes."""
    from bundle.check import spoken
    from paper.sst import load_sst

    trees = load_sst(data, split)
    roots = [int(str((tree.labels or ())[tree.root])) for tree in trees]
    return [spoken(tree) for tree in trees], [CLASSES[(root > 2) - (root < 2) + 1] for root in roots]


def opinions(data: str | None, source: str, split: str) -> Set:
    """GoEmotions or Amazon titles."""
    from bundle.opinions import load_opinions

    found = load_opinions(data, source, split)
    return [opinion.text for opinion in found], [opinion.label for opinion in found]


def vader() -> Scorer:
    """Polarity by a lexicon and rules."""
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

    analyser = SentimentIntensityAnalyzer()

    def score(texts: Sequence[str]) -> np.ndarray:
        compound = np.array([analyser.polarity_scores(text)["compound"] for text in texts])
        neutral = np.where(np.abs(compound) < 0.05, 1.0, 0.0)  # above either other, but not of two classes
        return np.stack([(1 - compound) / 2 - 1e-9, neutral, (1 + compound) / 2 - 2e-9], axis=1)

    return score


def bag_of_words(data: str | None) -> Scorer:
    """TF-IDF of one and two words, and a logistic regression."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    parts = [treebank(data, "train"), *(opinions(data, name, "train") for name in ("goemotions", "titles"))]
    texts, labels = ([item for part in parts for item in part[side]] for side in (0, 1))
    words = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True, token_pattern=r"\S*\w\S*|\S+")
    bag = make_pipeline(words, LogisticRegression(C=4.0, max_iter=300, class_weight="balanced"))
    bag.fit(texts, labels)
    return lambda some: bag.predict_proba(some)  # the classes are in the order of the alphabet, as `CLASSES`


def model(name: str) -> Scorer:
    """A model of five classes, by its name or folder."""
    import bough
    from bough.pipelines import SentimentPipeline

    pipeline = bough.load(name)
    assert isinstance(pipeline, SentimentPipeline)

    def score(texts: Sequence[str]) -> np.ndarray:
        p = np.array([result.probabilities for result in pipeline(list(texts))])
        return np.stack([p[:, :2].sum(axis=1), p[:, 2], p[:, 3:].sum(axis=1)], axis=1)

    return score


def three(p: np.ndarray, labels: Sequence[str]) -> dict[str, float]:
    """Accuracy and the mean F1 of three classes."""
    gold, chosen = np.array([CLASSES.index(label) for label in labels]), p.argmax(axis=1)
    f1 = [
        2 * ((gold == k) & (chosen == k)).sum() / max(1, (gold == k).sum() + (chosen == k).sum())
        for k in range(3)
    ]
    return {"accuracy": float((gold == chosen).mean()), "macro-F1": float(np.mean(f1))}


def two(p: np.ndarray, labels: Sequence[str]) -> dict[str, float]:
    """Accuracy of negative or positive, and the recall of each."""
    gold, said = np.array([label == "positive" for label in labels]), p[:, 2] > p[:, 0]
    return {
        "binary": float((gold == said).mean()),
        "recall of negatives": float((~said)[~gold].mean()),
        "recall of positives": float(said[gold].mean()),
    }


def percent(rows: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    return {system: {head: 100 * value for head, value in row.items()} for system, row in rows.items()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", nargs="*", default=["sentiment"], help="names or folders of models")
    parser.add_argument("--data", help="data folder; else BOUGH_DATA")
    parser.add_argument("--test", action="store_true", help="the test parts, not the dev parts")
    parser.add_argument(
        "--wrong", action="store_true", help="also list the everyday sentences that are wrong"
    )
    parser.add_argument("--json", action="store_true", help="print one line of JSON")
    parser.add_argument("--card", type=Path, help="a model's README.md, for the tables to stand in")
    given = parser.parse_args()
    split = "test" if given.test else "dev"
    texts, labels = treebank(given.data, split)
    polar = [place for place, label in enumerate(labels) if label != "neutral"]
    sets: dict[str, tuple[Set, Callable[[np.ndarray, Sequence[str]], dict[str, float]]]] = {
        **{name: (table(file), three) for name, file in DEVELOPED.items()},
        f"GoEmotions {split}": (opinions(given.data, "goemotions", split), three),
        f"Amazon titles {split}": (opinions(given.data, "titles", split), two),
        f"SST {split}": (([texts[i] for i in polar], [labels[i] for i in polar]), two),
    }
    scorers = {name: model(name) for name in given.models}
    scorers |= {"VADER": vader(), "bag of words": bag_of_words(given.data)}
    figures: dict[str, dict[str, dict[str, float]]] = {}
    for name, ((texts, labels), judge) in sets.items():
        scored = {system: scorer(texts) for system, scorer in scorers.items()}
        figures[name] = {system: judge(p, labels) for system, p in scored.items()}
        if given.wrong and name in DEVELOPED:
            for place, (text, label) in enumerate(zip(texts, labels, strict=True)):
                said = CLASSES[scored[given.models[0]][place].argmax()]
                if said != label:
                    print(f"{label:>8} taken for {said:<8} {text}", file=sys.stderr)
    if given.json:
        print(json.dumps(figures))
        return
    shown = "\n\n".join(
        cards.table(f"{name} ({len(sets[name][0][0]):,} texts)", percent(rows), ".1f")
        for name, rows in figures.items()
    )
    print(shown)
    if given.card is not None:
        said = (
            "By `python -m bundle.everyday --test`, in percent. The first two tables are development sets: the project "
            "wrote their sentences, and later the sayings that the model learned from, some of them near twins of "
            "these sentences. They do not show how the model does on other text. The last three are test splits, read "
            "once all was chosen."
        )
        cards.replace_section(given.card, SECTION, f"{said}\n\n{shown}")


if __name__ == "__main__":
    main()
