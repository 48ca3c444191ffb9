"""Score files and datasets on a Ray cluster (extra `ray`), which is imported when it is used."""

from bough.integrations.ray.scoring import score, score_files

__all__ = ["score", "score_files"]
