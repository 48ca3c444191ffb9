"""The built-in parser: tokens in, phrase trees and dependency trees out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bough.parsing.builtin.assembly import phrase_tree, pieces, word_tree
from bough.parsing.builtin.chart import Spans, best_spans, span_probabilities
from bough.parsing.builtin.lexicon import BUCKETS, UNKNOWN, Lexicon, affixes, normal, shapes
from bough.parsing.builtin.network import Network, Size
from bough.parsing.builtin.packing import outlines, unpacked
from bough.parsing.builtin.projective import best_heads
from bough.storage import read_model, write_folder
from bough.trees.tree import Tree

KIND = "parser"
FORMAT = 1
BATCH_WORDS = 1600  # padding included; more is no faster and holds larger charts
LONGEST = 120  # words parsed in one piece


class BuiltinParser:
    """A small network of bough's own: binary phrase trees and Stanford Dependencies of tokenised sentences.

    A sentence of more than `LONGEST` words is parsed in pieces, cut after punctuation where there is some;
    its trees join the pieces from left to right.
    """

    name = "builtin"

    def __init__(
        self, lexicon: Lexicon, size: Size, relations: Sequence[str], tensors: dict[str, Tensor]
    ) -> None:
        self.lexicon, self.size, self.relations = lexicon, size, tuple(relations)
        self.tensors = tensors
        matrices, rest = unpacked(tensors)
        self._words, self._affixes = matrices.pop("words"), matrices.pop("affixes")
        self._unknown = lexicon.index[UNKNOWN]
        self._network = Network(size, len(self.relations), dropout=0.0)
        whole = {**{name: rows.full() for name, rows in matrices.items()}, **rest}
        self._network.load_state_dict({name.removeprefix("network."): part for name, part in whole.items()})
        self._network.eval()

    # ------------------------------------------------------------------ parsing

    def constituency(self, sentences: Sequence[Sequence[str]]) -> list[Tree]:
        """A binary tree for each sentence, words at the leaves, nodes in preorder."""
        return [phrase_tree(tokens, phrases) for tokens, (phrases, _) in self._parses(sentences, True, False)]

    def dependency(self, sentences: Sequence[Sequence[str]]) -> list[Tree]:
        """A dependency tree for each sentence: node i is word i, relations are those of Stanford Dependencies."""
        return [word_tree(tokens, arcs) for tokens, (_, arcs) in self._parses(sentences, False, True)]

    def both(self, sentences: Sequence[Sequence[str]]) -> list[tuple[Tree, Tree]]:
        """Both trees of each sentence, phrases first; cheaper than one after the other."""
        return [
            (phrase_tree(tokens, phrases), word_tree(tokens, arcs))
            for tokens, (phrases, arcs) in self._parses(sentences, True, True)
        ]

    def _parses(
        self, sentences: Sequence[Sequence[str]], phrases: bool, arcs: bool
    ) -> Iterator[tuple[Sequence[str], tuple[list[Spans], list[Any]]]]:
        """Each sentence with its pieces' spans and its pieces' heads and relations."""
        cut: list[Sequence[str]] = []
        counts: list[int] = []
        for place, tokens in enumerate(sentences):
            if not tokens:
                raise ValueError(f"sentence {place} is empty; a tree has at least one word")
            parts = pieces(tokens, LONGEST)
            cut.extend(parts)
            counts.append(len(parts))
        spans: list[Any] = [None] * len(cut)
        heads: list[Any] = [None] * len(cut)
        for group in _batches([len(part) for part in cut]):
            found_spans, found_heads = self._parse_batch([cut[i] for i in group], phrases, arcs)
            for i, one_spans, one_heads in zip(group, found_spans, found_heads, strict=True):
                spans[i], heads[i] = one_spans, one_heads
        low = 0
        for tokens, count in zip(sentences, counts, strict=True):
            yield tokens, (spans[low : low + count], heads[low : low + count])
            low += count

    @torch.inference_mode()
    def _parse_batch(
        self, batch: list[Sequence[str]], phrases: bool, arcs: bool
    ) -> tuple[Sequence[Any], Sequence[Any]]:
        """Sentences from longest to shortest -> spans of each, (heads, relations) of each."""
        lengths = np.array([len(tokens) for tokens in batch])
        states = self._network.encode(self._inputs(batch), torch.from_numpy(lengths + 2))
        spans: Sequence[Any] = [None] * len(batch)
        heads: Sequence[Any] = [None] * len(batch)
        if phrases:
            # of all trees the one with the most brackets right on average, not the most probable one
            chances = span_probabilities(self._network.span_scores(states), torch.from_numpy(lengths))
            spans = best_spans(chances.numpy(), lengths)
        if arcs:
            found = best_heads(self._network.arc_scores(states).numpy(), lengths)
            heads = list(zip(found, self._relations(states, found), strict=True))
        return spans, heads

    def _inputs(self, batch: list[Sequence[str]]) -> Tensor:
        """(B, N + 2, word), zero rows behind shorter sentences"""
        size = (len(batch), len(batch[0]) + 2)
        rows, forms = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
        strange: list[tuple[int, int, tuple[int, ...]]] = []
        for b, tokens in enumerate(batch):
            known = self.lexicon.rows(tokens)
            rows[b, : len(known)], forms[b, : len(known)] = known, shapes(tokens)
            strange += [
                (b, t, affixes(normal(tokens[t - 1]))) for t, row in enumerate(known) if row == self._unknown
            ]
        x: Tensor = self._words[torch.from_numpy(rows)] + self._network.shapes(torch.from_numpy(forms))
        if strange:
            sentence, word, parts = zip(*strange, strict=True)
            x[list(sentence), list(word)] += self._affixes[torch.tensor(parts)].sum(dim=1)
        return x

    def _relations(self, states: Tensor, heads: list[list[int]]) -> list[list[str]]:
        counts = [len(one) for one in heads]
        batch = torch.arange(len(heads)).repeat_interleave(torch.tensor(counts))
        words = torch.cat([torch.arange(1, count + 1) for count in counts])
        above = torch.tensor([head for one in heads for head in one])
        scores = self._network.relation_scores(states, batch, words, above)
        if "root" in self.relations:  # `root` names the edge above the root, and no other
            root = self.relations.index("root")
            scores[:, root] = torch.where(above == 0, torch.inf, -torch.inf)
        names = [self.relations[i] for i in scores.argmax(dim=1).tolist()]
        ends = np.cumsum(counts).tolist()
        return [names[end - count : end] for end, count in zip(ends, counts, strict=True)]

    # ------------------------------------------------------------------- files

    def save(self, folder: Path | str) -> None:
        """Write `config.json`, `vocab.txt` and `model.safetensors` into a folder, made if need be."""
        config = {"format": FORMAT, "kind": KIND, "size": asdict(self.size), "relations": self.relations}
        write_folder(
            Path(folder),
            texts={
                "config.json": json.dumps(config, indent=2) + "\n",
                "vocab.txt": "\n".join(self.lexicon.words) + "\n",
            },
            tensors={"model.safetensors": self.tensors},
        )

    @classmethod
    def load(cls, folder: Path | str) -> BuiltinParser:
        """The parser that `save` wrote into a folder."""
        stored = read_model(Path(folder), KIND, FORMAT)
        with stored.readable():
            lexicon, size = Lexicon(stored.words), Size(**stored.meta["size"])
            relations = stored.meta["relations"]
            shapes = {name: t.shape for name, t in Network(size, len(relations)).state_dict().items()}
            shapes = {f"network.{name}": shape for name, shape in shapes.items()}
            shapes |= {"words": (len(lexicon), size.word), "affixes": (BUCKETS, size.word)}
            return cls(lexicon, size, relations, stored.fitting(outlines(shapes)))


def _batches(lengths: list[int]) -> Iterator[list[int]]:
    """Sentence numbers from longest to shortest, at most `BATCH_WORDS` words together."""
    order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    low = 0
    while low < len(order):
        high = low + max(1, BATCH_WORDS // lengths[order[low]])
        yield order[low:high]
        low = high
