"""A tiny BERT with random weights, made on the spot: all that contextual leaves need, and no download."""

from __future__ import annotations

import string
from pathlib import Path
from typing import Any

import torch

WIDTH = 16
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
WORDS = ("the", "a", "it", "is", "good", "bad", "film", "don", "t", "s", "not", "very", "man", "dog")


def make(folder: Path, layers: int = 3, positions: int = 64, seed: int = 0) -> Path:
    """The folder of an encoder whose pieces are some words and all letters."""
    from transformers import AutoModel, AutoTokenizer, BertConfig

    signs = [*string.ascii_lowercase, *string.digits, *string.punctuation]
    vocabulary = [*SPECIAL, *WORDS, *signs, *(f"##{sign}" for sign in signs)]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("".join(f"{piece}\n" for piece in dict.fromkeys(vocabulary)))
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=len({*vocabulary}),
        hidden_size=WIDTH,
        num_hidden_layers=layers,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=positions,
    )
    model: Any = AutoModel.from_config(config, add_pooling_layer=False)  # type: ignore[no-untyped-call]
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(folder, model_max_length=positions).save_pretrained(folder)
    return folder


def tokenizer_of(folder: Path) -> Any:
    """As `transformers` reads it."""
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(folder)
