"""ListOps (Nangia and Bowman, 2018): predict the value of a nested expression."""

import random
from collections.abc import Callable, Container, Sequence
from pathlib import Path

import torch
from torch import nn

from benchmarks import tree_tasks
from benchmarks.tree_tasks import Data, Layer, Settings, Show, TreeClassifier, Words
from bough.data.paths import find_data, require

OPERATORS: dict[str, Callable[[Sequence[int]], int]] = {
    "[MIN": min,
    "[MAX": max,
    "[MED": lambda values: (sorted(values)[(len(values) - 1) // 2] + sorted(values)[len(values) // 2]) // 2,
    "[SM": lambda values: sum(values) % 10,
}
OPERATOR_CHANCE, MOST_ARGUMENTS, DEPTH = 0.25, 5, 20
TRAIN, DEV, LONGEST = 60_000, 2_000, 130  # expressions, expressions, tokens of a training expression


def expression(dice: random.Random, depth: int = 1) -> tuple[str, int]:
    """Draw an expression in brackets, binary and left-branching, and its value."""
    if depth >= DEPTH or dice.random() > OPERATOR_CHANCE:
        value = dice.randrange(10)
        return str(value), value
    parts = [expression(dice, depth + 1) for _ in range(dice.randint(2, MOST_ARGUMENTS))]
    text = operator = dice.choice(list(OPERATORS))
    for part, _ in (*parts, ("]", 0)):
        text = f"( {text} {part} )"
    return text, OPERATORS[operator]([value for _, value in parts])


def generate(count: int, seed: int, exclude: Container[str] = (), longest: int = 10_000) -> dict[str, int]:
    """Draw `count` expressions of at most `longest` tokens that are not in `exclude`, with values."""
    dice, found = random.Random(seed), dict[str, int]()
    while len(found) < count:
        text, value = expression(dice)
        tokens = (len(text.split(" ")) + 2) // 3  # a binary tree of n words has n - 1 pairs of brackets
        if text not in exclude and tokens <= longest:
            found[text] = value
    return found


def read_test(data: Path) -> dict[str, int]:
    """Read the official test set: expressions and their values."""
    path = data / "listops" / "test.tsv"
    require([path], "listops")
    lines = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines())
    return {text: int(value) for value, text in lines}


def listops(
    *,
    layer: Layer = "gated-recursive",
    epochs: int = 10,
    seed: int = 1,
    data: Data = None,
    show: Show = False,
) -> None:
    """Measure the accuracy on ListOps: the value of a nested expression.

    Training expressions are drawn from the published grammar, without those of the official test set.
    """
    if not show:
        dropout = 0.1 if layer == "gated-recursive" else 0.0
        settings = Settings(layer, 128, epochs, batch_size=64, dropout=dropout, seed=seed)
        test, words = read_test(find_data(data)), Words()
        train = generate(TRAIN, seed, exclude=test, longest=LONGEST)
        dev = generate(DEV, 10_000 + seed, exclude=test.keys() | train.keys())
        splits = [[words.bracketed([t], value) for t, value in part.items()] for part in (train, dev, test)]
        torch.manual_seed(seed)
        model = TreeClassifier(settings, nn.Embedding(len(words), 128), 10, pairs=False)
        tree_tasks.run("listops", model, settings, (splits[0], splits[1]), {"official": splits[2]})
    tree_tasks.show("listops")
