"""The states of a pretrained encoder, pooled to words: what any tree layer can read as its x."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from bough.data import user_cache
from bough.models.activation_cache import Halves, Memory
from bough.models.encoder import Encoder, states
from bough.models.subwords import Encoded, Ints
from bough.nn.base import outside_compilation
from bough.trees.forest import Forest
from bough.trees.tree import Tree

log = logging.getLogger(__name__)
Text = Sequence[str]
Pool = Literal["mean", "first"]
AT_ONCE = 4096  # pieces that the frozen layers read together
IN_A_FILE = 100_000  # pieces whose states are written together
HELD = 20_000  # texts whose pieces are kept ready


class TransformerEmbeddings(nn.Module):
    """Words in their sentence: an encoder of `transformers` as the source of x for any tree layer.

    Its first `freeze` layers stay as they are; what they make of a text is computed once and can be kept on disk
    (`remember`). The layers above learn with everything else.

    Args:
        name: the folder of an encoder, its name in bough's cache (`encoders/NAME`), or its name on the hub.
        freeze: how many layers stay as they are, from below, and the embeddings with them; -4 for all but the top
            four, None for all of them, 0 for none, not even the embeddings. An encoder of four layers or fewer has
            none left to freeze at -4, and learns as a whole.
        pool: a word's state is the "mean" of its pieces' or that of the "first".
        dropout: inside the layers that learn.

    Shape:
        a forest of N nodes -> (N, X), zeros where a node has no word.

    Examples:
        >>> import bough
        >>> words = bough.models.transformer.TransformerEmbeddings("all-MiniLM-L6-v2", freeze=3)  # doctest: +SKIP
        >>> tree = bough.Tree(parents=[2, 2, -1], tokens=["Very", "good", None])
        >>> forest = bough.Forest([tree])
        >>> layer = bough.nn.NaryTreeLSTM(words.width, 150)  # doctest: +SKIP
        >>> h, c = layer(words(forest), forest)  # doctest: +SKIP
    """

    here: Tensor  # moves with the module, and says where and of what type the states are to be

    def __init__(
        self, name: str | Path, *, freeze: int | None = None, pool: Pool = "mean", dropout: float = 0.1
    ) -> None:
        super().__init__()
        if pool not in ("mean", "first"):
            raise ValueError(f"pool={pool!r}: 'mean' or 'first'")
        self.name, self.pool = Path(name).name, pool
        self.encoder = Encoder(name, freeze, dropout)  # not a module: what is frozen is no weight of this one
        self.upper = self.encoder.upper
        self.width = self.encoder.width
        self.register_buffer("here", torch.zeros(0), persistent=False)
        self.memory: Memory | None = None
        self._encoded: dict[tuple[str, ...], Encoded] = {}
        self.train()

    def extra_repr(self) -> str:
        return f"{self.name!r}, freeze={self.encoder.freeze}, pool={self.pool!r}"

    # ------------------------------------------------------------------- states

    @outside_compilation
    def forward(self, forest: Forest) -> Tensor:
        """(N, X) the state of every node's word, in the sentence that the words of its tree make."""
        texts, places, before = [], [], 0
        for tree in forest.trees:
            text, place = in_order(tree)
            places.append(np.where(place < 0, -1, place + before))
            texts.append(text)
            before += len(text)
        where = torch.from_numpy(np.concatenate([*places, np.zeros(0, np.int64)]))
        return picked(self.words(texts), where)

    @outside_compilation
    def words(self, texts: Sequence[Text]) -> Tensor:
        """(words, X) the states of all words of the texts, in order."""
        encoded = self._pieces(texts)
        windows = [window for one in encoded for window in one.windows]
        # a step's texts are about of one length, and their dropout is drawn for all of them together
        together = self.training and len(windows) * max(map(len, windows), default=0) <= AT_ONCE
        groups = [range(len(windows))] if together else _grouped(windows, AT_ONCE)
        rows, done = [self.here.new_zeros(0, self.width)], 0
        starts = np.zeros(len(windows), dtype=np.int64)
        for group in groups if windows else ():
            h = self._states([windows[i] for i in group])  # (group, pieces, X)
            starts[list(group)] = done + h.shape[1] * np.arange(len(group))
            rows.append(h.flatten(0, 1))
            done += len(rows[-1])
        before = np.cumsum([0, *(len(one.windows) for one in encoded)])
        parts = [
            starts[n + one.words[:, :1]] + one.words[:, 1:] for n, one in zip(before, encoded, strict=False)
        ]
        return self._pooled(torch.cat(rows), np.concatenate([*parts, np.zeros((0, 2), np.int64)]))

    def _pooled(self, rows: Tensor, words: Ints) -> Tensor:
        """(pieces, X), and the first and the last of each word, exclusively, (W, 2) -> (W, X)."""
        first = words[:, 0]
        counts = words[:, 1] - first if self.pool == "mean" else np.ones(len(words), dtype=np.int64)
        if (counts == 1).all():
            return rows.index_select(0, torch.from_numpy(first).to(rows.device))
        ends = np.cumsum(counts)
        pieces = np.arange(ends[-1]) + np.repeat(first - (ends - counts), counts)
        owners = torch.from_numpy(np.repeat(np.arange(len(words)), counts)).to(rows.device)
        read = rows.index_select(0, torch.from_numpy(pieces).to(rows.device))
        sums = rows.new_zeros(len(words), rows.shape[1]).index_add(0, owners, read)
        return sums / torch.from_numpy(counts).to(rows.device, rows.dtype).unsqueeze(1)

    def _states(self, windows: Sequence[Ints]) -> Tensor:
        """(windows, pieces, X), the shorter ones filled up to the longest."""
        ids, mask = self._filled(windows)
        if self.encoder.lower is None:
            assert self.upper is not None
            return states(self.upper, mask, input_ids=ids)
        h = self._remembered(windows, ids)
        if h is None:
            h = self._frozen(ids, mask)
        h = h.to(self.here)
        return h if self.upper is None else states(self.upper, mask, inputs_embeds=h)

    def _filled(self, windows: Sequence[Ints]) -> tuple[Tensor, Tensor]:
        """(windows, longest) their pieces, and 1 where there is one."""
        ids, mask = np.zeros((2, len(windows), max(map(len, windows))), dtype=np.int64)
        for row, window in enumerate(windows):
            ids[row, : len(window)], mask[row, : len(window)] = window, 1
        device = self.here.device
        return torch.from_numpy(ids).to(device), torch.from_numpy(mask).to(device)

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
        return torch.from_numpy(h)

    @torch.no_grad()
    def _frozen(self, ids: Tensor, mask: Tensor) -> Tensor:
        """In 16 bits, as they are kept."""
        lower = self.encoder.lower
        assert lower is not None
        lower.to(ids.device).eval()
        h = states(lower, mask, input_ids=ids).half()
        if not bool(h.isfinite().all()):
            raise ValueError(
                f"{self.name}: its states after layer {self.encoder.freeze} do not fit into 16 bits"
            )
        return h

    # ------------------------------------------------------------------- memory

    def remember(
        self,
        texts: Iterable[Text],
        folder: Path | None = None,
        tell: Callable[[int, int], None] | None = None,
    ) -> None:
        """Compute what the frozen layers make of some texts, and keep it on disk, so that it is computed once.

        Args:
            texts: each a sequence of words.
            folder: where; None for bough's cache.
            tell: called with the number of pieces done and that of all, for some thousand texts at a time.
        """
        if self.encoder.lower is None:
            return
        place = (folder or user_cache() / "contextual") / self.encoder.fingerprint
        if self.memory is None or self.memory.folder != place:
            self.memory = Memory(place)
        self.memory.refresh()
        source = iter(texts)
        while some := list(islice(source, HELD)):
            self._remember(self.memory, some, tell)

    def _remember(
        self, memory: Memory, texts: Sequence[Text], tell: Callable[[int, int], None] | None
    ) -> None:
        windows = [w for one in self._pieces(texts, keep=True) for w in one.windows if w not in memory]
        distinct = list(
            {w.tobytes(): w for w in sorted(windows, key=lambda w: (len(w), w.tobytes()))}.values()
        )
        total, done = sum(map(len, distinct)), 0
        if total:
            log.info("%s: %d layers read %d texts, once", self.name, self.encoder.freeze, len(distinct))
        for group in _grouped(distinct, IN_A_FILE):
            own, found = [distinct[i] for i in group], list[Halves]()
            for few in _grouped(own, AT_ONCE):
                part = [own[i] for i in few]
                h = self._frozen(*self._filled(part)).cpu().numpy()
                found += [rows[: len(window)] for rows, window in zip(h, part, strict=True)]
                done += sum(map(len, part))
                if tell is not None:
                    tell(done, total)
            memory.add(own, found)

    def _pieces(self, texts: Sequence[Text], *, keep: bool = False) -> list[Encoded]:
        """Each text's pieces; those of texts that were kept are known."""
        keys = [tuple(text) for text in texts]
        new = [key for key in dict.fromkeys(keys) if key not in self._encoded]
        found = dict(zip(new, self.encoder.pieces.encode(new), strict=True))
        if keep and len(self._encoded) + len(found) <= HELD:
            self._encoded |= found
        return [found[key] if key in found else self._encoded[key] for key in keys]

    # ----------------------------------------------------------------- learning

    def rates(self, rate: float, decay: float) -> Iterator[tuple[Mapping[str, Tensor], float]]:
        """What learns, by name, with its rate: the top layer's is `rate`, each one's below `decay` times that."""
        names = {id(p): name for name, p in self.named_parameters() if p.requires_grad}
        layers = self.encoder.layers
        for depth, layer in enumerate(reversed(layers)):
            yield {names.pop(id(p)): p for p in layer.parameters()}, rate * decay**depth
        rest = {name: p for name, p in self.named_parameters() if id(p) in names}
        if rest:
            yield rest, rate * decay ** len(layers)

    def round(self) -> None:
        """The weights to what 16 bits hold, as `save` writes them."""
        self.encoder.round()

    def save(self, folder: Path) -> None:
        """The encoder with what it has learned, as `transformers` reads it; weights in 16 bits."""
        self.encoder.save(folder)


