"""Claims about the pictures that a notebook shows of trees and forests."""

from __future__ import annotations

import itertools
import re
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bough import Forest, Tree
from bough.draw.tree_svg import MOST, Boxes, is_sentence
from bough.formats import ptb
from treegen import WORDS, trees

CATS = Tree([1, -1, 1], tokens=["cats", "climb", "trees"], relations=["nsubj", "root", "obj"])
SVG = "{http://www.w3.org/2000/svg}"


def picture(shown: str | None) -> ElementTree.Element:
    assert shown is not None
    return ElementTree.fromstring(shown)


def nodes(shown: str | None) -> list[str | None]:
    return [
        group.get("data-node") for group in picture(shown).iter(f"{SVG}g") if group.get("class") == "node"
    ]


@settings(deadline=None)
@given(trees(max_nodes=30, tokens=st.none() | WORDS, labels=st.none() | st.text(max_size=60)))
def test_every_node_is_drawn_once_and_within_the_picture(tree: Tree) -> None:
    shown = tree._repr_svg_()
    assert sorted(map(int, filter(None, nodes(shown)))) == list(range(len(tree)))
    width, height = (float(picture(shown).get(name) or 0) for name in ("width", "height"))
    for box in picture(shown).iter(f"{SVG}rect"):
        if box.get("class") == "plain":
            x, y, wide = (float(box.get(name) or 0) for name in ("x", "y", "width"))
            assert 0 <= x <= x + wide <= width
            assert 0 <= y <= y + 20 <= height


@settings(deadline=None)
@given(trees(max_nodes=30, tokens=WORDS), st.sampled_from([50.0, 1000.0]))
def test_boxes_do_not_overlap(tree: Tree, widest: float) -> None:
    boxes = Boxes(tree, widest)
    rows: dict[float, list[tuple[float, float]]] = {}
    for node, (left, middle) in boxes.spots.items():
        rows.setdefault(middle, []).append((left, left + boxes.boxes[node]))
    for row in rows.values():
        row.sort()
        assert all(one[1] <= two[0] for one, two in itertools.pairwise(row))
    middles = sorted(rows)
    assert all(two - one >= 20 for one, two in itertools.pairwise(middles))


def test_a_sentence_with_dependencies_has_arcs_and_phrases_have_boxes() -> None:
    assert is_sentence(CATS)
    assert "relation" in (CATS._repr_svg_() or "").partition("</style>")[2]
    assert not is_sentence(CATS.replace(relations=None))
    assert not is_sentence(ptb.parse("(S (NP cats) (VP climb))"))
    assert not is_sentence(Tree.from_ast("f(x)"))


def test_what_would_be_too_large_a_picture_is_text() -> None:
    assert Tree([-1, *list(range(MOST - 1))])._repr_svg_()
    assert Tree([-1, *list(range(MOST))])._repr_svg_() is None
    assert Tree([-1, *list(range(100000))])._repr_svg_() is None


def test_a_forest_shows_its_first_trees_and_says_how_many_more() -> None:
    shown = Forest([CATS] * 1200)._repr_svg_()
    assert len(nodes(shown)) == MOST // 3 * 3
    assert f"and {1200 - MOST // 3:,} more" in (shown or "")
    assert "Forest(1200 trees, 3600 nodes" in (shown or "")
    assert "more" not in (Forest([CATS, CATS])._repr_svg_() or "")


@pytest.mark.parametrize("name", ["<b>&\"'", "a\0b", "\ud800"])
def test_any_name_is_text_and_nothing_else(name: str) -> None:
    shown = Tree([-1], tokens=[name])._repr_svg_()
    texts = [element.text for element in picture(shown).iter(f"{SVG}text")]
    assert texts == [re.sub("[\0\ud800]", "\ufffd", name)]
