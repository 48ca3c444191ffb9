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
from waiting import LIMIT, wait_until

TEXTS = [f"Film number {i} is not good, but it is never dull." for i in range(64)]
PREDICT = ("/api/predict", {"texts": TEXTS})
SEARCH = ("/api/nearest", {"query": "a dull film", "corpus": TEXTS})


async def ask_and_end(address: str, pid: int, *bodies: tuple[str, Any]) -> list[httpx.Response]:
    """Return the answers to requests that have arrived, each by its own connection, when the server gets a SIGTERM."""
    async with contextlib.AsyncExitStack() as stack:
        clients = [httpx.AsyncClient(base_url=address, timeout=LIMIT) for _ in bodies]
        tasks = []
        for client, (path, body) in zip(clients, bodies, strict=True):
            await stack.enter_async_context(client)
            tasks.append(asyncio.create_task(client.post(path, json=body)))
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)  # so that all have arrived
        os.kill(pid, signal.SIGTERM)
        return await asyncio.gather(*tasks)


def test_sigterm_finishes_what_is_under_way() -> None:
    with running() as (address, process):
        answers = asyncio.run(ask_and_end(address, process.pid, *[PREDICT] * 6, SEARCH))
        assert [answer.status_code for answer in answers] == [200] * 7
        assert process.wait(LIMIT) == -signal.SIGTERM
        with pytest.raises(httpx.ConnectError):
            httpx.get(address)


def test_workers_share_the_port_and_end_together() -> None:
    """One of two killed is replaced; SIGTERM finishes what is under way in both."""
    with running("--workers", "2") as (address, process):
        wait_until(lambda: len(workers_of(process.pid)) == 2)
        first = workers_of(process.pid)
        os.kill(first[0], signal.SIGKILL)

        def replaced() -> bool:
            assert httpx.get(f"{address}/health", timeout=LIMIT).status_code == 200
            now = workers_of(process.pid)
            return first[0] not in now and len(now) == 2

        wait_until(replaced)
        answers = asyncio.run(ask_and_end(address, process.pid, *[PREDICT] * 8))
        assert [answer.status_code for answer in answers] == [200] * 8
        assert process.wait(LIMIT) == 0
        with pytest.raises(httpx.ConnectError):
            httpx.get(address)


def test_workers_that_start_slowly_are_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each needs longer than the five seconds after which uvicorn takes a worker for dead, unless it is told."""
    slow = "import sys, time\nif 'spawn_main' in ' '.join(sys.orig_argv): time.sleep(9)\n"
    (tmp_path / "sitecustomize.py").write_text(slow)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    with running("--workers", "2") as (address, process):
        wait_until(lambda: len(workers_of(process.pid)) == 2)
        first = workers_of(process.pid)
        assert httpx.get(f"{address}/health", timeout=LIMIT).status_code == 200
        assert workers_of(process.pid) == first


def test_other_names_of_the_server_are_refused_unless_allowed() -> None:
    with running("--allow-host", "box.lan") as (address, _):
        statuses = [
            httpx.get(f"{address}/health", headers={"host": host}, timeout=LIMIT).status_code
            for host in ("localhost", "box.lan:8000", "evil.example")
        ]
        assert statuses == [200, 200, 400]


def test_workers_end_with_the_one_who_started_them() -> None:
    with running("--workers", "2") as (address, process):
        assert httpx.get(f"{address}/health", timeout=LIMIT).status_code == 200
        wait_until(lambda: len(workers_of(process.pid)) == 2)
        children = workers_of(process.pid)
        process.kill()
        process.wait()
        wait_until(lambda: not any(Path(f"/proc/{child}").exists() for child in children))


def workers_of(pid: int) -> list[int]:
    """The processes that it has started to serve."""
    children = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return [c for c in children if b"spawn_main" in Path(f"/proc/{c}/cmdline").read_bytes()]


def test_a_long_search_holds_nobody_up(address: str) -> None:
    async def both() -> None:
        corpus = [f"A man number {i} is playing a guitar on a small stage" for i in range(4000)]
        async with httpx.AsyncClient(base_url=address, timeout=LIMIT) as asking:
            search = asyncio.create_task(asking.post("/api/nearest", json={"query": "a", "corpus": corpus}))
            for _ in range(10):
                assert (await asking.post("/api/predict", json={"text": "Not bad."})).status_code == 200
            assert not search.done()
            assert (await search).status_code == 200

    asyncio.run(both())


def test_a_search_that_nobody_waits_for_is_given_up() -> None:
    """The server ends long before the search could have, which takes ten times as long as one of 4,000 lines."""
    corpus = [f"A man number {i} is playing a guitar on a small stage" for i in range(44_000)]
    with running() as (address, process):

        def search(lines: list[str], seconds: float) -> float:
            started = time.perf_counter()
            asked = {"query": "a", "corpus": lines}
            assert httpx.post(f"{address}/api/nearest", json=asked, timeout=seconds).status_code == 200
            return time.perf_counter() - started

        search(corpus[:1], LIMIT)  # the process that searches is ready
        seconds = search(corpus[:4000], LIMIT)
        with pytest.raises(httpx.ReadTimeout):
            search(corpus[4000:], seconds)
        process.terminate()
        assert process.wait(5 * seconds) == -signal.SIGTERM


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
