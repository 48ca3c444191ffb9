"""SICK beside other pairs: one model of relatedness learns from all of them.

A source has a folder per split below the data folder, `extra/NAME/SPLIT/`, in the layout of SICK.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from bough.models.metrics import correlations
from bough.models.model import Model
from bough.train.tasks import Floats, Indices, Rated, shuffled
from bundle.config import BundleConfig, shares
from paper.sick import Pair, load_pairs, pair_files
from paper.tasks import RelatednessTask

_BETWEEN = "\t"  # a pair's source and its id there
HINT = "`python -m bundle prepare stsb` makes captions, news, forums and turns"


class JoinedTask(RelatednessTask):
    """SICK and the sources of `mix`: a step takes `batch` pairs of SICK and so many of each source.

    A source goes round: what is left of it starts the next step, and when all had their turn it starts again in a
    fresh order. The loss is the mean over a step's pairs.
    """

    def __init__(self, config: BundleConfig, data: Path) -> None:
        super().__init__(config, data)
        self.config: BundleConfig = config
        self.shares = shares(config.mix)

    def read(self, split: str) -> list[Pair]:
        pairs = super().read(split)
        for name in self.shares:
            folder = self.data / "extra" / name / split
            found = load_pairs(folder, "dependency", self.config.scale, hint=HINT)
            found = found[: self.config.max_examples or None]
            pairs += [replace(pair, id=f"{name}{_BETWEEN}{pair.id}") for pair in found]
        return pairs

    def files(self, split: str) -> list[Path]:
        folders = [self.data / "extra" / name / split for name in self.shares]
        return [*super().files(split), *(file for folder in folders for file in pair_files(folder))]

    def prepare(self, examples: Sequence[Pair], model: Model) -> list[Rated]:
        ready = super().prepare(examples, model)
        return [
            rated._replace(source=pair.id.partition(_BETWEEN)[0] if _BETWEEN in pair.id else "")
            for rated, pair in zip(ready, examples, strict=True)
        ]

    def batches(self, examples: Sequence[Rated], rng: np.random.Generator) -> list[Indices]:
        sources = np.array([pair.source for pair in examples])
        own = np.flatnonzero(sources == "")
        steps = [own[chosen] for chosen in shuffled(len(own), self.config.batch_size, rng)]
        for name, count in self.shares.items():
            drawn = _rounds(np.flatnonzero(sources == name), count, len(steps), rng)
            steps = [np.concatenate([step, next(drawn)]) for step in steps]
        return steps

    def metrics(self, predicted: Floats, examples: Sequence[Rated]) -> dict[str, float]:
        """SICK's figures, r of all other pairs together and of each source, and `loss`.

        The loss is the mean squared error, SICK and all others each counting half.
        """
        sources = np.array([pair.source for pair in examples])
        gold = np.array([pair.rating for pair in examples])

        def figures(here: Indices) -> dict[str, float]:
            return correlations(predicted[here], gold[here])

        own, others = np.flatnonzero(sources == ""), np.flatnonzero(sources != "")
        found = figures(own)
        if not len(others):
            return found
        beside = figures(others)
        found |= {"beside_pearson": beside["pearson"], "beside_mse": beside["mse"]}
        for name in self.shares:
            here = np.flatnonzero(sources == name)
            if len(here):
                found[f"{name}_pearson"] = figures(here)["pearson"]
        return {**found, "loss": (found["mse"] + beside["mse"]) / 2}


def _rounds(pool: Indices, count: int, steps: int, rng: np.random.Generator) -> Iterator[Indices]:
    """So many of the pool for each step, all of it in a fresh order before one comes again."""
    times = -(-count * steps // len(pool))
    order = np.concatenate([rng.permutation(pool) for _ in range(times)])
    return iter(order[: count * steps].reshape(steps, count))
