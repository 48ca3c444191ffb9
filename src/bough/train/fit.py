"""Fit a model to labelled examples: read, parse, train, calibrate, evaluate, write its folder."""

import contextlib
import logging
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from bough.data.examples import Source, labelled_lists
from bough.data.labelled import labelled_frame, open_labelled
from bough.data.vectors import random_rows
from bough.files import read_json, write_json, write_text
from bough.formats import nested
from bough.models.inputs import InputSpec
from bough.models.model import UNKNOWN, Model
from bough.models.output_spec import OutputSpec, Trees
from bough.models.subwords import detokenise
from bough.pipelines import AnyPipeline, load, pipeline_for
from bough.train.calibration import CalibratedTask
from bough.train.card import fit_card
from bough.train.checkpoint import NAME as CHECKPOINT
from bough.train.checkpoint import TrainingState
from bough.train.config import TrainConfig
from bough.train.dataset import Examples, Parsed, TreeSet, Warn, parse_splits
from bough.train.distributed import current
from bough.train.evaluate import evaluate_splits
from bough.train.loop import Event, cache_activations, learn
from bough.train.optimizer import ModelOptimizer
from bough.train.options import FitOptions, tree_kind
from bough.train.report import Evidence, report_page
from bough.train.run_folder import alone_in_folder, lock_run_folder, record_run, versions
from bough.train.splits import SPLITS, read_splits
from bough.train.tasks import Floats, LabelsTask, Learnable, NumbersTask, PairClassesTask, PairsTask
from bough.train.word_vectors import Words, words_for

log = logging.getLogger(__name__)
DONE = "fit.json"  # written last: a folder with it holds a finished fit
SAMPLES = 6  # held-out texts in the folder, as examples for `bough serve`
SMALL = 5_000  # up to so many training examples, a fit also tries to start from a bundled model
SMALL_START = "sentiment"
EXTRA = 30_000  # frequent words that are added to those of the examples, for other texts

Callback = Callable[[Parsed | Event], None]


class Trained(NamedTuple):
    """A model with the weights of its best epoch, and its training."""

    model: Model
    config: TrainConfig
    words: Words
    task: Learnable
    state: TrainingState


def fit(
    texts: Any,
    labels: Sequence[Any] | str | None = None,
    *,
    text: str | Sequence[str] = (),
    sample_weight: Sequence[float] | str | None = None,
    dev: Any = None,
    test: Any = None,
    out: Path | str | None = None,
    resume: bool = False,
    callbacks: Sequence[Callback] = (),
    **options: Any,
) -> Any:
    """Fit a model to texts, trees or pairs of them, with classes, labels, numbers or ratings; return its pipeline.

    Args:
        texts: texts, `Tree`s, or pairs of texts or trees; or the path of a labelled file, or a data
            frame. The nodes of trees may have tokens, categories and numbers.
        labels: one label per example: the name of a class, a number or a list of numbers, or a list
            of names for several labels at once; for pairs, a rating or a class. None for trees
            whose nodes have labels. For a file or a data frame, the name of its label column; by
            default, a column with a usual name.
        text: for a file or a data frame, the name of its text column, or of the two columns of pairs.
        sample_weight: the weight of each example in training, or the name of a column.
        dev: a tuple of examples and labels to choose the epoch on, a file or a data frame; by
            default, a tenth of the examples, stratified by class.
        test: a tuple of examples and labels to measure the result on, a file or a data frame.
        out: a folder for the model and its report.
        resume: whether to continue an interrupted fit in `out`.
        callbacks: functions that are called with each event: a `bough.train.dataset.Parsed` after
            some texts were parsed, and a `bough.train.loop.Event` after some batches and, with the
            metrics on dev, after each epoch.
        options: task, scale, class_weight, trees, parser, layer, hidden_size, recipe, settings,
            epochs, batch_size, learning_rate, vectors, encoder, init_from, seed, data, device; see
            `bough.train.options.FitOptions`.

    Examples:
        >>> import bough
        >>> texts = [f"day {i} was {word}" for i in range(20) for word in ("fine", "dull")]
        >>> mine = bough.fit(texts, ["up", "down"] * 20, trees="none", vectors="bundled", epochs=4)
        >>> mine("the day was fine").label
        'up'
    """
    columns = (text,) if isinstance(text, str) else tuple(text)
    sources = {"train": _source("texts", columns, texts, labels, sample_weight)}
    for name, held in (("dev", dev), ("test", test)):
        if held is not None:
            given = held if isinstance(held, tuple) else (held, sources["train"].columns.label or None)
            sources[name] = _source(name, columns, *given)
    with contextlib.ExitStack() as stack:
        if out is None:
            out = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bough-fit-"))) / "run"
        chosen = FitOptions.given(options)
        return fit_sources(sources, Path(out), chosen, resume=resume, callbacks=callbacks)[0]


