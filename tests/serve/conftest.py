"""One server for all tests of a session."""

from collections.abc import Iterator

import httpx
import pytest

from servers import running


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """Where the server of the session listens."""
    with running() as (address, _):
        yield address


@pytest.fixture(scope="session")
def client(address: str) -> Iterator[httpx.Client]:
    """A client of it."""
    with httpx.Client(base_url=address, timeout=120) as client:
        yield client
