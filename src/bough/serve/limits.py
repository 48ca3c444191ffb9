"""Limit the size, the type and the time of a request, and the number of requests at a time."""

import asyncio
from dataclasses import dataclass

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

CHARACTERS = 2_000  # of a text
TREE = 50_000  # characters of a tree, as brackets or JSON
TEXTS = 64  # of one request
LINE = 1_000  # characters of a line of a corpus
LINES = 50_000  # of a corpus
MOST_NEAREST = 50  # results of a search
NEAREST = "/api/nearest"  # a search: its request has a corpus
# a body that is too large is read up to this many times its limit, so that the client sees the 413
DRAIN_FACTOR = 4


@dataclass(frozen=True)
class Limits:
    """The limits of the server. A request beyond a limit gets a 4xx response that names it."""

    body: int = 1_000_000  # bytes
    corpus_body: int = 16_000_000  # bytes of a request with a corpus
    at_once: int = 128  # requests in progress
    corpora_at_once: int = 4  # searches in progress, counted apart
    seconds: float = 20.0  # for a body to arrive


class Refused(Exception):
    """Raised if a request is refused; `response` is the response to send."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        headers = {"retry-after": "1"} if status == 429 else {}
        if status in (408, 413):
            headers["connection"] = "close"  # the rest of the body is not read
        self.response = JSONResponse({"detail": detail}, status, headers)


class RequestLimits:
    """ASGI middleware that refuses large, slow or non-JSON bodies, and too many requests at once."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self.app, self.limits = app, limits
        self.in_progress = {False: 0, True: 0}  # requests without and with a corpus

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http" or not scope["path"].startswith("/api/") or scope["method"] != "POST":
            await self.app(scope, receive, send)
            return
        heavy = scope["path"] == NEAREST
        refused = self._refused(scope, heavy)
        self.in_progress[heavy] += refused is None
        most = self.limits.corpus_body if heavy else self.limits.body
        try:
            try:
                async with asyncio.timeout(self.limits.seconds):
                    body = await _whole_body(receive, most, keep=refused is None)
            except TimeoutError:
                raise Refused(408, f"the body took longer than {self.limits.seconds:g} seconds") from None
            if refused is not None:  # only now: a client sends all before it reads
                raise refused
            if body is None:
                return
            whole = [{"type": "http.request", "body": body, "more_body": False}]

            async def replayed() -> Message:
                return whole.pop() if whole else await receive()

            await self.app(scope, replayed, send)
        except Refused as error:
            await error.response(scope, receive, send)
        finally:
            self.in_progress[heavy] -= refused is None

    def _refused(self, scope: Scope, heavy: bool) -> Refused | None:
        most = self.limits.corpora_at_once if heavy else self.limits.at_once
        if self.in_progress[heavy] >= most:
            what = "searches" if heavy else "requests"
            return Refused(429, f"{most} {what} are in progress, which is the limit; try again in a second")
        kind = dict(scope["headers"]).get(b"content-type", b"").split(b";")[0].strip().lower()
        if kind != b"application/json":
            given = kind.decode("latin-1")[:60] or "missing"
            return Refused(415, f"Content-Type must be application/json; it is {given}")
        return None


async def _whole_body(receive: Receive, most: int, *, keep: bool) -> bytes | None:
    """Return the body, empty unless `keep`, or None if the client has disconnected.

    Read a body that is too large to the end, or up to `DRAIN_FACTOR` times the limit, and discard
    it: a client that is still sending does not read the response. Then raise `Refused`.
    """
    parts: list[bytes] = []
    size, more = 0, True
    while more and size <= DRAIN_FACTOR * most:
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
