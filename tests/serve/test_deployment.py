"""Claims about the deployment on Ray Serve: two replicas answer as `bough serve` does."""

from __future__ import annotations

import asyncio
import logging
import socket

import httpx
import pytest

from bundled_pipelines import sentiment
from waiting import LIMIT

for name in ("aiohttp", "grpc", "prometheus_client"):
    pytest.importorskip(name, reason='needs Ray Serve: pip install "ray[serve]"')
pytestmark = [
    pytest.mark.slow,
    # Ray Serve's own: sockets and loops that it leaves to the end of the process, and names that it is giving up
    pytest.mark.filterwarnings("ignore::ResourceWarning", r"ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::FutureWarning"),
]


def test_two_replicas_answer() -> None:
    from bough.integrations.ray.connection import load_ray

    ray = load_ray()
    from ray import serve

    from bough.serve.deployment import app

    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    ray.init("local", num_cpus=4, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
    try:
        serve.start(http_options={"host": "127.0.0.1", "port": port})
        serve.run(app({"min_replicas": "2", "max_replicas": "2"}), name="bough")
        texts = [f"Film number {i} is not good, but it is never dull." for i in range(40)]

        async def all_of() -> list[httpx.Response]:
            async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=LIMIT) as asking:
                return await asyncio.gather(
                    *(asking.post("/api/predict", json={"text": text}) for text in texts)
                )

        answers = asyncio.run(all_of())
        assert [answer.status_code for answer in answers] == [200] * 40
        assert [answer.json()["label"] for answer in answers] == [one.label for one in sentiment()(texts)]
        assert httpx.post(f"http://127.0.0.1:{port}/api/predict", json={"text": ""}).status_code == 422
        assert serve.status().applications["bough"].deployments["Bough"].replica_states == {"RUNNING": 2}
    finally:
        serve.shutdown()
        ray.shutdown()
