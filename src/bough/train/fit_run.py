"""A fit from beginning to end: a look at the data, trees, training, a temperature, figures, and a folder."""

from __future__ import annotations

import logging
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch

from bough.data.vectors import random_rows
from bough.errors import DataError
from bough.files import read_json, write_json
from bough.models.config import Config
from bough.models.model import UNKNOWN, Model
from bough.pipelines import RelatednessPipeline, SentimentPipeline
from bough.pipelines.readers import WholeReader
from bough.train.calibration import CalibratedTask
from bough.train.checkpoint import NAME as CHECKPOINT
from bough.train.checkpoint import Progress, restore
from bough.train.config import TrainConfig
from bough.train.dataset import Gathered, Gatherer
from bough.train.distributed import current
from bough.train.loop import Event, learn, remember
from bough.train.options import FitOptions
from bough.train.parse_cache import Parses, parses_for
from bough.train.plan import SPLITS, Plan, kind_of
from bough.train.report import Outcome, judged
from bough.train.run_folder import claim, claim_data, versions
from bough.train.tasks import PairsTask, set_rarity
from bough.train.word_vectors import Words, words_for

log = logging.getLogger(__name__)
EXTRA = 30_000  # words beside those of the examples, for the texts that the model will meet
DONE = "fit.json"  # written last: a folder that has it is finished


@dataclass(frozen=True)
class Parsed:
    """What a progress display is told while texts are parsed."""

    done: int
    total: int


Callback = Callable[[Parsed | Event], None]
Pipeline = SentimentPipeline | RelatednessPipeline


@dataclass(frozen=True)
class Run:
    """All that a fit depends on but its data."""

    config: TrainConfig
    options: FitOptions
    start: Model | None = None

    def record(self, plan: Plan) -> dict[str, Any]:
        """What `run.json` holds, and a run that is resumed has to have again."""
        return {
            "config": self.config.as_dict(),
            "seed": self.options.seed,
            "device": self.options.device,
            "parser": self.options.parser_name,
            "purpose": {**plan.purpose.as_dict(), "ratings": list(plan.purpose.ratings)}
            | {"classes": list(plan.purpose.classes)},
            "examples": plan.sizes(),
            "files": {split: source.name for split, source in plan.sources.items()},
            "data": plan.digest,
            "init_from": str(self.options.init_from or ""),
        }


def run_fit(run: Run, plan: Plan, out: Path, *, resume: bool, callback: Callback) -> Outcome:
    """Fit into the folder `out`; a finished one is read again."""
    ranks, record = current(), run.record(plan)
    finished = ranks.from_first(lambda: _claimed(out, record, resume))
    if finished is not None:
        return finished
    started = time.perf_counter()
    splits = gather(run, plan, callback)
    parsed = time.perf_counter() - started
    words = _words(run, splits)
    torch.manual_seed(run.options.seed)
    model = _new_model(run, plan, splits, words).to(run.options.device)
    task = PairsTask(run.config) if plan.pairs else CalibratedTask(run.config)
    made_of = {**record, "vectors": words.name, "coverage": words.coverage}
    if model.encoder is not None:
        made_of["encoder"] = model.encoder.encoder.fingerprint
    ranks.from_first(lambda: claim_data(out, made_of))
    examples = {split: splits[split].examples(model) for split in ("train", "dev")}
    remember(model, *examples.values())
    task.start(examples["train"], model)
    progress = Progress.start(model, run.config, run.options.seed, task.metric)
    if resume:
        restore(out, progress)
    learn(out, task, progress, examples, callback)
    progress.use_best()
    del examples
    outcome = judged(task, progress, splits, words, run.options.seed)
    if model.encoder is None:
        _widen(model, words)
    seconds = {"parsing": round(parsed, 1), "all": round(time.perf_counter() - started, 1)}
    facts = {
        **outcome.facts,
        "versions": versions(run.config),
        "seed": run.options.seed,
        "parser": record["parser"],
    }
    facts |= {"examples": record["examples"], "files": record["files"], "config": run.config.as_dict()}
    ranks.from_first(lambda: _write(out, outcome, facts, model, seconds))
    return outcome


def _claimed(out: Path, record: dict[str, Any], resume: bool) -> Outcome | None:
    """Take the folder; the outcome of a finished fit, if there is one."""
    claim(out, record, resume)
    if not (out / DONE).exists():
        if not (out / "run.json").exists():
            write_json(out / "run.json", record)
        return None
    log.info("%s is finished", out)
    (out / CHECKPOINT).unlink(missing_ok=True)
    return Outcome.stored(out, read_json(out / DONE))


def _write(
    out: Path, outcome: Outcome, facts: dict[str, Any], model: Model, seconds: dict[str, float]
) -> None:
    outcome.store(out, facts, model)
    write_json(out / "timing.json", seconds)
    write_json(out / DONE, outcome.facts)
    (out / CHECKPOINT).unlink(missing_ok=True)


