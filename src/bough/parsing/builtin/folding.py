"""A trained network made small: one int8 row a word, matrices in int8, a scale a row."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from bough.parsing.builtin.learner import Learner
from bough.parsing.builtin.lexicon import AFFIXES, SPECIALS, affixes


@dataclass(frozen=True)
class Rows:
    """A matrix in int8: row i is `codes[i] * scales[i]`. Shape: codes (..., d) int8, scales (...) float32."""

    codes: Tensor
    scales: Tensor

    def __getitem__(self, rows: Tensor) -> Tensor:
        return self.codes[rows].float() * self.scales[rows][..., None]

    def full(self) -> Tensor:
        """The whole matrix in float32."""
        return self.codes.float() * self.scales[..., None]


def quantised(matrix: Tensor) -> Rows:
    """Each row (last dimension) with a scale of its own; the largest entry of a row is 127."""
    scales = matrix.abs().amax(dim=-1).clamp_min(1e-12) / 127
    return Rows((matrix / scales[..., None]).round().to(torch.int8), scales.float())


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
    """All tensors of the shipped parser by name: `NAME` as it is, or `NAME.codes` and `NAME.scales`.

    Not `rounded`, the codes are the numbers themselves and the scales ones: to measure what rounding costs.
    """
    whole = {"words": word_table(learner), "affixes": learner.affixes.weight}
    whole |= {f"network.{name}": tensor for name, tensor in learner.network.state_dict().items()}
    # the style is a constant from here on: Stanford's
    whole["network.shapes.weight"] = learner.network.shapes.weight + learner.styles.weight[0]
    tensors: dict[str, Tensor] = {}
    for name, tensor in whole.items():
        if tensor.ndim < 2:
            tensors[name] = tensor.detach().clone().contiguous()
            continue
        rows = quantised(tensor) if rounded else Rows(tensor.detach(), torch.ones(tensor.shape[:-1]))
        tensors |= {f"{name}.codes": rows.codes.contiguous(), f"{name}.scales": rows.scales.contiguous()}
    return tensors


def unfolded(tensors: dict[str, Tensor]) -> dict[str, Tensor | Rows]:
    """The tensors by their own names again, the quantised ones as `Rows`."""
    found: dict[str, Tensor | Rows] = {}
    for name, tensor in tensors.items():
        if name.endswith(".codes"):
            base = name.removesuffix(".codes")
            found[base] = Rows(tensor, tensors[f"{base}.scales"])
        elif not name.endswith(".scales"):
            found[name] = tensor
    return found
