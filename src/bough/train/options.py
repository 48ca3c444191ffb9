"""The options of `bough fit`, `bough.fit` and the estimators: a field here is an option of all three."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

if TYPE_CHECKING:
    from bough.nn import BaseLayer
    from bough.outputs.base import TargetOptions
    from bough.text import Parser

Shape = Literal["constituency", "dependency", "balanced", "none"]
Scale = Literal["linear", "log"]
FLAG = "flag"  # in the metadata of a field: its name on the command line, if that differs


@dataclass(frozen=True)
class FitOptions:
    """The options of a fit. The default of an option that is None is set by the recipe.

    Args:
        trees: "constituency" or "dependency" trees of the parser; without a parser, "balanced"
            trees of words, for any language, or "none", a chain of words.
        parser: "builtin", "spacy", "stanza", "corenlp[:URL]", "balanced" (any language), the folder of a
            trained parser, or a parser.
        layer: the name of a registered layer, such as "tree-gru" or "bi-dependency", or a class.
        hidden_size: the size of the layer's states.
        recipe: the name of a recipe ("fit-texts", "fit-trees", "fit-pairs", ...), or a TOML file; by
            default, the recipe for the kind of examples.
        settings: values that override those of the recipe; also texts "key=value".
        epochs: the number of epochs; by default, or with "auto", training stops when the loss on dev
            no longer falls, and with an encoder after four epochs.
        batch_size: the number of examples per step.
        learning_rate: the learning rate of the optimizer.
        vectors: "auto", the name or the file of a GloVe set, or "bundled", the word table of the sentiment model.
        encoder: the folder or the name of a transformer whose hidden states replace the word vectors.
        init_from: the name of a bundled model, or a folder, whose layer and words training starts
            from; "none" for random weights. By default, a classifier of few texts is trained from
            random weights and from the bundled sentiment model, and the one that is better on dev
            is kept.
        task: what the labels are: "classes", "labels" (several at once), "numbers", "ratings", or another
            registered output; by default, inferred from the labels.
        scale: the scale of numbers, "linear" or "log".
        order: the classes in their order, if they form a scale: a list, or a text with commas.
        class_weight: "balanced", or a weight for each class by name, also as a text "NAME=WEIGHT,...".
        seed: random seed for the split, shuffling, initialization and dropout.
        data: the data folder, for word vectors.
        device: the device of torch to train on.

    Examples:
        >>> from bough.train.options import FitOptions
        >>> FitOptions(class_weight="late=2,early=1", settings=["hidden_size=50"]).class_weight
        {'late': 2.0, 'early': 1.0}
    """

    trees: Shape | None = None
    parser: str | Parser = "builtin"
    layer: str | type[BaseLayer] | None = None
    hidden_size: int | None = None
    recipe: str | None = None
    settings: Mapping[str, Any] | Sequence[str] = field(default=(), metadata={FLAG: "--set"})
    epochs: int | str | None = None
    batch_size: int | None = None
    learning_rate: float | None = None
    vectors: str | None = None
    encoder: str | Path | None = None
    init_from: str | Path | None = field(default=None, metadata={FLAG: "--from"})
    task: str | None = None
    scale: Scale | None = None
    order: str | Sequence[str] = ()
    class_weight: str | Mapping[str, float] | None = None
    seed: int = 1
    data: str | Path | None = None
    device: str = "cpu"

    def __post_init__(self) -> None:
        if self.trees not in (None, *get_args(Shape)):
            raise ValueError(f"trees {self.trees!r}: {' or '.join(map(repr, get_args(Shape)))}")
        if self.scale not in (None, *get_args(Scale)):
            raise ValueError(f"scale {self.scale!r}: {' or '.join(map(repr, get_args(Scale)))}")
        if self.task is not None:
            from bough.outputs import outputs  # here, since it loads torch

            if self.task not in outputs():
                raise ValueError(f"task {self.task!r}: {' or '.join(map(repr, outputs()))}")
        if self.trees == "balanced":
            object.__setattr__(self, "parser", "balanced")
        object.__setattr__(self, "settings", _settings(self.settings))
        object.__setattr__(self, "epochs", _epochs(self.epochs))
        object.__setattr__(self, "class_weight", _class_weight(self.class_weight))
        order = self.order.split(",") if isinstance(self.order, str) and self.order else self.order
        object.__setattr__(self, "order", tuple(str(name).strip() for name in order))

    @classmethod
    def given(cls, options: Mapping[str, Any]) -> FitOptions:
        """Return options from their names and values. Raise a TypeError for an unknown name."""
        known = [option.name for option in fields(cls)]
        for name in options:
            if name not in known:
                near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
                raise TypeError(
                    f"fit() has no option {name!r}{f'; did you mean {near[0]!r}?' if near else ''}"
                )
        return cls(**options)

    @property
    def targets(self) -> TargetOptions:
        """What the options say about the labels."""
        from bough.outputs.base import TargetOptions

        return TargetOptions(self.task, self.scale, tuple(self.order))

    @property
    def leaves_start_open(self) -> bool:
        """Whether the options allow training to start from a bundled model."""
        free = ("init_from", "recipe", "settings", "vectors", "encoder", "layer", "hidden_size", "trees")
        return not any(getattr(self, name) for name in free) and self.parser == "builtin"


def _settings(given: Mapping[str, Any] | Sequence[str] | None) -> dict[str, Any]:
    """Return settings, or texts "key=value", as a dict."""
    if isinstance(given, Mapping):
        return dict(given)
    for setting in given or ():
        if "=" not in setting:
            raise ValueError(f"--set {setting}: give it as key=value")
    return dict(setting.split("=", 1) for setting in given or ())


def _epochs(given: int | str | None) -> int | None:
    """Return a number of epochs; None for "auto"."""
    if given is None or given == "auto":
        return None
    if not str(given).isdecimal() or not int(given):
        raise ValueError(f"epochs {given}: must be a positive number or auto")
    return int(given)


def _class_weight(given: str | Mapping[str, float] | None) -> str | Mapping[str, float] | None:
    """Return NAME=WEIGHT,... as a dict; return anything else unchanged."""
    if not isinstance(given, str) or "=" not in given:
        return given
    weights = {}
    for part in given.split(","):
        name, _, weight = part.rpartition("=")
        try:
            weights[name.strip()] = float(weight)
        except ValueError:
            raise ValueError(f"class_weight {part}: must be NAME=NUMBER") from None
    return weights
