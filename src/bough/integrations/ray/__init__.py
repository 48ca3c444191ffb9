"""Score files and datasets on a Ray cluster (extra `ray`). Importing this module does not import Ray."""

from bough.integrations.ray.scoring import score, score_files

__all__ = ["score", "score_files"]
