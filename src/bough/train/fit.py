"""A model of one's own labelled examples: texts or trees in classes, pairs with ratings."""

from __future__ import annotations

import contextlib
import logging
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bough.data import find_data
from bough.models.bundled import WEIGHTS, load_model
from bough.models.model import ENCODER, Model
from bough.pipelines import NAMES, RelatednessPipeline, SentimentPipeline, load, pipeline_of
from bough.text import Parser
from bough.train.config import TrainConfig
from bough.train.distributed import here
from bough.train.fit_run import Run, Tell, run_fit
from bough.train.fit_vectors import SHIPPED
from bough.train.plan import Plan, Shape, kind_of, plan, settled
from bough.train.report import Outcome
from bough.train.source import Listed, Source
from bough.trees.tree import Tree

__all__ = ["Outcome", "Plan", "fit", "fit_sources"]

log = logging.getLogger(__name__)
Pipeline = SentimentPipeline | RelatednessPipeline
Examples = tuple[Sequence[Any], Sequence[Any]]


def fit(
    texts: Sequence[str] | Sequence[Tree] | Sequence[tuple[str, str]],
    labels: Sequence[Any],
    *,
    dev: Examples | None = None,
    test: Examples | None = None,
    trees: Shape | None = None,
    parser: str | Parser = "builtin",
    recipe: str | None = None,
    settings: Mapping[str, Any] | None = None,
    epochs: int | None = None,
    vectors: str | None = None,
    encoder: str | Path | None = None,
    start: str | Path | None = None,
    seed: int = 1,
    data: Path | str | None = None,
    out: Path | str | None = None,
    resume: bool = False,
    device: str = "cpu",
    tell: Tell = lambda event: None,
) -> Any:
    """A pipeline fitted to your own examples: texts or trees with classes, or pairs of texts with ratings.

    Args:
        texts: texts, `Tree`s whose tokens are names, or pairs of texts.
        labels: one class per text, of any name; for pairs one rating, on any scale.
        dev: examples and labels held out to choose the epoch; else a tenth of the texts, stratified by class.
        test: examples and labels held out to measure the result.
        trees: "constituency", "dependency" or "none", a chain of words; else what the recipe says.
        parser: a name that `bough.text.get_parser` knows, or a parser.
        recipe: a recipe's name or file.
        settings: values that override the recipe's.
        epochs: the number of epochs; else training stops once the loss on dev has stopped falling, with `encoder`
            after four.
        vectors: "auto", a GloVe set's name or file, or "shipped", the word table of the sentiment model.
        encoder: a transformer whose states stand for the words, by its folder or name.
        start: a shipped model's name, or a folder, whose layer and words training starts from.
        seed: drives the split, the order, the initial weights and dropout.
        data: the data folder, for word vectors.
        out: a folder for the run and its report.
        resume: whether to continue a run that was stopped in `out`.
        device: where to train.
        tell: called with every event of the run.

    Examples:
        >>> import bough
        >>> texts = [f"day {i} was {word}" for i in range(20) for word in ("fine", "dull")]
        >>> mine = bough.fit(texts, ["up", "down"] * 20, trees="none", vectors="shipped", epochs=4)
        >>> mine("the day was fine").label
        'up'
    """
    sources: dict[str, Source] = {"train": Listed(texts, labels, "texts")}
    for name, examples in (("dev", dev), ("test", test)):
        if examples is not None:
            sources[name] = Listed(*examples, name)
    with contextlib.ExitStack() as stack:
        if out is None:
            out = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bough-fit-"))) / "run"
        pipeline, _ = fit_sources(
            sources,
            Path(out),
            shape=trees,
            parser=parser,
            recipe=recipe,
            settings=settings or {},
            epochs=epochs,
            vectors=vectors,
            encoder=encoder,
            start=start,
            seed=seed,
            data=data,
            device=device,
            resume=resume,
            tell=tell,
        )
    return pipeline


