"""Fine-tune the bundled sentiment model on your own CSV: which part of a restaurant visit is a remark about?

The example writes the CSV itself. For a file of your own, with the columns `text` and `label`, run
`bough fit FILE.csv --from sentiment`.
"""

import csv
import itertools
import random
import tempfile
from pathlib import Path
from typing import Any

from bough.data.labelled import open_labelled
from bough.pipelines import load
from bough.train.fit import fit_sources
from bough.train.options import FitOptions

ABOUT = {
    "food": ("the soup", "my steak", "the dessert", "their bread", "the fish"),
    "service": ("our waiter", "the staff", "the manager", "the kitchen crew", "the host"),
    "room": ("the terrace", "our table", "the music", "the lighting", "the dining room"),
}
SAID = (
    "was wonderful",
    "was not what I had hoped for",
    "could have been better",
    "left us speechless",
    "was fine",
)
MORE = ("", " , as always", " and we said so", " on a Friday night", " , sadly")


def write(path: Path) -> Path:
    """Write the remarks to a CSV file, in random order."""
    rows = [
        (f"{thing}{more} {said} .".capitalize(), label)
        for label, things in ABOUT.items()
        for thing, said, more in itertools.product(things, SAID, MORE)
    ]
    random.Random(1).shuffle(rows)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("text", "label"), *rows])
    return path


def main() -> None:
    """Fit with a tenth of the rows held out for dev and for test, print the accuracy, and load the model."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = open_labelled(write(folder / "remarks.csv"))
        options = FitOptions(init_from="sentiment", epochs=4)
        _, facts = fit_sources({"train": source}, folder / "model", options, hold_test=True)
        figures = facts["scores"]["test"]["figures"]
        print(f"accuracy on the rows held out: {figures['accuracy']:.3f}")
        mine: Any = load(folder / "model")
        for text in ("The soup was cold .", "Our waiter forgot us .", "Loud music , sadly ."):
            print(f"{mine(text).label:8} {text}")


if __name__ == "__main__":
    main()
