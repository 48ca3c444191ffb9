"""The options of a fit, the same for `bough fit`, `bough.fit` and the scikit-learn estimators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

from bough.models.bundled import WEIGHTS, load_model
from bough.models.model import ENCODER, Model
from bough.models.settings import nearest
from bough.nn import BaseLayer, register
from bough.pipelines import NAMES
from bough.text import Parser

Shape = Literal["constituency", "dependency", "none"]


@dataclass(frozen=True)
class FitOptions:
    """What a fit depends on besides its examples.

    Args:
        trees: "constituency", "dependency" or "none", a chain of words; else what the recipe says.
        parser: a name that `bough.text.get_parser` knows, or a parser.
        layer: a layer of your own, or the name of a registered one; else what the recipe says.
        recipe: a recipe's name or file.
        settings: values that override the recipe's.
        epochs: the number of epochs; else training stops once the loss on dev has stopped falling, with an encoder
            after four.
        vectors: "auto", a GloVe set's name or file, or "shipped", the word table of the sentiment model.
        encoder: a transformer whose states stand for the words, by its folder or name.
        init_from: a bundled model's name, or a folder, whose layer and words training starts from.
        seed: random seed for the split, shuffling, initialization and dropout.
        data: the data folder, for word vectors.
        device: where to train.

    Examples:
        >>> from bough.train.options import FitOptions
        >>> FitOptions(trees="none", epochs=4).chosen_settings()
        {'epochs': 4, 'patience': 0}
    """

    trees: Shape | None = None
    parser: str | Parser = "builtin"
    layer: str | type[BaseLayer] | None = None
    recipe: str | None = None
    settings: Mapping[str, Any] | None = None
    epochs: int | None = None
    vectors: str | None = None
    encoder: str | Path | None = None
    init_from: str | Path | None = None
    seed: int = 1
    data: Path | str | None = None
    device: str = "cpu"

    @classmethod
    def given(cls, options: Mapping[str, Any]) -> FitOptions:
        """Return the options of those names. Raise a TypeError for a name that is not one."""
        known = [option.name for option in fields(cls)]
        for name in options:
            if name not in known:
                raise TypeError(f"fit() has no option {name!r}{nearest(name, known)}")
        return cls(**options)

    @property
    def parser_name(self) -> str:
        """What the parser is called."""
        return self.parser if isinstance(self.parser, str) else self.parser.name

    def start(self) -> Model | None:
        """Load the model that training starts from, if there is one."""
        if self.init_from is None:
            return None
        return load_model(WEIGHTS / self.init_from if self.init_from in NAMES else self.init_from)

    def chosen_settings(self, start: Model | None = None) -> dict[str, Any]:
        """Return the settings that these options come to, over those of the recipe."""
        chosen = dict(self.settings or {})
        if self.layer is not None:
            name = self.layer if isinstance(self.layer, str) else self.layer.name or self.layer.__name__
            if not isinstance(self.layer, str):
                register(self.layer, name=name)
            chosen["layer"] = name
        if self.epochs is not None:
            chosen |= {"epochs": self.epochs, "patience": 0}
        if self.vectors is not None:
            chosen["vectors"] = self.vectors
        encoder = self.encoder
        if start is not None and start.encoder is not None:
            if encoder is not None:
                raise ValueError(
                    f"encoder {str(encoder)!r}: the model to start from has its own; leave it out"
                )
            encoder = Path(self.init_from or "") / ENCODER
        if encoder is not None:
            chosen["encoder"] = str(encoder)
        return chosen
