"""XML and HTML documents."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from bough import FormatError, Tree
from bough.formats import markup

ORDER = (
    '<?xml version="1.0"?>\n<order id="a">two <b>big</b> boxes\n <item price="2.5" unit="kg"/><item/></order>'
)


def test_xml_with_attributes_and_text(tmp_path: Path) -> None:
    nan = math.nan
    expected = Tree(
        [-1, 0, 0, 0],
        tokens=["order", "b", "item", "item"],
        features=[[nan], [nan], [2.5], [nan]],
        feature_names=["price"],
        categories={"unit": [None, None, "kg", None], "text": ["two boxes", "big", None, None]},
    )
    assert markup.parse(ORDER, numbers=["price"], categories=["unit"], text=True) == expected
    assert markup.parse(ORDER) == Tree([-1, 0, 0, 0], tokens=["order", "b", "item", "item"])
    path = tmp_path / "latin.xml"
    path.write_bytes("<?xml version='1.0' encoding='latin-1'?><caf\u00e9/>".encode("latin-1"))
    assert markup.read(path).tokens == ("caf\u00e9",)


def test_html_closes_what_people_leave_open() -> None:
    page = """<!DOCTYPE html><html><body class=big><p>one<br>two<p>three
    <table><tr><td>1<td>2<tr><th>3</table><img src=a><script>if (a < b) {}</script></div></body></html>"""
    tree = markup.parse(page, html=True, categories=["class"], text=True)
    tags = ["html", "body", "p", "br", "p", "table", "tr", "td", "td", "tr", "th", "img", "script"]
    assert tree.tokens == tuple(tags)
    assert tree.parents.tolist() == [-1, 0, 1, 2, 1, 4, 5, 6, 6, 5, 9, 4, 4]
    assert tree.categories is not None
    assert tree.categories["class"][1] == "big"
    assert tree.categories["text"][2:5] == ("onetwo", None, "three")
    assert tree.categories["text"][-1] is None


def test_several_elements_get_a_parent() -> None:
    tree = markup.parse("<i n=1>a</i><b n=2></b>", html=True, numbers=["n"], categories=["n"], text=True)
    assert tree.tokens == ("#document-fragment", "i", "b")
    np.testing.assert_array_equal(tree.features, [[math.nan], [1], [2]])
    assert tree.categories == {"n": (None, "1", "2"), "text": (None, "a", None)}


def test_an_end_tag_that_closes_nothing_is_skipped() -> None:
    tree = markup.parse("<p><i>a</b> b</i> c</u> d</p>", html=True, text=True)
    assert tree.tokens == ("p", "i")
    assert (tree.categories or {})["text"] == ("c d", "a b")


def test_a_document_may_be_10_000_deep() -> None:
    text = "<a>" * 10_000 + "</a>" * 10_000
    for html in (False, True):
        tree = markup.parse(text, html=html, numbers=["n"], text=True)
        assert tree.parents.tolist() == [*range(-1, 9_999)]
        assert np.isnan(np.asarray(tree.features)).all()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<a>\n<b></a>", "a.xml:2: not XML: mismatched tag"),
        ("", "a.xml:1: not XML: no element found"),
        ("<a/><b/>", "a.xml:1: not XML: junk after document element"),
        ("<a>\n<b n='x'/></a>", "a.xml:2: <b>: \"n\" is 'x'; expected a number"),
        ("<a n='inf'/>", "a.xml:1: <a>: \"n\" is 'inf'; expected a number"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        markup.read(text.split("\n"), where="a.xml", numbers=["n"])
    assert str(caught.value).startswith(message)


def test_what_is_asked_for_is_checked(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="numbers='price'; expected a list of names"):
        markup.parse("<a/>", numbers="price")
    with pytest.raises(TypeError, match="unexpected keyword argument 'number'"):
        markup.parse("<a>", html=True, number=["price"])  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="text=True makes a category 'text'"):
        markup.parse("<a text='x'>y</a>", categories=["text"], text=True)
    path = tmp_path / "a.xml"
    path.write_bytes(b"<?xml version='1.0' encoding='none-9'?><a/>")
    with pytest.raises(FormatError, match=r"a\.xml: not XML: unknown encoding: none-9"):
        markup.read(path)
    latin = "<?xml version='1.0' encoding='latin-1'?><caf\u00e9/>"  # a text has been decoded already
    assert markup.parse(latin).tokens == ("caf\u00e9",)


def test_html_without_an_element_is_refused() -> None:
    with pytest.raises(FormatError, match=r"a\.html: no element in the document"):
        markup.read(["just text"], where="a.html", html=True)
