"""The states of a pretrained encoder, pooled to words: what any tree layer can read as its x."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from bough.contextual.encoder import Encoder, states
from bough.contextual.memory import Halves, Memory
from bough.contextual.pieces import Encoded, Ints
from bough.data import user_cache
from bough.trees.forest import Forest

log = logging.getLogger(__name__)
T = TypeVar("T")
Text = Sequence[str]
Pool = Literal["mean", "first"]
AT_ONCE = 4096  # pieces that the frozen layers read together
IN_A_FILE = 100_000  # pieces whose states are written together


class Leaves(nn.Module):
    """Words in their sentence: any encoder that `transformers` knows as the source of x for any tree layer.

    Its first `freeze` layers stay as they are; what they make of a text is computed once and can be kept on disk
    (`remember`). The layers above learn with everything else.

    Args:
        name: the folder of an encoder, its name in bough's cache (`encoders/NAME`), or its name on the hub.
        freeze: how many layers stay as they are, from below, and the embeddings with them; -4 for all but the top
            four, None for all of them, 0 for none, not even the embeddings.
        pool: a word's state is the "mean" of its pieces' or that of the "first".
        dropout: inside the layers that learn.

    Shape:
        a forest of N nodes -> (N, X), zeros where a node has no word.

    Examples:
        >>> import bough
        >>> leaves = bough.contextual.Leaves("all-MiniLM-L6-v2", freeze=3)  # doctest: +SKIP
        >>> tree = bough.Tree(parents=[2, 2, -1], tokens=["Very", "good", None])
        >>> forest = bough.Forest([tree])
        >>> layer = bough.nn.NaryTreeLSTM(leaves.width, 150)  # doctest: +SKIP
        >>> h, c = layer(leaves(forest), forest)  # doctest: +SKIP
    """

    def __init__(
        self, name: str | Path, *, freeze: int | None = None, pool: Pool = "mean", dropout: float = 0.1
    ) -> None:
        super().__init__()
        if pool not in ("mean", "first"):
            raise ValueError(f"pool={pool!r}: 'mean' or 'first'")
        self.name, self.pool = Path(name).name, pool
        self.encoder = _Apart(Encoder(name, freeze, dropout))
        self.upper = self.encoder.it.upper
        self.width = self.encoder.it.width
        self.memory: Memory | None = None
        self._encoded: dict[tuple[str, ...], Encoded] = {}

    def extra_repr(self) -> str:
        return f"{self.name!r}, freeze={self.encoder.it.freeze}, pool={self.pool!r}"

    # ------------------------------------------------------------------- states

    def forward(self, forest: Forest) -> Tensor:
        """(N, X) the state of every node's word, in the sentence that the words of its tree make."""
        texts, places, before = [], [], 0
        for tree in forest.trees:
            tokens = tree.tokens or (None,) * len(tree)
            nodes = [node for node in tree.words.tolist() if tokens[node] is not None]
            texts.append([str(tokens[node]) for node in nodes])
            place = np.full(len(tree), -1, dtype=np.int64)
            place[nodes] = before + np.arange(len(nodes))
            places.append(place)
            before += len(nodes)
        where = torch.from_numpy(np.concatenate([*places, np.zeros(0, np.int64)]))
        return picked(self.words(texts), where.to(forest.device))

    def words(self, texts: Sequence[Text]) -> Tensor:
        """(words, X) the states of all words of the texts, in order."""
        encoded = self._pieces(texts)
        order = sorted(range(len(encoded)), key=lambda i: sum(map(len, encoded[i].windows)))
        rows = [torch.zeros(0, self.width, device=self._device())]
        starts, done = np.zeros(len(encoded), dtype=np.int64), 0
        most = (
            sys.maxsize if self.training else AT_ONCE
        )  # a step's texts are of one length, and dropped as one
        for group in _grouped(order, lambda i: encoded[i].windows, most):
            rows.append(self._together([encoded[i] for i in group]))
            for i in group:
                starts[i] = done
                done += len(encoded[i].words)
        places = [start + np.arange(len(one.words)) for start, one in zip(starts, encoded, strict=True)]
        where = torch.from_numpy(np.concatenate([*places, np.zeros(0, np.int64)]))
        return torch.cat(rows).index_select(0, where.to(rows[0].device))

    def _together(self, encoded: Sequence[Encoded]) -> Tensor:
        """(words, X) of texts that are read as one batch."""
        h = self._states([window for one in encoded for window in one.windows])  # (windows, pieces, X)
        words, before = [], 0
        for one in encoded:
            words.append(one.words + np.array([before, 0, 0]))
            before += len(one.windows)
        return self._pooled(h, np.concatenate(words))

    def _pooled(self, h: Tensor, words: Ints) -> Tensor:
        """(windows, pieces, X) and words (W, 3) -> (W, X)."""
        first = words[:, 0] * h.shape[1] + words[:, 1]
        counts = words[:, 2] - words[:, 1] if self.pool == "mean" else np.ones(len(words), dtype=np.int64)
        flat = h.reshape(-1, h.shape[2])
        if (counts == 1).all():
            return flat.index_select(0, torch.from_numpy(first).to(h.device))
        ends = np.cumsum(counts)
        pieces = np.arange(ends[-1]) + np.repeat(first - (ends - counts), counts)
        owners = torch.from_numpy(np.repeat(np.arange(len(words)), counts)).to(h.device)
        rows = flat.index_select(0, torch.from_numpy(pieces).to(h.device))
        sums = flat.new_zeros(len(words), flat.shape[1]).index_add(0, owners, rows)
        return sums / torch.from_numpy(counts).to(h.device, h.dtype).unsqueeze(1)

    def _states(self, windows: Sequence[Ints]) -> Tensor:
        """(windows, pieces, X), the shorter ones filled up to the longest."""
        ids, mask = self._filled(windows)
        if self.encoder.it.lower is None:
            assert self.upper is not None
            return states(self.upper, mask, input_ids=ids)
        h = self._remembered(windows, ids)
        if h is None:
            h = self._frozen(ids, mask).to(torch.float32)
        return h if self.upper is None else states(self.upper, mask, inputs_embeds=h)

    def _filled(self, windows: Sequence[Ints]) -> tuple[Tensor, Tensor]:
        """(windows, longest) their pieces, and 1 where there is one."""
        ids, mask = np.zeros((2, len(windows), max(map(len, windows))), dtype=np.int64)
        for row, window in enumerate(windows):
            ids[row, : len(window)], mask[row, : len(window)] = window, 1
        return tuple(torch.from_numpy(both).to(self._device()) for both in (ids, mask))  # type: ignore[return-value]

    def _remembered(self, windows: Sequence[Ints], ids: Tensor) -> Tensor | None:
        """What is kept of all these windows, or None."""
        if self.memory is None:
            return None
        h = np.zeros((*ids.shape, self.width), dtype=np.float16)
        for row, window in enumerate(windows):
            found = self.memory.get(window)
            if found is None:
                return None
            h[row, : len(found)] = found
        return torch.from_numpy(h).to(ids.device, torch.float32)

    @torch.no_grad()
    def _frozen(self, ids: Tensor, mask: Tensor) -> Tensor:
        """In 16 bits, as they are kept."""
        lower = self.encoder.it.lower
        assert lower is not None
        lower.to(ids.device).eval()
        return states(lower, mask, input_ids=ids).half()

    # ------------------------------------------------------------------- memory

    def remember(
        self,
        texts: Sequence[Text],
        folder: Path | None = None,
        tell: Callable[[int, int], None] | None = None,
    ) -> None:
        """Compute what the frozen layers make of some texts, and keep it on disk, so that it is computed once.

        Args:
            texts: each a sequence of words.
            folder: where; None for bough's cache.
            tell: called with the number of pieces done and that of all.
        """
        encoder = self.encoder.it
        if encoder.lower is None:
            return
        if self.memory is None:
            self.memory = Memory((folder or user_cache() / "contextual") / encoder.fingerprint())
        self.memory.refresh()
        windows = [w for one in self._pieces(texts, keep=True) for w in one.windows if w not in self.memory]
        distinct = sorted({w.tobytes(): w for w in windows}.values(), key=lambda w: (len(w), w.tobytes()))
        total, done = sum(map(len, distinct)), 0
        if total:
            log.info("%s: %d layers read %d texts, once", self.name, encoder.freeze, len(distinct))
        for group in _grouped(distinct, lambda window: [window], IN_A_FILE):
            found: list[Halves] = []
            for part in _grouped(group, lambda window: [window], AT_ONCE):
                h = self._frozen(*self._filled(part)).cpu().numpy()
                found += [rows[: len(window)] for rows, window in zip(h, part, strict=True)]
                done += sum(map(len, part))
                if tell is not None:
                    tell(done, total)
            self.memory.add(group, found)

    def _pieces(self, texts: Sequence[Text], *, keep: bool = False) -> list[Encoded]:
        """Each text's pieces; those of texts that were kept are known."""
        keys = [tuple(text) for text in texts]
        new = [key for key in dict.fromkeys(keys) if key not in self._encoded]
        found = dict(zip(new, self.encoder.it.pieces.encode(new), strict=True))
        if keep:
            self._encoded |= found
        return [self._encoded.get(key) or found[key] for key in keys]

    def _device(self) -> torch.device:
        some = next(iter((self.upper or self.encoder.it.whole).parameters()))
        return some.device

    # ----------------------------------------------------------------- learning

    def rates(self, rate: float, decay: float) -> Iterator[tuple[Mapping[str, Tensor], float]]:
        """What learns, by name, with its rate: the top layer's is `rate`, each one's below `decay` times that."""
        names = {id(p): name for name, p in self.named_parameters() if p.requires_grad}
        layers = self.encoder.it.layers
        for depth, layer in enumerate(reversed(layers)):
            yield {names.pop(id(p)): p for p in layer.parameters()}, rate * decay**depth
        rest = {name: p for name, p in self.named_parameters() if id(p) in names}
        if rest:
            yield rest, rate * decay ** len(layers)

    def save(self, folder: Path) -> None:
        """The encoder with what it has learned, as `transformers` reads it; weights in 16 bits."""
        self.encoder.it.save(folder)


class _Apart:
    """Holds what is not to count among the weights of a module."""

    def __init__(self, it: Encoder) -> None:
        self.it = it


def picked(rows: Tensor, places: Tensor) -> Tensor:
    """(n, X) the rows at some places; zeros where a place is -1."""
    if len(rows) and bool((places >= 0).all()):
        return rows.index_select(0, places)
    return torch.cat([rows, rows.new_zeros(1, rows.shape[1])]).index_select(
        0, torch.where(places < 0, len(rows), places)
    )


def _grouped(items: Sequence[T], windows: Callable[[T], Sequence[Ints]], most: int) -> Iterator[list[T]]:
    """In order, with at most so many pieces together, all windows filled up to the longest."""
    group: list[T] = []
    longest = count = 0
    for item in items:
        own = windows(item)
        longest, count = max([longest, *map(len, own)]), count + len(own)
        if group and longest * count > most:
            yield group
            group, longest, count = [], max(map(len, own), default=0), len(own)
        group.append(item)
    if group:
        yield group
