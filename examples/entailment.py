"""Classify pairs of sentences: does the first one entail the second, contradict it, or neither?"""

import random

import bough

WHO = {"man": "person", "woman": "person", "puppy": "animal", "pony": "animal"}
DOES = ("chasing", "watching", "carrying", "painting", "following")
WHAT = {
    "guitar": "instrument",
    "violin": "instrument",
    "truck": "vehicle",
    "bus": "vehicle",
    "apple": "fruit",
}


def pairs(count: int) -> tuple[list[tuple[str, str]], list[str]]:
    """Return pairs of made sentences, and what the first one says about the second."""
    rng, labels = random.Random(1), dict[tuple[str, str], str]()
    while len(labels) < count:  # no pair occurs twice
        label = rng.choice(("entailment", "contradiction", "neutral"))
        who, does, what = rng.choice(list(WHO)), rng.choice(DOES), rng.choice(list(WHAT))
        other = what
        if label == "neutral":
            other = rng.choice([thing for thing in WHAT if WHAT[thing] != WHAT[what]])
        verb = "is not" if label == "contradiction" else "is"
        subject, thing = rng.choice((who, WHO[who])), rng.choice((other, WHAT[other]))
        pair = f"The {who} is {does} the {what} .", f"The {subject} {verb} {does} the {thing} ."
        labels[pair] = label
    return list(labels), list(labels.values())


def main() -> None:
    """Fit with the vectors of the bundled model, which need no download, and classify some new pairs."""
    texts, labels = pairs(900)
    mine = bough.fit(texts[:800], labels[:800], vectors="bundled", epochs=8)
    report = mine.evaluate(texts[800:], labels[800:])
    print(f"accuracy on the {report.examples} held out: {report.figures['accuracy']:.3f}")
    print("The man is painting the truck .")
    for verb, thing in (("is", "vehicle"), ("is not", "truck"), ("is", "violin")):
        other = f"The person {verb} painting the {thing} ."
        print(f"{mine('The man is painting the truck .', other).label:13}  {other}")


if __name__ == "__main__":
    main()
