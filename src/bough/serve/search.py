"""Find the nearest sentences in a separate process, to keep other requests fast."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from bough.pipelines import PairPipeline

PIECE = 1_000  # lines of a corpus that are encoded at a time; other searches run in between
REMEMBERED = 100_000  # lines whose vectors are kept for the next query, about 160 MB
Floats = NDArray[np.float32]
Gone = Callable[[], Awaitable[bool]]  # whether the client has disconnected
log = logging.getLogger(__name__)


class Abandoned(Exception):
    """Raised if the client disconnects before the search is done."""


class Searcher:
    """Send searches to another process, which starts when needed, and again if it has died."""

    def __init__(self, model: str = "relatedness", device: str = "cpu") -> None:
        self.model = model, device
        self._pool: ProcessPoolExecutor | None = None

    async def nearest(self, query: str, corpus: Sequence[str], k: int, gone: Gone) -> list[dict[str, Any]]:
        """Return the `k` nearest lines, best first.

        Raise a ValueError if the query or the corpus has no word, and `Abandoned` as soon as `gone` returns True.
        """
        lines = list(corpus)
        for low in range(0, len(lines), PIECE):
            if await gone():
                raise Abandoned(f"the client disconnected after {low} of {len(lines)} lines")
            await self._run(encode, lines[low : low + PIECE])
        found: list[dict[str, Any]] = await self._run(search, query, lines, k, PIECE)
        return found

    async def _run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        for attempt in (1, 2):
            if self._pool is None:
                context = get_context("spawn")
                self._pool = ProcessPoolExecutor(
                    1, mp_context=context, initializer=_prepare, initargs=self.model
                )
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
        """Finish the search in progress and end the process."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)


# --------------------------------------------------------------------- in the search process


class CorpusCache:
    """Search with a pipeline, and keep the vectors of the pieces of corpora that were used last."""

    def __init__(self, pipeline: PairPipeline, pieces: int = REMEMBERED // PIECE) -> None:
        self.pipeline = pipeline
        self.encode = lru_cache(maxsize=pieces)(self._encode)

    def _encode(self, lines: tuple[str, ...]) -> tuple[list[int], Floats]:
        """Return the indices of the lines that have words, and their vectors."""
        reads = self.pipeline.reader.read(lines, allow_empty=True)
        indices = [index for index, read in enumerate(reads) if read]
        return indices, self.pipeline.vectors([reads[index][0] for index in indices])

    def search(self, query: str, lines: Sequence[str], k: int, piece: int = PIECE) -> list[dict[str, Any]]:
        """Return the `k` nearest lines, numbered from 1."""
        if not self.pipeline.reader.cut([query])[0]:
            raise ValueError(f"no word in the query, {query[:40]!r}")
        indices, vectors = list[int](), list[Floats]()
        for low in range(0, len(lines), piece):
            own, rows = self.encode(tuple(lines[low : low + piece]))
            indices += [low + i for i in own]
            vectors.append(rows)
        if not indices:
            raise ValueError("no sentence in the corpus; give one per line")
        texts = [lines[i] for i in indices]
        return [
            {"text": one.text, "score": round(one.score, 4), "line": indices[one.index] + 1}
            for one in self.pipeline.nearest(query, texts, k, vectors=np.concatenate(vectors))
        ]


_cache: CorpusCache


def _prepare(model: str, device: str) -> None:
    """Set up the process: it leaves signals to its parent, ends with it, and loads a model."""
    global _cache
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    end_with_parent()
    import torch

    import bough

    torch.set_num_threads(1)
    _cache = CorpusCache(bough.load(model, device=device))


def end_with_parent() -> None:
    """Send this process a SIGTERM when the process that started it is gone."""

    def watch() -> None:
        parent = parent_process()
        if parent is not None:
            wait([parent.sentinel])
            os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()


def encode(lines: list[str]) -> None:
    """Put the lines into the cache of this process."""
    _cache.encode(tuple(lines))


def search(query: str, lines: list[str], k: int, piece: int) -> list[dict[str, Any]]:
    """Search with the cache of this process."""
    return _cache.search(query, lines, k, piece)
