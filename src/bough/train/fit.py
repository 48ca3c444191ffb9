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
from bough.models.model import UNKNOWN, Model, Trees
from bough.models.settings import check_device
from bough.models.subwords import detokenise
from bough.outputs import Output
from bough.pipelines import AnyPipeline, load, pipeline_for
from bough.train.card import fit_card
from bough.train.checkpoint import NAME as CHECKPOINT
from bough.train.checkpoint import TrainingState
from bough.train.config import TrainConfig
from bough.train.configure import configuration, start_model, tree_kind
from bough.train.dataset import Examples, Parsed, TreeSet, Warn, parse_splits
from bough.train.distributed import current
from bough.train.evaluate import evaluate_splits
from bough.train.loop import Event, train_once
from bough.train.options import FitOptions
from bough.train.report import Evidence, report_page
from bough.train.run_folder import alone_in_folder, lock_run_folder, versions
from bough.train.splits import SPLITS, Splits, read_splits, seen_by_start
from bough.train.tasks import Learnable, NodesTask, PairsTask
from bough.train.word_vectors import Words, words_for

log = logging.getLogger(__name__)
DONE = "fit.json"  # written last: a folder with it holds a finished fit
SAMPLES = 6  # held-out texts in the folder, as examples for `bough serve`
SMALL = 5_000  # up to so many training examples, a fit also tries to start from a bundled model
SMALL_START = "sentiment"
EXTRA = 30_000  # frequent words that are added to those of the examples, for other texts

Callback = Callable[[Parsed | Event], None]


class Plan(NamedTuple):
    """Everything that is decided before a text is parsed: splits, output, trees, configuration, start."""

    options: FitOptions
    train: Source
    splits: Splits
    trees: Trees
    config: TrainConfig
    start: Model | None
    run: dict[str, Any]  # what the folder of the fit belongs to
    messages: list[str]  # about the data, for the user

    @property
    def output(self) -> Output:
        """What the model predicts."""
        return self.splits.output


class Trained(NamedTuple):
    """A model with the weights of its best epoch, and its training."""

    model: Model
    config: TrainConfig
    words: Words
    task: Learnable
    state: TrainingState
    init_from: str


