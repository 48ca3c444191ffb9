"""The network as it is trained: word vectors still apart, an auxiliary tagger, and the losses."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from bough.data.vectors import read_vectors
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
from bough.train.parser.config import Config
from bough.train.parser.examples import UNKNOWN_HEAD, Example

SILVER_LEAST = 10  # times that a word of silver text occurs to have a row of its own
STYLES = {"gum": 1}  # of the brackets, by source; any other source has style 0, Stanford's


class Learner(nn.Module):
    """A word's vector is W g + d + the sum of its affixes' vectors: all of it folds into one row per word.

    g is the word's GloVe vector, zero if it has none; d is its own, zero unless it is frequent in training.
    A sentence's style (Stanford's or GUM's brackets) and a word's shape each add a vector. So does, before
    heads are scored, their coming from phrase structure: converted heads are not quite Stanford's.
    """

    def __init__(
        self, config: Config, lexicon: Lexicon, vectors: NDArray[np.float32], examples: Sequence[Example]
    ) -> None:
        super().__init__()
        self.config, self.lexicon = config, lexicon
        self.relations = sorted({name for example in examples for name in example.relations or () if name})
        self.tags = sorted({name for example in examples for name in example.tags or ()})
        self.relation_index = {name: i for i, name in enumerate(self.relations)}
        self.tag_index = {name: i for i, name in enumerate(self.tags)}
        labels = sorted({name for example in examples for name in example.labels or ()})
        self.label_index = {name: i for i, name in enumerate(labels)}
        wide = config.size.word
        self.vectors = torch.from_numpy(vectors)
        self.own_row = _own_rows(lexicon, examples, config.frequent)
        self.network = Network(config.size, len(self.relations), config.dropout, config.recurrent_dropout)
        self.map = nn.Linear(vectors.shape[1], wide, bias=False)
        self.own = nn.Embedding(int(self.own_row.max()) + 1, wide)
        self.affixes = nn.Embedding(BUCKETS, wide)
        self.styles = nn.Embedding(2, wide)
        self.tagger = nn.Linear(2 * config.size.hidden, len(self.tags))
        self.labeller = nn.Sequential(
            nn.Linear(2 * config.size.hidden, config.size.span),
            nn.LeakyReLU(0.1),
            nn.Linear(config.size.span, len(labels)),
        )
        self.converted = nn.Parameter(torch.zeros(2 * config.size.hidden))
        nn.init.normal_(self.map.weight, std=1 / math.sqrt(vectors.shape[1]))
        nn.init.zeros_(self.own.weight)
        for embedding, spread in ((self.affixes, 0.2), (self.network.shapes, 0.2), (self.styles, 0.1)):
            nn.init.normal_(embedding.weight, std=spread)
        with torch.no_grad():
            self.affixes.weight[0] = 0

    def forward(self, examples: Sequence[Example]) -> dict[str, Tensor]:
        """Return the losses of sentences of one length, each summed over its words."""
        states = self.network.encode(self.inputs(examples))
        losses: dict[str, Tensor] = {}
        bracketed = [place for place, example in enumerate(examples) if example.spans]
        if bracketed:
            losses["brackets"] = self.bracket_loss(
                states[bracketed], [examples[place] for place in bracketed]
            )
        losses |= self.arc_losses(states, examples)
        tagged = [place for place, example in enumerate(examples) if example.tags is not None]
        if tagged and self.config.tag_weight:
            losses["tags"] = self.config.tag_weight * self.tag_loss(states, examples, tagged)
        if tagged and self.config.label_weight:
            losses["labels"] = self.config.label_weight * self.label_loss(states, examples, tagged)
        return losses

    def tag_loss(self, states: Tensor, examples: Sequence[Example], tagged: list[int]) -> Tensor:
        """Return the cross-entropy of the parts of speech of the sentences `tagged`."""
        gold = torch.tensor([[self.tag_index[tag] for tag in examples[place].tags or ()] for place in tagged])
        scores = self.tagger(states[tagged, 1:-1])
        return F.cross_entropy(scores.flatten(0, 1), gold.flatten(), reduction="sum")

    def label_loss(self, states: Tensor, examples: Sequence[Example], tagged: list[int]) -> Tensor:
        """Return the cross-entropy of the phrases' labels, each predicted from the difference of its two ends."""
        gold = torch.tensor(
            [self.label_index[name] for place in tagged for name in examples[place].labels or ()]
        )
        spans = torch.tensor([(place, *span) for place in tagged for span in examples[place].spans])
        posts = between_words(states)
        scores = self.labeller(posts[spans[:, 0], spans[:, 2]] - posts[spans[:, 0], spans[:, 1]])
        return F.cross_entropy(scores, gold, reduction="sum")

    def inputs(self, examples: Sequence[Example]) -> Tensor:
        """Return (B, N + 2, word): the inputs of the encoder."""
        none = [0] * AFFIXES
        rows = torch.tensor([self.lexicon.rows(example.tokens) for example in examples])
        parts = torch.tensor(
            [[none, *(affixes(normal(token)) for token in example.tokens), none] for example in examples]
        )
        form = torch.tensor([shapes(example.tokens) for example in examples])
        style = torch.tensor([STYLES.get(example.source, 0) for example in examples])
        if self.training:
            hidden = (torch.rand(rows.shape) < self.config.word_dropout) & (rows >= len(SPECIALS))
            rows = torch.where(hidden, self.lexicon.index[UNKNOWN], rows)
        distinct, where = rows.unique(return_inverse=True)
        x = self.word_vectors(distinct)[where] + self.affix_vectors(parts.flatten(0, 1)).view(*rows.shape, -1)
        x = x + self.network.shapes(form) + self.styles(style)[:, None]
        return F.dropout(x, 0.6 * self.config.dropout, self.training)

    def word_vectors(self, rows: Tensor) -> Tensor:
        """Map (T,) -> (T, word): the vectors of words, without their affixes."""
        vectors: Tensor = self.map(self.vectors[rows]) + self.own(self.own_row[rows])
        return vectors

    def affix_vectors(self, parts: Tensor) -> Tensor:
        """Map (T, AFFIXES) -> (T, word): the sums of the affixes' vectors."""
        return F.embedding_bag(parts, self.affixes.weight, mode="sum", padding_idx=0)

    def bracket_loss(self, states: Tensor, examples: Sequence[Example]) -> Tensor:
        """Return -log p(tree) of a conditional random field over all binary bracketings."""
        scores = self.network.span_scores(states)
        spans = torch.tensor([span for example in examples for span in example.spans])
        counts = torch.tensor([len(example.spans) for example in examples])
        batch = torch.arange(len(examples)).repeat_interleave(counts)
        lengths = torch.tensor([len(example.tokens) for example in examples])
        given = tree_scores(scores, batch, spans[:, 0], spans[:, 1] - spans[:, 0])
        return (log_partition(scores, lengths) - given).sum()

    def arc_losses(self, states: Tensor, examples: Sequence[Example]) -> dict[str, Tensor]:
        """Return the cross-entropies of the known heads, and of the relations of those heads that have one."""
        heads = torch.tensor([example.heads for example in examples])
        converted = torch.tensor([example.relations is None for example in examples])
        scores = self.network.arc_scores(states + converted[:, None, None] * self.converted)
        losses = F.cross_entropy(
            scores.flatten(0, 1), heads.flatten(), ignore_index=UNKNOWN_HEAD, reduction="none"
        ).view_as(heads)
        weight = torch.tensor([self.arc_weight(example) for example in examples])
        found = {"arcs": (losses.sum(dim=1) * weight).sum()}
        named = [place for place, example in enumerate(examples) if example.relations is not None]
        names = [name for place in named for name in examples[place].relations or () if name]
        if names:
            gold = torch.tensor([self.relation_index[name] for name in names])
            batch, words = (heads[named] != UNKNOWN_HEAD).nonzero(as_tuple=True)
            above = heads[named][batch, words]
            chosen = self.network.relation_scores(states[named], batch, words + 1, above)
            losses = F.cross_entropy(chosen, gold, reduction="none")
            found["relations"] = (losses * weight[named][batch]).sum()
        return found

    def arc_weight(self, example: Example) -> float:
        """Return the weight of an example's arcs: lower if they are converted or silver."""
        if example.source == "silver":
            return self.config.silver_weight
        return self.config.converted_weight if example.relations is None else 1.0


