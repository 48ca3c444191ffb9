"""Contextual word embeddings of a pretrained encoder, as the input of any tree layer."""

import copy
import hashlib
import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from bough.data import user_cache
from bough.data.disk_cache import DiskCache, cache_key
from bough.models.encoder import quiet, read_encoder, split_encoder, states
from bough.models.subwords import Ints, SubwordTokenizer
from bough.nn.base import outside_compilation
from bough.trees.forest import Forest
from bough.trees.tree import Tree

log = logging.getLogger(__name__)
Words = Sequence[str]  # one text
Callback = Callable[[int, int], None]
MAX_BATCH = 4096  # subwords in a batch of the encoder
MAX_WRITE = 100_000  # subwords whose states are written to the cache together
MAX_TEXTS = 20_000  # texts whose subwords are in memory together
# settings whose names contain these do not change the states of frozen layers
_IRRELEVANT = ("dropout", "transformers_version", "dtype", "_name_or_path")


class TransformerEmbeddings(nn.Module):
    """Hidden states of an encoder of `transformers` as word embeddings for any tree layer.

    The first `freeze` layers are not trained, and their outputs can be cached on disk (`remember`).
    Weights are rounded to 16 bits when they are loaded, so that the model gives the same results
    after it was saved in 16 bits.

    Args:
        name: the folder of an encoder, its name in bough's cache (`encoders/NAME`), or its name on the hub.
        freeze: the number of layers, from the bottom, that are frozen together with the embeddings;
            -4 for all but the top four, None for all, 0 for nothing. With -4, an encoder of at most
            four layers is trained as a whole.
        pool: the state of a word is the "mean" of those of its subwords, or that of the "first".
        dropout: the dropout probability in the trained layers.

    Shape:
        a forest of N nodes -> (N, X), zeros for nodes without words.

    Examples:
        >>> import bough
        >>> words = bough.models.transformer.TransformerEmbeddings("all-MiniLM-L6-v2", freeze=3)  # doctest: +SKIP
        >>> tree = bough.Tree(parents=[2, 2, -1], tokens=["Very", "good", None])
        >>> forest = bough.Forest([tree])
        >>> layer = bough.nn.NaryTreeLSTM(words.width, 150, leaf="affine")  # doctest: +SKIP
        >>> h, c = layer(words(forest), forest)  # doctest: +SKIP
    """

    here: Tensor  # empty; has the device and the dtype of the module

    def __init__(
        self,
        name: str | Path,
        *,
        freeze: int | None = None,
        pool: Literal["mean", "first"] = "mean",
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        if pool not in ("mean", "first"):
            raise ValueError(f"pool={pool!r}: 'mean' or 'first'")
        whole, tokenizer = read_encoder(name, dropout)
        self.name, self.pool, self.width = Path(name).name, pool, int(whole.config.hidden_size)
        self.tokenizer = SubwordTokenizer(tokenizer, _limit(whole, tokenizer))
        example = torch.from_numpy(self.tokenizer.encode([["a", "word", "or", "two"]])[0].windows[0])[None]
        # a tuple, not a module, so that the frozen weights are no parameters of this module
        self.split = split_encoder(whole, freeze, example)
        self.upper = self.split.upper
        self.round()
        self.register_buffer("here", torch.zeros(0), persistent=False)
        self.cache: DiskCache | None = None
        self.train()

    def extra_repr(self) -> str:
        return f"{self.name!r}, freeze={self.split.freeze}, pool={self.pool!r}"

    @outside_compilation
    def forward(self, forest: Forest) -> Tensor:
        """Return (N, X) the states of the nodes' words; the words of a tree, in order, are one text."""
        # every tree is a text of its own: in training, equal texts have different dropout
        texts, places, before = [], [np.zeros(0, dtype=np.int64)], 0
        for tree in forest.trees:
            text, place = words_in_order(tree)
            places.append(np.where(place < 0, -1, place + before))
            texts.append(text)
            before += len(text)
        return rows_or_zeros(self.words(texts), torch.from_numpy(np.concatenate(places)))

    @outside_compilation
    def words(self, texts: Sequence[Words]) -> Tensor:
        """Return (words, X) the states of all words of the texts, in order."""
        encoded = self.tokenizer.encode(texts)
        windows = [window for one in encoded for window in one.windows]
        # the texts of a training step have similar lengths, so one batch needs little padding
        together = self.training and len(windows) * max(map(len, windows), default=0) <= MAX_BATCH
        groups = [range(len(windows))] if windows and together else _batches(windows, MAX_BATCH)
        rows, done = [self.here.new_zeros(0, self.width)], 0
        starts = np.zeros(len(windows), dtype=np.int64)
        for group in groups:
            h = self._states([windows[i] for i in group])  # (group, subwords, X)
            starts[list(group)] = done + h.shape[1] * np.arange(len(group))
            rows.append(h.flatten(0, 1))
            done += len(rows[-1])
        bounds, before = [np.zeros((0, 2), dtype=np.int64)], 0
        for one in encoded:
            bounds.append(starts[before + one.words[:, :1]] + one.words[:, 1:])
            before += len(one.windows)
        return self._pool(torch.cat(rows), np.concatenate(bounds))

    def _pool(self, rows: Tensor, bounds: Ints) -> Tensor:
        """Pool (subwords, X) to (words, X); `bounds` (words, 2) are the first and end subwords."""
        first = bounds[:, 0]
        counts = bounds[:, 1] - first if self.pool == "mean" else np.ones(len(bounds), dtype=np.int64)
        if (counts == 1).all():
            return rows.index_select(0, torch.from_numpy(first).to(rows.device))
        ends = np.cumsum(counts)
        subwords = np.arange(ends[-1]) + np.repeat(first - (ends - counts), counts)
        owners = torch.from_numpy(np.repeat(np.arange(len(bounds)), counts)).to(rows.device)
        read = rows.index_select(0, torch.from_numpy(subwords).to(rows.device))
        sums = rows.new_zeros(len(bounds), rows.shape[1]).index_add(0, owners, read)
        return sums / torch.from_numpy(counts).to(rows.device, rows.dtype).unsqueeze(1)

    def _states(self, windows: Sequence[Ints]) -> Tensor:
        """Return (windows, subwords, X) the states of windows, padded to the longest."""
        ids, mask = self._padded(windows)
        if self.split.lower is None:
            assert self.upper is not None
            return states(self.upper, mask, input_ids=ids)
        kept = [None if self.cache is None else self.cache.get(cache_key(one.tobytes())) for one in windows]
        if all(kept):
            rows = [torch.frombuffer(bytearray(own), dtype=torch.float16) for own in kept if own]
            h = pad_sequence([row.view(-1, self.width) for row in rows], batch_first=True)
        else:
            h = self._frozen(ids, mask)
        h = h.to(self.here)
        return h if self.upper is None else states(self.upper, mask, inputs_embeds=h)

    def _padded(self, windows: Sequence[Ints]) -> tuple[Tensor, Tensor]:
        """Return (windows, longest) the padded subwords, and a mask that is 1 for subwords."""
        ids = pad_sequence([torch.from_numpy(window) for window in windows], batch_first=True)
        mask = torch.arange(ids.shape[1]) < torch.tensor([[len(window)] for window in windows])
        return ids.to(self.here.device), mask.long().to(self.here.device)

    @torch.no_grad()
    def _frozen(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Return the states of the frozen layers in 16 bits. Raise a ValueError if they overflow."""
        assert self.split.lower is not None
        h = states(self.split.lower.to(ids.device).eval(), mask, input_ids=ids).half()
        if not bool(h.isfinite().all()):
            layer = self.split.freeze
            raise ValueError(f"{self.name}: its states after layer {layer} do not fit into 16 bits")
        return h

    def remember(
        self, texts: Iterable[Words], folder: Path | None = None, callback: Callback | None = None
    ) -> None:
        """Compute the states of the frozen layers for some texts, and cache them on disk.

        Args:
            texts: each a sequence of words.
            folder: the folder of the cache; None for bough's own.
            callback: called with the number of subwords done and the total, for up to 20,000 texts at a time.
        """
        if self.split.lower is None:
            return
        path = (folder or user_cache() / "contextual") / f"{self.fingerprint}.sqlite"
        if self.cache is None or self.cache.path != path:
            self.cache = DiskCache(path)
        source = iter(texts)
        while some := list(islice(source, MAX_TEXTS)):
            encoded = self.tokenizer.encode(some)
            windows = {cache_key(window.tobytes()): window for one in encoded for window in one.windows}
            unknown = [window for key, window in windows.items() if self.cache.get(key) is None]
            new = sorted(unknown, key=lambda window: (len(window), window.tobytes()))
            total, done = sum(map(len, new)), 0
            if new:
                log.info("%s: caching %d frozen layers of %d windows", self.name, self.split.freeze, len(new))
            for group in _batches(new, MAX_WRITE):
                own, found = [new[i] for i in group], []
                for few in _batches(own, MAX_BATCH):
                    part = [own[i] for i in few]
                    h = self._frozen(*self._padded(part)).cpu().numpy()
                    found += [rows[: len(window)] for rows, window in zip(h, part, strict=True)]
                    done += sum(map(len, part))
                    if callback is not None:
                        callback(done, total)
                keys = [cache_key(window.tobytes()) for window in own]
                self.cache.add(zip(keys, (rows.tobytes() for rows in found), strict=True))

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the frozen layers and the tokenizer, which identifies the states that they compute."""
        whole: Any = self.split.whole
        config: dict[str, Any] = whole.config.to_dict()
        config = {k: v for k, v in config.items() if not any(part in k for part in _IRRELEVANT)}
        tokenizer = json.loads(self.tokenizer.tokenizer.backend_tokenizer.to_str())
        tokenizer |= {"truncation": None, "padding": None}  # set by every call, so not part of the hash
        digest = hashlib.sha256(json.dumps([config, tokenizer], sort_keys=True, default=str).encode())
        for name, tensor in self.split.lower.state_dict().items() if self.split.lower is not None else ():
            digest.update(name.encode())
            digest.update(tensor.cpu().contiguous().view(-1).view(torch.uint8).numpy().data)
        return digest.hexdigest()[:16]

    def rates(self, rate: float, decay: float) -> Iterator[tuple[Mapping[str, Tensor], float]]:
        """Yield the trained parameters by name, and their learning rates: `rate`, times `decay` per layer below."""
        names = {id(p): name for name, p in self.named_parameters() if p.requires_grad}
        layers = self.split.layers
        for depth, layer in enumerate(reversed(layers)):
            yield {names.pop(id(p)): p for p in layer.parameters()}, rate * decay**depth
        rest = {name: p for name, p in self.named_parameters() if id(p) in names}
        if rest:
            yield rest, rate * decay ** len(layers)

    @torch.no_grad()
    def round(self) -> None:
        """Round the weights to 16 bits, as `save` writes them."""
        for p in self.split.whole.parameters():
            p.copy_(p.half())

    def save(self, folder: Path) -> None:
        """Write the trained encoder in 16 bits, in the format of `transformers`."""
        with quiet():
            half: Any = copy.deepcopy(self.split.whole).half()
            half.save_pretrained(folder)
            self.tokenizer.tokenizer.backend_tokenizer.no_truncation()
            self.tokenizer.tokenizer.save_pretrained(folder)


def words_in_order(tree: Tree) -> tuple[tuple[str, ...], Ints]:
    """Return the words of a tree, and (n,) the index of each node's word among them, -1 for none."""
    tokens = tree.tokens or (None,) * len(tree)
    nodes = [node for node in tree.words.tolist() if tokens[node] is not None]
    place = np.full(len(tree), -1, dtype=np.int64)
    place[nodes] = np.arange(len(nodes))
    return tuple(str(tokens[node]) for node in nodes), place


def joined_words(texts: Iterable[tuple[Words, Ints]]) -> tuple[list[Words], Ints]:
    """Return the distinct texts, and (N,) the index of each node's word among all their words, -1 for none.

    Each text comes with the index of each node's word in it, as `words_in_order` returns them.
    """
    starts: dict[Words, int] = {}
    before, places = 0, [np.zeros(0, dtype=np.int64)]
    for text, place in texts:
        if text not in starts:
            starts[text] = before
            before += len(text)
        places.append(np.where(place < 0, -1, place + starts[text]))
    return list(starts), np.concatenate(places)


def rows_or_zeros(rows: Tensor, places: Tensor) -> Tensor:
    """Return (n, X) the rows at the indices `places` (n,); zeros for -1."""
    padded = torch.cat([rows, rows.new_zeros(1, rows.shape[1])])
    return padded.index_select(0, places.to(rows.device) % len(padded))


def _batches(windows: Sequence[Ints], most: int) -> Iterator[list[int]]:
    """Yield batches of windows by index, shortest first, of at most `most` subwords with padding."""
    group: list[int] = []
    for i in sorted(range(len(windows)), key=lambda i: len(windows[i])):
        if group and len(windows[i]) * (len(group) + 1) > most:
            yield group
            group = []
        group.append(i)
    if group:
        yield group


def _limit(model: Any, tokenizer: Any) -> int:
    """Return the most subwords; in some architectures positions begin after the padding index."""
    positions = int(getattr(model.config, "max_position_embeddings", 0) or 0)
    positions = positions if positions > 0 else 512
    tables = [m for name, m in model.named_modules() if name.endswith("position_embeddings")]
    late = next((m.padding_idx + 1 for m in tables if getattr(m, "padding_idx", None) is not None), 0)
    return min(positions - late, int(min(tokenizer.model_max_length, 100_000)))
