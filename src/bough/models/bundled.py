"""Compressed models, such as the bundled ones: int8 word rows, and rows for out-of-vocabulary words."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.nn import functional

from bough.data.oov import rows_for
from bough.data.vectors import random_rows
from bough.files import Int8Rows, StoredModel, read_model
from bough.models.config import Config
from bough.models.model import FORMATS, NO_WORD, Model, Trees
from bough.nn import CosineSimilarity
from bough.outputs import Output

KIND = "bundled"
WEIGHTS = Path(__file__).resolve().parents[1] / "pretrained"  # the bundled models
MAX_CACHED_OOV = 50_000  # `forget_oov` clears the cache if it has more out-of-vocabulary words


class BundledModel(Model):
    """A `Model` with a quantised word table, for prediction only.

    Row i of the table is `table[i] * scales[i]`. An out-of-vocabulary word has the row, or the mean
    of the rows, that `bough.data.oov` finds for it. In a model that rates by the cosine, an unknown
    name or number has a random row that depends only on the word.

    Shape: table (words + 1, columns) int8, scales (words + 1,) float32.
    """

    kind: ClassVar[str | None] = KIND
    scales: Tensor

    def __init__(
        self,
        config: Config,
        output: Output,
        words: Sequence[str],
        relations: Sequence[str],
        table: Tensor,
        scales: Tensor,
        *,
        trees: Trees = "sentences",
    ) -> None:
        super().__init__(config, output, words, relations, table, trees=trees)
        self.register_buffer("scales", scales)
        self._oov: dict[str, int] = {}
        self._means: list[Tensor] = []
        self.eval()

    def _oov_row(self, token: str) -> int:
        """Return the row of an out-of-vocabulary word; `_means` has the rows after the table."""
        if token in self._oov:
            return self._oov[token]
        rows = rows_for(token, self.index, written=self.config.oov == "written")
        if isinstance(self.head, CosineSimilarity) and (
            not rows or any(letter.isdigit() for letter in token)
        ):
            # so that texts with the same unknown name or number are similar, and those with different ones are not
            drawn = torch.from_numpy(random_rows([token.lower()], self.config.embedding_size, 0)[0])
            row = functional.normalize(drawn, dim=0)
        elif len(rows) > 1:
            row = self.vectors(torch.tensor(rows)).mean(dim=0)
        else:
            return self._oov.setdefault(token, rows[0]) if rows else NO_WORD
        self._oov[token] = len(self.table) + len(self._means)
        self._means.append(row)
        return self._oov[token]

    def add_words(self, words: Sequence[str], rows: Tensor) -> None:
        """Raise a ValueError: a row is a compressed output of the run's input map, which is not stored."""
        raise ValueError("the words of a bundled model are fixed; add them to the run and export it again")

    def forget_oov(self) -> None:
        if len(self._oov) > MAX_CACHED_OOV:
            self._oov.clear()
            self._means.clear()

    def vectors(self, rows: Tensor) -> Tensor:
        """Return (M, columns) the rows with the indices (M,)."""
        own = rows.clamp(max=len(self.table) - 1)
        x = Int8Rows(self.table, self.scales)[own]
        beyond = (rows >= len(self.table)).nonzero().squeeze(1)
        if len(beyond):
            x[beyond] = torch.stack([self._means[row - len(self.table)] for row in rows[beyond].tolist()])
        return x

    @classmethod
    def _stored_inputs(cls, config: Config, stored: StoredModel) -> tuple[Any, ...]:
        if config.encoder:
            raise ValueError(f"encoder {config.encoder!r}: a bundled model has word rows, and no encoder")
        rows = len(stored.words) + 1
        table = torch.empty(rows, config.embedding_size, dtype=torch.int8, device="meta")
        return table, torch.empty(rows, device="meta")


def read_any_model(folder: Path) -> StoredModel:
    """Return the contents of the folder of a compressed or a trained model. Raise a FormatError for anything else."""
    return read_model(folder, [None, KIND], FORMATS)


def model_from(stored: StoredModel, device: torch.device | str = "cpu") -> Model:
    """Return the compressed or trained model of a folder that was read."""
    kind = BundledModel if stored.meta.get("kind") else Model
    return kind.from_stored(stored, device)


def load_model(folder: Path | str, device: torch.device | str = "cpu") -> Model:
    """Load a compressed model or a trained model, depending on the folder. Raise a FormatError for anything else."""
    return model_from(read_any_model(Path(folder)), device)
