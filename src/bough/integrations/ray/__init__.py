"""The same work on a Ray cluster: files and datasets scored, the paper's runs, sweeps over settings (extra `ray`)."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["score", "score_files"]

if TYPE_CHECKING:
    from bough.cluster.datasets import score
    from bough.cluster.scoring import score_files

_HOME = {"score": "bough.cluster.datasets", "score_files": "bough.cluster.scoring"}


def __getattr__(name: str) -> Any:
    """With its first use: what is not needed is not loaded."""
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'bough.cluster' has no attribute {name!r}")
