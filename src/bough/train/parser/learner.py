"""The network of the parser in training, with auxiliary outputs and the losses."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from bough.data.vectors import read_vectors
from bough.nn.engine import differentiated_once
from bough.text.builtin.cky import inside, outside
from bough.text.builtin.lexicon import (
    AFFIXES,
    BUCKETS,
    SPECIALS,
    UNKNOWN,
    Lexicon,
    affixes,
    normal,
    shapes,
    zeroed,
)
from bough.text.builtin.network import Network, between_words, pack
from bough.text.builtin.parser import BuiltinParser
from bough.train.parser.config import Config
from bough.train.parser.examples import Example


class Learner(nn.Module):
    """The network of the parser, with word vectors W g + d + the sum of the vectors of a word's affixes.

    g is the GloVe vector of the word, zero if it has none; d is a trained vector, zero unless the
    word is frequent in training. `build_parser` stores their sum as one row per word. The shape of
    a word adds another vector.
    """

    def __init__(
        self, config: Config, lexicon: Lexicon, vectors: NDArray[np.float32], examples: Sequence[Example]
    ) -> None:
        super().__init__()
        self.config, self.lexicon = config, lexicon
        self.relations = _numbered(example.relations for example in examples)
        self.tags = _numbered(example.tags for example in examples)
        self.labels = _numbered(example.labels for example in examples)
        learned = {"constituency": "spans", "dependency": "heads"}
        self.trees = [kind for kind, gold in learned.items() if any(getattr(one, gold) for one in examples)]
        size, wide = config.size, 2 * config.size.hidden
        self.vectors = torch.from_numpy(vectors)
        # (words,) the row of each word in the trained vectors; all infrequent words share row 0
        counts = Counter(row for example in examples for row in lexicon.rows(example.tokens))
        chosen = sorted(row for row, count in counts.items() if count >= config.frequent)
        self.own_row = torch.zeros(len(lexicon), dtype=torch.int64)
        self.own_row[chosen] = torch.arange(1, len(chosen) + 1)
        self.own_row[lexicon.index[UNKNOWN]] = len(chosen) + 1
        dtype = torch.bfloat16 if config.bfloat16 else torch.float32
        self.network = Network(size, len(self.relations), config.dropout, config.recurrent_dropout, dtype)
        self.map = nn.Linear(vectors.shape[1], size.word, bias=False)
        self.own = nn.Embedding(int(self.own_row.max()) + 1, size.word)
        self.affixes = nn.Embedding(BUCKETS, size.word)
        self.tagger = nn.Linear(wide, 1 + len(self.tags))
        self.labeller = nn.Sequential(
            nn.Linear(wide, size.span), nn.LeakyReLU(0.1), nn.Linear(size.span, 1 + len(self.labels))
        )
        nn.init.normal_(self.map.weight, std=1 / math.sqrt(vectors.shape[1]))
        nn.init.zeros_(self.own.weight)
        for embedding in (self.affixes, self.network.shapes):
            nn.init.normal_(embedding.weight, std=0.2)
        with torch.no_grad():
            self.affixes.weight[0] = 0
        self.average: Learner | None = None  # the running average of the weights, in training

    def forward(self, examples: Sequence[Example]) -> dict[str, Tensor]:
        """Return the losses of sentences of equal length, each summed over those annotated."""
        states = self.network.encode(self.inputs(examples))
        parts = {
            "spans": (self.bracket_loss, 1.0),
            "heads": (self.head_loss, 1.0),
            "relations": (self.relation_loss, 1.0),
            "tags": (self.tag_loss, self.config.tag_weight),
            "labels": (self.label_loss, self.config.label_weight),
        }
        losses: dict[str, Tensor] = {}
        for name, (loss, weight) in parts.items():
            places = [place for place, example in enumerate(examples) if getattr(example, name)]
            if places and weight:
                losses[name] = weight * loss(states[places], [examples[place] for place in places])
        return losses

    def inputs(self, examples: Sequence[Example]) -> Tensor:
        """Return (B, N + 2, word): the inputs of the encoder."""
        sentences, none = [example.tokens for example in examples], [0] * AFFIXES
        rows = torch.tensor([self.lexicon.rows(tokens) for tokens in sentences])
        parts = torch.tensor([[none, *(affixes(normal(t)) for t in tokens), none] for tokens in sentences])
        form = torch.tensor([shapes(tokens) for tokens in sentences])
        if self.training:
            hidden = (torch.rand(rows.shape) < self.config.word_dropout) & (rows >= len(SPECIALS))
            rows = torch.where(hidden, self.lexicon.index[UNKNOWN], rows)
        distinct, where = rows.unique(return_inverse=True)
        x = self.word_vectors(distinct)[where] + self.affix_vectors(parts.flatten(0, 1)).view(*rows.shape, -1)
        return F.dropout(x + self.network.shapes(form), 0.6 * self.config.dropout, self.training)

    def word_vectors(self, rows: Tensor) -> Tensor:
        """Return (T, word) the vectors of words without their affixes; rows (T,)."""
        vectors: Tensor = self.map(self.vectors[rows]) + self.own(self.own_row[rows])
        return vectors

    def affix_vectors(self, parts: Tensor) -> Tensor:
        """Return (T, word) the sums of the vectors of affixes; parts (T, AFFIXES)."""
        return F.embedding_bag(parts, self.affixes.weight, mode="sum", padding_idx=0)

    def bracket_loss(self, states: Tensor, examples: Sequence[Example]) -> Tensor:
        """Return -log p(tree) of a conditional random field over all binary bracketings."""
        scores = self.network.span_scores(states)
        sentence, start, end = _flat_spans(examples)
        lengths = torch.tensor([len(example.tokens) for example in examples])
        return log_partition(scores, lengths).sum() - scores[sentence, start, end - start].sum()

    def head_loss(self, states: Tensor, examples: Sequence[Example]) -> Tensor:
        """Return the cross-entropy of the heads; converted ones have `converted_weight`."""
        heads = torch.tensor([example.heads for example in examples])
        losses = F.cross_entropy(self.network.arc_scores(states).mT, heads, reduction="none")
        converted = torch.tensor([example.converted for example in examples])
        return (losses.sum(dim=1) * torch.where(converted, self.config.converted_weight, 1.0)).sum()

    def relation_loss(self, states: Tensor, examples: Sequence[Example]) -> Tensor:
        """Return the cross-entropy of the relations, given the correct heads."""
        gold = torch.tensor([self.relations[name] for one in examples for name in one.relations or ()])
        heads = torch.tensor([head for example in examples for head in example.heads])
        sentence, word = torch.ones(states[:, 1:-1].shape[:2]).nonzero(as_tuple=True)
        scores = self.network.relation_scores(states, sentence, word + 1, heads)
        return F.cross_entropy(scores, gold, reduction="sum")

    def tag_loss(self, states: Tensor, examples: Sequence[Example]) -> Tensor:
        """Return the cross-entropy of the parts of speech."""
        gold = torch.tensor([[self.tags[tag] for tag in example.tags or ()] for example in examples])
        return F.cross_entropy(self.tagger(states[:, 1:-1]).mT, gold, reduction="sum")

    def label_loss(self, states: Tensor, examples: Sequence[Example]) -> Tensor:
        """Return the cross-entropy of the labels of phrases, from the states at their ends."""
        gold = torch.tensor([self.labels[name] for example in examples for name in example.labels or ()])
        sentence, start, end = _flat_spans(examples)
        posts = between_words(states)
        scores = self.labeller(posts[sentence, end] - posts[sentence, start])
        return F.cross_entropy(scores, gold, reduction="sum")


def build_learner(config: Config, vectors: Path | None, examples: Sequence[Example]) -> Learner:
    """Return an untrained network with the words of the examples and of a file of vectors."""
    torch.manual_seed(config.seed)
    known: dict[str, int] = {}
    rows = np.zeros((0, 1), dtype=np.float32)
    if vectors is not None:
        # the first words of the file, and those of the examples after them
        file, wanted = read_vectors(vectors), {normal(token) for one in examples for token in one.tokens}
        for row, word in enumerate(file.words):
            if word not in known and (row < config.words or word in wanted) and _storable(word):
                known[word] = row
        rows = file.rows[list(known.values())]
    lexicon = build_lexicon(list(known), examples)
    table = np.zeros((len(lexicon), rows.shape[1]), dtype=np.float32)
    table[len(SPECIALS) : len(SPECIALS) + len(rows)] = rows / (rows.std() if len(rows) else 1.0)
    return Learner(config, lexicon, table, examples)


def build_lexicon(words: Sequence[str], examples: Sequence[Example]) -> Lexicon:
    """Return a vocabulary: words, and those that occur twice in the examples, digits as zeros."""
    counts = Counter(zeroed(normal(token)) for example in examples for token in example.tokens)
    found = {word for word, count in counts.items() if count > 1 and _storable(word)}
    return Lexicon([*SPECIALS, *words, *sorted(found - set(words))])


def _storable(word: str) -> bool:
    return word not in SPECIALS and len(word.splitlines()) == 1


def _numbered(names: Iterable[Sequence[str] | None]) -> dict[str, int]:
    """Return a number for each name, in alphabetical order."""
    return {name: i for i, name in enumerate(sorted({name for some in names for name in some or ()}))}


def _flat_spans(examples: Sequence[Example]) -> tuple[Tensor, ...]:
    """Return the index of the sentence, the start and the end of every span."""
    spans = [(place, *span) for place, example in enumerate(examples) for span in example.spans]
    return torch.tensor(spans).unbind(dim=1)


@torch.no_grad()
def build_parser(learner: Learner) -> BuiltinParser:
    """Return the compressed parser of a network, with its averaged weights if there are some."""
    learner = learner.average or learner
    known = learner.lexicon.words
    parts = [affixes(word) if place >= len(SPECIALS) else (0,) * AFFIXES for place, word in enumerate(known)]
    words = learner.word_vectors(torch.arange(len(known))) + learner.affix_vectors(torch.tensor(parts))
    tensors = {f"network.{name}": tensor for name, tensor in learner.network.state_dict().items()}
    tensors |= {"words": words, "affixes": learner.affixes.weight}
    size, relations = learner.config.size, learner.relations
    return BuiltinParser(learner.lexicon, size, relations, pack(tensors), learner.trees)


def log_partition(scores: Tensor, lengths: Tensor) -> Tensor:
    """Return (B,) the logarithm of the sum of exp(score) over all binary trees.

    Its gradient with respect to the scores is the probability of each span.
    """
    total: Tensor = _LogPartition.apply(scores, lengths)  # type: ignore[no-untyped-call]
    return total


class _LogPartition(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, scores: Tensor, lengths: Tensor) -> Tensor:
        total, ctx.shares = inside(scores, lengths)
        ctx.lengths, ctx.shape = lengths, scores.shape
        return total

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, None]:
        (grad,) = differentiated_once((outside(grads[0], ctx.lengths, ctx.shares, ctx.shape),))
        return grad, None
