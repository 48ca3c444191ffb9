"""Generate trees from the root: small programs, well typed, in which `x` occurs only where `let` has bound it.

p(token of j) = softmax(W h_j), h_j a top-down Tree-LSTM over the parents' tokens; `layer.step` samples it by levels.
"""

import random
from typing import Any

import torch
from torch import Tensor, nn

import bough

# the type of each token, and those of its children; a capital letter: where x is bound, as in the second child of `let`
TYPES = {"1": "i", "x": "I", "+": "iii", "let": "iiI", "if": "ibii", "<": "bii", "not": "bb", "true": "b"}
NAMES, START, SIZE, DEPTH = list(TYPES), len(TYPES), 48, 20
Node = list[Any]  # [token, child, ...]


def below(token: str, wanted: str) -> str:
    return TYPES[token][1:].upper() if wanted.isupper() else TYPES[token][1:]


def program(dice: random.Random, depth: int, wanted: str = "i") -> Node:
    fit = [token for token, types in TYPES.items() if types[0] in (wanted, wanted.lower())]
    token = dice.choice([token for token in fit if depth > 0 or len(TYPES[token]) == 1])
    return [token, *(program(dice, depth - 1, kind) for kind in below(token, wanted))]


def well_formed(node: Node, wanted: str = "i") -> bool:
    token, *children = node or ["1", []]  # a node too deep to have a token has too many children
    right = TYPES[token][0] in (wanted, wanted.lower()) and len(children) == len(TYPES[token]) - 1
    return right and all(map(well_formed, children, below(token, wanted)))


def loss(model: Any, trees: list[bough.Tree]) -> Tensor:
    (table, layer, head), forest = model, bough.Forest(trees)
    tokens = torch.tensor([NAMES.index(str(token)) for tree in trees for token in tree.tokens or ()])
    children, parents = forest.edge_index
    h, _ = layer(table(torch.full_like(tokens, START).index_copy(0, children, tokens[parents])), forest)
    return nn.functional.cross_entropy(head(h), tokens)


@torch.no_grad()
def sample(model: Any, count: int) -> list[Node]:
    table, layer, head = model
    roots: list[Node] = [[] for _ in range(count)]
    level, above, places, states = roots, [START] * count, list[int](), None
    for _ in range(DEPTH):  # all open nodes at once, from the states of their parents
        x, parents = table(torch.LongTensor(above)), range(len(level) if states else 0)
        h, c = layer.step(x, states, parents, places=places)
        tokens = torch.multinomial(head(h).softmax(dim=1), 1).flatten().tolist()
        for node, token in zip(level, tokens, strict=True):
            node += [NAMES[token], *([] for _ in TYPES[NAMES[token]][1:])]
        edges = [(row, place) for row, node in enumerate(level) for place in range(len(node) - 1)]
        rows, places = [row for row, _ in edges], [place for _, place in edges]
        level, above = [level[row][1 + place] for row, place in edges], [tokens[row] for row in rows]
        states = h[rows], c[rows]
    return roots


def main() -> None:
    torch.manual_seed(1)
    programs = [program(random.Random(number), depth=5) for number in range(1000)]
    trees = [bough.Tree.from_nested(p, children=lambda n: n[1:], token=lambda n: n[0]) for p in programs]
    layer = bough.nn.TopDownTreeLSTM(SIZE, SIZE, arity=3)
    model = nn.ModuleList([nn.Embedding(START + 1, SIZE), layer, nn.Linear(SIZE, START)])
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    shares = [sum(map(well_formed, sample(model, 500))) / 500]
    for rows in torch.cat([torch.randperm(len(trees)) for _ in range(10)]).split(50):
        optimizer.zero_grad()
        loss(model, [trees[row] for row in rows]).backward()
        optimizer.step()
    shares.append(sum(map(well_formed, sample(model, 500))) / 500)
    print(f"well-formed programs of 500 sampled: {shares[1]:.3f} (before training: {shares[0]:.3f})")


if __name__ == "__main__":
    main()
