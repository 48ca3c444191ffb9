"""Train a custom layer in a plain PyTorch loop: with which verb does the name of a function begin?

The trees are functions of Python's standard library. The layer is a Tree-GRU, which bough batches.
"""

import ast
import random
from pathlib import Path

import torch
from torch import Tensor, nn

import bough

VERBS = ("get", "set", "is", "write", "read", "parse")
LARGEST, EACH = 120, 200  # nodes of a function; functions per verb


class TreeGRU(bough.nn.TreeLayer):
    """h~ = Σ h_k, z = σ(W_z x + U_z h~), r = σ(W_r x + U_r h_k); u = tanh(W_u x + U_u Σ r h_k); h = z h~ + (1-z)u"""

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__(input_size, states=(hidden_size,))
        self.W = nn.Linear(input_size, 3 * hidden_size)
        self.U_z, self.U_r, self.U_u = (nn.Linear(hidden_size, hidden_size, bias=False) for _ in "zru")

    def input_map(self, x: Tensor) -> Tensor:
        return torch.as_tensor(self.W(x))

    def node(self, a: Tensor, below: bough.nn.Children) -> tuple[Tensor]:
        a_z, a_r, a_u = a.chunk(3, dim=1)  # (n, D)
        (h_k,) = below.states  # (children, D)
        h_sum = below.sum(h_k)  # (n, D)
        z = torch.sigmoid(a_z + self.U_z(h_sum))
        r = torch.sigmoid(below.spread(a_r) + self.U_r(h_k))  # (children, D)
        u = torch.tanh(a_u + self.U_u(below.sum(r * h_k)))
        return (z * h_sum + (1 - z) * u,)


def functions() -> list[tuple[bough.Tree, int]]:
    """Return functions of the standard library with the index of their verb, at most `EACH` per verb."""
    found: dict[int, list[bough.Tree]] = {number: [] for number in range(len(VERBS))}
    for path in sorted(Path(ast.__file__).parent.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            verb = node.name.strip("_").split("_")[0] if isinstance(node, ast.FunctionDef) else ""
            if verb in VERBS and len(tree := bough.Tree.from_ast(node)) <= LARGEST:
                found[VERBS.index(verb)].append(tree)
    return [(tree, verb) for verb, trees in found.items() for tree in trees[:EACH]]


def main() -> None:
    torch.manual_seed(1)
    examples = functions()
    random.Random(1).shuffle(examples)
    trees, verbs = [tree for tree, _ in examples], torch.tensor([verb for _, verb in examples])
    kinds = sorted({token for tree in trees for token in tree.tokens or ()}, key=str)
    words = dict(zip(kinds, range(len(kinds)), strict=True))
    cut = len(trees) * 4 // 5
    table, layer, head = nn.Embedding(len(words), 32), TreeGRU(32, 48), nn.Linear(48, len(VERBS))
    optimiser = torch.optim.Adam(nn.ModuleList([table, layer, head]).parameters(), lr=3e-3)

    def logits(batch: list[bough.Tree]) -> Tensor:
        forest = bough.Forest(batch)
        x = table(torch.tensor([words[token] for tree in batch for token in tree.tokens or ()]))
        return torch.as_tensor(head(layer(x, forest)[forest.roots]))

    for _ in range(10):
        for rows in torch.randperm(cut).split(25):
            optimiser.zero_grad()
            loss = nn.functional.cross_entropy(logits([trees[row] for row in rows]), verbs[rows])
            loss.backward()
            optimiser.step()
    with torch.inference_mode():
        right = (logits(trees[cut:]).argmax(dim=1) == verbs[cut:]).double().mean()
    print(f"accuracy on the {len(trees) - cut} held out: {right:.3f} (chance: {1 / len(VERBS):.3f})")


if __name__ == "__main__":
    main()
