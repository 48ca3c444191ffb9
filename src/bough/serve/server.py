"""A server on one address: it says where it listens, and on SIGTERM finishes what is under way."""

from __future__ import annotations

import socket
from collections.abc import Callable

import uvicorn

from bough.serve.app import create_app
from bough.serve.limits import Limits
from bough.serve.models import Models

GRACE = 60  # seconds for what is under way when the server is told to stop


def serve(
    host: str,
    port: int,
    *,
    tell: Callable[[str], None],
    limits: Limits | None = None,
    model: str | None = None,
) -> None:
    """Serve until a signal comes; `tell` hears the address once the server answers there."""
    listener = _listen(host, port)
    app = create_app(Models(model), limits)
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=GRACE,
    )
    with listener:
        tell(_address(listener))
        uvicorn.Server(config).run(sockets=[listener])


def _listen(host: str, port: int) -> socket.socket:
    """A socket that takes connections from now on; they wait until the models are loaded."""
    if not 0 <= port <= 65535:
        raise ValueError(f"--port {port}: from 0, any free one, to 65535")
    try:
        family, *_, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        return socket.create_server((str(address[0]), port), family=family, backlog=1024)
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise ValueError(f"cannot listen on {host[:60]} port {port}: {reason}; try another --port") from None


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