def _source(name: str, text: Sequence[str], examples: Any, labels: Any = None, weight: Any = None) -> Source:
    """Return the labelled examples in a file, a data frame or lists."""
    frame = hasattr(examples, "columns")
    if not isinstance(examples, (str, Path)) and not frame:
        return labelled_lists(examples, labels, name, weight)
    if not frame and not Path(examples).is_file():
        raise ValueError(f"{str(examples)[:60]!r}: no such file; pass texts as a list")
    if not all(value is None or isinstance(value, str) for value in (labels, weight)):
        raise ValueError("for a file or a data frame, labels and sample_weight must be names of columns")
    if frame:
        return labelled_frame(examples, name, text, labels, weight=weight)
    return open_labelled(examples, text, labels, weight=weight)


@alone_in_folder
def fit_sources(
    sources: Mapping[str, Source],
    out: Path,
    options: FitOptions,
    *,
    hold_test: bool = False,
    resume: bool = False,
    callbacks: Sequence[Callback] = (),
    warn: Warn = log.warning,
    baseline: bool = True,
) -> tuple[AnyPipeline, dict[str, Any]]:
    """Fit a model to labelled sources, write it to the folder `out`, and return its pipeline and `fit.json`.

    `sources` are the examples of `train` and, if given, of `dev` and `test`; with `hold_test` a
    tenth of train is held out for a missing `test`. A finished fit in `out` is loaded, and with
    `resume` an interrupted one is continued. `callbacks` get each event, and `warn` each message
    about the data. With `baseline`, a baseline is fitted too.
    """
    ranks, seed, started = current(), options.seed, time.perf_counter()
    train = sources["train"]
    start = options.start()

    earlier = 0  # epochs of a first training: a second one goes on counting, so that loggers keep both

    def callback(event: Parsed | Event) -> None:
        if earlier and isinstance(event, Event):
            event = replace(event, epoch=event.epoch + earlier, epochs=event.epochs + earlier)
        for one in callbacks:
            one(event)

    options.config(train, start)  # raises errors of options before the examples are checked
    unparsed: dict[str | None, Trees] = {"none": "chain", "balanced": "balanced"}
    trees: Trees = "given" if train.trees else unparsed.get(options.trees, "whole")
    task, scale = options.task, options.scale
    splits = read_splits(sources, trees, hold_test=hold_test, seed=seed, task=task, scale=scale)
    spec = splits.spec
    config = options.config(train, start, spec.kind)
    for line in splits.messages if ranks.first else ():
        warn(line)
    ratings = splits.values[splits.assigned == SPLITS.index("dev")]
    if spec.kind == "ratings" and np.ptp(ratings) == 0:
        config = config.with_settings({"select_by": "loss"})
        why = "so there is no r; the epoch is chosen by the mean squared error"
        if ranks.first:
            warn(f"dev: every rating is {ratings[0]:g}, {why}")
    run: dict[str, Any] = {"config": config.as_dict(), "seed": seed, "device": options.device}
    run |= {"parser": getattr(options.parser, "name", options.parser), "output": spec.as_dict()}
    run |= {"examples": splits.sizes, "files": {name: source.name for name, source in sources.items()}}
    run |= {"data": splits.digest, "init_from": str(options.init_from or "")}
    if ranks.from_first(lambda: _is_finished(out, run, resume)):
        return load(out, parser=options.parser), read_json(out / DONE)

    data = parse_splits(splits, options, tree_kind(config), callback, warn if ranks.first else log.debug)
    parsed = time.perf_counter() - started

    def train_from(start: Model | None, config: TrainConfig, folder: Path) -> Trained:
        """Train a model in a folder, from random weights or from another model."""
        counts = data["train"].word_counts(config)
        words = ranks.in_turn(lambda: words_for(config, options.data, seed, counts, start))
        torch.manual_seed(seed)
        model = _new_model(config, spec, data, words, start).to(options.device)
        if folder == out:
            more = {"vectors": words.name, "coverage": words.coverage}
            if model.encoder is not None:
                more["encoder"] = model.encoder.fingerprint
            ranks.from_first(lambda: record_run(out, run | more))
        learnable = _task(config, model, class_weights(options.class_weight, spec, data["train"].gold()))
        examples = {name: Examples(data[name], model) for name in ("train", "dev")}
        cache_activations(model, *examples.values())
        state = TrainingState(ModelOptimizer(model, config), seed)
        if resume:
            state.restore(folder)
        learn(folder, learnable, config, state, examples, callback)
        state.use_best()
        return Trained(model, config, words, learnable, state)

    best, init_from = train_from(start, config, out), run["init_from"]
    texts_in_classes = spec.kind == "classes" and not (train.trees or train.pairs)
    if options.leaves_start_open and texts_in_classes and splits.sizes["train"] <= SMALL:
        # with few examples, the bundled model may be a better start than random weights
        if ranks.first:
            warn(f"few texts: training again from the model {SMALL_START!r}; dev chooses the better start")
        from_bundled = replace(options, init_from=SMALL_START)
        other, earlier = from_bundled.start(), best.state.epoch
        second = train_from(other, from_bundled.config(train, other, spec.kind), out / SMALL_START)
        first, then = best.state.best_dev, second.state.best_dev
        message = "accuracy on dev: %.3f from random weights, %.3f from %r"
        log.info(message, first["accuracy"], then["accuracy"], SMALL_START)
        if (then["accuracy"], -then["loss"]) > (first["accuracy"], -first["loss"]):
            best, init_from = second, SMALL_START
        ranks.from_first(lambda: shutil.rmtree(out / SMALL_START))
    model, config, words, learned, state = best

    scores, predicted = evaluate_splits(learned, model, data, baseline=baseline)
    facts = {"init_from": init_from, "vectors": words.name, "coverage": words.coverage}
    facts |= {"epoch": state.best_epoch, "epochs": state.epoch, "history": state.history, **scores}
    if model.encoder is None:
        _add_frequent_words(model, words)
    about = {name: run[name] for name in ("seed", "parser", "examples", "files", "config")}
    about |= {"config": config.as_dict(), "versions": versions(config), **facts}
    card = fit_card(model, about)
    kept: dict[str, Any] = {"vectors": facts["vectors"], "scores": facts["scores"]}
    held_out = list(predicted)[-1]  # test if there is one, else dev
    kept |= {"label_column": train.columns.label, **_for_users(train, data[held_out])}
    seconds = {"parsing": round(parsed, 1), "all": round(time.perf_counter() - started, 1)}
    evidence = Evidence(held_out, data[held_out], predicted[held_out])

    def write() -> None:
        model.save(out, card=card, facts=kept)
        write_text(out / "report.html", report_page(model, about, evidence, splits.messages, out))
        write_text(out / "metrics.jsonl", state.history_text())
        write_json(out / "timing.json", seconds)
        write_json(out / DONE, facts)
        (out / CHECKPOINT).unlink(missing_ok=True)

    ranks.from_first(write)
    return pipeline_for(model.cpu().eval(), options.parser, card=card, facts=kept), facts


