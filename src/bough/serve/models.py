"""The models of the server behind one parser: a batch of jobs in, JSON out."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import bough
from bough.draw import WIDEST, arcs, svg
from bough.pipelines import Relatedness, RelatednessPipeline, Sentiment
from bough.pipelines.readers import Reader
from bough.pipelines.results import to_json
from bough.text import get_parser

REMEMBERED = 64  # results, so that a tree that is drawn again is the same tree
WARM_UP = "A tree grows in the garden."


@dataclass(frozen=True)
class Score:
    """A text whose sentiment is asked for."""

    text: str


@dataclass(frozen=True)
class Draw:
    """A text whose trees are to be drawn: phrases with their sentiment, or dependencies."""

    text: str
    view: Literal["phrases", "dependencies"]
    sentences: bool = True  # cut into sentences; else one tree over all of it
    only: int | None = None  # the one node that is drawn, with what is below it
    collapsed: tuple[int, ...] = ()  # nodes drawn whole
    width: int = WIDEST  # what is wider runs from top to bottom


@dataclass(frozen=True)
class Compare:
    """Two texts whose relatedness is asked for."""

    a: str
    b: str


Job = Score | Draw | Compare
Outcome = bytes | Exception


def size_of(job: Job) -> int:
    """About how much work a job is, in characters."""
    return 200 + (len(job.a) + len(job.b) if isinstance(job, Compare) else len(job.text))


class Models:
    """Sentiment, relatedness and the parser they share. One thread uses them at a time.

    `own` is the folder of a model that stands in for one of the two.
    """

    def __init__(self, own: str | None = None) -> None:
        self.parser = get_parser("builtin")
        self.sentiment = bough.load("sentiment", parser=self.parser)
        self.related_by = "relatedness"  # where it comes from
        self.related = bough.load("relatedness", parser=self.parser)
        if own is not None:
            pipeline = bough.load(own, parser=self.parser)
            if pipeline.model.purpose.trees == "given":
                raise ValueError(f"--model {own} was fitted on trees; the page takes texts")
            if isinstance(pipeline, RelatednessPipeline):
                self.related, self.related_by = pipeline, own
            else:
                self.sentiment = pipeline
        self._arcs = {cut: Reader(self.parser, "dependency", split=cut) for cut in (True, False)}
        self._drawn: OrderedDict[str, Sentiment] = OrderedDict()
        self.compute([Draw(WARM_UP, "phrases"), Compare(WARM_UP, WARM_UP)])

    def compute(self, jobs: Sequence[Job]) -> list[Outcome]:
        """Every text of the batch is parsed and scored with the others; then each job gets its own answer."""
        results = self._sentiments(jobs)
        pairs = self.related.stream_any((job.a, job.b) for job in jobs if isinstance(job, Compare))
        outcomes: list[Outcome] = []
        for job in jobs:
            try:
                if isinstance(job, Compare):
                    outcomes.append(_compared(job, next(pairs)))
                elif isinstance(job, Draw) and job.view == "dependencies":
                    outcomes.append(self._dependencies(job))
                else:
                    outcomes.append(_scored(job, results[job.text]))
            except ValueError as error:
                outcomes.append(error)
        return outcomes

    def _sentiments(self, jobs: Sequence[Job]) -> dict[str, Sentiment | None]:
        """The sentiment of each text, None where it has no word."""
        known: dict[str, Sentiment | None] = {}
        for job in jobs:
            if isinstance(job, Draw) and job.view == "phrases" and job.text in self._drawn:
                self._drawn.move_to_end(job.text)
                known[job.text] = self._drawn[job.text]
        texts = {job.text for job in jobs if isinstance(job, Score)}
        texts |= {job.text for job in jobs if isinstance(job, Draw) and job.view == "phrases"}
        new = sorted(texts - known.keys())
        known |= zip(new, self.sentiment.stream_any(new), strict=True)
        for job in jobs:
            if isinstance(job, Draw) and (result := known.get(job.text)) is not None:
                self._drawn[job.text] = result
        while len(self._drawn) > REMEMBERED:
            self._drawn.popitem(last=False)
        return known

    def _dependencies(self, job: Draw) -> bytes:
        (sentences,) = self._arcs[job.sentences].read([job.text])
        drawn = arcs.svg(job.text, [read.tree for read in sentences], style=False, widest=job.width)
        return to_json({"svg": drawn, "result": None}).encode()


def _scored(job: Score | Draw, result: Sentiment | None) -> bytes:
    if result is None:
        raise ValueError(f"no word in {job.text[:40]!r}; there is nothing to score")
    if isinstance(job, Score):
        return result.json().encode()
    drawn = svg(result, style=False, only=job.only, collapsed=job.collapsed, widest=job.width)
    return f'{{"svg": {to_json(drawn)}, "result": {result.json()}}}'.encode()


def _compared(job: Compare, result: Relatedness | None) -> bytes:
    if result is None:
        raise ValueError(f"no word in {job.a[:40]!r} or in {job.b[:40]!r}; there is nothing to compare")
    return result.json().encode()
