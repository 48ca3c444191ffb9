"""Claims about searches: pieces make no difference, memory has a bound, a process that dies is replaced."""

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import pytest

import bough
from bough.serve import search
from bough.serve.search import Abandoned, CorpusCache, Searcher
from bundled_pipelines import related
from small_fits import QUICK

LINES = (Path(__file__).parents[2] / "docs" / "sentences.txt").read_text().splitlines()
QUERY = "two men are playing guitar"


async def stays() -> bool:
    return False


def test_lines_are_ranked_as_the_pipeline_ranks_them() -> None:
    found = CorpusCache(related()).search(QUERY, LINES, 3)
    assert [one["line"] - 1 for one in found] == [one.index for one in related().nearest(QUERY, LINES)]
    assert CorpusCache(related()).search(LINES[4], LINES, 1)[0]["line"] == 5


def test_vectors_are_computed_once_and_forgotten_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    cache = CorpusCache(related(), pieces=2)
    read: list[int] = []
    own = related().vectors

    def noted(sentences: Any) -> Any:
        read.append(len(sentences))
        return own(sentences)

    monkeypatch.setattr(cache.pipeline, "vectors", noted)
    for lines in (LINES[:5], LINES[5:10], LINES[:5], LINES[10:16], LINES[:5], LINES[5:10]):
        cache.search(QUERY, lines, 1)
    assert [count for count in read if count > 1] == [5, 5, 6, 5]  # a query is read alone


def test_a_corpus_is_known_by_its_lines_whatever_is_in_them() -> None:
    cache = CorpusCache(related())
    for lines in (
        ["A man sings\nA plane lands"],
        ["A man sings", "A plane lands"],
        ["\ud800 lands", "A dog"],
    ):
        assert cache.search(QUERY, lines, 2) == CorpusCache(related()).search(QUERY, lines, 2)


def test_a_model_of_ones_own_is_searched_with(tmp_path: Path) -> None:
    pairs = [(one, other) for one in LINES[:5] for other in LINES[:5]]
    ratings = [5.0 if one == other else 1.0 for one, other in pairs]
    bough.fit(pairs, ratings, settings=QUICK, epochs=1).save(tmp_path)

    async def ask() -> list[dict[str, Any]]:
        searcher = Searcher(str(tmp_path))
        found = await searcher.nearest(QUERY, LINES, 3, stays)
        searcher.close()
        return found

    model = CorpusCache(bough.load(tmp_path)).search(QUERY, LINES, 3)
    found = asyncio.run(ask())
    assert [one["line"] for one in found] == [one["line"] for one in model]
    assert [one["score"] for one in found] == pytest.approx([one["score"] for one in model], abs=1e-4)


def test_pieces_make_no_difference_a_dead_process_is_replaced_and_nobody_waiting_ends_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def ask() -> None:
        searcher = Searcher()
        whole = await searcher.nearest(QUERY, LINES, 4, stays)
        monkeypatch.setattr(search, "PIECE", 3)
        pieces = await searcher.nearest(QUERY, LINES, 4, stays)
        assert [one["line"] for one in whole] == [one["line"] for one in pieces]
        assert searcher._pool is not None
        (pid,) = searcher._pool._processes
        os.kill(pid, signal.SIGKILL)
        assert (await searcher.nearest(QUERY, LINES, 1, stays))[0]["line"] == whole[0]["line"]
        places = iter([False, False, True])

        async def goes() -> bool:
            return next(places)

        with pytest.raises(Abandoned, match="after 6 of 20 lines"):
            await searcher.nearest(QUERY, LINES, 1, goes)
        searcher.close()

    asyncio.run(ask())
