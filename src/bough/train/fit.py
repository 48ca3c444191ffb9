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
from bough.models.model import Model
from bough.pipelines import RelatednessPipeline, SentimentPipeline, load, pipeline_of
from bough.train.config import TrainConfig
from bough.train.distributed import current
from bough.train.fit_run import Callback, Run, run_fit
from bough.train.options import FitOptions
from bough.train.plan import Plan, kind_of, plan, settled
from bough.train.report import Outcome
from bough.train.source import Listed, Source
from bough.train.word_vectors import SHIPPED
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
    out: Path | str | None = None,
    resume: bool = False,
    callback: Callback = lambda event: None,
    **options: Any,
) -> Any:
    """Return a pipeline fitted to your own examples: texts or trees with classes, or pairs of texts with ratings.

    Args:
        texts: texts, `Tree`s whose tokens are names, or pairs of texts.
        labels: one class per text, of any name; for pairs one rating, on any scale.
        dev: examples and labels held out to choose the epoch; else a tenth of the texts, stratified by class.
        test: examples and labels held out to measure the result.
        out: a folder for the run and its report.
        resume: whether to continue a run that was stopped in `out`.
        callback: called with every event of the run.
        options: trees, parser, layer, recipe, settings, epochs, vectors, encoder, init_from, seed, data, device; see
            `bough.train.options.FitOptions`.

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
        given = FitOptions.given(options)
        return fit_sources(sources, Path(out), given, resume=resume, callback=callback)[0]


def fit_sources(
    sources: Mapping[str, Source],
    out: Path,
    options: FitOptions,
    *,
    hold_test: bool = False,
    resume: bool = False,
    callback: Callback = lambda event: None,
    warn: Callable[[str], None] = log.warning,
) -> tuple[Pipeline, Outcome]:
    """Fit a model to sources, `train` and perhaps `dev` and `test`, and return its pipeline and the outcome.

    `warn` is called with each line that a person should know about the data.
    """
    start = options.start()
    config = settled(sources["train"], options.recipe, options.trees, options.chosen_settings(start))
    if start is not None:
        config = _like(start, config)
    _check_given(config, options, start)
    if options.data is not None:
        find_data(
            options.data
        )  # a wrong folder is an error before anything is parsed, even if nothing is read of it
    ranks = current()
    made = ranks.from_first(
        lambda: replace(
            plan(sources, options.trees, hold_test=hold_test, seed=options.seed, ranks=ranks.count),
            sources={},
        )
    )
    made = replace(made, sources=sources)
    for line in made.said if ranks.first else ():
        warn(line)
    if made.flat:
        config = config.with_settings({"select_by": "loss"})
    outcome = run_fit(Run(config, options, start), made, out, resume=resume, callback=callback)
    if outcome.model is None:
        return load(out, parser=options.parser), outcome
    pipeline = pipeline_of(config)(outcome.model.cpu().eval(), options.parser)
    facts = {"vectors": outcome.facts["vectors"], "scores": outcome.facts["scores"]}
    pipeline.card, pipeline.facts = outcome.card, facts
    return pipeline, outcome


def _check_given(config: TrainConfig, options: FitOptions, start: Model | None) -> None:
    """Raise a ValueError for an option that the fit cannot honour."""
    shape, vectors = options.trees, options.vectors
    if shape is not None and kind_of(config) != ("dependency" if shape == "none" else shape):
        why = "the model to start from" if start is not None else f"layer = {config.layer!r}"
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
