"""A server on one address: it says where it listens, and on SIGTERM finishes what is under way."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import uvicorn

from bough.serve.app import create_app
from bough.serve.limits import Limits
from bough.serve.models import Models
from bough.serve.workers import serve_by

GRACE = 60  # seconds for what is under way when the server is told to stop


def serve(
    host: str,
    port: int,
    *,
    tell: Callable[[str], None],
    limits: Limits | None = None,
    model: str | None = None,
    workers: int = 1,
) -> None:
    """Serve until a signal comes; `tell` hears the address once the server answers there.

    Of several workers each is a process with its own models, and the limits hold for each.
    """
    if workers < 1:
        raise ValueError(f"--workers {workers}: at least 1")
    settings: dict[str, Any] = {
        "log_level": "warning",
        "access_log": False,
        "server_header": False,
        "ws": "none",
        "timeout_graceful_shutdown": GRACE,
    }
    with _listen(host, port) as listener:
        address = _address(listener)
        if workers > 1:
            if model is not None:
                Models(model)  # what is wrong with it is said here, not by every worker
            serve_by(workers, listener, settings, tell=lambda: tell(address), limits=limits, model=model)
            return
        app = create_app(Models(model), limits)
        tell(address)
        uvicorn.Server(uvicorn.Config(app, **settings)).run(sockets=[listener])


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
