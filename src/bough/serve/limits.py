"""Limit the size, the type, the time and the host of a request, and the number of requests at a time."""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass
from ipaddress import ip_address

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
    arriving: int = 128_000_000  # bytes of bodies that are arriving, all together
    connections: int = 256  # open ones of a process
    header_seconds: float = 10.0  # for the headers of a request to arrive


class Refused(Exception):
    """Raised if a request is refused; `response` is the response to send."""

    def __init__(self, status: int, detail: str, *, close: bool = False) -> None:
        super().__init__(detail)
        headers = {"retry-after": "1"} if status == 429 else {}
        if close:
            headers["connection"] = "close"  # the rest of the body is not read
        self.response = JSONResponse({"detail": detail}, status, headers)


class RequestLimits:
    """ASGI middleware that refuses large, slow or non-JSON bodies, and too many requests at once."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self.app, self.limits = app, limits
        self.in_progress = {False: 0, True: 0}  # requests without and with a corpus
        self.arriving = 0  # bytes of the bodies that are being read

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http" or not scope["path"].startswith("/api/") or scope["method"] != "POST":
            await self.app(scope, receive, send)
            return
        heavy, limits = scope["path"] == NEAREST, self.limits
        most, slots = limits.body, limits.at_once
        if heavy:
            most, slots = limits.corpus_body, limits.corpora_at_once
        try:
            try:
                async with asyncio.timeout(limits.seconds):
                    body = await self._whole_body(receive, most)
            except TimeoutError:
                late = f"the body took longer than {limits.seconds:g} seconds"
                raise Refused(408, late, close=True) from None
            if body is None:
                return
            kind = dict(scope["headers"]).get(b"content-type", b"").split(b";")[0].strip().lower()
            if kind != b"application/json":  # only now: a client sends all before it reads
                given = kind.decode("latin-1")[:60] or "missing"
                raise Refused(415, f"Content-Type must be application/json; it is {given}")
            if self.in_progress[heavy] >= slots:  # only now: a slow body takes no slot
                what = "searches" if heavy else "requests"
                raise Refused(
                    429, f"{slots} {what} are in progress, which is the limit; try again in a second"
                )
        except Refused as error:
            await error.response(scope, receive, send)
            return
        whole = [{"type": "http.request", "body": body, "more_body": False}]

        async def replayed() -> Message:
            return whole.pop() if whole else await receive()

        self.in_progress[heavy] += 1
        try:
            await self.app(scope, replayed, send)
        finally:
            self.in_progress[heavy] -= 1

    async def _whole_body(self, receive: Receive, most: int) -> bytes | None:
        """Return the body, or None if the client has disconnected.

        Read a body that is too large to the end, or up to `DRAIN_FACTOR` times the limit, and discard
        it: a client that is still sending does not read the response. Then raise `Refused`.
        """
        parts: list[bytes] = []
        size, kept, more = 0, 0, True
        try:
            while more and size <= DRAIN_FACTOR * most:
                message = await receive()
                if message["type"] != "http.request":
                    return None
                part = message.get("body", b"")
                size += len(part)
                if size <= most:
                    parts.append(part)
                    kept += len(part)
                    self.arriving += len(part)
                if self.arriving > self.limits.arriving:
                    raise Refused(429, "too many large bodies arrive; try again in a second", close=True)
                more = message.get("more_body", False)
        finally:
            self.arriving -= kept
        if size > most:
            raise Refused(413, f"the body has more than {most:,} bytes, which is the limit", close=True)
        return b"".join(parts)


class AllowedHosts:
    """ASGI middleware that refuses requests whose Host is a name that the server does not go by.

    Otherwise a page on another site could give its own name the address of this server, and read its
    answers. `localhost` and addresses are allowed.
    """

    def __init__(self, app: ASGIApp, names: Collection[str]) -> None:
        self.app, self.names = app, {"localhost", *(name.lower() for name in names)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "http":
            host = dict(scope["headers"]).get(b"host", b"").decode("latin-1")
            name, _, port = host.rpartition(":")
            name = (name if port.isdigit() else host).strip("[]").lower()
            if name not in self.names and not _is_address(name):
                detail = f"Host {name[:60]!r} is not allowed; start the server with --allow-host NAME"
                await JSONResponse({"detail": detail}, 400)(scope, receive, send)
                return
        await self.app(scope, receive, send)


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
