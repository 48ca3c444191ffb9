"""Claims about pictures: well-formed whatever the words, readable when long, every class told by more than colour."""

from itertools import pairwise
from xml.etree import ElementTree

import pytest

from bough.draw import COLOURS, WIDEST, svg
from bough.draw.canvas import MARGIN
from bough.outputs import Classes
from bough.pipelines import Prediction
from bundled_pipelines import sentiment

SVG = "{http://www.w3.org/2000/svg}"
LONG = (
    "There are slow and repetitive parts, but it has just enough spice to keep it interesting, and although the "
    "second half is a little too eager to explain what a patient viewer would have worked out alone, the actors "
    "are so charming and the pictures so quietly beautiful that nobody in the room seemed to mind, least of all me."
)


def parsed(result: Prediction) -> ElementTree.Element:
    return ElementTree.fromstring(svg(result))


def words(root: ElementTree.Element) -> list[str]:
    found = root.iter(f"{SVG}text")
    return [str(text.text).strip() for text in found if "sign" not in str(text.get("class"))]


def test_every_node_is_drawn_with_its_phrase_and_probabilities() -> None:
    result = sentiment()("The plot is dull, but the acting is brilliant.")
    root = parsed(result)
    nodes = [group for group in root.iter(f"{SVG}g") if group.get("class") == "node"]
    assert sorted(int(str(node.get("data-node"))) for node in nodes) == list(range(len(result.nodes)))
    for node in nodes:
        phrase = result.nodes[int(str(node.get("data-node")))]
        title = str(node.findtext(f"{SVG}title"))
        assert title.startswith(phrase.text)
        assert f"{phrase.label} (" in title
        assert "very negative" in title
    assert words(root) == list(result.tokens)
    assert len(list(root.iter(f"{SVG}path"))) == len(result.nodes) - 1


@pytest.mark.parametrize(
    "text", ["<script>alert(1)</script> & \"x\" 'y' ]]>", "a\x00b\x1b \ud800 \uffff", "\u202e&#x202e;"]
)
def test_any_text_is_escaped(text: str) -> None:
    root = parsed(sentiment()(text))
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {
        *("svg", "title", "style", "rect", "g", "path", "circle", "text", "tspan")
    }


def test_a_long_sentence_runs_down_the_page_and_words_do_not_touch() -> None:
    result = sentiment()(LONG)
    assert len(result.tokens) >= 60
    root = parsed(result)
    width, height = float(str(root.get("width"))), float(str(root.get("height")))
    assert width < WIDEST < height
    tops = sorted(float(str(rect.get("y"))) for rect in root.iter(f"{SVG}rect") if rect.get("rx"))
    assert all(low + 20 < high for low, high in pairwise(tops))


@pytest.mark.parametrize("text", ["Good", "An overlong but oddly moving film.", LONG, "One. Two is better!"])
def test_everything_lies_inside_the_picture(text: str) -> None:
    root = parsed(sentiment()(text))
    width, height = float(str(root.get("width"))), float(str(root.get("height")))
    for rect in root.iter(f"{SVG}rect"):
        if rect.get("rx"):
            left = float(str(rect.get("x")))
            assert left >= MARGIN - 0.1
            assert left + float(str(rect.get("width"))) <= width
    for circle in root.iter(f"{SVG}circle"):
        assert 0 < float(str(circle.get("cx"))) < width
        assert 0 < float(str(circle.get("cy"))) < height


def test_a_word_without_end_is_cut() -> None:
    root = parsed(sentiment()("x" * 30_000 + " film"))
    assert float(str(root.get("width"))) < 600
    assert words(root) == ["x" * 39 + "\u2026", "film"]


def test_a_page_may_bring_the_style_itself() -> None:
    assert "<style>" not in svg(sentiment()("good"), style=False)


def test_words_in_a_row_do_not_touch() -> None:
    root = parsed(sentiment()("An overlong but oddly moving film."))
    boxes = sorted(
        (float(str(rect.get("x"))), float(str(rect.get("width"))))
        for rect in root.iter(f"{SVG}rect")
        if rect.get("rx")
    )
    assert all(x + width < after for (x, width), (after, _) in pairwise(boxes))


def test_a_class_is_told_by_a_sign_as_well_as_a_colour() -> None:
    result = sentiment()("The plot is dull, but the acting is brilliant.")
    root = parsed(result)
    for group in root.iter(f"{SVG}g"):
        if group.get("class") != "node":
            continue
        label = result.nodes[int(str(group.get("data-node")))].label
        said = "".join(group.itertext()).removeprefix(str(group.findtext(f"{SVG}title")))
        sign = {"positive": "+", "very positive": "++", "negative": "\u2212", "very negative": "\u2212\u2212"}
        if label in sign:
            assert said.rstrip().endswith(sign[label])


def test_there_is_a_dark_style_and_two_hues_that_differ_in_blue() -> None:
    assert "prefers-color-scheme:dark" in svg(sentiment()("good"))
    blue = [int(colour[5:7], 16) - int(colour[1:3], 16) for colour in COLOURS]
    assert max(blue[:2]) < -100
    assert blue[2] == 0
    assert min(blue[3:]) > 80


def test_a_notebook_shows_the_picture() -> None:
    result = sentiment()("good")
    assert result._repr_svg_() == result.svg() == svg(result)


def drawn(result: Prediction, **options: object) -> dict[int, ElementTree.Element]:
    root = ElementTree.fromstring(svg(result, **options))  # type: ignore[arg-type]
    return {
        int(str(group.get("data-node"))): group for group in root.iter(f"{SVG}g") if group.get("data-node")
    }


def test_a_collapsed_phrase_is_drawn_whole() -> None:
    result = sentiment()("The plot is dull, but the acting is brilliant.")
    place = next(i for i, node in enumerate(result.nodes) if node.text == "the acting")
    nodes = drawn(result, collapsed=[place])
    assert nodes.keys() == set(range(len(result.nodes))) - {place + 1, place + 2}
    assert nodes[place].get("class") == "node folded"
    assert "the acting" in "".join(str(text.text) for text in nodes[place].iter(f"{SVG}text"))


def test_only_a_phrase_is_drawn_with_what_is_below_it() -> None:
    result = sentiment()("The plot is dull. But the acting is brilliant.")
    place = next(i for i, node in enumerate(result.nodes) if node.text == "the acting")
    assert drawn(result, only=place).keys() == {place, place + 1, place + 2}
    assert drawn(result, only=place, collapsed=[place]).keys() == {place, place + 1, place + 2}


def test_the_width_to_fill_decides_which_way_a_tree_runs() -> None:
    result = sentiment()("An overlong but oddly moving film.")
    across, down = (ElementTree.fromstring(svg(result, widest=widest)) for widest in (1000, 200))
    assert float(str(down.get("width"))) < float(str(across.get("width")))


@pytest.mark.parametrize("options", [{"only": 99}, {"only": -1}, {"collapsed": [0, 99]}])
def test_a_node_that_is_not_there(options: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="no node"):
        drawn(sentiment()("good film"), **options)


def test_classes_without_an_order_have_colours_and_letters_of_their_own() -> None:
    result = sentiment()("A tree grows.")
    names = ("animal", "plant", "stone", "water", "wind")
    sentences, rows = zip(*result.parts, strict=True)
    other = Prediction(result.text, Classes(names), sentences, rows)
    drawn = svg(other)
    level = len(COLOURS) + names.index(other.nodes[0].label)
    assert f'class="l{level}"' in drawn
    assert f">{other.nodes[0].label[:2]}<" in drawn
    assert other.score == max(other.probabilities.values())
