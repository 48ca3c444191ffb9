"""Relatedness on SICK: two sentences and how near their meanings are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from bough.data import load_sick, sick_files
from bough.data.sick import Pair
from bough.model.config import Config
from bough.model.model import Model
from bough.model.sentences import prepare_all
from bough.training.tasks.pairs import PairsTask, Rated
from bough.training.tasks.task import Parse, cut, parse_for
from bough.trees.tree import Tree


class RelatednessTask(PairsTask):
    """SICK: two sentences and how related they are, 1 to 5 (Sec. 4.2)."""

    def __init__(self, config: Config, data: Path) -> None:
        super().__init__(config)
        self.data = data
        self.parse: Parse = "dependency" if config.system else parse_for(config, "dependency")

    def read(self, split: str) -> list[Pair]:
        check = self.config.source == "data"
        pairs = load_sick(self.data, split, parse=self.parse, check=check, scale=self.config.scale)
        return cut(pairs, self.config.limit)

    def files(self, split: str) -> list[Path]:
        return sick_files(self.data, split, self.parse)

    def trees(self, examples: Sequence[Pair]) -> Iterator[Tree]:
        return (tree for pair in examples for tree in (pair.left, pair.right))

    def prepare(self, examples: Sequence[Pair], model: Model) -> list[Rated]:
        left, right = (
            prepare_all(side, model) for side in zip(*((p.left, p.right) for p in examples), strict=True)
        )
        return [Rated(a, b, pair.score) for a, b, pair in zip(left, right, examples, strict=True)]

    def to_learn(self, examples: Sequence[Pair], model: Model) -> list[Rated]:
        return self.prepare(examples, model)
