"""Compress a trained network: one int8 row per word, matrices in int8."""

from __future__ import annotations

import torch
from torch import Tensor

from bough.text.builtin.lexicon import AFFIXES, SPECIALS, affixes
from bough.text.builtin.packing import packed
from bough.train.parser.learner import Learner


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
    return packed(whole, rounded=rounded)
