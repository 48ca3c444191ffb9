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

LINES = (Path(__file__).parents[2] / "docs" / "sentences.txt").read_text().splitlines()
QUERY = "two men are playing guitar"


async def stays() -> bool:
    return False


def test_the_tree_lstm_ranks_as_the_pipeline_and_the_cosine_as_mean_rows() -> None:
    found = CorpusCache(related()).search(QUERY, LINES, 3)
    assert [one["line"] - 1 for one in found["model"]] == [
        one.index for one in related().nearest(QUERY, LINES)
    ]
    same = CorpusCache(related()).search(LINES[4], LINES, 1)["cosine"][0]
    assert (same["line"], round(same["score"], 4)) == (5, 1.0)


def test_vectors_are_computed_once_and_forgotten_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    cache = CorpusCache(related(), lines=12)
    read: list[int] = []
    own = cache._encode

    def noted(lines: list[str]) -> Any:
        read.append(len(lines))
        return own(lines)

    monkeypatch.setattr(cache, "_encode", noted)
    for lines in (LINES[:5], LINES[5:10], LINES[:5], LINES[10:16], LINES[:5], LINES[5:10]):
        cache.search(QUERY, lines, 1)
    assert [count for count in read if count > 1] == [5, 5, 6, 5]  # a query is read alone
    assert sum(count for count, _ in cache.pieces.values()) <= 12


def test_a_corpus_is_known_by_its_lines_whatever_is_in_them() -> None:
    cache = CorpusCache(related())
    for lines in (
        ["A man sings\nA plane lands"],
        ["A man sings", "A plane lands"],
        ["\ud800 lands", "A dog"],
    ):
        assert (
            cache.search(QUERY, lines, 2)["cosine"]
            == CorpusCache(related()).search(QUERY, lines, 2)["cosine"]
        )


def test_a_model_of_ones_own_is_searched_with() -> None:
    async def ask() -> list[dict[str, Any]]:
        searcher = Searcher("relatedness-sick")
        found = await searcher.nearest(QUERY, LINES, 3, stays)
        searcher.close()
        return found["model"]

    model = CorpusCache(bough.load("relatedness-sick")).search(QUERY, LINES, 3)["model"]
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
        for measure in ("model", "cosine"):
            assert [one["line"] for one in whole[measure]] == [one["line"] for one in pieces[measure]]
        assert searcher._pool is not None
        (pid,) = searcher._pool._processes
        os.kill(pid, signal.SIGKILL)
        assert (await searcher.nearest(QUERY, LINES, 1, stays))["model"][0]["line"] == whole["model"][0][
            "line"
        ]
        places = iter([False, False, True])

        async def goes() -> bool:
            return next(places)

        with pytest.raises(Abandoned, match="after 6 of 20 lines"):
            await searcher.nearest(QUERY, LINES, 1, goes)
        searcher.close()

    asyncio.run(ask())
