"""Claims about the process: it ends well, says what is missing, and a long search holds nobody up."""

import asyncio
import contextlib
import os
import signal
import socket
import sys
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from bough.cli import main
from servers import running


def test_sigterm_finishes_what_is_under_way() -> None:
    async def all_of(address: str, pid: int) -> list[httpx.Response]:
        async with httpx.AsyncClient(base_url=address, timeout=60) as asking:
            texts = [f"Film number {i} is not good, but it is never dull." for i in range(64)]
            bodies: list[tuple[str, Any]] = [("/api/sentiment", {"texts": texts})] * 6
            bodies += [("/api/nearest", {"query": "a dull film", "corpus": texts})]
            tasks = [asyncio.create_task(asking.post(path, json=body)) for path, body in bodies]
            await asyncio.sleep(0.15)
            os.kill(pid, signal.SIGTERM)
            return await asyncio.gather(*tasks)

    with running() as (address, process):
        answers = asyncio.run(all_of(address, process.pid))
        assert [answer.status_code for answer in answers] == [200] * 7
        assert process.wait(30) == -signal.SIGTERM
        with pytest.raises(httpx.ConnectError):
            httpx.get(address)


def test_workers_share_the_port_and_end_together() -> None:
    """One of two killed is replaced; SIGTERM finishes what is under way in both."""

    async def all_of(address: str, pid: int) -> list[httpx.Response]:
        texts = [f"Film number {i} is not good, but it is never dull." for i in range(64)]
        async with contextlib.AsyncExitStack() as stack:
            clients = [
                await stack.enter_async_context(httpx.AsyncClient(base_url=address, timeout=60))
                for _ in range(8)
            ]
            tasks = [asyncio.create_task(c.post("/api/sentiment", json={"texts": texts})) for c in clients]
            await asyncio.sleep(0.3)
            os.kill(pid, signal.SIGTERM)
            return await asyncio.gather(*tasks)

    with running("--workers", "2") as (address, process):
        first = workers_of(process.pid)
        assert len(first) == 2
        os.kill(first[0], signal.SIGKILL)
        deadline = time.monotonic() + 60
        while first[0] in workers_of(process.pid) or len(workers_of(process.pid)) < 2:
            assert time.monotonic() < deadline
            assert httpx.get(f"{address}/health", timeout=60).status_code == 200
        answers = asyncio.run(all_of(address, process.pid))
        assert [answer.status_code for answer in answers] == [200] * 8
        assert process.wait(60) == 0
        with pytest.raises(httpx.ConnectError):
            httpx.get(address)


def test_workers_end_with_the_one_who_started_them() -> None:
    with running("--workers", "2") as (_, process):
        children = workers_of(process.pid)
        process.kill()
        process.wait()
        deadline = time.monotonic() + 60
        while any(Path(f"/proc/{child}").exists() for child in children):
            assert time.monotonic() < deadline
            time.sleep(0.05)


def workers_of(pid: int) -> list[int]:
    """The processes that it has started to serve."""
    children = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return [c for c in children if b"spawn_main" in Path(f"/proc/{c}/cmdline").read_bytes()]


def test_a_long_search_holds_nobody_up(address: str) -> None:
    async def both() -> tuple[list[float], bool]:
        corpus = [f"A man number {i} is playing a guitar on a small stage" for i in range(1500)]
        async with httpx.AsyncClient(base_url=address, timeout=120) as asking:
            search = asyncio.create_task(asking.post("/api/nearest", json={"query": "a", "corpus": corpus}))
            await asyncio.sleep(0.2)
            waits: list[float] = []
            while len(waits) < 10:
                started = time.perf_counter()
                assert (await asking.post("/api/sentiment", json={"text": "Not bad."})).status_code == 200
                waits.append(time.perf_counter() - started)
            early = not search.done()
            assert (await search).status_code == 200
            return waits, early

    waits, early = asyncio.run(both())
    assert early
    assert sorted(waits)[5] < 0.5


def test_a_search_that_nobody_waits_for_is_given_up() -> None:
    corpus = [f"A man number {i} is playing a guitar on a small stage" for i in range(30_000)]
    with running() as (address, process):
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(f"{address}/api/nearest", json={"query": "a", "corpus": corpus}, timeout=4)
        process.terminate()
        assert process.wait(15) == -signal.SIGTERM


def test_a_port_in_use_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(SystemExit) as stop:
        main(["serve", "--port", str(taken.getsockname()[1])])
    assert stop.value.code == 2
    said = capsys.readouterr().err
    assert "cannot listen on 127.0.0.1" in said
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize(
    "arguments", [("--port", "70000"), ("--host", "no.such.host.invalid"), ("--workers", "0")]
)
def test_a_wrong_address_is_one_line(arguments: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["serve", *arguments])
    assert stop.value.code == 2
    assert arguments[1] in capsys.readouterr().err


@pytest.mark.parametrize("missing", ["fastapi", "uvicorn"])
def test_without_the_extra_one_line_says_how_to_get_it(
    missing: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(SystemExit) as stop:
        main(["serve"])
    assert stop.value.code == 2
    said = capsys.readouterr().err
    assert 'pip install "bough[serve]"' in said
    assert len(said.splitlines()) == 1


def test_the_page_is_in_the_package() -> None:
    from bough.serve.assets import read_assets

    names = {path.name for path in (Path(sys.modules["bough.serve"].__path__[0]) / "page").iterdir()}
    assert names | {"tree.css", "palette.css", "classes.js"} == set(read_assets())
