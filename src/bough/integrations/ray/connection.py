"""Connect to a Ray cluster, or start one on this machine. Errors have one line."""

import contextlib
import ipaddress
import logging
import os
import socket
from collections.abc import Iterator
from types import ModuleType
from typing import Any

# switch off usage reports and Ray's messages on the terminal
QUIET = ("RAY_USAGE_STATS_ENABLED", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "RAY_AIR_NEW_OUTPUT")
# Ray's constant while a new cluster starts. If it is True, as on Linux, Ray replaces 127.0.0.1 by the machine's network
# address, and others could connect.
ENABLE_RAY_CLUSTER = False


def load_ray() -> ModuleType:
    """Import the package `ray`. Raise a ValueError that says what to install if it is missing."""
    for name in QUIET:
        os.environ.setdefault(name, "0")
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise ValueError(f'Ray needs {error.name}: pip install "bough[ray]"') from None
    return ray


@contextlib.contextmanager
def connected(address: str | None = None) -> Iterator[ModuleType]:
    """Yield the package `ray`, connected to a cluster.

    The cluster is the one at `address` (host:port), else at RAY_ADDRESS, else one that runs on this
    machine, else a new one, which uses this machine's processors, listens on the loopback address
    only and ends with the block. An existing connection is used and stays open.
    """
    ray = load_ray()
    address = address or os.environ.get("RAY_ADDRESS")
    if address and address not in ("auto", "local"):
        _check_reachable(address)
    if ray.is_initialized():
        yield ray
        return
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    try:
        if address and address != "local":
            ray.init(address, **options)
        else:
            constants = ray._private.ray_constants
            before, constants.ENABLE_RAY_CLUSTER = constants.ENABLE_RAY_CLUSTER, ENABLE_RAY_CLUSTER
            try:
                ray.init(address or None, include_dashboard=False, **options)
            finally:
                constants.ENABLE_RAY_CLUSTER = before
            node = ray._private.worker.global_worker.node
            if node.is_head() and not ipaddress.ip_address(node.node_ip_address).is_loopback:
                ray.shutdown()
                raise ValueError(
                    f"Ray {ray.__version__} would listen on {node.node_ip_address}, not on this machine alone; "
                    "start a cluster with `ray start --head` and name its address"
                )
    except (ConnectionError, RuntimeError, ValueError, TimeoutError, SystemExit) as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise ValueError(f"no Ray cluster at {address or 'this machine'}: {reason}") from None
    try:
        yield ray
    finally:
        ray.shutdown()


def processors(ray: ModuleType) -> int:
    """Return how many processors the cluster has now; at least 1."""
    return max(1, int(ray.cluster_resources().get("CPU", 0)))


def _check_reachable(address: str) -> None:
    """Raise a ValueError if nothing listens there. Ray would try for two minutes, then exit."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit() or "/" in host:
        raise ValueError(f"Ray address {address!r}: must be host:port of the cluster's head, auto or local")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=5.0).close()
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise ValueError(f"no Ray cluster at {address}: {why}; start one with `ray start --head`") from None
