"""Which examples of a source each rank reads and parses: whole groups in a row, of a file only their part of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from bough.data.byte_range import Stretch
from bough.data.labelled import Example, LabelledFile
from bough.pipelines.reading import AT_ONCE
from bough.train.source import Source


@dataclass(frozen=True)
class Shard:
    """The examples from `start` to `end` of a source, and where a file has them if that is known."""

    start: int
    end: int
    stretch: Stretch | None = None

    def __len__(self) -> int:
        return self.end - self.start

    def read(self, source: Source) -> Iterable[Example]:
        """Those examples."""
        if not len(self):
            return ()
        if self.stretch is None or not isinstance(source, LabelledFile):
            return islice(source, self.start, self.end)
        return islice(source.part(self.stretch), len(self))


def shards(source: Source, lines: Sequence[int], count: int) -> list[Shard]:
    """One per rank; `lines` are those of the source's examples. Texts that are parsed together stay together."""
    groups = -(-len(lines) // AT_ONCE)
    bounds = [min(AT_ONCE * (groups * rank // count), len(lines)) for rank in range(count + 1)]
    found: Sequence[Stretch | None] | None = None
    full = [bound for bound, after in pairwise(bounds) if after > bound]
    if count > 1 and isinstance(source, LabelledFile):
        found = source.stretches(lines, full)
    at = dict(zip(full, found or [None] * len(full), strict=True))
    return [Shard(start, end, at[start] if end > start else None) for start, end in pairwise(bounds)]
