"""Run the page and the API on Ray Serve, with as many replicas as the load needs (`pip install "ray[serve]"`).

    serve run bough.serve.deployment:app
    serve run bough.serve.deployment:app model=/shared/models/tickets min_replicas=2 max_replicas=32

A replica is a process with one processor and its own models. The deployment's `autoscaling_config`
says how many replicas there are and when there are more; a config file overrides it
(docs/serving.md).
"""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from ray import serve

from bough.serve.app import create_app
from bough.serve.models import Models

AUTOSCALING = {"min_replicas": 1, "max_replicas": 8, "target_ongoing_requests": 16}


def app(arguments: dict[str, str]) -> Any:
    """Return the Ray Serve application.

    Of the arguments, `model` is the folder of a user's model that all nodes see; `min_replicas` and
    `max_replicas` bound the number of replicas.
    """
    bounds = {key: int(arguments[key]) for key in ("min_replicas", "max_replicas") if key in arguments}

    def create_replica() -> FastAPI:
        import torch

        torch.set_num_threads(1)
        return create_app(Models(arguments.get("model")))

    @serve.ingress(create_replica)
    class Bough:
        """The FastAPI application, which each replica creates for itself."""

    deployment: Any = serve.deployment(
        Bough,
        ray_actor_options={"num_cpus": 1},
        autoscaling_config={**AUTOSCALING, **bounds},
        max_ongoing_requests=64,
        graceful_shutdown_timeout_s=60,  # for the requests in progress when a replica stops
    )
    return deployment.bind()
