"""Nearest sentences in a process of its own: a corpus of any size never slows the other requests down."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import os
import signal
import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bough.pipelines.inference import mean_rows
from bough.pipelines.retrieval import SHORT, shared_words

if TYPE_CHECKING:
    from bough.pipelines import RelatednessPipeline

PIECE = 1_000  # lines of a corpus that are read at a time; between two, other searches have their turn
REMEMBERED = 100_000  # lines whose vectors are kept for the next query, about 160 MB
Floats = NDArray[np.float32]
Found = list[dict[str, Any]]
T = TypeVar("T")
log = logging.getLogger(__name__)


class Abandoned(Exception):
    """Nobody waits for the answer."""


class Searcher:
    """Asks the other process, piece by piece; starts it with the first question, and again if it died."""

    def __init__(self, model: str = "relatedness") -> None:
        self.model = model
        self._pool: ProcessPoolExecutor | None = None

    async def nearest(
        self, query: str, corpus: Sequence[str], k: int, gone: Callable[[], Awaitable[bool]]
    ) -> dict[str, Found]:
        """The `k` nearest lines by the model and by cosine, best first; a ValueError without a word.

        It ends early, with an `Abandoned`, once `gone` says that nobody waits for it.
        """
        most = {"cosine": k}
        best: dict[str, Found] = {}
        for low in range(0, len(corpus), PIECE):
            if await gone():
                raise Abandoned(f"the client has gone after {low} of {len(corpus)} lines")
            found = await self._ask(listed, query, list(corpus[low : low + PIECE]), k)
            for measure, entries in found.items():
                for entry in entries:
                    entry["line"] += low
                both = best.get(measure, []) + entries
                best[measure] = sorted(both, key=lambda entry: -entry["score"])[
                    : most.get(measure, max(SHORT, k))
                ]
        if not best.get("vectors"):
            raise ValueError("no sentence in the corpus; give one per line")
        short = {entry["line"]: entry for name in ("vectors", "words") for entry in best[name]}
        model = await self._ask(rated, query, [short[line] for line in sorted(short)], k)
        for entries in (model, best["cosine"]):
            for entry in entries:
                entry["score"] = round(entry["score"], 4)
        return {"model": model, "cosine": best["cosine"]}

    async def _ask(self, what: Callable[[str, Any, int], T], query: str, lines: list[Any], k: int) -> T:
        loop = asyncio.get_running_loop()
        for again in (True, False):
            pool = self._started()
            try:
                return await loop.run_in_executor(pool, what, query, lines, k)
            except BrokenProcessPool:
                log.warning("the process that searches has died; starting another")
                if self._pool is pool:
                    self._pool = None
                if not again:
                    raise
        raise AssertionError("unreachable")

    def _started(self) -> ProcessPoolExecutor:
        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                1, mp_context=get_context("spawn"), initializer=_prepare, initargs=(self.model,)
            )
        return self._pool

    def close(self) -> None:
        """Finish what is under way and end the process."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)


# ------------------------------------------------------------------- in the other process


@dataclass(frozen=True)
class Vectors:
    """The lines of a piece that have words: their places, the model's vectors, their mean word rows (length 1)."""

    places: list[int]
    states: Floats
    rows: Floats


class Shelf:
    """The vectors of the pieces read last, by their content."""

    def __init__(self, pipeline: RelatednessPipeline, lines: int = REMEMBERED) -> None:
        self.pipeline, self.most = pipeline, lines
        self.kept: OrderedDict[bytes, tuple[int, Vectors]] = OrderedDict()

    def vectors(self, lines: Sequence[str]) -> Vectors:
        """Those of some lines."""
        key = hashlib.sha256(json.dumps(list(lines)).encode()).digest()  # a line may have a newline in it
        if key not in self.kept:
            self.kept[key] = (len(lines), self._read(lines))
            while sum(count for count, _ in self.kept.values()) > self.most and len(self.kept) > 1:
                self.kept.popitem(last=False)
        self.kept.move_to_end(key)
        return self.kept[key][1]

    def _read(self, lines: Sequence[str]) -> Vectors:
        reads = self.pipeline.reader.read_any(lines)
        places = [place for place, read in enumerate(reads) if read]
        sentences = [reads[place][0] for place in places]
        rows = mean_rows(self.pipeline.model, [sentence.words for sentence in sentences])
        return Vectors(places, self.pipeline.vectors(sentences), _unit(rows))

    def ranked(self, query: str, lines: list[str], k: int) -> dict[str, Found]:
        """The `k` nearest lines by each measure, with their numbers from 1 on."""
        found = self.listed(query, lines, k)
        short = {entry["line"]: entry for name in ("vectors", "words") for entry in found[name]}
        return {"model": self.rated(query, [short[n] for n in sorted(short)], k), "cosine": found["cosine"]}

    def listed(self, query: str, lines: list[str], k: int) -> dict[str, Found]:
        """What may be among the `k` nearest, by vectors and by shared words; and the `k` best by cosine."""
        asked = self._read([query])
        if not asked.places:
            raise ValueError(f"no word in the query, {query[:40]!r}")
        known = self.vectors(lines)
        if not known.places:
            return {"vectors": [], "words": [], "cosine": []}
        cosines = known.rows @ asked.rows[0]
        best = np.argsort(-cosines, kind="stable")[:k].tolist()
        spoken, most = [lines[place] for place in known.places], max(SHORT, k)
        model = self.pipeline.model
        ranked = {
            "vectors": self.pipeline.ranked(asked.states, known.states, most),
            "words": shared_words(model, [query], spoken, most) if model.config.pair_features else [],
            "cosine": [(i, float(cosines[i])) for i in best],
        }
        return {
            measure: [{"text": spoken[i], "score": score, "line": known.places[i] + 1} for i, score in found]
            for measure, found in ranked.items()
        }

    def rated(self, query: str, entries: Found, k: int) -> Found:
        """The `k` best of a short list by the whole model."""
        if not entries:
            return []
        reads = [
            read[0] for read in self.pipeline.reader.read([query, *(entry["text"] for entry in entries)])
        ]
        best = self.pipeline.rated(reads[0], reads[1:], k)
        return [{**entries[place], "score": score} for place, score in best]


def _unit(rows: Floats) -> Floats:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(lengths, 1e-12), dtype=np.float32)


_shelf: Shelf | None = None


def _prepare(model: str) -> None:
    """A new process: it leaves signals to its parent, ends with it, and loads its own model."""
    global _shelf
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    import torch

    import bough
    from bough.pipelines import RelatednessPipeline

    torch.set_num_threads(1)
    pipeline = bough.load(model)
    assert isinstance(pipeline, RelatednessPipeline)
    _shelf = Shelf(pipeline)


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def listed(query: str, lines: list[str], k: int) -> dict[str, Found]:
    """`Shelf.listed` of this process."""
    assert _shelf is not None
    return _shelf.listed(query, lines, k)


def rated(query: str, entries: Found, k: int) -> Found:
    """`Shelf.rated` of this process."""
    assert _shelf is not None
    return _shelf.rated(query, entries, k)
