"""Answer batches of requests with the models of the server, which share one parser."""

from collections.abc import Sequence
from pathlib import Path

import bough
from bough.draw import arcs, svg
from bough.pipelines import PairPipeline, Pipeline, Prediction
from bough.pipelines.prediction import to_json
from bough.pipelines.readers import Reader
from bough.serve import limits
from bough.serve.schemas import OneText, Picture, Two
from bough.text import get_parser

REMEMBERED = 64  # predictions kept, so that a tree that is drawn again is the same tree
WARM_UP = "A tree grows in the garden."

Job = OneText | Picture | Two
Outcome = bytes | Exception


def size_of(job: Job) -> int:
    """Return the approximate cost of a job, in characters."""
    return 200 + (len(job.a) + len(job.b) if isinstance(job, Two) else len(job.text))


class Models:
    """A model of texts or trees, a model of pairs, and the parser they share. Only one thread may use them at a time.

    They are the bundled models, unless `own` is the folder of a user's model, which replaces one of them.
    """

    def __init__(self, own: str | None = None, device: str = "cpu") -> None:
        self.parser = get_parser("builtin")
        self.own = None if own is None else Path(own).name
        self.device = device
        self.own_pairs = False  # whether the user's model takes pairs
        self.related_by = "relatedness"  # the name or folder of the model for searches
        self.predictor: Pipeline = bough.load("sentiment", parser=self.parser, device=device)
        self.related: PairPipeline = bough.load("relatedness", parser=self.parser, device=device)
        if own is not None:
            pipeline = bough.load(own, parser=self.parser, device=device)
            self.own_pairs = pipeline.pairs
            if pipeline.pairs:
                self.related = pipeline
            else:
                self.predictor = pipeline
            if pipeline.pairs and pipeline.model.output.rates:
                self.related_by = own
        self.trees = self.predictor.model.trees == "given"
        self.longest = limits.TREE if self.trees else limits.CHARACTERS
        self._arcs = {cut: Reader(self.parser, "dependency", split=cut) for cut in (True, False)}
        self._drawn: dict[str, Prediction] = {}  # least recently used first
        warm_up: list[Job] = [Two(a=WARM_UP, b=WARM_UP)]
        self.compute(warm_up if self.trees else [Picture(text=WARM_UP), *warm_up])

    def compute(self, jobs: Sequence[Job]) -> list[Outcome]:
        """Parse and score all texts together; return the JSON or the error of each job."""
        results = self._predictions(jobs)
        two = [(job.a, job.b) for job in jobs if isinstance(job, Two)]
        pairs = self.related.stream(two, allow_empty=True)
        outcomes: list[Outcome] = []
        for job in jobs:
            try:
                if isinstance(job, Two):
                    result = next(pairs)
                    if result is None:
                        raise ValueError(
                            f"no word in {job.a[:40]!r} or in {job.b[:40]!r}; nothing to compare"
                        )
                    outcomes.append(result.json().encode())
                elif isinstance(job, Picture) and job.view == "dependencies":
                    outcomes.append(self._dependencies(job))
                else:
                    outcomes.append(_scored(job, results[job.text]))
            except ValueError as error:
                outcomes.append(error)
        return outcomes

    def _predictions(self, jobs: Sequence[Job]) -> dict[str, Prediction | None]:
        """Return the prediction for each text to score or draw, None for a text without a word."""
        pictures = [job for job in jobs if isinstance(job, Picture) and job.view == "phrases"]
        texts = dict.fromkeys(job.text for job in jobs if isinstance(job, OneText) or job in pictures)
        known: dict[str, Prediction | None] = {t: self._drawn[t] for t in texts if t in self._drawn}
        new = [text for text in texts if text not in known]
        known |= zip(new, self.predictor.stream(new, allow_empty=True), strict=True)
        for job in pictures:
            if (result := known[job.text]) is not None:
                self._drawn.pop(job.text, None)
                self._drawn[job.text] = result
        for text in list(self._drawn)[:-REMEMBERED]:
            del self._drawn[text]
        return known

    def _dependencies(self, job: Picture) -> bytes:
        if self.trees:
            raise ValueError("this model reads trees, which have no dependencies; use the view 'phrases'")
        (sentences,) = self._arcs[job.sentences].read([job.text])
        drawn = arcs.svg(job.text, [read.tree for read in sentences], style=False, widest=job.width)
        return to_json({"svg": drawn, "result": None}).encode()


def _scored(job: OneText | Picture, result: Prediction | None) -> bytes:
    if result is None:
        raise ValueError(f"no word in {job.text[:40]!r}; there is nothing to score")
    if isinstance(job, OneText):
        return result.json().encode()
    drawn = svg(result, style=False, only=job.only, collapsed=job.collapsed, widest=job.width)
    return f'{{"svg": {to_json(drawn)}, "result": {result.json()}}}'.encode()
