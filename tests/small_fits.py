"""Examples that a small model learns in a second, and settings for it."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

QUICK: dict[str, Any] = {
    "embeddings": "random",
    "embedding_size": 16,
    "hidden_size": 12,
    "batch_size": 5,
    "dropout": 0.0,
}
QUICK |= {
    "embedding_optimizer": "rows",
    "embedding_learning_rate": 0.1,
    "input_dropout": 0.0,
    "recurrent_dropout": 0.0,
}
TOPICS = {"fruit": ("apple", "pear", "plum", "fig"), "tool": ("hammer", "saw", "drill", "file")}


def examples(count: int = 60) -> tuple[list[str], list[str]]:
    """Sentences about fruit and about tools, no two alike."""
    texts, labels = [], []
    for number in range(count):
        label = list(TOPICS)[number % 2]
        things = TOPICS[label]
        texts.append(
            f"The {things[number // 2 % 4]} number {number} is on the {('table', 'shelf')[number % 3 % 2]} ."
        )
        labels.append(label)
    return texts, labels


def write_csv(path: Path, rows: Iterable[Sequence[Any]], header: Sequence[str] = ("text", "label")) -> Path:
    """A CSV file with a header."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path
