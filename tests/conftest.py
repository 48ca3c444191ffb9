"""What all tests share: the `--slow` switch, one thread, a cache folder of their own, and the data if it is there."""

import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import torch

import minidata

# `make mutants` asks whether a test fails, not for the smallest example
hypothesis.settings.register_profile(
    "mutants", derandomize=True, phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate]
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="also run the tests that take minutes")
    parser.addoption("--pin", action="store_true", help="pin new digits of the drift tests")


def pytest_configure(config: pytest.Config) -> None:
    """Compile the kernels if their sources have changed; without a compiler their tests are skipped."""
    if not hasattr(config, "workerinput"):
        subprocess.run([sys.executable, "hatch_build.py"], cwd=Path(__file__).parents[1], check=False)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--slow"):
        for item in items:
            if "slow" in item.keywords:
                item.add_marker(pytest.mark.skip(reason="slow; run with --slow"))


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session")
def pin(request: pytest.FixtureRequest) -> bool:
    """Whether the drift tests pin new digits."""
    return bool(request.config.getoption("--pin"))


@pytest.fixture(scope="session")
def data() -> Path:
    """The data folder, for tests of the real SST, SICK and GloVe."""
    folder = os.environ.get("BOUGH_DATA")
    if not folder or not Path(folder, "sst").is_dir():
        pytest.skip("needs the real data: set BOUGH_DATA")
    return Path(folder)


@pytest.fixture(scope="session")
def mini(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data in the layout of the real one, enough for every recipe."""
    return minidata.make(tmp_path_factory.mktemp("mini"))


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    """A Ray cluster of two nodes on this machine, of one processor each; this process is connected to it."""
    pytest.importorskip("ray")
    from bough.integrations.ray.connection import load_ray

    ray = load_ray()
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    made.add_node(num_cpus=1)
    ray.init(made.address, log_to_driver=False, logging_level=logging.ERROR)
    yield made
    ray.shutdown()
    made.shutdown()
