"""Claims about the gate: too much is answered with a 4xx that says the limit, and never reaches the application."""

import asyncio
import contextlib
import json
import select
import socket
from collections.abc import AsyncIterator
from functools import partial

import httpx
import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from bough.serve.connections import LimitedConnection
from bough.serve.limits import AllowedHosts, Limits, RequestLimits
from waiting import LIMIT

JSON = {"content-type": "application/json"}


class Echo:
    """An application that answers with its body, once it may."""

    def __init__(self) -> None:
        self.may = asyncio.Event()
        self.calls = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.calls += 1
        await self.may.wait()
        body = (await receive()).get("body", b"") if scope["method"] == "POST" else b"page"
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body})


def client(echo: Echo, limits: Limits) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(RequestLimits(echo, limits)), base_url="http://x")


async def ask(
    path: str, limits: Limits, content: bytes | AsyncIterator[bytes], headers: dict[str, str]
) -> tuple[httpx.Response, int]:
    echo = Echo()
    echo.may.set()
    async with client(echo, limits) as asking:
        return await asking.post(path, content=content, headers=headers), echo.calls


@pytest.mark.parametrize(("path", "most"), [("/api/predict", 100), ("/api/nearest", 1000)])
def test_a_body_has_a_size(path: str, most: int) -> None:
    limits = Limits(body=100, corpus_body=1000)

    async def parts(count: int) -> AsyncIterator[bytes]:
        for _ in range(count):
            yield b"x"

    async def all_of() -> None:
        whole, calls = await ask(path, limits, b"x" * most, JSON)
        assert (whole.content, calls) == (b"x" * most, 1)
        said, calls = await ask(path, limits, b"x" * (most + 1), JSON)
        assert (said.status_code, calls) == (413, 0)
        assert f"{most:,} bytes" in said.json()["detail"]
        unsaid, calls = await ask(path, limits, parts(most + 1), JSON)
        assert (unsaid.status_code, calls) == (413, 0)

    asyncio.run(all_of())


def test_the_server_stops_reading_a_body_beyond_its_limit(address: str) -> None:
    """It answers after a few times its limit, and closes the connection on the rest of a body that has no end."""
    host, port = address.removeprefix("http://").split(":")
    head = f"POST /api/predict HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
    part, most = b"x" * 65536, 20 * Limits().body
    sent = 0
    with socket.create_connection((host, int(port)), timeout=LIMIT / 10) as connection:
        connection.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
        with contextlib.suppress(ConnectionError):  # closed while we were sending
            while sent < most and not select.select([connection], [], [], 0)[0]:
                connection.sendall(b"%x\r\n%s\r\n" % (len(part), part))
                sent += len(part)
        assert Limits().body < sent < most
        assert connection.recv(65536).startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_a_body_is_json(kind: str) -> None:
    answer, calls = asyncio.run(ask("/api/predict", Limits(), b"{}", {"content-type": kind}))
    assert (answer.status_code, calls) == (415, 0)
    assert "application/json" in answer.json()["detail"]


def test_a_body_arrives_in_time() -> None:
    async def slow() -> AsyncIterator[bytes]:
        yield b"{"
        await asyncio.sleep(5)
        yield b"}"

    answer, calls = asyncio.run(ask("/api/predict", Limits(seconds=0.05), slow(), JSON))
    assert (answer.status_code, calls) == (408, 0)


def test_a_request_too_many_is_told_to_come_again() -> None:
    async def crowd() -> None:
        echo = Echo()
        async with client(echo, Limits(at_once=2, corpora_at_once=1)) as asking:
            under_way = [
                asyncio.create_task(asking.post(path, content=b"{}", headers=JSON))
                for path in ("/api/predict", "/api/draw", "/api/nearest")
            ]
            while echo.calls < 3:
                await asyncio.sleep(0.01)
            for path in ("/api/relatedness", "/api/nearest") * 2:  # a refusal makes no room
                refused = await asking.post(path, content=b"{}", headers=JSON)
                assert refused.status_code == 429
                assert refused.headers["retry-after"] == "1"
                assert "which is the limit" in json.loads(refused.content)["detail"]
            echo.may.set()
            assert (await asking.get("/")).content == b"page"
            assert {answer.status_code for answer in await asyncio.gather(*under_way)} == {200}
            assert (await asking.post("/api/predict", content=b"{}", headers=JSON)).status_code == 200

    asyncio.run(asyncio.wait_for(crowd(), LIMIT / 10))  # one that is let in too many waits for ever