def gather(run: Run, plan: Plan, callback: Callback) -> dict[str, Gathered]:
    """The trees of every split; texts are parsed, unless that was done before.

    Each rank reads and parses its shard of every source, and then has the trees of all, in the order of the source.
    """
    ranks = current()
    numbers = {name: number for number, name in enumerate(plan.purpose.classes)}
    gatherer = Gatherer(numbers, kind_of(run.config), pairs=plan.pairs)
    total, before = sum(len(found[ranks.number]) for found in plan.shards.values()), 0
    splits: dict[str, Gathered] = {}
    for split, source in plan.sources.items():
        offset, shard = before, plan.shards[split][ranks.number]
        before += len(shard)
        with _parses(run, plan, split) as parses:
            own = gatherer.split(
                source,
                islice(source, shard.start, shard.stop),
                plan.parts[split][shard.start : shard.stop].tolist(),
                len(SPLITS),
                parses,
                lambda done, offset=offset: callback(Parsed(offset + done, total)),  # type: ignore[misc]
            )
        parts, *others = ranks.each(own)
        for more in others:
            for part, other in zip(parts, more, strict=True):
                part.extend(other)
        splits |= {name: part for name, part in zip(SPLITS, parts, strict=True) if len(part)}
        for line in (line for part in parts for line in part.wordless[:1]):
            log.warning("%s: a text without a word, left out", source.place(line))
    for split in ("train", "dev"):
        if split not in splits:
            raise DataError(f"no example with a word in {split}; there is nothing to learn from")
    return splits


def _parses(run: Run, plan: Plan, split: str) -> AbstractContextManager[Parses | None]:
    """The memory of a source's parses; trees need none."""
    source, trees = plan.sources[split], plan.purpose.trees
    if source.trees:
        return nullcontext()
    reader = WholeReader(run.options.parser, kind_of(run.config), chain=trees == "chain")
    if not isinstance(run.options.parser, str):
        return _for_now(reader)
    where = str(source.path.resolve()) if source.path else f"{source.name} {plan.sizes()}"
    name = source.path.name if source.path else source.name
    return parses_for(name, where, run.options.parser, f"{trees} {reader.kind}", reader, current().number)


@contextmanager
def _for_now(reader: WholeReader) -> Iterator[Parses]:
    """The parses of a parser that is not known by a name: nobody could say later whose they were."""
    temporary = tempfile.TemporaryDirectory(prefix="bough-parses-")
    with temporary as folder, Parses(Path(folder) / "parses.jsonl", reader) as parses:
        yield parses


def _folded(word: str, config: Config) -> str:
    return word.lower() if config.lowercase else word


def _counts(gathered: Gathered, config: Config) -> Counter[str]:
    counts: Counter[str] = Counter()
    for side in gathered.sides:
        for word, count in side.words():
            counts[_folded(word, config)] += count
    return counts


def _words(run: Run, splits: Mapping[str, Gathered]) -> Words:
    counts = _counts(splits["train"], run.config)
    return current().in_turn(
        lambda: words_for(run.config, run.options.data, run.options.seed, counts, run.start)
    )


def _new_model(run: Run, plan: Plan, splits: Mapping[str, Gathered], words: Words) -> Model:
    named = _relations(run, splits["train"])
    if run.config.encoder:
        return _started(Model(run.config.for_model(), plan.purpose, [], named), run.start)
    known = {word for gathered in splits.values() for word in _counts(gathered, run.config)}
    if words.name == "random":  # a word that training has not would keep a draw that says nothing
        known = {*_counts(splits["train"], run.config)}
    vocabulary = sorted(word for word in known if "\n" not in word)
    table = words.rows(vocabulary)
    unknown = random_rows([UNKNOWN], table.shape[1], run.options.seed)
    config = run.config.with_settings({"embedding_size": table.shape[1]})
    rows = torch.from_numpy(np.concatenate([unknown, table]))
    model = _started(Model(config.for_model(), plan.purpose, vocabulary, named, rows), run.start)
    if config.pair_features:
        set_rarity(model, _counts(splits["train"], config), 2 * len(splits["train"]))
    return model


def _relations(run: Run, train: Gathered) -> list[str]:
    """Those that a layer has weights for, by their places; a model to start from has its own, which keep theirs."""
    if run.start is not None:
        return list(run.start.relations)
    wanted = run.config.kind.wants_relations
    return sorted({name for side in train.sides for name in side.relations()}) if wanted else []


def _started(model: Model, start: Model | None) -> Model:
    if start is not None:
        model.layer.load_state_dict(start.layer.state_dict())
    return model


def _widen(model: Model, words: Words) -> None:
    """Frequent words that the examples have not, so that other texts are read as well as these."""
    frequent, rows = words.frequent(EXTRA)
    index, new = model.index, list[int]()
    seen: set[str] = set()
    for place, word in enumerate(frequent):
        form = _folded(word, model.config)
        if form == word and word not in index and word not in seen and "\n" not in word:
            seen.add(word)
            new.append(place)
    model.add_words([frequent[place] for place in new], torch.from_numpy(rows[new]))
