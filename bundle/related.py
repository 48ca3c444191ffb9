"""Measure relatedness outside captions: models and a TF-IDF cosine side by side, on the STS benchmark's dev split.

    python -m bundle.related relatedness relatedness-sick runs/mine
    python -m bundle.related --card src/bough/pretrained/relatedness/README.md

Needs the data folder (--data, or BOUGH_DATA). Pearson's r is taken over all pairs and within each genre. For the
retrieval every pair with a score of at least 4 is a question: among all distinct sentences of the split but the first
one itself, at which rank is the second? The TF-IDF cosine is scikit-learn's with its defaults, fitted on the split's
sentences.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

import bough
from bough.pipelines import RelatednessPipeline
from bundle.card import markdown_table, replace_section
from bundle.sts import SOURCES, load_sts

SECTION = "## Outside the captions"
ABOUT = (
    "By `python -m bundle.related`, on plain text, on the dev split of the STS benchmark. The model and its settings "
    "were chosen without it. That shared words count in the order of `nearest` was decided when the split had shown "
    "TF-IDF ahead without them; how much they count was chosen on the pairs held out of train. `relatedness-sick` "
    "learned from SICK alone. On forums TF-IDF is better. The pairs at the end are examples, not a measurement."
)
ALIKE = 4.2  # on the scale of 1 to 5: a score of 4 in the benchmark
NEIGHBOURS = 11  # looked at, the sentence itself among them; a partner further down counts as not found
EXAMPLES = (
    ("The dog bites the man.", "The man bites the dog."),
    ("The dog bites the man.", "The man is bitten by the dog."),
    ("The ticket costs $200.", "The ticket costs $900."),
    ("The ticket costs $200.", "The ticket costs $200."),
    ("The meeting was cancelled.", "The meeting was called off."),
    ("The film is good.", "The film is not good."),
    ("Apple released a new phone.", "Samsung released a new phone."),
    ("Stocks fell sharply on Friday.", "Shares dropped steeply on Friday."),
    ("How do I reset my password?", "I forgot my password and need a new one."),
    ("A man plays a guitar.", "The stock market fell."),
)
Pairs = list[tuple[str, str]]
Rate = Callable[[Pairs], np.ndarray]
Rank = Callable[[Sequence[str], Sequence[str]], list[list[int]]]  # queries, corpus -> indices, best first


def model(name: str) -> tuple[Rate, Rank]:
    """Return the ratings and rankings of a model for pairs, given its name or folder."""
    pipeline = bough.load(name)
    assert isinstance(pipeline, RelatednessPipeline)

    def rank(queries: Sequence[str], corpus: Sequence[str]) -> list[list[int]]:
        vectors = pipeline.encode(corpus)
        nearest = (pipeline.nearest(query, corpus, NEIGHBOURS, vectors=vectors) for query in queries)
        return [[neighbour.index for neighbour in found] for found in nearest]

    return lambda pairs: np.array([result.score for result in pipeline.stream(pairs)]), rank


def tf_idf(sentences: Sequence[str]) -> tuple[Rate, Rank]:
    """Return the ratings and rankings of the cosine of words weighted by TF-IDF."""
    words = TfidfVectorizer().fit(sentences)

    def rate(pairs: Pairs) -> np.ndarray:
        left, right = (words.transform([pair[side] for pair in pairs]) for side in (0, 1))
        return np.asarray(left.multiply(right).sum(axis=1)).ravel()

    def rank(queries: Sequence[str], corpus: Sequence[str]) -> list[list[int]]:
        cosines = (words.transform(queries) @ words.transform(corpus).T).toarray()
        return [np.argsort(-row, kind="stable")[:NEIGHBOURS].tolist() for row in cosines]

    return rate, rank


def retrieval(rank: Rank, questions: Pairs, corpus: Sequence[str]) -> dict[str, float]:
    """Measure at which rank the partner stands among the neighbours of a sentence, itself left out."""
    index = {text: number for number, text in enumerate(corpus)}
    ranks = []
    for (a, b), listed in zip(questions, rank([a for a, _ in questions], corpus), strict=True):
        others = [number for number in listed if number != index[a]]
        ranks.append(others.index(index[b]) + 1 if index[b] in others else np.inf)
    at = np.array(ranks)
    return {
        "found first": float((at == 1).mean()),
        "among ten": float((at <= 10).mean()),
        "mean reciprocal rank": float((1 / at).mean()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", nargs="*", default=["relatedness", "relatedness-sick"])
    parser.add_argument("--data", help="data folder; else BOUGH_DATA")
    parser.add_argument("--held", action="store_true", help="the part of train that is held out, not dev")
    parser.add_argument("--json", action="store_true", help="print one line of JSON")
    parser.add_argument("--card", type=Path, help="a model's README.md, for the tables to stand in")
    given = parser.parse_args()
    split = "dev" if given.held else "test"  # as bough counts: see `bundle.sts`
    sets = {name: load_sts(given.data, name, split) for name in SOURCES}
    everything = [pair for found in sets.values() for pair in found]
    pairs: Pairs = [(pair.a, pair.b) for pair in everything]
    gold = np.array([pair.score for pair in everything])
    genres = np.array([name for name, found in sets.items() for _ in found])
    corpus = list(dict.fromkeys(text for pair in pairs for text in pair))
    questions = [(pair.a, pair.b) for pair in everything if pair.score >= ALIKE and pair.a != pair.b]
    systems = {name: model(name) for name in given.models} | {"TF-IDF": tf_idf(corpus)}
    agreement, search, examples = {}, {}, dict[str, np.ndarray]()
    for name, (rate, rank) in systems.items():
        predicted = rate(pairs)
        chosen = {"all": genres != "", **{genre: genres == genre for genre in sets}}
        agreement[name] = {
            which: float(np.corrcoef(predicted[mask], gold[mask])[0, 1]) for which, mask in chosen.items()
        }
        search[name] = retrieval(rank, questions, corpus)
        examples[name] = rate(list(EXAMPLES))
    if given.json:
        print(json.dumps({"r": agreement, "search": search}))
        return
    counts = ", ".join(f"{len(found):,} {name}" for name, found in sets.items())
    asked = f"nearest, {len(questions):,} questions to {len(corpus):,} sentences"
    rated = {
        f"{a} {b}": {name: float(examples[name][i]) for name in given.models}
        for i, (a, b) in enumerate(EXAMPLES)
    }
    tables = [
        markdown_table(f"Pearson's r ({counts})", agreement, ".3f"),
        markdown_table(asked, search, ".3f"),
        markdown_table("examples", rated, ".1f"),
    ]
    print("\n\n".join(tables))
    if given.card is not None:
        replace_section(given.card, SECTION, "\n\n".join([ABOUT, *tables]))


if __name__ == "__main__":
    main()
