"""Tree-LSTMs for PyTorch (Tai, Socher and Manning, 2015)."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from bough.errors import FormatError
from bough.version import __version__

__all__ = [
    "Forest",
    "FormatError",
    "Graph",
    "Tree",
    "__version__",
    "collate",
    "data",
    "draw",
    "fit",
    "formats",
    "load",
    "models",
    "nn",
    "text",
    "train",
]

if TYPE_CHECKING:
    from bough import data, draw, formats, models, nn, text, train
    from bough import sklearn as sklearn
    from bough import spacy as spacy
    from bough.pipelines import load
    from bough.train.fit import fit
    from bough.trees.collate import collate
    from bough.trees.forest import Forest
    from bough.trees.graph import Graph
    from bough.trees.tree import Tree

_NAMES = {
    "Forest": "bough.trees.forest",
    "Graph": "bough.trees.graph",
    "Tree": "bough.trees.tree",
    "collate": "bough.trees.collate",
    "fit": "bough.train.fit",
    "load": "bough.pipelines",
}
_PACKAGES = ("data", "draw", "formats", "models", "nn", "text", "train")
_INTEGRATIONS = ("sklearn", "spacy")  # not in `__all__`: `from bough import *` must not need spaCy


def __getattr__(name: str) -> Any:
    """Import a name when it is first used, so that `import bough` loads neither torch nor NumPy."""
    if name in _PACKAGES or name in _INTEGRATIONS:
        return import_module(f"bough.{name}")
    if name in _NAMES:
        return getattr(import_module(_NAMES[name]), name)
    raise AttributeError(f"module 'bough' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_INTEGRATIONS])
