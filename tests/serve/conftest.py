"""One server for all tests of a session, and a browser for those of the page."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from browser import CHROMIUM, FLAGS, Page
from servers import running
from waiting import LIMIT


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """Where the server of the session listens."""
    with running() as (address, _):
        yield address


@pytest.fixture(scope="session")
def client(address: str) -> Iterator[httpx.Client]:
    """A client of it."""
    with httpx.Client(base_url=address, timeout=LIMIT) as client:
        yield client


@pytest.fixture(scope="module")
def tab() -> Iterator[Any]:
    """A tab of Debian's chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        tab = browser.new_page(accept_downloads=True)
        tab.set_default_timeout(1000 * LIMIT)
        yield tab
        browser.close()


@pytest.fixture
def page(tab: Any, address: str, request: pytest.FixtureRequest) -> Iterator[Page]:
    """The page, new; a word in its console, a dialog, or a request to another host fails the test."""
    wrong: list[str] = []
    heard = {
        "console": lambda message: wrong.append(f"{message.type}: {message.text}"),
        "pageerror": lambda error: wrong.append(str(error)),
        "dialog": lambda dialog: wrong.append(f"dialog: {dialog.message}"),
        "request": lambda asked: (
            None if asked.url.startswith((address, "blob:", "data:", "about:")) else wrong.append(asked.url)
        ),
    }
    for event, hear in heard.items():
        tab.on(event, hear)
    options = getattr(request, "param", {})
    tab.set_viewport_size({"width": options.get("width", 1280), "height": 800})
    tab.emulate_media(color_scheme=options.get("colours", "light"))
    tab.goto("about:blank")
    tab.goto(address)
    tab.wait_for_selector("#cards .node")
    yield tab
    for event, hear in heard.items():
        tab.remove_listener(event, hear)
    assert wrong == []
