"""The built-in parser: tokens in, phrase trees and dependency trees out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

from bough.files import read_model, write_folder
from bough.nn.kernels.chart import brackets
from bough.text.builtin.build_trees import Arcs, in_pieces, phrase_tree, word_tree
from bough.text.builtin.cky import Ints, best_parents, span_probabilities
from bough.text.builtin.eisner import best_heads
from bough.text.builtin.lexicon import BUCKETS, UNKNOWN, Lexicon, affixes, normal, shapes
from bough.text.builtin.network import Network, Size
from bough.text.builtin.packing import outlines, unpacked
from bough.trees.tree import Tree

KIND = "parser"
FORMAT = 1
BATCH_WORDS = 1600  # padding included; more is no faster and holds larger charts
LONGEST = 120  # words parsed in one piece
T = TypeVar("T")


class BuiltinParser:
    """A small network of bough's own: binary phrase trees and Stanford Dependencies of tokenised sentences.

    A sentence of more than `LONGEST` words is parsed in pieces, cut after punctuation where there is some;
    its trees join the pieces from left to right. `held_out` names the treebanks of which it has not seen a part.
    """

    name = "builtin"

    def __init__(
        self,
        lexicon: Lexicon,
        size: Size,
        relations: Sequence[str],
        tensors: dict[str, Tensor],
        held_out: Sequence[str] = (),
    ) -> None:
        self.lexicon, self.size, self.relations = lexicon, size, tuple(relations)
        self.tensors, self.held_out = tensors, tuple(held_out)
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
        cut = _Cut(sentences)
        return [phrase_tree(*pair) for pair in cut.joined(self._parsed(cut.pieces, arcs=False)[0])]

    def dependency(self, sentences: Sequence[Sequence[str]]) -> list[Tree]:
        """A dependency tree for each sentence: node i is word i, relations are those of Stanford Dependencies."""
        cut = _Cut(sentences)
        return [word_tree(*pair) for pair in cut.joined(self._parsed(cut.pieces, phrases=False)[1])]

    def both(self, sentences: Sequence[Sequence[str]]) -> list[tuple[Tree, Tree]]:
        """Both trees of each sentence, phrases first; cheaper than one after the other."""
        cut = _Cut(sentences)
        phrases, arcs = self._parsed(cut.pieces)
        return [
            (phrase_tree(*phrase), word_tree(*arc))
            for phrase, arc in zip(cut.joined(phrases), cut.joined(arcs), strict=True)
        ]

    def _parsed(
        self, pieces: Sequence[Sequence[str]], *, phrases: bool = True, arcs: bool = True
    ) -> tuple[dict[int, Ints], dict[int, Arcs]]:
        """The parents of each piece's phrases; its words' heads and relations."""
        found: dict[int, Ints] = {}
        heads: dict[int, Arcs] = {}
        for group in _batches([len(piece) for piece in pieces]):
            batch = [pieces[i] for i in group]
            lengths = np.array([len(tokens) for tokens in batch])
            with torch.inference_mode():
                states = self._network.encode_distinct(*self._inputs(batch, lengths))
                if phrases:
                    found |= zip(group, self._phrases(states, lengths), strict=True)
                if arcs:
                    heads |= zip(group, self._arcs(states, lengths), strict=True)
        return found, heads

    def _phrases(self, states: Tensor, lengths: Ints) -> list[Ints]:
        # of all trees the one with the most brackets right on average, not the most probable one
        scores = self._network.span_scores(states)
        found = brackets(scores, lengths)
        if found is None:
            chances = span_probabilities(scores, torch.from_numpy(lengths))
            found = best_parents(chances.numpy(), lengths)
        return found

    def _arcs(self, states: Tensor, lengths: Ints) -> Iterator[Arcs]:
        heads = best_heads(self._network.arc_scores(states).numpy(), lengths)
        return zip(heads, self._relations(states, heads), strict=True)

    def _inputs(self, batch: list[Sequence[str]], lengths: Ints) -> tuple[Tensor, Tensor, Tensor]:
        """(M, word) a vector for each distinct word, (B, N + 2) which of them stands where, and the lengths."""
        first = dict.fromkeys(tokens[0] for tokens in batch)
        later = dict.fromkeys(token for tokens in batch for token in tokens[1:])
        words = [*first, *later]  # a word that comes first has a shape of its own
        first_at = {word: place for place, word in enumerate(first, 1)}
        later_at = {word: place for place, word in enumerate(later, 1 + len(first))}
        rows, forms = np.array(self.lexicon.rows(words)), np.array(shapes(words, len(first)))
        x: Tensor = self._words[torch.from_numpy(rows)] + self._network.shapes(torch.from_numpy(forms))
        strange = (rows == self._unknown).nonzero()[0]
        if len(strange):
            parts = [affixes(normal(words[place - 1])) for place in strange.tolist()]
            x[strange] += self._affixes[torch.tensor(parts)].sum(dim=1)
        which = np.zeros((len(batch), len(batch[0]) + 2), dtype=np.int64)
        for row, tokens in zip(which, batch, strict=True):
            places = [later_at[token] for token in tokens[1:]]
            row[: len(tokens) + 2] = [0, first_at[tokens[0]], *places, len(rows) - 1]
        return x, torch.from_numpy(which), torch.from_numpy(lengths + 2)

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
        config |= {"held_out": self.held_out} if self.held_out else {}
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
            relations, held_out = stored.meta["relations"], stored.meta.get("held_out", ())
            with torch.device("meta"):  # takes no memory, whatever sizes the settings ask for
                outline = Network(size, len(relations))
            shapes = {name: t.shape for name, t in outline.state_dict().items()}
            shapes = {f"network.{name}": shape for name, shape in shapes.items()}
            shapes |= {"words": (len(lexicon), size.word), "affixes": (BUCKETS, size.word)}
            return cls(lexicon, size, relations, stored.fitting(outlines(shapes)), held_out)


class _Cut:
    """Sentences as pieces of at most `LONGEST` words; equal ones are there once."""

    def __init__(self, sentences: Sequence[Sequence[str]]) -> None:
        self.sentences = sentences
        numbers: dict[tuple[str, ...], int] = {}
        self.numbers = []  # per sentence, those of its pieces
        for place, tokens in enumerate(sentences):
            if not tokens:
                raise ValueError(f"sentence {place} is empty; a tree has at least one word")
            parts = map(tuple, in_pieces(tokens, LONGEST))
            self.numbers.append([numbers.setdefault(part, len(numbers)) for part in parts])
        self.pieces = list(numbers)

    def joined(self, found: Mapping[int, T]) -> Iterator[tuple[Sequence[str], list[T]]]:
        """Each sentence with what was found for its pieces."""
        for tokens, numbers in zip(self.sentences, self.numbers, strict=True):
            yield tokens, [found[number] for number in numbers]


def _batches(lengths: list[int]) -> Iterator[list[int]]:
    """Sentence numbers from longest to shortest, at most `BATCH_WORDS` words together."""
    order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    low = 0
    while low < len(order):
        high = low + max(1, BATCH_WORDS // lengths[order[low]])
        yield order[low:high]
        low = high
