"""Results of runs that were never made, for tests of what is done with results."""

from __future__ import annotations

from collections.abc import Sequence

from paper.results import System


def system(
    name: str,
    vectors: str = "glove.6B.300d",
    by_length: dict[str, list[float]] | None = None,
    coverage: str = "",
    **figures: Sequence[float],
) -> System:
    """A system with these figures, one value a seed."""
    count = len(next(iter(figures.values())))
    lists = {figure: list(values) for figure, values in figures.items()}
    return System(name, list(range(1, count + 1)), vectors, lists, by_length or {}, 1.0, coverage)
