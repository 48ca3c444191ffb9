"""Relatedness on SICK: two sentences and how near their meanings are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from bough import Tree
from bough.models.batching import prepare_all
from bough.models.model import Model
from bough.train.tasks import Floats, PairsTask, Rated
from paper.config import PaperConfig
from paper.sick import Pair, load_sick, sick_files
from paper.tasks.examples import Parse, cut, parse_for


class RelatednessTask(PairsTask):
    """SICK: two sentences and how related they are, 1 to 5 (Sec. 4.2)."""

    def __init__(self, config: PaperConfig, data: Path) -> None:
        super().__init__(config)
        self.config: PaperConfig = config
        self.data = data
        self.parse: Parse = "dependency" if config.system else parse_for(config, "dependency")

    def read(self, split: str) -> list[Pair]:
        check = self.config.source == "data"
        pairs = load_sick(self.data, split, parse=self.parse, check=check, scale=self.config.scale)
        return cut(pairs, self.config.max_examples)

    def files(self, split: str) -> list[Path]:
        return sick_files(self.data, split, self.parse)

    def trees(self, examples: Sequence[Pair]) -> Iterator[Tree]:
        return (tree for pair in examples for tree in (pair.left, pair.right))

    def prepare(self, examples: Sequence[Pair], model: Model) -> list[Rated]:
        left, right = (
            prepare_all(side, model) for side in zip(*((p.left, p.right) for p in examples), strict=True)
        )
        return [Rated(a, b, pair.score) for a, b, pair in zip(left, right, examples, strict=True)]

    def finish(self, model: Model, dev: Sequence[Rated]) -> None:
        """Do nothing."""

    def figures(self, model: Model, predicted: Floats, examples: Sequence[Rated]) -> dict[str, float]:
        """Return those of `metrics`."""
        return self.metrics(predicted, examples)

    def to_learn(self, examples: Sequence[Pair], model: Model) -> list[Rated]:
        return self.prepare(examples, model)