def build_learner(config: Config, vectors: Path, examples: Sequence[Example]) -> Learner:
    """Return an untrained network whose vocabulary is that of a GloVe file and of the examples.

    Args:
        config: the sizes, the number of words to take from the file, and the seed of the initial weights.
        vectors: a GloVe file, the most frequent words first.
        examples: the sentences to train on.
    """
    torch.manual_seed(config.seed)
    known, rows = _read_vectors(
        vectors, config.words, {normal(token) for e in examples for token in e.tokens}
    )
    lexicon = build_lexicon(known, examples)
    table = np.zeros((len(lexicon), rows.shape[1]), dtype=np.float32)
    table[len(SPECIALS) : len(SPECIALS) + len(rows)] = rows / rows.std()
    return Learner(config, lexicon, table, examples)


def build_lexicon(words: Sequence[str], examples: Sequence[Example]) -> Lexicon:
    """Return a vocabulary of the given words and the frequent words of the examples, digits as zeros.

    A word of a treebank is frequent if it occurs twice, a word of silver text if it occurs `SILVER_LEAST` times.
    """
    found: set[str] = set()
    for silver, least in ((False, 2), (True, SILVER_LEAST)):
        counts = _counts([example for example in examples if (example.source == "silver") == silver])
        found |= {word for word, count in counts.items() if count >= least}
    return Lexicon([*SPECIALS, *words, *sorted(found - set(words))])