def _for_users(train: Source, held_out: Any) -> dict[str, Any]:
    """Return the columns of the examples, and some held-out ones for the page of `bough serve`."""
    if columns := train.columns.tree:
        if len(held_out.sides) > 1:
            return {"tree_columns": asdict(columns)}
        keys = {"children": columns.children, **({"token": columns.token} if columns.token else {})}
        trees = (tree.replace(labels=None) for tree in held_out.sides[0][:SAMPLES])
        samples = [nested.write(tree, **keys) for tree in trees]
        return {"tree_columns": asdict(columns), "sample_texts": samples}
    if train.trees:
        return {}
    sides = []
    for side in held_out.sides:
        words = ([str((tree.tokens or ())[node]) for node in tree.words.tolist()] for tree in side[:SAMPLES])
        sides.append([detokenise(some)[0] for some in words])
    texts = sides[0] if len(sides) == 1 else list(zip(*sides, strict=True))
    return {"text_columns": list(train.columns.items), "sample_texts": texts}


def _is_finished(out: Path, run: dict[str, Any], resume: bool) -> bool:
    """Check that the folder belongs to this run, and return whether the run is finished."""
    lock_run_folder(out, run, resume)
    if not (out / DONE).exists():
        if not (out / "run.json").exists():
            write_json(out / "run.json", run)
        return False
    log.info("%s is finished", out)
    (out / CHECKPOINT).unlink(missing_ok=True)
    return True


