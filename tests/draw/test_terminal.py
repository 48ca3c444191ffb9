"""Claims about the tree in a terminal: a phrase above its parts, and no more lines than say something."""

from bough.draw import lines
from bundled_pipelines import sentiment


def test_lines_show_a_phrase_above_its_parts() -> None:
    shown = lines(sentiment()("good, but not great"))
    assert shown[0].before == ""
    assert shown[0].text == "good, but not great"
    assert {line.text for line in shown} >= {"good", "not great"}
    assert all(line.sign in ("\u2212\u2212", "\u2212", "0", "+", "++") for line in shown)
    assert any(line.before.endswith("\u2514\u2500 ") for line in shown)


def test_a_phrase_whose_parts_are_all_alike_stays_whole() -> None:
    result = sentiment()("of the")
    assert len(lines(result)) == 1
    assert len(result.nodes) == 3