def fit_sources(
    sources: Mapping[str, Source],
    out: Path,
    *,
    shape: Shape | None = None,
    parser: str | Parser = "builtin",
    recipe: str | None = None,
    settings: Mapping[str, Any] = {},
    epochs: int | None = None,
    vectors: str | None = None,
    encoder: str | Path | None = None,
    start: str | Path | None = None,
    seed: int = 1,
    data: Path | str | None = None,
    device: str = "cpu",
    hold_test: bool = False,
    resume: bool = False,
    tell: Tell = lambda event: None,
    hear: Callable[[str], None] = log.warning,
) -> tuple[Pipeline, Outcome]:
    """The same from any sources, `train` and perhaps `dev` and `test`; `hear` is told what a person should know."""
    chosen = dict(settings)
    if epochs is not None:
        chosen |= {"epochs": epochs, "patience": 0}
    if vectors is not None:
        chosen["vectors"] = vectors
    first = None if start is None else _started(start)
    if first is not None and first.encoder is not None:
        if encoder is not None:
            raise ValueError(f"encoder {str(encoder)!r}: the model to start from has its own; leave it out")
        encoder = Path(start or "") / ENCODER
    if encoder is not None:
        chosen["encoder"] = str(encoder)
    config = settled(sources["train"], recipe, shape, chosen)
    if first is not None:
        config = _like(first, config)
    _check_given(config, shape, vectors, first)
    if data is not None:
        find_data(data)  # a wrong one is said before anything is parsed, and where nothing is read of it
    ranks = here()
    made = ranks.from_first(
        lambda: replace(plan(sources, shape, hold_test=hold_test, seed=seed, ranks=ranks.count), sources={})
    )
    made = replace(made, sources=sources)
    for line in made.said if ranks.first else ():
        hear(line)
    if made.flat:
        config = config.with_settings({"select_by": "loss"})
    run = Run(config, parser, seed, data, device, first, str(start or ""))
    outcome = run_fit(run, made, out, resume=resume, tell=tell)
    if outcome.model is None:
        return load(out, parser=parser), outcome
    pipeline = pipeline_of(config)(outcome.model.cpu().eval(), parser)
    pipeline.card, pipeline.facts = (
        outcome.card,
        {"vectors": outcome.facts["vectors"], "scores": outcome.facts["scores"]},
    )
    return pipeline, outcome


def _started(name: str | Path) -> Model:
    return load_model(WEIGHTS / name if name in NAMES else name)


def _check_given(config: TrainConfig, shape: Shape | None, vectors: str | None, start: Model | None) -> None:
    """Nothing that was asked for is to be passed over in silence."""
    if shape is not None and kind_of(config) != ("dependency" if shape == "none" else shape):
        why = "the model to start from" if start is not None else f"encoder = {config.layer!r}"
        raise ValueError(f"trees {shape!r}: {why} reads {kind_of(config)} trees")
    if vectors is None:
        return
    if config.encoder or start is not None:
        whose = "an encoder" if config.encoder else "the model to start from"
        raise ValueError(f"vectors {vectors!r}: the words are those of {whose}; leave them out")
    if config.embeddings == "random" and vectors != SHIPPED:
        raise ValueError(
            f"vectors {vectors!r}: with embeddings = 'random' they are drawn; set them to 'tuned'"
        )


def _like(start: Model, config: TrainConfig) -> TrainConfig:
    """The settings with the layer and the widths of the model that is started from."""
    own = start.config
    if bool(config.encoder) != bool(own.encoder):
        raise ValueError("the model to start from has no encoder; start from one fitted with one")
    same = {
        "layer": own.layer,
        "hidden_size": own.hidden_size,
        "embedding_size": own.embedding_size,
        **own.layer_settings,
    }
    same |= {"encoder_freeze": own.encoder_freeze, "encoder_pool": own.encoder_pool} if own.encoder else {}
    embeddings = "tuned" if config.embeddings == "random" else config.embeddings
    return config.with_settings({**same, "lowercase": own.lowercase, "embeddings": embeddings})
