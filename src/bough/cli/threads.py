"""How many threads a command computes with, and on which device."""

from __future__ import annotations


def use_threads(count: int = 1) -> None:
    """Of torch; one unless asked for more: matrices of the paper's sizes are too small to share out."""
    import torch

    if count < 1:
        raise ValueError(f"--threads {count}: at least 1")
    torch.set_num_threads(count)


def check_device(device: str) -> None:
    """One line for a device that cannot be had."""
    import torch

    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ValueError(f"--device {device}: {reason}") from None
