"""How many threads a command computes with."""

from __future__ import annotations


def use_threads(count: int = 1) -> None:
    """Of torch; one unless asked for more: matrices of the paper's sizes are too small to share out."""
    import torch

    if count < 1:
        raise ValueError(f"--threads {count}: at least 1")
    torch.set_num_threads(count)
