"""A model: vocabulary, word table, layer and head, saved as one folder."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Self, get_args

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from bough.data.oov import rows_for
from bough.errors import FormatError
from bough.files import StoredModel, outline, read_model, replacing_folder, sha256
from bough.models.config import Config
from bough.models.inputs import InputSpec, NodeBatch, NodeInputs, WordBags
from bough.models.transformer import TransformerEmbeddings, rows_or_zeros
from bough.nn import TreeLayer
from bough.nn.dropout import dropout_mask
from bough.outputs import Output, read_output
from bough.trees.forest import Forest
from bough.trees.tree import Tree

FORMAT = 3
FORMATS = (2, FORMAT)  # that can be read
Trees = Literal["sentences", "joined", "sentence", "whole", "chain", "balanced", "given"]
UNKNOWN = "<unk>"
LAYER, LAYER_IN_FILE = "layer.", "encoder."  # prefixes of the layer's weights, in the model and in its file
ENCODER = "encoder"  # the attribute of a transformer, and its folder in the folder of the model
NO_WORD = 0  # the row of a node without a word, and of the unknown word


class WordsInTexts(NamedTuple):
    """Texts for a transformer, and for each node (N,) the index of its word among all their words, -1 for none."""

    positions: Tensor
    texts: Sequence[Sequence[str]]


# rows (N,) of the table, words of a transformer, or several rows for each node
Words = Tensor | WordsInTexts | WordBags


class Model(nn.Module):
    """A model: inputs, layer and head.

    Row 0 of `table` is that of the unknown word; row 1 + i is that of `words[i]`. All relations
    that are not in `relations` have the last id. `inputs` is None if nodes have only words. `trees`
    are the trees that the model reads: one per sentence ("sentences"), one per sentence and one that
    joins them for the text ("joined"), one for a text that is a single sentence ("sentence"), only
    the joined one ("whole"), a chain or a balanced tree of words without a parser ("chain",
    "balanced"), or trees instead of texts ("given").
    """

    kind: ClassVar[str | None] = None  # in `config.json`
    table: Tensor

    def __init__(
        self,
        config: Config,
        output: Output,
        words: Sequence[str],
        relations: Sequence[str] = (),
        table: Tensor | None = None,
        encoder: TransformerEmbeddings | None = None,
        input_spec: InputSpec | None = None,
        *,
        trees: Trees = "sentences",
    ) -> None:
        super().__init__()
        self.encoder = encoder or encoder_for(config)
        if self.encoder is not None:
            config = config.with_settings({"embedding_size": self.encoder.width})
        self.config, self.words, self.relations = config, list(words), tuple(relations)
        if trees not in get_args(Trees):
            raise ValueError(f"trees {trees!r}: one of {', '.join(map(repr, get_args(Trees)))}")
        self.output, self.trees = output, trees
        self.index = {word: i + 1 for i, word in enumerate(self.words)}
        if table is None:
            table = torch.zeros(len(self.words) + 1, config.embedding_size)
        if table.shape != (len(self.words) + 1, config.embedding_size):
            given = f"word vectors of {table.shape[1]} dimensions for {len(table) - 1:,} words"
            wanted = f"{config.embedding_size} for {len(self.words):,} (set embedding_size={table.shape[1]})"
            raise ValueError(f"{given}; the model wants {wanted}")
        self.register_buffer("table", table)
        self.inputs: NodeInputs | None = None
        if input_spec is not None and (input_spec.categories or input_spec.numbers):
            self.inputs = NodeInputs(input_spec, config.embedding_size, config.category_size, config.combine)
        self.edges: list[int] = []  # the columns of numbers that the layer reads at edges
        if self.inputs is not None and config.kind.wants_edges:
            self.edges = self.inputs.edge_columns
        width = self.inputs.width if self.inputs else None
        self.layer = config.build_layer(len(self.relations) + 1, width, len(self.edges))
        self.head: Any = output.head(self.layer.width, config)

    def ids(self, tokens: Iterable[str | None]) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Return (n,) the row of each token: that of the word, else of its lower-case form, else of the unknown word.

        With `oov = "written"`, an out-of-vocabulary word has the row of the single word that `bough.data.oov` finds.
        """
        index = self.index
        rows = [NO_WORD if token is None else index.get(token) or self._oov_row(token) for token in tokens]
        return np.array(rows, dtype=np.int64)

    def _oov_row(self, token: str) -> int:
        row = self.index.get(token.lower(), NO_WORD)
        if row == NO_WORD and self.config.oov == "written":
            rows = rows_for(token, self.index, written=True)
            return rows[0] if len(rows) == 1 else NO_WORD
        return row

    def forget_oov(self) -> None:
        """Clear the cache of out-of-vocabulary words, if there is one, between two batches."""

    def add_words(self, words: Sequence[str], rows: Tensor) -> None:
        """Add words and their vectors after training."""
        for word in words:
            self.words.append(word)
            self.index[word] = len(self.words)
        self.table = torch.cat([self.table.detach(), rows.to(self.table)])

    def relation_ids(self, tree: Tree) -> list[int] | None:
        """Return the id of each node's relation if the layer reads them; unseen ones have the last id."""
        if not self.config.kind.wants_relations:
            return None
        ids, other = {name: i for i, name in enumerate(self.relations)}, len(self.relations)
        return [ids.get(str(name), other) for name in tree.relations or (None,) * len(tree)]

    def look_up(self, forest: Forest, inputs: Words | NodeBatch) -> Tensor:
        """Return (M, X) the inputs of the layer; `forest` and `inputs` are those that `collate` returned."""
        nodes = self.layer.input_nodes(forest)
        if isinstance(inputs, NodeBatch):
            assert self.inputs is not None
            words = self._word_vectors(inputs.words, nodes) if self.inputs.spec.tokens else None
            categories, numbers = (
                part.index_select(0, nodes) for part in (inputs.categories, inputs.numbers)
            )
            x = self.inputs.forward(words, categories, numbers)
        else:
            x = self._word_vectors(inputs, nodes)
        if self.training and self.config.input_dropout:
            x = x * dropout_mask(x, len(x), x.shape[1], self.config.input_dropout)
        return x

    def _word_vectors(self, words: Words, nodes: Tensor) -> Tensor:
        if isinstance(words, Tensor):
            return self.vectors(words.index_select(0, nodes))
        if isinstance(words, WordBags):
            means = functional.embedding_bag(words.rows, self.table, words.starts, mode="mean", sparse=True)
            return means.index_select(0, nodes)
        assert self.encoder is not None
        return rows_or_zeros(self.encoder.words(words.texts), words.positions.index_select(0, nodes))

    def vectors(self, rows: Tensor) -> Tensor:
        """Return (M, X) the rows (M,) of the table; its gradient is sparse."""
        return functional.embedding(rows, self.table, sparse=True)

    def states(self, forest: Forest, inputs: Words | NodeBatch) -> tuple[Tensor, Tensor]:
        """Return states (R, width), and (N,) the row of each node's state, from what `collate` returned."""
        x = self.look_up(forest, inputs)
        if not self.edges:
            return self.layer.rows(x, forest)
        assert isinstance(inputs, NodeBatch)
        assert isinstance(self.layer, TreeLayer)
        edges = inputs.numbers.index_select(0, forest.edge_index[0])[:, self.edges]
        return self.layer.rows(x, forest, edges)

    def sentences(self, forest: Forest, inputs: Words | NodeBatch, others: Tensor | None = None) -> Tensor:
        """Return (trees, width) the vectors of trees; `others` (trees,) are the trees to compare them with."""
        if self.edges:
            states, row_of = self.states(forest, inputs)
            return states.index_select(0, row_of.index_select(0, forest.roots))
        return self.layer.sentences(self.look_up(forest, inputs), forest, others)

    def save(self, folder: Path, *, card: str, facts: Mapping[str, Any] | None = None) -> None:
        """Write `config.json`, `vocab.txt`, `model.safetensors` and the card, `README.md`; see docs/format.md.

        The transformer of a model is written to the folder `encoder`, in the format of
        `transformers`. `facts` are added to `config.json`. Raise a ValueError if a word has a line
        break.
        """
        if broken := next((word for word in self.words if "\n" in word), None):
            raise ValueError(f"the word {broken!r} has a line break, but `vocab.txt` has one word per line")
        meta = {
            "format": FORMAT,
            "config": self.config.as_dict(),
            "relations": list(self.relations),
            "output": self.output.as_dict(),
            "trees": self.trees,
            **({"inputs": asdict(self.inputs.spec)} if self.inputs else {}),
            **({"kind": self.kind} if self.kind else {}),
            **(facts or {}),
        }
        tensors = {name: tensor.contiguous() for name, tensor in self.tensors().items()}
        stored = StoredModel(folder, meta, self.words, tensors)
        if self.encoder is None:
            stored.write(card)
            return
        with replacing_folder(folder / ENCODER) as temporary:
            self.encoder.save(temporary)
            files = sorted(path for path in temporary.rglob("*") if path.is_file())
            stored.write(
                card, {f"{ENCODER}/{path.relative_to(temporary).as_posix()}": sha256(path) for path in files}
            )

    def tensors(self) -> dict[str, Tensor]:
        """Return the contents of `model.safetensors`: all weights except those of a transformer."""
        return {
            LAYER_IN_FILE + name.removeprefix(LAYER) if name.startswith(LAYER) else name: tensor
            for name, tensor in self.state_dict().items()
            if not name.startswith(f"{ENCODER}.")
        }

    @classmethod
    def load(cls, folder: Path | str, device: torch.device | str = "cpu") -> Self:
        """Load a model that `save` wrote. Raise a FormatError if it is damaged, newer or of another kind."""
        advice = "" if cls.kind else f"`python -m bundle check {folder}` scores a bundled model"
        return cls.from_stored(read_model(Path(folder), [cls.kind], FORMATS, advice=advice), device)

    @classmethod
    def from_stored(cls, stored: StoredModel, device: torch.device | str = "cpu") -> Self:
        """Return the model of a folder that was read. Raise a FormatError if its files do not fit together."""
        with stored.readable():
            settings, outcome = dict(stored.meta["config"]), dict(stored.meta["output"])
            if stored.meta["format"] == 2:  # it has `trees` in `output`, and `task` in `config`
                stored.meta.setdefault("trees", outcome.pop("trees"))
                settings.pop("task", None)
            trees = stored.meta["trees"]
            config = Config().with_settings(settings)
            inputs = cls._stored_inputs(config, stored)
            given = (config, read_output(outcome), stored.words, stored.meta["relations"], *inputs)
            with outline():
                model = cls(*given, trees=trees)
            weights = {}
            for name, tensor in stored.fitting(model.tensors()).items():
                if name.startswith(LAYER_IN_FILE):
                    name = LAYER + name.removeprefix(LAYER_IN_FILE)
                # a bundled model is not trained, so its weights need no copy of the file
                weights[name] = tensor if cls.kind else tensor.clone()
            if _has_unstored_tensors(model, weights):
                model = cls(*given, trees=trees)
            model.load_state_dict(weights, strict=False, assign=True)  # `fitting` has compared the names
        return model.to(device).eval()

    @classmethod
    def _stored_inputs(cls, config: Config, stored: StoredModel) -> tuple[Any, ...]:
        """Return the last arguments of the constructor: no table, the transformer, the columns."""
        folder = stored.folder / ENCODER
        if config.encoder and not folder.is_dir():
            reason = f"no folder {ENCODER!r}, which holds the encoder under the tree"
            raise FormatError(reason, where=str(stored.folder))
        return None, encoder_for(config, folder), InputSpec.from_dict(stored.meta.get("inputs", {}))


def encoder_for(config: Config, folder: Path | None = None) -> TransformerEmbeddings | None:
    """Return the transformer of a configuration, from `folder` if given, or None."""
    if not config.encoder:
        return None
    freeze, pool, dropout = config.encoder_freeze, config.encoder_pool, config.encoder_dropout
    return TransformerEmbeddings(folder or config.encoder, freeze=freeze, pool=pool, dropout=dropout)


def _has_unstored_tensors(model: nn.Module, weights: Mapping[str, Tensor]) -> bool:
    """Return whether an outline has tensors that are not in its file, such as buffers that are not persistent."""
    for prefix, module in model.named_modules():
        for name, value in {**vars(module), **module._buffers}.items():
            if isinstance(value, Tensor) and value.is_meta and f"{prefix}.{name}".lstrip(".") not in weights:
                return True
    return False
