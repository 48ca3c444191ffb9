"""Claims about layers under DistributedDataParallel: the gradients of two ranks are those of one process."""

import sys
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from bough.files import read_tensors, write_tensors
from bough.nn import BiTreeLSTM, ChildSumTreeLSTM, Classifier, NaryTreeLSTM, TreeLayer
from bough.trees.forest import Forest
from bough.trees.tree import Tree
from torchrun_calls import torchrun


class Sum(TreeLayer):
    """A layer of a user's own, by its equations."""

    def __init__(self, size: int) -> None:
        super().__init__(size, states=(size,))
        self.U = nn.Linear(size, size)

    def node(self, a, below):  # type: ignore[no-untyped-def]
        return (torch.tanh(a + self.U(below.sum(below.states[0]))),)


class Mine(nn.Module):
    """What a user would write: words, layers one upon another, a classifier of the roots."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(20, 6)
        self.child_sum, self.nary = ChildSumTreeLSTM(6, 5), NaryTreeLSTM(5, 4, 2)
        self.both, self.own = BiTreeLSTM(4, 3), Sum(6)
        self.head = Classifier(6, 3)

    def forward(self, ids: Tensor, forest: Forest) -> Tensor:
        h, _ = self.child_sum(self.words(ids), forest)
        h, _ = self.nary(h, forest)
        logits: Tensor = self.head(self.own(self.both(h, forest), forest)[forest.roots])
        return logits


def batch() -> tuple[list[Tree], list[Tensor], Tensor]:
    """Eight binary trees of several sizes, a word at each node, a class for each."""
    rng = np.random.default_rng(0)
    trees = [Tree([(i - 1) // 2 if i else -1 for i in range(size)]) for size in (1, 2, 5, 8, 3, 13, 4, 9)]
    ids = [torch.from_numpy(rng.integers(0, 20, len(tree))) for tree in trees]
    return trees, ids, torch.from_numpy(rng.integers(0, 3, len(trees)))


def gradients(rank: int, ranks: int) -> dict[str, Tensor]:
    """Of every weight, after one step on the trees of that rank."""
    torch.manual_seed(0)
    module: nn.Module = Mine()
    wrapped = DistributedDataParallel(module) if ranks > 1 else module
    trees, ids, labels = batch()
    trees, ids, labels = trees[rank::ranks], ids[rank::ranks], labels[rank::ranks]
    for _ in range(2):  # the second time the reducer has rebuilt its buckets
        module.zero_grad()
        logits = wrapped(torch.cat(list(ids)), Forest(trees))
        nn.functional.cross_entropy(logits, labels).backward()
    return {name: p.grad for name, p in module.named_parameters() if p.grad is not None}


def test_the_gradients_of_two_ranks_are_those_of_one_process(tmp_path: Path) -> None:
    done = torchrun(2, __file__, str(tmp_path))
    assert done.returncode == 0, done.stderr
    alone = gradients(0, 1)
    assert alone.keys() == {name for name, _ in Mine().named_parameters()}
    for rank in range(2):
        shared = read_tensors(tmp_path / f"{rank}.safetensors")
        for name, gradient in alone.items():
            torch.testing.assert_close(shared[name], gradient, rtol=1e-5, atol=1e-6)


if __name__ == "__main__":
    dist.init_process_group("gloo")
    own = gradients(dist.get_rank(), dist.get_world_size())
    write_tensors(Path(sys.argv[1]) / f"{dist.get_rank()}.safetensors", own)
    dist.destroy_process_group()
