"""Score files and datasets on a Ray cluster (extra `ray`)."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["score", "score_files"]

if TYPE_CHECKING:
    from bough.integrations.ray.datasets import score
    from bough.integrations.ray.scoring import score_files

_HOME = {"score": "bough.integrations.ray.datasets", "score_files": "bough.integrations.ray.scoring"}


def __getattr__(name: str) -> Any:
    """With its first use: what is not needed is not loaded."""
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'bough.integrations.ray' has no attribute {name!r}")