def in_order(tree: Tree) -> tuple[tuple[str, ...], Ints]:
    """The words of a tree, and for each of its nodes the place of its word among them, -1 for none."""
    tokens = tree.tokens or (None,) * len(tree)
    nodes = [node for node in tree.words.tolist() if tokens[node] is not None]
    place = np.full(len(tree), -1, dtype=np.int64)
    place[nodes] = np.arange(len(nodes))
    return tuple(str(tokens[node]) for node in nodes), place


def picked(rows: Tensor, places: Tensor) -> Tensor:
    """(n, X) the rows at some places; zeros where a place is -1."""
    places = places.to(rows.device)
    if len(rows) and bool((places >= 0).all()):
        return rows.index_select(0, places)
    return torch.cat([rows, rows.new_zeros(1, rows.shape[1])]).index_select(
        0, torch.where(places < 0, len(rows), places)
    )


def _grouped(windows: Sequence[Ints], most: int) -> Iterator[list[int]]:
    """Their numbers, the shortest first, with at most so many pieces together, all filled up to the longest."""
    group: list[int] = []
    for i in sorted(range(len(windows)), key=lambda i: len(windows[i])):
        if group and len(windows[i]) * (len(group) + 1) > most:
            yield group
            group = []
        group.append(i)
    if group:
        yield group
