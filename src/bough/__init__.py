"""Tree-LSTMs for PyTorch (Tai, Socher and Manning, 2015)."""

from typing import TYPE_CHECKING, Any

from bough import nn
from bough.errors import FormatError
from bough.forest import Forest
from bough.tree import Tree

__version__ = "0.1.0"
__all__ = ["Forest", "FormatError", "Tree", "__version__", "load", "nn"]

if TYPE_CHECKING:
    from bough.pipeline import load


def __getattr__(name: str) -> Any:
    if name == "load":  # the pipelines come with the first use: `import bough` stays light
        from bough.pipeline import load

        return load
    raise AttributeError(f"module 'bough' has no attribute {name!r}")
