"""Every binary tree over a few words, and its score, written out."""

from collections.abc import Iterator

import torch

LENGTHS = torch.tensor([6, 4, 2, 1])


def every_tree(start: int, end: int) -> Iterator[list[tuple[int, int]]]:
    if end - start == 1:
        yield []
        return
    for middle in range(start + 1, end):
        for left in every_tree(start, middle):
            for right in every_tree(middle, end):
                yield [(start, end), *left, *right]


def total(scores: torch.Tensor, spans: list[tuple[int, int]]) -> torch.Tensor:
    return sum((scores[start, end - start] for start, end in spans), torch.zeros((), dtype=scores.dtype))


def random_scores() -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    return torch.randn(4, 7, 7, dtype=torch.float64, generator=generator).requires_grad_()
