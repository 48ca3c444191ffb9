"""Claim about the names before `bough.draw`: they work for one release, and say where they have gone."""

import pytest

import bough
from bough import draw
from bough.draw import arcs


def test_the_old_names_still_work_and_warn() -> None:
    with pytest.warns(DeprecationWarning, match=r"bough\.render is now bough\.draw;"):
        assert bough.render is draw
    with pytest.warns(DeprecationWarning, match=r"bough\.arcs is now bough\.draw\.arcs;"):
        assert bough.arcs is arcs
    assert all(hasattr(draw, name) for name in ("svg", "lines", "Line", "STYLE", "COLOURS", "WIDEST"))
