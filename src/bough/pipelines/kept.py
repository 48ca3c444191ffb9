"""A pipeline's model in a folder: written, and written again after it was loaded."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bough.files import read_json
from bough.models.model import Model

_OWN = ("format", "config", "relations", "purpose", "kind")  # what `Model.save` writes itself


class Kept:
    """A model with its card and the facts about it, or with the folder that has both."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.card = ""
        self.facts: Mapping[str, Any] = {}
        self.folder: Path | None = None

    def save(self, folder: Path | str) -> None:
        """The four files of a model folder, which `bough.load` reads; see docs/format.md."""
        card, facts = self.card, self.facts
        if self.folder is not None:
            facts = {k: v for k, v in read_json(self.folder / "config.json").items() if k not in _OWN}
            readme = self.folder / "README.md"
            card = readme.read_text(encoding="utf-8") if readme.is_file() else card
        self.model.save(Path(folder), card=card, facts=facts)
