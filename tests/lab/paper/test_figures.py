"""Claims about the figures: every model is drawn, and the bytes are always the same."""

from pathlib import Path

import pytest

from minruns import system
from paper.figures import FIGURE3, FIGURE4, STYLES, Drawing, draw

LENGTHS = {"4.5": [0.5, 0.6], "5.5": [0.6, 0.7]}


@pytest.mark.parametrize("drawing", [FIGURE3, FIGURE4], ids=lambda drawing: drawing.name)
def test_every_model_is_drawn_the_same_every_time(drawing: Drawing, tmp_path: Path) -> None:
    names = [drawing.prefix + line.system for line in drawing.lines]
    systems = {name: system(name, by_length=LENGTHS, pearson=[0.1, 0.2]) for name in names}
    first, second = (draw(drawing, systems, tmp_path / folder) for folder in ("a", "b"))
    assert first is not None
    assert first == second
    for ending in ("svg", "png"):
        file = f"{drawing.name}.{ending}"
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()
    assert "Mean over 2 seeds" in first.caption
    assert "<dc:date>" not in first.svg
    styles = [STYLES[line.system] for line in drawing.lines]
    assert len(set(styles)) == len({marker for _, marker, _ in styles}) == len(styles)


def test_nothing_to_draw_is_no_file(tmp_path: Path) -> None:
    assert draw(FIGURE3, {}, tmp_path) is None
    assert draw(FIGURE4, {"sick-lstm": system("sick-lstm", pearson=[0.5])}, tmp_path) is None  # no windows
    assert not list(tmp_path.iterdir())
