"""`--set key=value`, as three commands take it."""

from __future__ import annotations


def parse_settings(settings: list[str]) -> dict[str, str]:
    """key=value texts as a dict."""
    for setting in settings:
        if "=" not in setting:
            raise ValueError(f"--set {setting}: give it as key=value")
    return dict(setting.split("=", 1) for setting in settings)
