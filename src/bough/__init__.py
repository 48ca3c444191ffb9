"""Tree-LSTMs for PyTorch (Tai, Socher and Manning, 2015)."""

from importlib import import_module
from typing import TYPE_CHECKING, Any
from warnings import warn

from bough.errors import FormatError
from bough.version import __version__

__all__ = [
    "Forest",
    "FormatError",
    "Tree",
    "__version__",
    "contextual",
    "data",
    "draw",
    "fit",
    "formats",
    "load",
    "nn",
    "parsing",
]

if TYPE_CHECKING:
    from bough import contextual, data, draw, formats, nn, parsing
    from bough.fitting import fit
    from bough.pipeline import load
    from bough.trees.forest import Forest
    from bough.trees.tree import Tree

_HOME = {
    "Forest": "bough.trees.forest",
    "Tree": "bough.trees.tree",
    "fit": "bough.fitting",
    "load": "bough.pipeline",
}
_ROOMS = ("contextual", "data", "draw", "formats", "nn", "parsing")  # as modules
_MOVED = {"arcs": "bough.draw.arcs", "render": "bough.draw"}  # old name: new home, for one release


def __getattr__(name: str) -> Any:
    """All but this comes with its first use: a command that needs no torch starts without it."""
    if name in _ROOMS:
        return import_module(f"bough.{name}")
    if name in _MOVED:
        warn(
            f"bough.{name} is now {_MOVED[name]}; the old name goes with the next release",
            DeprecationWarning,
            2,
        )
        return import_module(_MOVED[name])
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'bough' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
