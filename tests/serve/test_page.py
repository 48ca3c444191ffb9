"""Claims about the tree on the page, in a real browser: type, see it, hover, collapse, change, save."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bough.draw.palette import SIGNS
from browser import TEXT, Page, needs_chromium, node, type_in, words

pytestmark = needs_chromium


def test_typing_draws_the_tree_of_what_is_typed(page: Page) -> None:
    type_in(page, "It is not a bad film at all.")
    assert words(page) == ["It", "is", "not", "a", "bad", "film", "at", "all", "."]
    assert re.search(r"(positive|negative|neutral), [+\u2212]\d\.\d\d", page.inner_text(".verdict"))


def test_the_legend_and_the_tree_have_one_palette(page: Page) -> None:
    type_in(page, TEXT)
    chips = page.locator("#legend .chip")
    assert tuple(chips.all_text_contents()) == SIGNS
    colour = "(element, property) => getComputedStyle(element)[property]"
    for level, chip in enumerate(chips.all()):
        for drawn in page.locator(f"#cards .node .l{level}").all():
            assert drawn.evaluate(colour, "fill") == chip.evaluate(colour, "backgroundColor")


def test_hovering_shows_the_phrase_and_five_probabilities(page: Page) -> None:
    type_in(page, TEXT)
    node(page, "The plot is thin").hover()
    assert page.inner_text(".detail .phrase") == "The plot is thin"
    shares = [int(text.rstrip("%")) for text in page.locator(".detail .percent").all_text_contents()]
    assert len(shares) == 5
    assert 97 <= sum(shares) <= 103
    assert "inside" in str(node(page, "thin").get_attribute("class"))


def test_the_keyboard_goes_through_the_tree(page: Page) -> None:
    type_in(page, TEXT)
    page.locator("#cards .node[tabindex='0']").focus()
    assert page.inner_text(".detail .phrase") == TEXT
    page.keyboard.press("ArrowDown")
    assert page.inner_text(".detail .phrase") == TEXT.rstrip(".")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("End")
    assert page.inner_text(".detail .phrase") == "."
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    page.wait_for_selector("#cards .node.folded")
    assert page.evaluate("document.activeElement.getAttribute('aria-expanded')") == "false"
    page.keyboard.press("Escape")
    page.wait_for_function("() => !document.querySelector('.folded')")
    assert page.evaluate("document.activeElement.classList.contains('node')")


def test_a_click_collapses_a_phrase_and_another_opens_it(page: Page) -> None:
    type_in(page, TEXT)
    node(page, "the acting").click()
    page.wait_for_selector("#cards .node.folded")
    assert words(page) == ["The", "plot", "is", "thin", ",", "but", "the acting", "is", "wonderful", "."]
    node(page, "the acting").click()
    page.wait_for_function("() => !document.querySelector('.folded')")
    assert len(words(page)) == 11


def test_a_click_can_show_a_phrase_alone(page: Page) -> None:
    type_in(page, TEXT)
    page.click("text=Click: show only this")
    node(page, "the acting").click()
    page.wait_for_function("() => document.querySelectorAll('#cards .node').length === 3")
    assert words(page) == ["the", "acting"]
    page.click("text=Show all")
    page.wait_for_function("() => document.querySelectorAll('#cards .node').length > 3")


def test_another_word_shows_what_changes(page: Page) -> None:
    type_in(page, TEXT)
    field = page.get_by_label("word: wonderful")
    field.fill("terrible")
    field.press("Enter")
    page.wait_for_selector(".changes table")
    assert page.input_value("#texts") == TEXT.replace("wonderful", "terrible")
    rows = page.locator(".changes tbody tr").all_inner_texts()
    assert rows[0].startswith("terrible")
    assert "\u25bc" in rows[-1]
    assert page.locator("#cards .node.changed").count() >= 2
    page.click("text=Undo")
    page.wait_for_function("() => !document.querySelector('.changes table')")
    assert page.input_value("#texts") == TEXT


def test_the_dependencies_are_uncoloured_and_name_their_relations(page: Page) -> None:
    type_in(page, TEXT)
    page.click("text=Dependencies")
    page.wait_for_selector("#cards rect.plain")
    assert page.locator("#cards .node").count() == 11
    assert "nsubj" in page.locator("#cards .relation").all_text_contents()
    assert page.locator("#cards .l0, #cards .l1, #cards .l3, #cards .l4").count() == 0


def test_a_sentence_typed_among_the_dependencies_is_judged_too(page: Page, tmp_path: Path) -> None:
    type_in(page, TEXT)
    page.click("text=Dependencies")
    page.wait_for_selector("#cards rect.plain")
    verdict = page.inner_text(".verdict")
    type_in(page, "An awful mess.")  # waits for the title
    page.wait_for_function("() => document.querySelectorAll('#cards .node').length === 4")
    assert page.inner_text(".verdict") != verdict
    with page.expect_download() as download:
        page.click("[aria-label='Download JSON']")
    download.value.save_as(tmp_path / "saved.json")
    assert json.loads((tmp_path / "saved.json").read_text())["text"] == "An awful mess."
    field = page.get_by_label("word: awful")
    field.fill("lovely")
    field.press("Enter")
    page.wait_for_selector(".changes table")
    assert page.locator("#cards .node.changed").count() == 0  # places of phrases are not those of words


def test_what_could_not_be_drawn_is_not_saved_and_may_be_asked_for_again(page: Page) -> None:
    type_in(page, TEXT)
    page.evaluate(
        "() => { window.answering = fetch; window.fetch = async () => { throw new TypeError(); }; }"
    )
    page.fill("#texts", "An awful mess.")
    page.wait_for_selector(".canvas .problem")
    page.evaluate("() => { window.fetch = window.answering; }")
    saved: list[str] = []
    page.on("download", lambda download: saved.append(download.suggested_filename))
    page.click("[aria-label='Download SVG']")
    page.click("text=Show the tree")
    page.wait_for_function("() => document.querySelectorAll('#cards .node').length > 3")
    assert page.inner_text(".card h2") == "An awful mess."
    assert words(page) == ["An", "awful", "mess", "."]
    page.wait_for_timeout(200)
    assert saved == []


def test_several_lines_are_several_trees(page: Page) -> None:
    type_in(page, "Good.\nReally good.\nNot good.")
    page.wait_for_function("() => document.querySelectorAll('.card svg').length === 3")


def test_examples_are_a_click_away(page: Page) -> None:
    kinds = page.locator("#sentiment-examples b").all_text_contents()
    assert kinds == ["Negation", "Contrast", "Intensifiers", "Every day"]
    page.click("text=It is neither funny nor charming.")
    page.wait_for_function("() => document.querySelector('.card h2').textContent.startsWith('It is neither')")


@pytest.mark.parametrize(
    "text",
    ["<script>alert(1)</script> is good", "<img src=x onerror=alert(1)> & \"a\" 'b' ]]>", "</title><style>"],
)
def test_markup_is_text(page: Page, text: str) -> None:
    type_in(page, text)
    page.wait_for_function("() => document.querySelectorAll('#cards .node').length > 3")
    page.click("text=Dependencies")
    page.wait_for_selector("#cards rect.plain")
    assert page.inner_text(".card h2") == text
    assert page.locator("#cards :is(script, img, style)").count() == 0
    written = "".join(page.locator("#cards .node rect + text").all_text_contents())
    assert "<" in written


def test_pictures_and_results_are_saved(page: Page, tmp_path: Path) -> None:
    type_in(page, TEXT)
    node(page, "the acting").click()
    page.wait_for_selector("#cards .node.folded")
    saved = {}
    for kind in ("SVG", "PNG", "JSON"):
        with page.expect_download() as download:
            page.click(f"[aria-label='Download {kind}']")
        path = tmp_path / download.value.suggested_filename
        download.value.save_as(path)
        saved[kind] = path
    assert saved["SVG"].name == "the-plot-is-thin-but-the-acting-is-wonde.svg"
    picture = ElementTree.parse(saved["SVG"]).getroot()
    assert "the acting" in "".join(picture.itertext())
    assert picture.find("{http://www.w3.org/2000/svg}style") is not None
    head = saved["PNG"].read_bytes()[:24]
    assert head.startswith(b"\x89PNG")
    assert int.from_bytes(head[16:20], "big") == 2 * round(float(str(picture.get("width"))))
    assert json.loads(saved["JSON"].read_text())["nodes"][0]["text"] == TEXT
