"""Debian's chromium on the page, and what the tests of the page do there."""

import shutil
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="needs chromium: apt-get install chromium")
TEXT = "The plot is thin, but the acting is wonderful."
Page = Any


def type_in(page: Page, text: str) -> None:
    page.fill("#texts", text)
    page.wait_for_function(
        "text => [...document.querySelectorAll('.card h2')].map(h => h.textContent).join('\\n') === text",
        arg=text,
    )


def node(page: Page, phrase: str) -> Any:
    """The drawn node of a phrase, by what a screen reader says of it."""
    return page.locator(f"#cards .node[aria-label^='{phrase}: ']").first


def words(page: Page) -> list[str]:
    texts = page.locator("#cards .node rect + text").all_text_contents()
    return [text.rstrip(" +\u2212") for text in texts]
