"""SICK's entailment labels: predict whether a sentence entails or contradicts another."""

from pathlib import Path

import numpy as np
import torch
from torch import nn

from benchmarks import tree_tasks
from benchmarks.tree_tasks import Data, Example, Layer, Settings, Show, TreeClassifier, Words
from bough.data.paths import find_data, require
from bough.data.vectors import load_vectors
from paper.sick import TEXTS, load_sick, read_texts

CLASSES = ("NEUTRAL", "ENTAILMENT", "CONTRADICTION")


def read(data: Path, split: str, words: Words) -> list[Example]:
    """Read one split: its dependency trees, and the labels of the official file."""
    path = data / "sick" / TEXTS[split][0]
    require([path], "sick")
    labels = {row[0]: CLASSES.index(row[4].strip()) for row in read_texts(path)}
    return [words.example((pair.left, pair.right), labels[pair.id]) for pair in load_sick(data, split)]


def entailment(
    *, layer: Layer = "dependency", epochs: int = 12, seed: int = 1, data: Data = None, show: Show = False
) -> None:
    """Measure the accuracy on SICK's entailment labels, with GloVe 840B, zeros for unknown words."""
    if not show:
        folder, words = find_data(data), Words()
        settings = Settings(layer, 150, epochs, batch_size=25, pair_hidden=100, seed=seed)
        train, dev, test = (read(folder, split, words) for split in TEXTS)
        vectors = load_vectors(folder / "glove" / "glove.840B.300d.txt", [word for word in words if word])
        rows = np.concatenate([np.zeros((1, vectors.dim), dtype=np.float32), vectors.rows])
        torch.manual_seed(seed)
        table = nn.Embedding.from_pretrained(torch.from_numpy(rows), freeze=True)
        model = TreeClassifier(settings, table, len(CLASSES), pairs=True)
        tree_tasks.run("entailment", model, settings, (train, dev), {"test": test})
    tree_tasks.show("entailment")
