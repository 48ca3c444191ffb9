"""From a configuration to the layer that turns trees into states."""

from __future__ import annotations

from bough.model.config import Config
from bough.nn import Encoder, kinds


def build_encoder(config: Config, relations: int) -> Encoder:
    """The layer that `config.encoder` names."""
    kind = kinds()[config.encoder]
    settings = {name: getattr(config, name) for name in kind.settings if hasattr(config, name)}
    return kind.build(config.dimension, config.hidden, relations, settings)