def _task(config: TrainConfig, model: Model, weights: Floats | None) -> Learnable:
    """Return the training task for the output of a model."""
    spec = model.output_spec
    if spec.kind == "ratings":
        return PairsTask(config)
    if spec.kind == "numbers":
        return NumbersTask(config, model)
    if spec.kind == "labels":
        return LabelsTask(config)
    task = PairClassesTask(config) if spec.pairs else CalibratedTask(config)
    task.class_weights = weights
    return task


def class_weights(given: str | Mapping[str, float] | None, spec: OutputSpec, gold: Any) -> Floats | None:
    """Return (K,) the weights of the classes: n / (K n_k) for "balanced", or those of a mapping, with 1 for others.

    Raise a ValueError for any other value, and for a model that does not predict classes.
    """
    if given is None:
        return None
    if spec.kind != "classes":
        raise ValueError(f"class_weight {given!r} is for one class per example, not for {spec.kind}")
    if given == "balanced":
        counts = np.bincount(gold, minlength=len(spec.classes))
        found: Floats = len(gold) / (len(spec.classes) * np.maximum(counts, 1))
        return found
    if isinstance(given, str):
        raise ValueError(f"class_weight {given!r}: 'balanced', or a weight for each class")
    for name, weight in given.items():
        if str(name) not in spec.classes or not 0 <= float(weight) < np.inf:
            known = ", ".join(spec.classes[:8])
            raise ValueError(f"class_weight {name!r}: {weight!r}; the classes are {known}")
    return np.array([float(given.get(name, 1.0)) for name in spec.classes])


def _new_model(
    config: TrainConfig, spec: OutputSpec, data: Mapping[str, TreeSet], words: Words, start: Model | None
) -> Model:
    """Return a model with the words of the examples, and with the layer of `start` if given."""
    relations: Sequence[str] = []
    if start is not None:
        relations = start.relations  # their order is that of the weights of its layer
    elif config.kind.wants_relations:
        names = {name for tree in data["train"].trees() for name in tree.relations or ()}
        relations = sorted(str(name) for name in names if name is not None)
    inputs = InputSpec.from_trees(data["train"].trees(), config.log_numbers)
    if start is not None and start.inputs is not None:
        inputs = start.inputs.spec
    if config.encoder:
        model = Model(config.for_model(), spec, [], relations, input_spec=inputs)
    else:
        # a random vector of a word that is not in train would stay random
        known = [data["train"]] if words.name == "random" else data.values()
        found = {word for split in known for word in split.word_counts(config)}
        vocabulary = sorted(word for word in found if "\n" not in word)
        table = words.rows(vocabulary)
        config = config.with_settings({"embedding_size": table.shape[1]})
        rows = np.concatenate([random_rows([UNKNOWN], table.shape[1], words.seed), table])
        words_and_rows = vocabulary, relations, torch.from_numpy(rows)
        model = Model(config.for_model(), spec, *words_and_rows, input_spec=inputs)
    if start is not None:
        model.layer.load_state_dict(start.layer.state_dict())
        if model.inputs is not None and start.inputs is not None:
            model.inputs.load_state_dict(start.inputs.state_dict())
    return model


def _add_frequent_words(model: Model, words: Words) -> None:
    """Add frequent words that are not in the examples, for other texts."""
    frequent, rows = words.frequent(EXTRA)
    new: dict[str, int] = {}
    for place, word in enumerate(frequent):
        form = word.lower() if model.config.lowercase else word
        if form == word and word not in model.index and "\n" not in word:
            new.setdefault(word, place)
    model.add_words(list(new), torch.from_numpy(rows[list(new.values())]))
