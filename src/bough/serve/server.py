"""Listen on one address with one or more processes; on SIGTERM finish the requests in progress."""

import socket
from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from typing import Any

import torch
import uvicorn
from fastapi import FastAPI
from uvicorn.supervisors import Multiprocess

from bough.serve.app import create_app
from bough.serve.connections import LimitedConnection
from bough.serve.limits import Limits
from bough.serve.models import Models
from bough.serve.search import end_with_parent

SETTINGS: dict[str, Any] = {
    "log_level": "warning",
    "access_log": False,
    "server_header": False,
    "ws": "none",
    "timeout_graceful_shutdown": 60,  # seconds for the requests in progress
    "timeout_worker_healthcheck": 300,  # seconds in which a worker may import torch, on a slow or busy machine
}


def serve(
    host: str,
    port: int,
    *,
    callback: Callable[[str], None],
    limits: Limits | None = None,
    model: str | None = None,
    workers: int = 1,
    device: str = "cpu",
    hosts: Collection[str] = (),
) -> None:
    """Serve until a signal arrives.

    `callback` gets the address, and `hosts` are the names that a request may give as its host.
    Connections wait until the models are loaded. Each of several workers is a process with its own
    models and its own limits; one that dies is replaced.
    """
    if workers < 1:
        raise ValueError(f"workers {workers}: at least 1")
    limits = within_descriptors(limits or Limits())
    settings = {**SETTINGS, "http": partial(LimitedConnection, limits=limits), "backlog": limits.connections}
    hosts = [host, *hosts]
    with _listen(host, port) as listener:
        host, port = listener.getsockname()[:2]
        address = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
        if workers == 1:
            app = create_app(Models(model, device), limits, hosts)
            callback(address)
            uvicorn.Server(uvicorn.Config(app, **settings)).run(sockets=[listener])
            return
        if model is not None:
            Models(model, device)  # raises the error of a wrong model here, not in every worker
        callback(address)
        factory = partial(_worker_app, model, device, limits, hosts)
        Multiprocess(uvicorn.Config(factory, factory=True, workers=workers, **settings), [listener]).run()


def _worker_app(model: str | None, device: str, limits: Limits, hosts: Collection[str]) -> FastAPI:
    """Create the application in a worker, which ends with the process that started it."""
    torch.set_num_threads(1)
    end_with_parent()
    return create_app(Models(model, device), limits, hosts)


def within_descriptors(limits: Limits) -> Limits:
    """Return the limits with no more connections than a quarter of the files that the process may open."""
    try:
        import resource
    except ImportError:  # Windows
        return limits
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return replace(
        limits, connections=min(limits.connections, files // 4 if files > 0 else limits.connections)
    )


def _listen(host: str, port: int) -> socket.socket:
    if not 0 <= port <= 65535:
        raise ValueError(f"port {port}: must be between 0 (any free port) and 65535")
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, *_, address = found[0]
        return socket.create_server((str(address[0]), port), family=family, backlog=1024)
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise ValueError(f"cannot listen on {host[:60]} port {port}: {reason}; try another port") from None
