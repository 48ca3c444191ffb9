"""A part of a file that is read without the rest: whole lines, found by their numbers once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path


@dataclass(frozen=True)
class Stretch:
    """The bytes from `start` to `end` of a file, the first of line `line`; behind its header, `header` lines."""

    header: int
    line: int
    start: int
    end: int

    @classmethod
    def all(cls, path: Path, lines: Sequence[int], header: int) -> list[Stretch]:
        """The stretches that begin at these lines, counted from 1; each ends where the next begins."""
        wanted, offsets = {*lines}, dict[int, int]()
        place = 0
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if number in wanted:
                    offsets[number] = place
                place += len(line)
        starts = [offsets.get(line, place) for line in lines]
        return [
            cls(header, line, start, end)
            for line, start, end in zip(lines, starts, [*starts[1:], place], strict=True)
        ]

    @property
    def shift(self) -> int:
        """What is added to the number of a line read here, the header's lines first, for its number in the file."""
        return self.line - 1 - self.header

    def lines(self, path: Path) -> Iterator[bytes]:
        """The header's lines and those of the stretch; of all else in the file nothing is read."""
        with path.open("rb") as file:
            yield from islice(file, self.header)
        with path.open("rb") as file:
            file.seek(self.start)
            left = self.end - self.start
            while left > 0:
                line = file.readline()
                left -= len(line)
                yield line
