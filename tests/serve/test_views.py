"""Claims about the page as a whole, in a real browser: links, compare, search, phone, dark, names, speed."""

import re
from pathlib import Path

import pytest

from browser import Page, needs_chromium, type_in
from waiting import LIMIT

pytestmark = needs_chromium


def test_a_link_restores_what_was_typed(page: Page, address: str) -> None:
    type_in(page, "Good & <b>bad</b> #1, 100%?\nNot good.")
    link = page.url
    page.goto("about:blank")
    page.goto(link)
    page.wait_for_function("() => document.querySelectorAll('.card svg').length === 2")
    assert page.input_value("#texts") == "Good & <b>bad</b> #1, 100%?\nNot good."


def test_a_link_restores_a_search(page: Page, address: str) -> None:
    page.goto(f"{address}/#view=nearest&query=A+cat+sleeps&corpus=A+plane%0AThe+cat+is+asleep&k=1")
    page.wait_for_selector("#found table", timeout=1000 * LIMIT)
    assert page.locator("#found tbody tr").count() == 1
    assert "corpus=A+plane" in page.url


def test_the_way_past_the_header_keeps_what_was_typed(page: Page) -> None:
    type_in(page, "Not bad.")
    page.locator(".skip").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    assert page.input_value("#texts") == "Not bad."


def test_two_sentences_are_compared_side_by_side(page: Page) -> None:
    page.click("#tab-relatedness")
    page.fill("#a", "A man is playing a guitar")
    page.fill("#b", "A guitar is being played by a man")
    page.wait_for_function("() => document.querySelectorAll('#pair svg').length === 2")
    page.click("text=Compare")
    page.wait_for_function(
        "() => document.querySelector('#pair h2')?.textContent === 'A man is playing a guitar'"
    )
    assert 1 <= float(page.inner_text(".big").split()[0]) <= 5
    # in one step: the pause after typing may draw the pair once more
    left, right = page.evaluate(
        "[...document.querySelectorAll('#pair article')].map(one => one.getBoundingClientRect().toJSON())"
    )
    assert left["y"] == right["y"]
    assert left["x"] + left["width"] < right["x"]


def test_a_corpus_is_searched_by_both_measures(page: Page, tmp_path: Path) -> None:
    page.click("#tab-nearest")
    page.fill("#query", "A cat is sleeping")
    page.fill("#corpus", "A plane is landing\n\nThe cat is asleep\n<b>A man</b> is cooking")
    page.click("#nearest-form .primary")
    page.wait_for_selector("#found table", timeout=1000 * LIMIT)
    assert page.locator("#found .hint").inner_text() == "By relatedness, 1 to 5."
    assert page.locator("#found tbody tr").nth(0).locator("td").all_text_contents()[1:] == [
        "The cat is asleep",
        "3",
    ]
    lines = [f"A man number {i} is cooking" for i in range(1200)]
    (tmp_path / "corpus.txt").write_text("\n".join([*lines, "The cat sleeps"]) + "\n")
    page.set_input_files("#file", tmp_path / "corpus.txt")
    page.wait_for_function(
        "() => document.getElementById('nearest-note').textContent.includes('1,201 sentences')"
    )
    page.click("#nearest-form .primary")
    page.wait_for_function(
        "() => document.getElementById('nearest-note').textContent.includes(' s')", timeout=1000 * LIMIT
    )
    page.wait_for_function(
        "() => document.querySelector('#found td:last-child').textContent === '1201'", timeout=1000 * LIMIT
    )


@pytest.mark.parametrize("page", [{"width": 360}], indirect=True)
def test_a_phone_needs_no_sideways_scrolling(page: Page) -> None:
    for tab in ("sentiment", "relatedness", "nearest"):
        page.click(f"#tab-{tab}")
        page.wait_for_timeout(100)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.click("#tab-sentiment")
    box = page.locator("#cards svg").first.bounding_box()
    assert box["x"] + box["width"] <= 360


@pytest.mark.parametrize("page", [{"colours": "dark"}], indirect=True)
def test_dark_where_the_system_is_dark(page: Page) -> None:
    colours = page.evaluate(
        "['body', '.card', '#cards svg .back'].map((one, i) =>"
        " getComputedStyle(document.querySelector(one))[i < 2 ? 'backgroundColor' : 'fill'])"
    )
    assert all(int(part) < 60 for colour in colours for part in re.findall(r"\d+", colour)[:3])


def test_every_control_has_a_name(page: Page) -> None:
    nameless = page.evaluate(
        "[...document.querySelectorAll('button, input, textarea')].filter(e =>"
        " !(e.labels?.length || e.getAttribute('aria-label') || e.textContent.trim())).map(e => e.outerHTML)"
    )
    assert nameless == []


def test_the_documentation_has_no_script(page: Page, address: str) -> None:
    page.goto(f"{address}/docs")
    assert "/api/predict" in page.inner_text("main")
    assert page.evaluate("document.scripts.length") == 0
