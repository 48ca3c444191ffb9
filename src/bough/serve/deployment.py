"""The page and the API on Ray Serve, with as many replicas as the load asks for (`pip install "ray[serve]"`).

    serve run bough.serve.deployment:app
    serve run bough.serve.deployment:app model=/shared/models/tickets min_replicas=2 max_replicas=32

A replica is a process of one processor with its own models. How many there are, and from which load on there are
more, is the deployment's `autoscaling_config`; a config file overrides it (docs/serving.md).
"""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from ray import serve

from bough.serve.app import create_app
from bough.serve.models import Models

AUTOSCALING = {"min_replicas": 1, "max_replicas": 8, "target_ongoing_requests": 16}
GRACE = 60  # seconds for what is under way when a replica is told to stop


def app(arguments: dict[str, str]) -> Any:
    """The application.

    `model` is the folder of a model of one's own that all nodes see; `min_replicas` and `max_replicas` say how many
    there may be.
    """
    bounds = {key: int(arguments[key]) for key in ("min_replicas", "max_replicas") if key in arguments}

    def made() -> FastAPI:
        return _replica(arguments.get("model"))

    @serve.ingress(made)
    class Bough:
        """Nothing but the FastAPI application, which the replica makes for itself."""

    deployment: Any = serve.deployment(
        Bough,
        ray_actor_options={"num_cpus": 1},
        autoscaling_config={**AUTOSCALING, **bounds},
        max_ongoing_requests=64,
        graceful_shutdown_timeout_s=GRACE,
    )
    return deployment.bind()


def _replica(model: str | None) -> FastAPI:
    import torch

    torch.set_num_threads(1)
    return create_app(Models(model))
