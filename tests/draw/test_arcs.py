"""Claims about pictures of dependencies: every word and arc drawn, nothing crossing, nothing outside."""

from itertools import combinations
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bough import Tree
from bough.draw.arcs import svg

SVG = "{http://www.w3.org/2000/svg}"
TREE = Tree([1, 2, -1, 4, 2, 2], tokens=["Two", "men", "play", "a", "guitar", "."], relations=list("nsrddp"))


def parsed(tree: Tree, **options: float) -> ElementTree.Element:
    return ElementTree.fromstring(svg("a text", [tree], **options))  # type: ignore[arg-type]


@st.composite
def projective(draw: st.DrawFn) -> Tree:
    """A head with a subtree on each side, drawn again and again."""
    count = draw(st.integers(1, 12))
    parents = [-1] * count

    def hang(low: int, high: int, above: int) -> None:
        if low < high:
            head = draw(st.integers(low, high - 1))
            parents[head] = above
            hang(low, head, head)
            hang(head + 1, high, head)

    hang(0, count, -1)
    return Tree(parents, tokens=[f"w{i}" for i in range(count)], relations=["dep"] * count)


@pytest.mark.parametrize("widest", [1000.0, 150.0])
def test_every_word_is_drawn_and_says_what_it_depends_on(widest: float) -> None:
    root = parsed(TREE, widest=widest)
    nodes = [group for group in root.iter(f"{SVG}g") if group.get("class") == "node"]
    assert [node.get("data-node") for node in nodes] == [str(i) for i in range(6)]
    titles = [str(node.findtext(f"{SVG}title")) for node in nodes]
    assert titles[0] == "Two: n of men"
    assert titles[2] == "play: the root"
    assert sum(path.get("class") == "edge" for path in root.iter(f"{SVG}path")) == 5


@given(projective())
def test_arcs_over_one_another_stand_at_different_heights(tree: Tree) -> None:
    from bough.draw.arcs import Arcs

    levels = Arcs(tree, 0, 1000.0).levels
    spans = [(min(i, head), max(i, head), i) for i, head in enumerate(tree.parents.tolist()) if head >= 0]
    for (a, b, one), (c, d, other) in combinations(spans, 2):
        if max(a, c) < min(b, d):
            assert (levels[one] > levels[other]) == (b - a > d - c)


@given(projective(), st.sampled_from([120.0, 1000.0]))
def test_everything_lies_inside(tree: Tree, widest: float) -> None:
    root = parsed(tree, widest=widest)
    width, height = float(str(root.get("width"))), float(str(root.get("height")))
    for rect in root.iter(f"{SVG}rect"):
        if rect.get("rx"):
            assert (
                0
                < float(str(rect.get("x")))
                < float(str(rect.get("x"))) + float(str(rect.get("width")))
                < width
            )
            assert 0 < float(str(rect.get("y"))) < height - 20


def test_a_narrow_page_has_words_one_below_the_other() -> None:
    assert float(str(parsed(TREE).get("width"))) > 250
    assert float(str(parsed(TREE, widest=200).get("width"))) < 200


def test_words_are_escaped() -> None:
    root = parsed(Tree([-1], tokens=["<script>&\x00"]))
    assert "<script>&\ufffd" in ElementTree.tostring(root, encoding="unicode", method="text")
    assert not list(root.iter(f"{SVG}script"))
