"""Several processes behind one port: each with its own models, started again if it dies, ended together."""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Callable
from functools import partial
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.supervisors import Multiprocess

from bough.serve.app import create_app
from bough.serve.limits import Limits
from bough.serve.models import Models

PATIENCE = 120  # seconds for a worker to load its models


def serve_by(
    workers: int,
    listener: socket.socket,
    settings: dict[str, Any],
    *,
    tell: Callable[[], None],
    limits: Limits | None,
    model: str | None,
) -> None:
    """Serve by so many processes until a signal comes; `tell` is called once all of them answer."""
    loaded = get_context("spawn").Semaphore(0)
    config = uvicorn.Config(
        partial(_app, model, limits, loaded),
        factory=True,
        workers=workers,
        **settings,
    )
    _Workers(config, [listener], loaded, tell).run()


class _Workers(Multiprocess):
    """Uvicorn's supervisor, which also knows when all are there."""

    def __init__(
        self, config: uvicorn.Config, sockets: list[socket.socket], loaded: Any, tell: Callable[[], None]
    ) -> None:
        super().__init__(config, sockets)
        self.loaded, self.tell = loaded, tell

    def init_processes(self) -> None:
        """Start them, and wait for their models."""
        super().init_processes()
        left, patience = self.processes_num, 10 * PATIENCE
        while (
            left and patience and not self.signal_queue and all(p.process.is_alive() for p in self.processes)
        ):
            if self.loaded.acquire(timeout=0.1):
                left -= 1
            patience -= 1
        if not left:
            self.tell()


def _app(model: str | None, limits: Limits | None, loaded: Any) -> FastAPI:
    """In a worker: its own models; it ends with the process that started it."""
    import torch

    torch.set_num_threads(1)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    app = create_app(Models(model), limits)
    loaded.release()
    return app


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGTERM)
