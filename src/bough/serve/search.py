"""Find the nearest sentences in a separate process: a large corpus never slows the other requests down."""

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
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bough.pipelines.inference import mean_rows

if TYPE_CHECKING:
    from bough.pipelines import RelatednessPipeline

PIECE = 1_000  # lines of a corpus that are encoded at a time; other searches take turns in between
REMEMBERED = 100_000  # lines whose vectors are kept for the next query, about 160 MB
Floats = NDArray[np.float32]
log = logging.getLogger(__name__)


class Abandoned(Exception):
    """The client has gone before the search was done."""


class Searcher:
    """Send searches to the other process, which is started with the first one, and again if it died."""

    def __init__(self, model: str = "relatedness") -> None:
        self.model = model
        self._pool: ProcessPoolExecutor | None = None

    async def nearest(
        self, query: str, corpus: Sequence[str], k: int, gone: Callable[[], Awaitable[bool]]
    ) -> dict[str, list[dict[str, Any]]]:
        """Return the `k` nearest lines by the model and by cosine, best first; raise a ValueError without a word.

        Raise `Abandoned` as soon as `gone` says that nobody waits for the answer.
        """
        lines = list(corpus)
        for low in range(0, len(lines), PIECE):
            if await gone():
                raise Abandoned(f"the client has gone after {low} of {len(lines)} lines")
            await self._run(encode, lines[low : low + PIECE])
        found: dict[str, list[dict[str, Any]]] = await self._run(search, query, lines, k, PIECE)
        return found

    async def _run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        for attempt in (1, 2):
            if self._pool is None:
                context, model = get_context("spawn"), (self.model,)
                self._pool = ProcessPoolExecutor(1, mp_context=context, initializer=_prepare, initargs=model)
            pool = self._pool
            try:
                return await asyncio.get_running_loop().run_in_executor(pool, function, *arguments)
            except BrokenProcessPool:
                log.warning("the search process has died; starting another")
                if self._pool is pool:
                    self._pool = None
                if attempt == 2:
                    raise
        return None

    def close(self) -> None:
        """Finish the search under way and end the process."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)


# ------------------------------------------------------------------- in the other process


class Encoded(NamedTuple):
    """The lines of a piece that have words: their indices, the model's vectors, and their mean word rows."""

    indices: list[int]
    vectors: Floats
    rows: Floats  # of length 1


class CorpusCache:
    """The vectors of the pieces of corpora that were used last, by their content."""

    def __init__(self, pipeline: RelatednessPipeline, lines: int = REMEMBERED) -> None:
        self.pipeline, self.most = pipeline, lines
        self.pieces: OrderedDict[bytes, tuple[int, Encoded]] = OrderedDict()

    def encode(self, lines: Sequence[str]) -> Encoded:
        """Encode the lines of a piece, or take their vectors from the cache."""
        key = hashlib.sha256(json.dumps(list(lines)).encode()).digest()  # a line may contain a newline
        if key not in self.pieces:
            self.pieces[key] = (len(lines), self._encode(lines))
            while sum(count for count, _ in self.pieces.values()) > self.most and len(self.pieces) > 1:
                self.pieces.popitem(last=False)
        self.pieces.move_to_end(key)
        return self.pieces[key][1]

    def _encode(self, lines: Sequence[str]) -> Encoded:
        reads = self.pipeline.reader.read_any(lines)
        indices = [index for index, read in enumerate(reads) if read]
        sentences = [reads[index][0] for index in indices]
        rows = mean_rows(self.pipeline.model, [sentence.words for sentence in sentences])
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        unit = (rows / np.maximum(lengths, 1e-12)).astype(np.float32)
        return Encoded(indices, self.pipeline.vectors(sentences), unit)

    def search(
        self, query: str, lines: Sequence[str], k: int, piece: int = PIECE
    ) -> dict[str, list[dict[str, Any]]]:
        """Return the `k` nearest lines by the model and by the cosine of mean word rows, numbered from 1."""
        asked = self._encode([query])
        if not asked.indices:
            raise ValueError(f"no word in the query, {query[:40]!r}")
        starts = range(0, len(lines), piece)
        pieces = [self.encode(lines[low : low + piece]) for low in starts]
        indices = [low + i for low, part in zip(starts, pieces, strict=True) for i in part.indices]
        if not indices:
            raise ValueError("no sentence in the corpus; give one per line")
        texts, vectors = [lines[i] for i in indices], np.concatenate([part.vectors for part in pieces])
        cosines = np.concatenate([part.rows for part in pieces]) @ asked.rows[0]
        by_model = self.pipeline.nearest(query, texts, k, vectors=vectors)
        found = {
            "model": [(one.index, one.score) for one in by_model],
            "cosine": [(i, float(cosines[i])) for i in np.argsort(-cosines, kind="stable")[:k].tolist()],
        }
        return {
            measure: [{"text": texts[i], "score": round(s, 4), "line": indices[i] + 1} for i, s in best]
            for measure, best in found.items()
        }


_cache: CorpusCache | None = None


def _prepare(model: str) -> None:
    """Set up the process: it leaves signals to its parent, ends with it, and loads its own model."""
    global _cache
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    end_with_parent()
    import torch

    import bough
    from bough.pipelines import RelatednessPipeline

    torch.set_num_threads(1)
    pipeline = bough.load(model)
    assert isinstance(pipeline, RelatednessPipeline)
    _cache = CorpusCache(pipeline)


def end_with_parent() -> None:
    """Let this process get a SIGTERM when the one that started it is gone."""

    def watch() -> None:
        parent = parent_process()
        if parent is not None:
            wait([parent.sentinel])
            os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()


def encode(lines: list[str]) -> None:
    """Put the lines into the cache of this process."""
    assert _cache is not None
    _cache.encode(lines)


def search(query: str, lines: list[str], k: int, piece: int) -> dict[str, list[dict[str, Any]]]:
    """Search with the cache of this process."""
    assert _cache is not None
    return _cache.search(query, lines, k, piece)
