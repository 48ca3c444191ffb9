"""Compute the value of nested expressions such as [MAX 3 [MIN 8 5] 2], a task that needs the tree.

The grammar is a small version of ListOps (Nangia and Bowman, 2018). The layer is `GatedRecursive`.
`python -m benchmarks listops` trains on the whole task.
"""

import random

import torch
from torch import Tensor, nn

import bough

OPERATORS = {"[MIN": min, "[MAX": max}
WORDS = {word: number for number, word in enumerate([None, "]", *OPERATORS, *"0123456789"])}


def expression(dice: random.Random, depth: int = 3) -> tuple[str, int]:
    """Draw an expression, as a binary tree in brackets, and its value."""
    if depth == 0 or dice.random() < 0.5:
        value = dice.randrange(10)
        return str(value), value
    parts = [expression(dice, depth - 1) for _ in range(dice.randint(2, 3))]
    text = operator = dice.choice(list(OPERATORS))
    for part, _ in (*parts, ("]", 0)):
        text = f"( {text} {part} )"
    return text, OPERATORS[operator](value for _, value in parts)


def main() -> None:
    """Train on 3,000 expressions and test on 500 others."""
    torch.manual_seed(1)
    dice, drawn = random.Random(1), dict[str, int]()
    while len(drawn) < 3500:
        text, value = expression(dice)
        if text.startswith("("):
            drawn[text] = value
    trees = [bough.formats.ptb.parse(text, unescape=False, labelled=False) for text in drawn]
    ids = [[WORDS[token] for token in tree.tokens or ()] for tree in trees]
    values = torch.tensor(list(drawn.values()))
    table, layer, head = nn.Embedding(len(WORDS), 32), bough.nn.GatedRecursive(32, 48), nn.Linear(48, 10)
    optimizer = torch.optim.AdamW(nn.ModuleList([table, layer, head]).parameters(), lr=5e-3)

    def logits(rows: list[int]) -> Tensor:
        forest = bough.Forest([trees[row] for row in rows], keys=[ids[row] for row in rows])
        x = table(torch.tensor([number for row in rows for number in ids[row]]))
        return torch.as_tensor(head(layer(x, forest)[forest.roots]))

    for _ in range(8):
        for part in torch.randperm(3000).split(50):
            optimizer.zero_grad()
            nn.functional.cross_entropy(logits(part.tolist()), values[part]).backward()
            optimizer.step()
    with torch.inference_mode():
        right = (logits(list(range(3000, 3500))).argmax(dim=1) == values[3000:]).double().mean()
    print(f"accuracy on the 500 held out: {right:.3f} (chance: 0.1)")


if __name__ == "__main__":
    main()
