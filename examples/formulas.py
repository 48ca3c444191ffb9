"""Classify pairs of trees: which relation holds between two propositional formulas?

The task is that of Bowman et al. (2015), with three of the seven relations and three variables.
`python -m benchmarks logic` trains on the whole task.
"""

import itertools
import random

import torch
from torch import Tensor, nn

import bough

WORDS = {word: number for number, word in enumerate([None, "not", "and", "or", *"abc"])}
WORLDS = [dict(zip("abc", truth, strict=True)) for truth in itertools.product((False, True), repeat=3)]


def formula(dice: random.Random, operators: int) -> tuple[str, frozenset[int]]:
    """Draw a formula, as a binary tree in brackets, and the worlds in which it is true."""
    if operators == 0:
        name = dice.choice("abc")
        return name, frozenset(number for number, world in enumerate(WORLDS) if world[name])
    if dice.random() < 0.3:
        text, true = formula(dice, operators - 1)
        return f"( not {text} )", frozenset(range(len(WORLDS))) - true
    split = dice.randrange(operators)
    (left, one), (right, other) = formula(dice, split), formula(dice, operators - 1 - split)
    operator = dice.choice(("and", "or"))
    return f"( {left} ( {operator} {right} ) )", one & other if operator == "and" else one | other


def main() -> None:
    """Train on 3,000 pairs and test on 500 others."""
    torch.manual_seed(1)
    dice, drawn = random.Random(1), dict[tuple[str, str], int]()
    while len(drawn) < 3500:
        (left, one), (right, other) = (formula(dice, dice.randint(1, 3)) for _ in "lr")
        relation = 0 if one < other else 1 if one > other else 2 if not one & other else None
        if relation is not None:  # implies, is implied by, excludes
            drawn[left, right] = relation
    trees = [[bough.formats.ptb.parse(text, labelled=False) for text in pair] for pair in drawn]
    relations = torch.tensor(list(drawn.values()))
    table, layer = nn.Embedding(len(WORDS), 32), bough.nn.NaryTreeLSTM(32, 48, leaf="affine")
    head = nn.Sequential(nn.Linear(4 * 48, 64), nn.ReLU(), nn.Linear(64, 3))
    optimizer = torch.optim.AdamW(nn.ModuleList([table, layer, head]).parameters(), lr=3e-3)

    def logits(rows: list[int]) -> Tensor:
        batch = [tree for row in rows for tree in trees[row]]
        ids = [[WORDS[token] for token in tree.tokens or ()] for tree in batch]
        forest = bough.Forest(batch, keys=ids)
        h, _ = layer(table(torch.tensor([number for part in ids for number in part])), forest)
        a, b = h[forest.roots].view(-1, 2, 48).unbind(1)
        return torch.as_tensor(head(torch.cat([a, b, (a - b).abs(), a * b], dim=1)))

    for _ in range(10):
        for part in torch.randperm(3000).split(50):
            optimizer.zero_grad()
            nn.functional.cross_entropy(logits(part.tolist()), relations[part]).backward()
            optimizer.step()
    with torch.inference_mode():
        share = (logits(list(range(3000, 3500))).argmax(dim=1) == relations[3000:]).double().mean()
    print(f"accuracy on the 500 held out: {share:.3f} (chance: 0.333)")


if __name__ == "__main__":
    main()
