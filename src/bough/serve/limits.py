"""What one request may ask for, and the gate that holds it: size, kind, and how many at a time."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field

from starlette.types import ASGIApp, Message, Receive, Scope, Send

CHARACTERS = 2_000  # of a text
TEXTS = 64  # of one request
LINE = 1_000  # characters of a line of a corpus
LINES = 50_000  # of a corpus
MOST_NEAREST = 50  # neighbours asked for
NEAREST = "/api/nearest"
PATIENCE = 4  # times its limit, how much of a body that is too big is read before the answer


@dataclass(frozen=True)
class Limits:
    """How much is let in at once; what is over is answered with a 4xx that says the limit."""

    body: int = 1_000_000  # bytes
    corpus_body: int = 16_000_000  # bytes, of a request with a corpus
    at_once: int = 128  # requests under way
    corpora_at_once: int = 4  # of them, those with a corpus
    seconds: float = 20.0  # for a body to arrive


@dataclass
class _Doors:
    open: dict[bool, int] = field(default_factory=lambda: {False: 0, True: 0})


class TooMuch(Exception):
    """A request that is not let in: the status and the sentence that answer it."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status, self.detail = status, detail


class Gate:
    """ASGI middleware before the API: a body that is too big, late or no JSON, and a request too many, end here."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self.app, self.limits = app, limits
        self.doors = _Doors()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or answer it."""
        if scope["type"] != "http" or not scope["path"].startswith("/api/") or scope["method"] != "POST":
            await self.app(scope, receive, send)
            return
        heavy = scope["path"] == NEAREST
        try:
            self._check_room(heavy)
        except TooMuch as refused:
            await _answer(refused, send)
            return
        self.doors.open[heavy] += 1
        try:
            await self._let_in(scope, receive, send, heavy)
        except TooMuch as refused:
            await _answer(refused, send)
        finally:
            self.doors.open[heavy] -= 1

    def _check_room(self, heavy: bool) -> None:
        most = self.limits.corpora_at_once if heavy else self.limits.at_once
        if self.doors.open[heavy] >= most:
            what = "searches" if heavy else "requests"
            raise TooMuch(429, f"{most} {what} are under way, the most at a time; try again in a second")

    async def _let_in(self, scope: Scope, receive: Receive, send: Send, heavy: bool) -> None:
        headers = dict(scope["headers"])
        kind = headers.get(b"content-type", b"").split(b";")[0].strip().lower()
        if kind != b"application/json":
            said = kind.decode("latin-1")[:60] or "nothing"
            raise TooMuch(415, f"the content type is {said}; this takes application/json")
        most = self.limits.corpus_body if heavy else self.limits.body
        try:
            async with asyncio.timeout(self.limits.seconds):
                body = await _whole_body(receive, most)
        except TimeoutError:
            raise TooMuch(408, f"the body took longer than {self.limits.seconds:g} seconds") from None
        if body is not None:
            await self.app(scope, _replayed(body, receive), send)


async def _whole_body(receive: Receive, most: int) -> bytes | None:
    """The body, or None if the client has gone.

    What is too big is read on for a while and thrown away: a client that still sends does not see an answer.
    """
    parts: list[bytes] = []
    size, more = 0, True
    while more and size <= PATIENCE * most:
        message = await receive()
        if message["type"] != "http.request":
            return None
        part = message.get("body", b"")
        size += len(part)
        if size <= most:
            parts.append(part)
        more = message.get("more_body", False)
    if size > most:
        raise TooMuch(413, f"the body has more than {most:,} bytes, the most here")
    return b"".join(parts)


def _replayed(body: bytes, receive: Receive) -> Receive:
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


async def _answer(refused: TooMuch, send: Send) -> None:
    body = json.dumps({"detail": refused.detail}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if refused.status == 429:
        headers.append((b"retry-after", b"1"))
    if refused.status in (408, 413):
        headers.append((b"connection", b"close"))  # what is left of the body is not read
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