def test_slow_bodies_take_no_slot_and_little_memory() -> None:
    """Bodies that arrive do not count as requests in progress, but their bytes have a limit."""

    async def crowd() -> None:
        echo, end = Echo(), asyncio.Event()
        echo.may.set()

        async def slow() -> AsyncIterator[bytes]:
            yield b"x" * 40
            await end.wait()

        async with client(echo, Limits(at_once=1, arriving=90)) as asking:
            bodies = [
                asyncio.create_task(asking.post("/api/predict", content=slow(), headers=JSON))
                for _ in range(2)
            ]
            await asyncio.sleep(0.1)
            assert (await asking.post("/api/predict", content=b"{}", headers=JSON)).status_code == 200
            beyond = await asking.post("/api/predict", content=b"x" * 20, headers=JSON)
            assert (beyond.status_code, beyond.headers["connection"]) == (429, "close")
            end.set()
            assert [answer.status_code for answer in await asyncio.gather(*bodies)] == [200, 200]
            assert (await asking.post("/api/predict", content=b"x" * 80, headers=JSON)).status_code == 200

    asyncio.run(asyncio.wait_for(crowd(), LIMIT / 10))


@pytest.mark.parametrize(
    "host", ["localhost:8000", "LOCALHOST", "127.0.0.1:80", "[::1]:8000", "192.168.1.4", "box.lan:1"]
)
def test_hosts_that_are_allowed(host: str) -> None:
    assert asyncio.run(status_for(host)) == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "localhost.evil.example", "127.0.0.1.evil", ""]
)
def test_other_hosts_are_refused(host: str) -> None:
    assert asyncio.run(status_for(host)) == 400


async def status_for(host: str) -> int:
    echo = Echo()
    echo.may.set()
    transport = httpx.ASGITransport(AllowedHosts(echo, ["Box.lan"]))
    async with httpx.AsyncClient(transport=transport, base_url="http://x") as asking:
        return (await asking.get("/", headers={"host": host})).status_code


@contextlib.asynccontextmanager
async def listening(limits: Limits) -> AsyncIterator[int]:
    """The port of a server of pages without a model."""
    echo = Echo()
    echo.may.set()
    http = partial(LimitedConnection, limits=limits)
    config = uvicorn.Config(echo, http=http, port=0, lifespan="off", log_level="error")  # type: ignore[arg-type]
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    yield server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = True
    await task


HALF = b"GET / HTTP/1.1\r\nHost:"


@pytest.mark.parametrize(("before", "half"), [(b"", b""), (b"", HALF), (HALF + b" x\r\n\r\n", HALF)])
def test_headers_arrive_in_time(before: bytes, half: bytes) -> None:
    async def half_open() -> bytes:
        async with listening(Limits(header_seconds=0.2)) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            if before:
                writer.write(before)
                await reader.readuntil(b"\r\n0\r\n\r\n")
            writer.write(half)
            rest = b""
            with contextlib.suppress(ConnectionError):
                rest = await reader.read()
            writer.close()
            return rest

    assert asyncio.run(asyncio.wait_for(half_open(), 3)) == b""  # uvicorn alone waits for ever


def test_connections_have_a_limit_and_are_free_again() -> None:
    async def crowd() -> None:
        async with listening(Limits(connections=3, header_seconds=0.5)) as port:
            url = f"http://127.0.0.1:{port}"
            held = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]
            await asyncio.sleep(0.1)
            async with httpx.AsyncClient() as asking:
                with pytest.raises(httpx.TransportError):
                    await asking.get(url)
                await asyncio.sleep(0.6)
                assert (await asking.get(url)).content == b"page"
            for _, writer in held:
                writer.close()

    asyncio.run(asyncio.wait_for(crowd(), LIMIT / 10))
