"""What finished parsers hold probable of the training sentences: for a new one to learn beside the given trees."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from bough.parsing.builtin.network import Chances
from bough.parsing.builtin.parser import BuiltinParser

AT_ONCE = 2048  # sentences asked about together


class Teachers:
    """Some parsers and their mean opinion of each sentence, held in half precision."""

    def __init__(self, folders: Sequence[Path | str]) -> None:
        self.names = [str(folder) for folder in folders]
        self._parsers = [BuiltinParser.load(folder) for folder in folders]
        self._known: dict[tuple[str, ...], Chances] = {}

    def read(self, sentences: Sequence[Sequence[str]]) -> None:
        """Make up their minds about these sentences."""
        distinct = list(dict.fromkeys(tuple(tokens) for tokens in sentences))
        for low in range(0, len(distinct), AT_ONCE):
            group = distinct[low : low + AT_ONCE]
            opinions = zip(*(parser.chances(group) for parser in self._parsers), strict=True)
            for tokens, several in zip(group, opinions, strict=True):
                self._known[tokens] = Chances(*(_mean(parts) for parts in zip(*several, strict=True)))

    def __call__(self, sentences: Sequence[Sequence[str]]) -> Chances:
        """Of sentences read before, of one length N: spans (B, N + 1, N + 1) and heads (B, N, N + 1)."""
        several = [self._known[tuple(tokens)] for tokens in sentences]
        return Chances(*(torch.stack(parts).float() for parts in zip(*several, strict=True)))


def _mean(parts: Sequence[Tensor]) -> Tensor:
    return torch.stack(list(parts)).mean(dim=0).half()
