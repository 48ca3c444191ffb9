"""The built-in parser: tokens in, phrase trees and dependency trees out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bough.files import StoredModel, outline, read_model
from bough.nn.kernels.parser import brackets
from bough.text.builtin.cky import Ints, best_parents, span_probabilities
from bough.text.builtin.eisner import best_heads
from bough.text.builtin.lexicon import BUCKETS, UNKNOWN, Lexicon, affixes, normal, shapes
from bough.text.builtin.network import Network, Size, pack, unpack
from bough.text.join_sentences import Kind, check_sentences, join_sentences, split_long
from bough.trees.tree import Tree

KIND = "parser"
FORMAT = 1
OWN_KEYS = (
    "format",
    "kind",
    "size",
    "relations",
    "trees",
    "sha256",
)  # of `config.json`; the others are `about`
TREES = ("constituency", "dependency")
BATCH_WORDS = 1600  # padding included; more is no faster and holds larger charts
LONGEST = 120  # words parsed in one piece
Words = tuple[str, ...]


class BuiltinParser:
    """A small network that finds binary phrase trees and projective dependency trees.

    A sentence of more than `LONGEST` words is parsed in pieces, split after punctuation where there
    is some; its trees join the pieces from left to right.

    Args:
        lexicon: the words that it knows.
        size: the widths of its network.
        relations: the names of the edges of a dependency tree; without any, an edge has none.
        tensors: its weights, as `pack` returns them.
        trees: the kinds of tree that it has learned.
        about: what else its `config.json` says, such as its licence and its data.
    """

    name = "builtin"

    def __init__(
        self,
        lexicon: Lexicon,
        size: Size,
        relations: Iterable[str],
        tensors: dict[str, Tensor],
        trees: Sequence[str] = TREES,
        about: Mapping[str, Any] | None = None,
    ) -> None:
        self.lexicon, self.size, self.relations = lexicon, size, tuple(relations)
        self.tensors, self.trees, self.about = tensors, tuple(trees), dict(about or {})
        matrices, rest = unpack(tensors)
        self._words, self._affixes = matrices.pop("words"), matrices.pop("affixes")
        with outline():
            self._network = Network(size, len(self.relations), dropout=0.0)
        whole = {**{name: rows.full() for name, rows in matrices.items()}, **rest}
        weights = {name.removeprefix("network."): part for name, part in whole.items()}
        self._network.load_state_dict(weights, assign=True)
        self._network.eval()

    def constituency(self, sentences: Sequence[Sequence[str]]) -> list[Tree]:
        """Return one binary tree per sentence: words at the leaves, nodes in preorder."""
        return self._parse(sentences, "constituency")

    def dependency(self, sentences: Sequence[Sequence[str]]) -> list[Tree]:
        """Return one tree of the words per sentence: node i is word i."""
        return self._parse(sentences, "dependency")

    def _parse(self, sentences: Sequence[Sequence[str]], kind: Kind) -> list[Tree]:
        """Return the trees of sentences; equal pieces are parsed once."""
        if kind not in self.trees:
            known = " and ".join(self.trees)
            raise ValueError(f"this parser has learned {known} trees only, no {kind} trees")
        decode = self._phrase_trees if kind == "constituency" else self._word_trees
        pieces_of = [[*map(tuple, split_long(words, LONGEST))] for words in check_sentences(sentences)]
        # longest first, since packed sequences need descending lengths
        pieces = sorted(dict.fromkeys(piece for own in pieces_of for piece in own), key=len, reverse=True)
        trees: dict[Words, Tree] = {}
        low = 0
        while low < len(pieces):
            batch = pieces[low : low + max(1, BATCH_WORDS // len(pieces[low]))]
            low += len(batch)
            lengths = np.array([len(words) for words in batch])
            with torch.inference_mode():
                states = self._network.encode_distinct(*self._inputs(batch, lengths))
                trees |= zip(batch, decode(states, batch, lengths), strict=True)
        return [join_sentences([trees[piece] for piece in own], kind, balanced=False) for own in pieces_of]

    def _inputs(self, batch: list[Words], lengths: Ints) -> tuple[Tensor, Tensor, Tensor]:
        """Return (M, word) a vector per distinct word, (B, N + 2) their positions, and lengths."""
        first = dict.fromkeys(words[0] for words in batch)
        later = dict.fromkeys(word for words in batch for word in words[1:])
        distinct = [*first, *later]  # the first word of a sentence has a shape of its own
        first_at = {word: index for index, word in enumerate(first, 1)}
        later_at = {word: index for index, word in enumerate(later, 1 + len(first))}
        rows, forms = np.array(self.lexicon.rows(distinct)), np.array(shapes(distinct, len(first)))
        x: Tensor = self._words[torch.from_numpy(rows)] + self._network.shapes(torch.from_numpy(forms))
        unknown = (rows == self.lexicon.index[UNKNOWN]).nonzero()[0]
        if len(unknown):
            parts = [affixes(normal(distinct[index - 1])) for index in unknown.tolist()]
            x[unknown] += self._affixes[torch.tensor(parts)].sum(dim=1)
        which = np.zeros((len(batch), len(batch[0]) + 2), dtype=np.int64)
        for row, words in zip(which, batch, strict=True):
            indices = [later_at[word] for word in words[1:]]
            row[: len(words) + 2] = [0, first_at[words[0]], *indices, len(rows) - 1]
        return x, torch.from_numpy(which), torch.from_numpy(lengths + 2)

    def _phrase_trees(self, states: Tensor, batch: list[Words], lengths: Ints) -> Iterator[Tree]:
        # choose the tree with the most correct brackets in expectation, not the most probable tree
        scores = self._network.span_scores(states)
        found = brackets(scores, lengths)
        if found is None:
            chances = span_probabilities(scores, torch.from_numpy(lengths))
            found = best_parents(chances.numpy(), lengths)
        for words, parents in zip(batch, found, strict=True):
            inner, rest = set(parents.tolist()), iter(words)  # the leaves are in the order of the words
            tokens = [None if node in inner else next(rest) for node in range(len(parents))]
            yield Tree(parents, tokens=tokens)

    def _word_trees(self, states: Tensor, batch: list[Words], lengths: Ints) -> Iterator[Tree]:
        heads_of = best_heads(self._network.arc_scores(states).numpy(), lengths)
        sentence = torch.arange(len(batch)).repeat_interleave(torch.from_numpy(lengths))
        position = torch.cat([torch.arange(1, length + 1) for length in lengths.tolist()])
        heads = torch.tensor([head for one in heads_of for head in one])
        scores = self._network.relation_scores(states, sentence, position, heads)
        if "root" in self.relations:  # `root` names the edge above the root, and no other
            scores[:, self.relations.index("root")] = torch.where(heads == 0, torch.inf, -torch.inf)
        best = scores.argmax(dim=1).tolist() if self.relations else ()
        names = iter([self.relations[i] for i in best])
        for words, own in zip(batch, heads_of, strict=True):
            relations = [next(names) for _ in own] if self.relations else None
            yield Tree([head - 1 for head in own], tokens=words, relations=relations)

    def save(self, folder: Path | str) -> None:
        """Write `config.json`, `vocab.txt` and `model.safetensors` into a folder."""
        own = {"format": FORMAT, "kind": KIND, "size": asdict(self.size)}
        config = {**own, "relations": self.relations, "trees": self.trees, **self.about}
        StoredModel(Path(folder), config, self.lexicon.words, self.tensors).write()

    @classmethod
    def load(cls, folder: Path | str) -> BuiltinParser:
        """Return the parser that `save` wrote into a folder."""
        stored = read_model(Path(folder), [KIND], (FORMAT,))
        with stored.readable():
            lexicon, size = Lexicon(stored.words), Size(**stored.meta["size"])
            relations, trees = stored.meta["relations"], stored.meta.get("trees", TREES)
            if not trees or not {*trees} <= {*TREES}:
                raise ValueError(f"trees {trees!r}: some of {', '.join(TREES)}")
            if size.layers > len(stored.tensors):
                raise ValueError(f"{size.layers:,} layers, and {len(stored.tensors)} tensors")
            about = {key: value for key, value in stored.meta.items() if key not in OWN_KEYS}
            with outline():
                network = Network(size, len(relations)).state_dict()
                wanted = {f"network.{name}": tensor for name, tensor in network.items()}
                for name, rows in (("words", len(lexicon)), ("affixes", BUCKETS)):
                    wanted[name] = torch.empty(rows, size.word)
                wanted = pack(wanted)
            tensors = stored.fitting(wanted)
            return cls(lexicon, size, relations, tensors, trees, about)
