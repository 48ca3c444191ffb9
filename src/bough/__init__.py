"""Tree-LSTMs for PyTorch (Tai, Socher and Manning, 2015)."""

from bough import nn
from bough.errors import FormatError
from bough.forest import Forest
from bough.tree import Tree

__version__ = "0.1.0"
__all__ = ["Forest", "FormatError", "Tree", "__version__", "nn"]
