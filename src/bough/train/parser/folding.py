"""A trained network made small: one int8 row per word, matrices in int8."""

from __future__ import annotations

import torch
from torch import Tensor

from bough.parsing.builtin.lexicon import AFFIXES, SPECIALS, affixes
from bough.parsing.builtin.packing import packed
from bough.parsing.builtin.training.learner import Learner


@torch.no_grad()
def word_table(learner: Learner) -> Tensor:
    """(words, word): what each known word brings to the input, affixes included."""
    none = [0] * AFFIXES
    names = learner.lexicon.words
    parts = torch.tensor([none if i < len(SPECIALS) else affixes(word) for i, word in enumerate(names)])
    rows = torch.arange(len(names))
    return learner.word_vectors(rows) + learner.affix_vectors(parts)


@torch.no_grad()
def folded(learner: Learner, *, rounded: bool = True) -> dict[str, Tensor]:
    """All tensors of the shipped parser, packed; not `rounded`, to measure what rounding costs."""
    whole = {"words": word_table(learner), "affixes": learner.affixes.weight}
    whole |= {f"network.{name}": tensor for name, tensor in learner.network.state_dict().items()}
    # the style is a constant from here on: Stanford's
    whole["network.shapes.weight"] = learner.network.shapes.weight + learner.styles.weight[0]
    return packed(whole, rounded=rounded)
