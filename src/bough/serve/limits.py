"""Limit what one request may ask for: its size, its kind, its time, and how many there are at a time."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send

CHARACTERS = 2_000  # of a text
TEXTS = 64  # of one request
LINE = 1_000  # characters of a line of a corpus
LINES = 50_000  # of a corpus
MOST_NEAREST = 50  # neighbours
NEAREST = "/api/nearest"
PATIENCE = 4  # a body that is too big is read up to this many times its limit before the answer


@dataclass(frozen=True)
class Limits:
    """The limits of the server; a request beyond one gets a 4xx answer that names the limit."""

    body: int = 1_000_000  # bytes
    corpus_body: int = 16_000_000  # bytes, of a request with a corpus
    at_once: int = 128  # requests under way
    corpora_at_once: int = 4  # searches under way beside them
    seconds: float = 20.0  # for a body to arrive


class Refused(Exception):
    """A request that is refused, with the status and the sentence of the answer."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status, self.detail = status, detail


class RequestLimits:
    """ASGI middleware that refuses a body that is too big, too late or not JSON, and too many requests at once."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self.app, self.limits = app, limits
        self.under_way = {False: 0, True: 0}  # with a corpus, or without

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it."""
        if scope["type"] != "http" or not scope["path"].startswith("/api/") or scope["method"] != "POST":
            await self.app(scope, receive, send)
            return
        heavy = scope["path"] == NEAREST
        refused = self._refused(scope, heavy)
        self.under_way[heavy] += refused is None
        most = self.limits.corpus_body if heavy else self.limits.body
        try:
            try:
                async with asyncio.timeout(self.limits.seconds):
                    body = await _whole_body(receive, most, keep=refused is None)
            except TimeoutError:
                raise Refused(408, f"the body took longer than {self.limits.seconds:g} seconds") from None
            if refused is not None:  # after the body, because a client listens only after it has sent it
                raise refused
            if body is not None:
                await self.app(scope, _replayed(body, receive), send)
        except Refused as error:
            await _answer(error, send)
        finally:
            self.under_way[heavy] -= refused is None

    def _refused(self, scope: Scope, heavy: bool) -> Refused | None:
        most = self.limits.corpora_at_once if heavy else self.limits.at_once
        if self.under_way[heavy] >= most:
            what = "searches" if heavy else "requests"
            return Refused(429, f"{most} {what} are under way, which is the limit; try again in a second")
        kind = dict(scope["headers"]).get(b"content-type", b"").split(b";")[0].strip().lower()
        if kind != b"application/json":
            said = kind.decode("latin-1")[:60] or "missing"
            return Refused(415, f"Content-Type must be application/json; it is {said}")
        return None


async def _whole_body(receive: Receive, most: int, *, keep: bool) -> bytes | None:
    """Return the body, an empty one unless `keep`, or None if the client has gone.

    Read on for a while where it is too big, and drop what comes: a client that still sends does not see an answer.
    """
    parts: list[bytes] = []
    size, more = 0, True
    while more and size <= PATIENCE * most:
        message = await receive()
        if message["type"] != "http.request":
            return None
        part = message.get("body", b"")
        size += len(part)
        if keep and size <= most:
            parts.append(part)
        more = message.get("more_body", False)
    if size > most:
        raise Refused(413, f"the body has more than {most:,} bytes, which is the limit")
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


async def _answer(refused: Refused, send: Send) -> None:
    body = json.dumps({"detail": refused.detail}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if refused.status == 429:
        headers.append((b"retry-after", b"1"))
    if refused.status in (408, 413):
        headers.append((b"connection", b"close"))  # what is left of the body is not read
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
