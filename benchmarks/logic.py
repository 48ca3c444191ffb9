"""Logical inference (Bowman et al., 2015): predict the relation, of seven, of two formulas."""

import random
from collections.abc import Iterable
from pathlib import Path

import torch
from torch import nn

from benchmarks import tree_tasks
from benchmarks.tree_tasks import Data, Example, Layer, Settings, Show, TreeClassifier, Words
from bough.data.paths import find_data, require
from bough.errors import FormatError

RELATIONS = "=<>|^v#"
LENGTHS = [str(length) for length in range(7, 13)]


def read(data: Path, names: Iterable[str], words: Words) -> list[Example]:
    """Read the pairs of some files: relation, formula and formula on each line."""
    examples = []
    for path in (data / "logic" / name for name in names):
        require([path], "logic")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            relation, *formulas = line.split("\t")
            if relation not in RELATIONS or len(formulas) != 2:
                message = f"{line!r}; a line is one of {RELATIONS}, a formula and a formula"
                raise FormatError(message, where=str(path), line=number)
            examples.append(words.bracketed(formulas, RELATIONS.index(relation)))
    return examples


def logic(
    *, layer: Layer = "gated-recursive", epochs: int = 8, seed: int = 1, data: Data = None, show: Show = False
) -> None:
    """Measure the accuracy on logical inference, on formulas longer than those of training.

    Training formulas have up to six operators, test formulas seven to twelve. A twentieth of the pairs is the dev set.
    """
    if not show:
        folder, words = find_data(data), Words()
        dropout = 0.1 if layer == "gated-recursive" else 0.0
        settings = Settings(layer, 128, epochs, batch_size=128, dropout=dropout, seed=seed)
        train = read(folder, (f"train{length}" for length in range(7)), words)
        random.Random(seed).shuffle(train)
        cut = len(train) // 20
        test = {length: read(folder, [f"test{length}"], words) for length in LENGTHS}
        torch.manual_seed(seed)
        model = TreeClassifier(settings, nn.Embedding(len(words), 128), len(RELATIONS), pairs=True)
        tree_tasks.run("logic", model, settings, (train[cut:], train[:cut]), test)
    tree_tasks.show("logic")