def fit(
    texts: Any,
    labels: Sequence[Any] | str | None = None,
    *,
    text: str | Sequence[str] = (),
    sample_weight: Sequence[float] | str | None = None,
    dev: Any = None,
    test: Any = None,
    encoding: str | None = None,
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
        encoding: the encoding of the files; by default, that of their byte order mark, else UTF-8.
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
    sources = {"train": _source("texts", columns, encoding, texts, labels, sample_weight)}
    for name, held in (("dev", dev), ("test", test)):
        if held is not None:
            given = held if isinstance(held, tuple) else (held, sources["train"].columns.label or None)
            sources[name] = _source(name, columns, encoding, *given)
    with contextlib.ExitStack() as stack:
        if out is None:
            out = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bough-fit-"))) / "run"
        chosen = FitOptions.given(options)
        return fit_sources(sources, Path(out), chosen, resume=resume, callbacks=callbacks)[0]


def _source(
    name: str,
    text: Sequence[str],
    encoding: str | None,
    examples: Any,
    labels: Any = None,
    weight: Any = None,
) -> Source:
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
    return open_labelled(examples, text, labels, weight=weight, encoding=encoding)


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
    ranks, started = current(), time.perf_counter()
    warn = warn if ranks.first else log.debug

    def callback(event: Parsed | Event) -> None:
        for show in callbacks:
            show(event)

    plan = plan_fit(sources, options, hold_test=hold_test, warn=warn)
    if ranks.from_first(lambda: _is_finished(out, plan.run, resume)):
        return load(out, parser=options.parser), read_json(out / DONE)
    data = parse_splits(plan.splits, options, tree_kind(plan.config), plan.trees, callback, warn)
    parsed = time.perf_counter() - started
    best = train_from(plan, data, out, resume, callback)
    if _may_start_open(plan):
        warn(f"few texts: training again from the model {SMALL_START!r}; dev chooses the better start")
        best = _better_start(plan, data, out, resume, callback, best, warn)
    scores, predicted = evaluate_splits(best.task, best.model, data, baseline=baseline)
    if best.model.encoder is None:
        _add_frequent_words(best.model, best.words)
    facts = _facts(best, scores)
    about = {name: plan.run[name] for name in ("seed", "parser", "examples", "files")}
    about |= {"config": best.config.as_dict(), "versions": versions(best.config), **facts}
    card, held_out = fit_card(best.model, about), list(predicted)[-1]  # test if there is one, else dev
    kept: dict[str, Any] = {"vectors": facts["vectors"], "scores": facts["scores"]}
    kept |= {"label_column": plan.train.columns.label, **_for_users(plan.train, data[held_out])}
    evidence = Evidence(held_out, data[held_out], predicted[held_out])
    seconds = {"parsing": round(parsed, 1), "all": round(time.perf_counter() - started, 1)}

    def write() -> None:
        best.model.save(out, card=card, facts=kept)
        write_text(out / "report.html", report_page(best.model, about, evidence, plan.messages, out))
        write_text(out / "metrics.jsonl", best.state.history_text())
        write_json(out / "timing.json", seconds)
        write_json(out / DONE, facts)
        (out / CHECKPOINT).unlink(missing_ok=True)

    ranks.from_first(write)
    return pipeline_for(best.model.cpu().eval(), options.parser, card=card, facts=kept), facts


def plan_fit(sources: Mapping[str, Source], options: FitOptions, *, hold_test: bool, warn: Warn) -> Plan:
    """Check the examples and the options, and return the plan of a fit. What can fail fails here, before parsing."""
    check_device(options.device)
    train, start = sources["train"], start_model(options)
    unparsed: dict[str | None, Trees] = {"none": "chain", "balanced": "balanced"}
    trees: Trees = "given" if train.trees else unparsed.get(options.trees, "whole")
    splits = read_splits(sources, options.targets, hold_test=hold_test, seed=options.seed)
    config = configuration(options, train, start, splits.output)
    messages = [*splits.messages, *seen_by_start(splits, options)]
    for line in messages:
        warn(line)
    of_dev = splits.targets[splits.assigned == SPLITS.index("dev")]
    if why := splits.output.undefined(of_dev):
        config = config.with_settings({"select_by": "loss"})
        warn(f"dev: {why}")
    splits.output.class_weights(options.class_weight, splits.targets)  # raises an error for wrong weights
    run: dict[str, Any] = {"config": config.as_dict(), "seed": options.seed, "device": options.device}
    run |= {"parser": getattr(options.parser, "name", options.parser), "output": splits.output.as_dict()}
    run |= {"trees": trees, "examples": splits.sizes, "files": {k: s.name for k, s in sources.items()}}
    run |= {"data": splits.digest, "init_from": str(options.init_from or "")}
    return Plan(options, train, splits, trees, config, start, run, messages)


def train_from(
    plan: Plan, data: Mapping[str, TreeSet], folder: Path, resume: bool, callback: Callable[[Event], None]
) -> Trained:
    """Train a model in a folder, from random weights or from the model that the plan starts from."""
    ranks, options, config = current(), plan.options, plan.config
    counts = data["train"].word_counts(config)
    words = ranks.in_turn(lambda: words_for(config, options.data, options.seed, counts, plan.start))
    torch.manual_seed(options.seed)
    model = _new_model(plan, data, words).to(options.device)
    weights = plan.output.class_weights(options.class_weight, data["train"].gold())
    task = (PairsTask if plan.output.pairs else NodesTask)(config, plan.output, weights)
    examples = {name: Examples(data[name], model) for name in ("train", "dev")}
    facts = {**plan.run, "vectors": words.name, "coverage": words.coverage}
    state = train_once(folder, task, model, config, examples, facts, options.seed, resume, callback)
    return Trained(model, config, words, task, state, plan.run["init_from"])


def _may_start_open(plan: Plan) -> bool:
    """Return whether the bundled model may be a better start than random weights, with few texts in classes."""
    texts = not (plan.train.trees or plan.train.pairs)
    few = plan.splits.sizes["train"] <= SMALL
    return plan.options.leaves_start_open and plan.output.exclusive and texts and few


def _better_start(
    plan: Plan,
    data: Mapping[str, TreeSet],
    out: Path,
    resume: bool,
    callback: Callable[[Event], None],
    first: Trained,
    warn: Warn,
) -> Trained:
    """Train again from the bundled model, and return the training that is better on dev."""
    options = replace(plan.options, init_from=SMALL_START)
    start, seen = start_model(options), seen_by_start(plan.splits, options)
    for line in seen:
        warn(line)
    config = configuration(options, plan.train, start, plan.output)
    earlier, folder = first.state.epoch, out / SMALL_START

    def later(event: Event) -> None:  # goes on counting epochs, so that loggers keep both trainings
        callback(replace(event, epoch=event.epoch + earlier, epochs=event.epochs + earlier))

    run = {**plan.run, "config": config.as_dict(), "init_from": SMALL_START}
    again = plan._replace(options=options, config=config, start=start, run=run)
    second = train_from(again, data, folder, resume, later)
    metric = plan.output.metric
    scores = [(one.state.best_dev[metric], -one.state.best_dev["loss"]) for one in (first, second)]
    message = "%s on dev: %.3f from random weights, %.3f from %r"
    log.info(message, plan.output.titles[metric], scores[0][0], scores[1][0], SMALL_START)
    current().from_first(lambda: shutil.rmtree(folder))
    if scores[1] <= scores[0]:
        return first
    plan.messages.extend(seen)
    return second


def _facts(best: Trained, scores: Mapping[str, Any]) -> dict[str, Any]:
    """Return the contents of `fit.json`."""
    state, words = best.state, best.words
    facts = {"init_from": best.init_from, "vectors": words.name, "coverage": words.coverage}
    return facts | {
        "epoch": state.best_epoch, "epochs": state.epoch, "history": state.history, **scores
    }  # fmt: skip


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


def _new_model(plan: Plan, data: Mapping[str, TreeSet], words: Words) -> Model:
    """Return a model with the words of the examples, and with the layer of the model to start from, if there is one."""
    config, start, output = plan.config, plan.start, plan.output
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
        model = Model(config.for_model(), output, [], relations, input_spec=inputs, trees=plan.trees)
    else:
        # a random vector of a word that is not in train would stay random
        known = [data["train"]] if words.name == "random" else data.values()
        found = {word for split in known for word in split.word_counts(config)}
        vocabulary = sorted(word for word in found if "\n" not in word)
        table = words.rows(vocabulary)
        config = config.with_settings({"embedding_size": table.shape[1]})
        rows = np.concatenate([random_rows([UNKNOWN], table.shape[1], words.seed), table])
        words_and_rows = vocabulary, relations, torch.from_numpy(rows)
        model = Model(config.for_model(), output, *words_and_rows, input_spec=inputs, trees=plan.trees)
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