def _read_vectors(path: Path, most: int, wanted: set[str]) -> tuple[list[str], NDArray[np.float32]]:
    """Return the first `most` words of a GloVe file and the `wanted` words after them, with their vectors."""
    file = read_vectors(path)
    rows: dict[str, int] = {}
    for row, word in enumerate(file.words):
        if word not in rows and (row < most or word in wanted) and _storable(word):
            rows[word] = row
    return list(rows), file.rows[list(rows.values())]


def _storable(word: str) -> bool:
    return word not in SPECIALS and len(word.splitlines()) == 1


def _counts(examples: Sequence[Example]) -> Counter[str]:
    return Counter(zeroed(normal(token)) for example in examples for token in example.tokens)


def _own_rows(lexicon: Lexicon, examples: Sequence[Example], frequent: int) -> Tensor:
    """Return (words,): each word's row among the trained vectors; row 0 is shared by all infrequent words."""
    counts = Counter(row for example in examples for row in lexicon.rows(example.tokens))
    chosen = sorted(row for row, count in counts.items() if count >= frequent)
    rows = torch.zeros(len(lexicon), dtype=torch.int64)
    rows[torch.tensor(chosen, dtype=torch.int64)] = torch.arange(1, len(chosen) + 1)
    rows[lexicon.index[UNKNOWN]] = len(chosen) + 1
    return rows


@torch.no_grad()
def word_table(learner: Learner) -> Tensor:
    """Return (words, word): the part of the input that comes from each known word, affixes included."""
    none = [0] * AFFIXES
    names = learner.lexicon.words
    parts = torch.tensor([none if i < len(SPECIALS) else affixes(word) for i, word in enumerate(names)])
    rows = torch.arange(len(names))
    return learner.word_vectors(rows) + learner.affix_vectors(parts)


@torch.no_grad()
def folded(learner: Learner, *, rounded: bool = True) -> dict[str, Tensor]:
    """Return the tensors of the compressed parser; without `rounded` they stay floats."""
    whole = {"words": word_table(learner), "affixes": learner.affixes.weight}
    whole |= {f"network.{name}": tensor for name, tensor in learner.network.state_dict().items()}
    # the style is a constant from here on: Stanford's
    whole["network.shapes.weight"] = learner.network.shapes.weight + learner.styles.weight[0]
    return pack(whole, rounded=rounded)


def log_partition(scores: Tensor, lengths: Tensor) -> Tensor:
    """Return (B,) log of the sum over all binary trees of exp(score); its gradient is the probability of each span."""
    total: Tensor = _LogPartition.apply(scores, lengths)  # type: ignore[no-untyped-call]
    return total


class _LogPartition(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, scores: Tensor, lengths: Tensor) -> Tensor:
        total, ctx.shares = inside(scores, lengths)
        ctx.lengths, ctx.shape = lengths, scores.shape
        return total

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        return outside(grads[0], ctx.lengths, ctx.shares, ctx.shape), None


def tree_scores(scores: Tensor, batch: Tensor, start: Tensor, width: Tensor) -> Tensor:
    """Return (B,) the score of each sentence's given tree; the spans of all trees come as three flat columns."""
    picked = scores[batch, start, width]
    return scores.new_zeros(len(scores)).index_add(0, batch, picked)
