"""A trained system in one piece: vocabulary, word table, encoder and head, saved as one folder."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from bough.data.oov import rows_for
from bough.errors import FormatError
from bough.files import read_model, replacing_folder, write_folder
from bough.models import pair_features
from bough.models.config import Config
from bough.models.output_spec import Purpose
from bough.models.transformer import Text, TransformerEmbeddings, picked
from bough.nn.dropout import dropout_mask
from bough.nn.heads import Classifier, Similarity
from bough.trees.forest import Forest
from bough.trees.tree import Tree

FORMAT = 2
UNKNOWN = "<unk>"
LAYER, LAYER_IN_FILE = "layer.", "encoder."  # how the layer's weights are named, in the model and in its file
ENCODER = "encoder"  # the attribute of a transformer, and its folder inside a model's
NO_WORD = 0  # the key of a node without a word; the unknown word has that row too


class InTexts(NamedTuple):
    """Words in their texts: per node (N,) the place of its word among all words of `texts`, -1 for none."""

    places: Tensor
    texts: Sequence[Text]


class Model(nn.Module):
    """Inputs, layer and head in one piece.

    Row 0 of `table` is the unknown word's; row 1 + i that of `words[i]`. Relations beyond `relations` share
    one more id, the last.
    """

    table: Tensor
    rarity: Tensor  # (words + 1,) with `pair_features` only

    def __init__(
        self,
        config: Config,
        purpose: Purpose,
        words: Sequence[str],
        relations: Sequence[str] = (),
        table: Tensor | None = None,
        encoder: TransformerEmbeddings | None = None,
    ) -> None:
        super().__init__()
        self.encoder = encoder or encoder_for(config)
        if self.encoder is not None:
            config = config.with_settings({"embedding_size": self.encoder.width})
        self.config, self.words, self.relations = config, list(words), tuple(relations)
        self.purpose = purpose
        self.index = {word: i + 1 for i, word in enumerate(self.words)}
        if table is None:
            table = torch.zeros(len(self.words) + 1, config.embedding_size)
        if table.shape != (len(self.words) + 1, config.embedding_size):
            raise ValueError(
                f"word vectors of {table.shape[1]} dimensions for {len(table) - 1:,} words; the model wants "
                f"{config.embedding_size} for {len(self.words):,} (set embedding_size={table.shape[1]})"
            )
        self.register_buffer("table", table)
        if config.pair_features:
            self.register_buffer("rarity", torch.ones(len(table)))
        self.layer = config.build_layer(len(self.relations) + 1)
        width = self.layer.width
        self.head: Classifier | Similarity
        if not self.purpose.classes:
            self.head = Similarity(
                width,
                hidden=config.similarity_hidden,
                classes=config.scale,
                features=config.features,
                objective=config.objective,
                beside=len(pair_features.NAMES) if config.pair_features else 0,
            )
        else:
            self.head = Classifier(width, len(self.purpose.classes), dropout=config.dropout)

    # -------------------------------------------------------------------- words

    def ids(self, tokens: Iterable[str | None]) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Row numbers: a word's own, else its lower-cased form's, else the unknown word's.

        With `oov = "written"` a word without a row has that of the one word its writer meant, if there is one.
        """
        index = self.index
        rows = [
            NO_WORD
            if token is None
            else index.get(token) or index.get(token.lower()) or self._stranger(token)
            for token in tokens
        ]
        return np.array(rows, dtype=np.int64)

    def _stranger(self, token: str) -> int:
        if self.config.oov != "written":
            return NO_WORD
        rows = rows_for(token, self.index, written=True)
        return rows[0] if len(rows) == 1 else NO_WORD

    def add_words(self, words: Sequence[str], rows: Tensor) -> None:
        """Words that training did not meet, with their vectors."""
        for word in words:
            self.words.append(word)
            self.index[word] = len(self.words)
        self.table = torch.cat([self.table.detach(), rows.to(self.table)])
        if self.config.pair_features:
            self.rarity = torch.cat([self.rarity, self.rarity.new_ones(len(rows))])

    def relation_ids(self, tree: Tree) -> list[int] | None:
        """The id of every node's relation, for a layer that asks for them; one id for all that training had not."""
        if not self.config.kind.wants_relations:
            return None
        ids, other = {name: i for i, name in enumerate(self.relations)}, len(self.relations)
        return [ids.get(str(name), other) for name in tree.relations or (None,) * len(tree)]

    # ------------------------------------------------------------------- states

    def look_up(self, forest: Forest, words: Tensor | InTexts) -> Tensor:
        """(M, X) the vectors that the encoder reads; words (N,), the row of the table or the place of each node's."""
        nodes = self.layer.input_nodes(forest)
        if isinstance(words, Tensor):
            return self.vectors(words.index_select(0, nodes))
        assert self.encoder is not None
        return picked(self.encoder.words(words.texts), words.places.index_select(0, nodes))

    def vectors(self, rows: Tensor) -> Tensor:
        """(M,) row numbers -> (M, X). A table that learns gets a sparse gradient, of just these rows."""
        return functional.embedding(rows, self.table, sparse=True)

    def _dropped(self, x: Tensor, forest: Forest) -> Tensor:
        if self.training and self.config.input_dropout:
            return x * dropout_mask(x, len(x), x.shape[1], self.config.input_dropout)
        return x

    def sentences(self, x: Tensor, forest: Forest, others: Tensor | None = None) -> Tensor:
        """(M, X) of `look_up` -> (trees, width); `others` (trees,), the tree that each is compared with."""
        return self.layer.sentences(self._dropped(x, forest), forest, others)

    def states(self, x: Tensor, forest: Forest) -> tuple[Tensor, Tensor]:
        """(M, X) of `look_up` -> states (R, width), and for each node (N,) the row that holds its state."""
        return self.layer.rows(self._dropped(x, forest), forest)

    # ------------------------------------------------------------------ storage

    def save(self, folder: Path, *, card: str, facts: Mapping[str, Any] | None = None) -> None:
        """`config.json`, `vocab.txt`, `model.safetensors` and the card, `README.md`: see docs/format.md.

        A model over a transformer has it in the folder `encoder`, as `transformers` reads it.
        """
        if self.encoder is not None:
            with replacing_folder(folder / ENCODER) as temporary:
                self.encoder.save(temporary)
        if broken := next((word for word in self.words if "\n" in word), None):
            raise ValueError(f"the word {broken!r} has a line break, but `vocab.txt` has one word per line")
        meta = {
            "format": FORMAT,
            "config": self.config.as_dict(),
            "relations": list(self.relations),
            "purpose": self.purpose.as_dict(),
            **(facts or {}),
        }
        write_folder(
            folder,
            texts={
                "config.json": json.dumps(meta, indent=2, ensure_ascii=False) + "\n",
                "vocab.txt": "".join(f"{word}\n" for word in self.words),
                "README.md": card,
            },
            tensors={"model.safetensors": {name: t.contiguous() for name, t in self.tensors().items()}},
        )

    def tensors(self) -> dict[str, Tensor]:
        """Return what `model.safetensors` holds: all weights but those of a transformer, by their names there."""
        return {
            LAYER_IN_FILE + name.removeprefix(LAYER) if name.startswith(LAYER) else name: tensor
            for name, tensor in self.state_dict().items()
            if not name.startswith(f"{ENCODER}.")
        }

    def load_tensors(self, tensors: Mapping[str, Tensor], *, assign: bool = False) -> None:
        """Take over what `tensors` returned."""
        own = {
            LAYER + name.removeprefix(LAYER_IN_FILE) if name.startswith(LAYER_IN_FILE) else name: tensor
            for name, tensor in tensors.items()
        }
        self.load_state_dict({**self.state_dict(), **own}, assign=assign)

    @classmethod
    def load(cls, folder: Path | str, device: torch.device | str = "cpu") -> Model:
        """A model that `save` wrote; anything missing, torn or newer is a FormatError."""
        advice = f"`python -m bundle check {folder}` scores a shipped model"
        stored = read_model(Path(folder), None, FORMAT, advice=advice)
        with stored.readable():
            config = Config.stored(stored.meta["config"])
            purpose = Purpose(**stored.meta["purpose"])
            own = Path(folder) / ENCODER
            if config.encoder and not own.is_dir():
                raise FormatError(
                    f"no folder {ENCODER!r}, which holds the encoder under the tree", where=str(folder)
                )
            encoder = encoder_for(config, own)
            given = (config, purpose, stored.words, stored.meta["relations"], None, encoder)
            with torch.device("meta"):  # takes no memory, whatever sizes the settings ask for
                outline = cls(*given)
            tensors = stored.fitting(outline.tensors())
            model = cls(*given)
            model.load_tensors(tensors)
        return model.to(device).eval()


def encoder_for(config: Config, folder: Path | None = None) -> TransformerEmbeddings | None:
    """Return the transformer that a configuration asks for, if any: of a model's own folder, else by its name."""
    if not config.encoder:
        return None
    return TransformerEmbeddings(
        folder or config.encoder,
        freeze=config.encoder_freeze,
        pool=config.encoder_pool,
        dropout=config.encoder_dropout,
    )
