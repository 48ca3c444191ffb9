"""A model as it travels: a table of int8 rows that already went through the input map, and any word's way into it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bough.data.oov import rows_for
from bough.errors import FormatError
from bough.files import Int8Rows, read_json, read_model
from bough.models.config import Config
from bough.models.model import FORMAT, NO_WORD, Model
from bough.models.output_spec import Purpose

KIND = "shipped"
WEIGHTS = Path(__file__).resolve().parents[1] / "pretrained"  # the models that come along
MOST_STRANGE = 50_000  # unknown words remembered, before `forget_strangers` starts anew


class ShippedModel(Model):
    """A `Model` whose table is quantised and whose every word finds a row, or a mean of rows.

    Row i of the table is `table[i] * scales[i]`. A word outside the vocabulary is looked for by
    `bough.data.oov`; what is a mean of rows is computed when it is met and kept for the next time.
    Such a model is for use, not for training.

    Shape: table (words + 1, columns) int8, scales (words + 1,) float32.
    """

    scales: Tensor

    def __init__(
        self,
        config: Config,
        purpose: Purpose,
        words: Sequence[str],
        relations: Sequence[str],
        table: Tensor,
        scales: Tensor,
    ) -> None:
        super().__init__(config, purpose, words, relations, table)
        self.register_buffer("scales", scales)
        self._strangers: dict[str, int] = {}
        self._means: list[Tensor] = []
        self.eval()

    def ids(self, tokens: Iterable[str | None]) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Row numbers; those past the table's end are means of rows."""
        index, strangers = self.index, self._strangers
        rows = [
            NO_WORD if token is None else index.get(token) or strangers.get(token) or self._stranger(token)
            for token in tokens
        ]
        return np.array(rows, dtype=np.int64)

    def _stranger(self, token: str) -> int:
        rows = rows_for(token, self.index, written=self.config.oov == "written")
        if not rows:
            return NO_WORD
        row = rows[0]
        if len(rows) > 1:
            row = len(self.table) + len(self._means)
            self._means.append(self.vectors(torch.tensor(rows)).mean(dim=0))
        self._strangers[token] = row
        return row

    def knows(self, token: str) -> bool:
        """Whether a word has a row, or is made of what has."""
        return bool(self.ids([token])[0])

    def add_words(self, words: Sequence[str], rows: Tensor) -> None:
        """Not here: a vector from outside has not gone through the input map."""
        raise ValueError("a shipped model's words are fixed; add them to the run and ship it again")

    def forget_strangers(self) -> None:
        """Between two batches: give back the memory of unknown words, once there are very many."""
        if len(self._strangers) > MOST_STRANGE:
            self._strangers.clear()
            self._means.clear()

    def vectors(self, rows: Tensor) -> Tensor:
        """(M,) row numbers -> (M, columns)."""
        own = rows.clamp(max=len(self.table) - 1)
        x = Int8Rows(self.table, self.scales)[own]
        beyond = (rows >= len(self.table)).nonzero().squeeze(1)
        if len(beyond):
            x[beyond] = torch.stack([self._means[row - len(self.table)] for row in rows[beyond].tolist()])
        return x

    # ------------------------------------------------------------------ storage

    def save(self, folder: Path, *, card: str, facts: Mapping[str, Any] | None = None) -> None:
        """The four files of a model folder; see docs/format.md."""
        super().save(folder, card=card, facts={"kind": KIND, **(facts or {})})

    @classmethod
    def load(cls, folder: Path | str, device: torch.device | str = "cpu") -> ShippedModel:
        """A model that `save` wrote; anything missing, torn or of another kind is a FormatError."""
        stored = read_model(Path(folder), KIND, FORMAT)
        with stored.readable():
            config = Config.stored(stored.meta["config"])
            table, scales = stored.tensors["table"], stored.tensors["scales"]
            purpose = Purpose(**stored.meta["purpose"])
            given = (config, purpose, stored.words, stored.meta["relations"], table, scales)
            with torch.device("meta"):  # takes no memory, whatever sizes the settings ask for
                outline = cls(*given)
            tensors = stored.fitting(outline.tensors())
            model = cls(*given)
            model.load_tensors(tensors, assign=True)
        return model.to(device).eval()


def load_model(folder: Path | str, device: torch.device | str = "cpu") -> Model:
    """A shipped model or a trained run, whichever the folder holds."""
    kind = read_json(Path(folder) / "config.json").get("kind")
    if kind not in (None, KIND):
        raise FormatError(f"a {kind}, not a model", where=str(folder))
    return (Model if kind is None else ShippedModel).load(folder, device)
