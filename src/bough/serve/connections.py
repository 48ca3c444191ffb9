"""Limit the connections of the server, and the time in which the headers of a request arrive."""

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from bough.serve.limits import Limits


class LimitedConnection(H11Protocol):
    """An HTTP connection that is closed if there are too many, or if the headers of a request do not arrive in time."""

    def __init__(self, *, limits: Limits, **settings: Any) -> None:
        super().__init__(**settings)
        self.limits = limits
        self.timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > self.limits.connections:
            transport.abort()
            return
        self.timer = self.loop.call_later(self.limits.header_seconds, transport.abort)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        in_request = self.cycle is not None and not self.cycle.response_complete
        if in_request and self.timer is not None:
            self.timer.cancel()
            self.timer = None
        elif not in_request and self.timer is None:  # the first part of the headers of the next request
            self.timer = self.loop.call_later(self.limits.header_seconds, self.transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        if self.timer is not None:
            self.timer.cancel()
        super().connection_lost(exc)
