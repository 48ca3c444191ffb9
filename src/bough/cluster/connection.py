"""To a Ray cluster and back: what is missing or out of reach is one line."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
from collections.abc import Iterator
from types import ModuleType

WAIT = 5.0  # seconds for a cluster to take a connection
QUIET = {  # nothing is sent to anybody, and what Ray says of itself stays in its own logs
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_AIR_NEW_OUTPUT": "0",
}


def load_ray() -> ModuleType:
    """The package `ray`, quiet; without it, a ValueError that says what to install."""
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise ValueError(f'--ray needs {error.name}: pip install "bough[ray]"') from None
    return ray


@contextlib.contextmanager
def connected(address: str | None = None) -> Iterator[ModuleType]:
    """The package `ray` with a cluster behind it.

    That is the cluster at `address` (host:port); without one the cluster of RAY_ADDRESS, else one that runs on this
    machine, else a new one of this machine's processors, which ends with the block. A connection that there is
    already is used, and stays.
    """
    ray = load_ray()
    address = address or os.environ.get("RAY_ADDRESS")
    if address and address not in ("auto", "local"):
        _check(address)
    if ray.is_initialized():
        yield ray
        return
    try:
        ray.init(
            address or None,
            log_to_driver=False,
            logging_level=logging.ERROR,
            **({} if address and address != "local" else {"include_dashboard": False}),
        )
    except (ConnectionError, RuntimeError, ValueError, TimeoutError, SystemExit) as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise ValueError(f"no Ray cluster at {address or 'this machine'}: {reason}") from None
    try:
        yield ray
    finally:
        ray.shutdown()


def processors(ray: ModuleType) -> int:
    """How many the cluster has now; at least 1."""
    return max(1, int(ray.cluster_resources().get("CPU", 0)))


def _check(address: str) -> None:
    """Ray itself would try for two minutes and then end the process."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit() or "/" in host:
        raise ValueError(f"--ray {address}: host:port of the cluster's head, auto or local")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=WAIT).close()
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ValueError(
            f"no Ray cluster at {address}: {reason}; start one with `ray start --head`"
        ) from None
