"""Rate pairs of sentences on your own scale: how much of a scene do they share, in percent?"""

import random

import bough

WHO = ("A man", "A woman", "A child", "The old sailor", "My neighbour")
DOES = ("is carrying", "is painting", "is selling", "has broken", "is looking for")
WHAT = ("a guitar", "the green boat", "an apple", "two bicycles", "the letter")


def pairs(count: int) -> tuple[list[tuple[str, str]], list[float]]:
    """Return pairs of scenes, and the percentage of who, does and what that is the same in both."""
    rng = random.Random(1)
    texts, ratings = [], []
    for _ in range(count):
        left = [rng.choice(part) for part in (WHO, DOES, WHAT)]
        right = [
            old if rng.random() < 0.5 else rng.choice(part)
            for old, part in zip(left, (WHO, DOES, WHAT), strict=True)
        ]
        texts.append((" ".join(left), " ".join(right)))
        ratings.append(100 * sum(a == b for a, b in zip(left, right, strict=True)) / 3)
    return texts, ratings


def main() -> None:
    """Fit with the vectors of the bundled model, which need no download, and compare some new sentences."""
    texts, ratings = pairs(800)
    mine = bough.fit(texts[:700], ratings[:700], vectors="bundled", settings={"batch_size": 5}, epochs=5)
    report = mine.evaluate(texts[700:], ratings[700:])
    print(f"Pearson's r on {report.examples} pairs held out: {report.figures['pearson']:.3f}")
    for other in ("A woman is painting the green boat .", "A child is selling two bicycles ."):
        print(f"{mine.score('A woman is painting a guitar .', other):5.1f}%  {other}")


if __name__ == "__main__":
    main()
