"""A seeded split that keeps the share of every class."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.int64]


def held_out(
    strata: NDArray[np.int64], keys: NDArray[np.uint64], shares: Sequence[float], seed: int
) -> list[Places]:
    """The places of each share, taken from every stratum alike; what is left is for training.

    A text that stands there twice is never held out, so that no text is on both sides; nor is the last example
    of a stratum. Where a stratum is too small for its share, chance decides, and a share of everything still
    gets one example.
    """
    rng = np.random.default_rng(seed)
    _, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
    single = counts[inverse] == 1
    parts: list[list[int]] = [[] for _ in shares]
    for stratum in np.unique(strata):
        members = np.flatnonzero((strata == stratum) & single)
        free = min(len(members), int((strata == stratum).sum()) - 1)
        members = rng.permutation(members).tolist()
        for part, share in zip(parts, shares, strict=True):
            wanted = share * int((strata == stratum).sum())
            count = min(int(wanted) + bool(rng.random() < wanted % 1), free)
            part += [members.pop() for _ in range(count)]
            free -= count
    left = rng.permutation(
        np.setdiff1d(np.flatnonzero(single), [place for part in parts for place in part])
    ).tolist()
    for part in parts:
        if not part and len(left) > 1:
            part.append(left.pop())
    return [np.sort(np.array(part, dtype=np.int64)) for part in parts]


def strata_of(ratings: NDArray[np.float64], pieces: int = 10) -> NDArray[np.int64]:
    """(n,) ratings -> the tenth of the scale that each lies in."""
    low, width = ratings.min(), max(float(np.ptp(ratings)), 1e-12)
    strata: NDArray[np.int64] = np.minimum((ratings - low) / width * pieces, pieces - 1).astype(np.int64)
    return strata
