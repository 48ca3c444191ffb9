"""A web server for tests of downloads."""

from collections.abc import Iterator

import pytest

from web_server import Server, serving


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serving() as running:
        yield running
