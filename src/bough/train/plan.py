"""What a fit is to be: the settings, the trees and the splits, settled before anything is parsed."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.data.labelled import CONLLU
from bough.errors import DataError
from bough.models.config import Config
from bough.models.layers import kind_named
from bough.models.output_spec import Purpose, Trees
from bough.pipelines.readers import AT_ONCE, Kind
from bough.train.config import TrainConfig
from bough.train.options import Shape
from bough.train.recipes import load_recipe
from bough.train.source import Names, Scanned, Source, check_classes, digest_of, same_texts, scan

log = logging.getLogger(__name__)

SPLITS = ("train", "dev", "test")
SHARE = 0.1  # of the examples that is held out for dev, and again for test


@dataclass(frozen=True)
class Plan:
    """Sources by split, which of the three each example of them goes to, and what the model will say."""

    sources: Mapping[str, Source]
    parts: Mapping[
        str, NDArray[np.int64]
    ]  # of each source: for each example the place of its split in SPLITS
    purpose: Purpose
    counts: Mapping[str, int]  # examples of each class
    said: Sequence[str]  # what a person should hear
    shards: Mapping[str, Sequence[range]]  # of each source: which examples each rank parses
    digest: str  # of all texts and labels
    flat: bool = False  # whether all pairs of dev have one rating, so that no r can choose the epoch

    @property
    def pairs(self) -> bool:
        """Whether examples are two texts with a rating."""
        return not self.purpose.classes

    def sizes(self) -> dict[str, int]:
        """How many examples each split has."""
        total = np.zeros(len(SPLITS), dtype=np.int64)
        for parts in self.parts.values():
            total += np.bincount(parts, minlength=len(SPLITS))
        return {name: int(size) for name, size in zip(SPLITS, total.tolist(), strict=True) if size}


def settled(
    source: Source, recipe: str | None, shape: Shape | None, settings: Mapping[str, Any]
) -> TrainConfig:
    """The settings of a fit: the recipe for what the source holds, the trees wanted, then settings over both."""
    usual = "fit-pairs" if source.pairs else "fit-trees" if source.trees else "fit-texts"
    if settings.get("encoder"):
        if source.trees:
            raise ValueError(
                f"encoder = {settings['encoder']!r}: a transformer reads texts; {source.name} holds trees"
            )
        usual += "-contextual"
    config = load_recipe(recipe or usual)
    wanted = "pairs" if source.pairs else "classes"
    if config.task != wanted:
        config = config.with_settings({"task": wanted})
    reads = "dependency" if shape == "none" else shape
    if reads is None and source.trees and recipe is None and _phrases(source):
        reads = "constituency"
    if reads is not None and config.kind.reads != reads:
        kept = {
            name: value for name, value in config.layer_settings.items() if name in kind_named(reads).settings
        }
        config = config.with_settings({"layer": reads, **kept})
    config = config.with_settings(settings)
    if config.shape != "parse":
        raise ValueError(
            f"shape = {config.shape!r} is a control of the paper's systems: its model has no phrases to show; "
            "for words without a parse take --trees none"
        )
    if wanted == "classes" and not kind_named(config.layer).layer.phrases:
        raise ValueError(
            f"encoder = {config.layer!r} gives whole texts a class, and no phrase; "
            "for words in a row take --trees none"
        )
    return config


def kind_of(config: Config) -> Kind:
    """The trees that a configuration's layer reads; words in a row are a dependency tree of their own kind."""
    reads = config.kind.reads
    return "dependency" if reads == "words" else reads


def plan(
    sources: Mapping[str, Source],
    shape: Shape | None,
    *,
    hold_test: bool,
    seed: int,
    ranks: int = 1,
) -> Plan:
    """Look over the sources once and say who goes where; what is wrong with them is an error that says where."""
    train = sources["train"]
    names, said = Names(), list[str]()
    scanned: dict[str, Scanned] = {}
    for split in (split for split in SPLITS if split in sources):
        source = sources[split]
        if (source.pairs, source.trees) != (train.pairs, train.trees):
            raise DataError(
                f"{source.name} does not hold the same kind of examples as {train.name}: texts, pairs or trees in both"
            )
        scanned[split] = scan(source, names, ratings=train.pairs)
        names.closed = True
        if scanned[split].empty:
            lines = source.empty
            more = f"{len(lines)} rows" if len(lines) > 1 else "a row"
            said.append(f"{source.place(lines[0])}: {more} without a text or a label, left out")
    _check_overlap(sources, scanned, said)
    trees: Trees = "given" if train.trees else "chain" if shape == "none" else "whole"
    found = scanned["train"]
    if train.pairs:
        ratings = np.array(found.ratings)
        if np.ptp(ratings) == 0:
            raise DataError(f"{train.name}: every rating is {ratings[0]:g}; there is nothing to tell apart")
        purpose = Purpose(ratings=(float(ratings.min()), float(ratings.max())), trees=trees)
        strata, counts = strata_of(ratings), {}
        said.append(f"ratings from {ratings.min():g} to {ratings.max():g}")
        _check_range(sources, scanned, purpose, said)
    else:
        ordered, are_numbers = names.in_order()
        strata = np.array(found.labels, dtype=np.int64)
        numbers = Counter(strata.tolist())
        counts = {name: numbers[names.index[name]] for name in ordered}
        check_classes(Counter({name: count for name, count in counts.items() if count}), train.name)
        said += [
            f"the class {name!r} has one example; it is learned from, never tested" for name in _alone(counts)
        ]
        purpose = Purpose(classes=tuple(ordered), ordered=are_numbers, trees=trees)
    parts = {
        split: np.full(len(scanned[split]), place) for place, split in enumerate(SPLITS) if split in scanned
    }
    wanted = [split for split in SPLITS[1:] if split not in sources and (split == "dev" or hold_test)]
    for split, places in zip(wanted, held_out(strata, found.keys, [SHARE] * len(wanted), seed), strict=True):
        parts["train"][places] = SPLITS.index(split)
        said.append(f"{split}: {len(places):,} of {len(strata):,} examples, stratified by class, seed {seed}")
    read = {split: _shards(len(scanned[split].lines), ranks) for split in scanned}
    made = Plan(sources, parts, purpose, counts, said, read, digest_of(names, scanned.values()))
    if "dev" not in made.sizes():
        raise DataError(
            f"{train.name}: {len(strata)} examples are too few to hold some out; name a file with --dev"
        )
    return _without_r(made, scanned) if train.pairs else made


def _without_r(made: Plan, scanned: Mapping[str, Scanned]) -> Plan:
    """Say so where there is no correlation on dev; then the epoch with the least error is chosen."""
    dev = SPLITS.index("dev")
    ratings = np.concatenate([np.array(scanned[name].ratings)[made.parts[name] == dev] for name in scanned])
    if np.ptp(ratings) > 0:
        return made
    why = f"dev: every rating is {ratings[0]:g}, so there is no r; the epoch is chosen by the mean squared error"
    return replace(made, said=[*made.said, why], flat=True)


def _alone(counts: Mapping[str, int]) -> list[str]:
    return [name for name, count in counts.items() if count == 1]


def _check_overlap(sources: Mapping[str, Source], scanned: Mapping[str, Scanned], said: list[str]) -> None:
    """Say so where a text of dev or test is one of those learned from, or one of test chooses on dev."""
    asked = [("dev", "train", "training examples"), ("test", "train", "training examples")]
    for split, other, title in [*asked, ("test", "dev", "dev examples")]:
        if split in scanned and other in scanned:
            both = same_texts(scanned[split], [scanned[other]])
            if len(both):
                first = sources[split].place(scanned[split].lines[int(both[0])])
                verb = "texts are" if len(both) > 1 else "text is"
                said.append(
                    f"{first}: {len(both)} {verb} in the {title} too; figures on {split} are too good"
                )


def _check_range(
    sources: Mapping[str, Source], scanned: Mapping[str, Scanned], purpose: Purpose, said: list[str]
) -> None:
    low, high = purpose.ratings
    for split in SPLITS[1:]:
        if split in scanned:
            ratings = np.array(scanned[split].ratings)
            beyond = np.flatnonzero((ratings < low) | (ratings > high))
            if len(beyond):
                where = sources[split].place(scanned[split].lines[int(beyond[0])])
                said.append(f"{where}: {len(beyond)} ratings beyond those of training, {low:g} to {high:g}")


def _phrases(source: Source) -> bool:
    """Whether trees have their words at the leaves alone, as trees of phrases do: the first of several nodes tells.

    Where each tree is one word, brackets are phrases; what is empty is for `scan` to say.
    """
    trees = (example.tree for example in source)
    tree = next((tree for tree in trees if tree is not None and len(tree) > 1), None)
    if tree is None:
        return source.path is not None and source.path.suffix.lower() not in CONLLU
    return tree.tokens is not None and not any(
        token is not None and tree.degrees[node] for node, token in enumerate(tree.tokens)
    )


def _shards(examples: int, count: int) -> list[range]:
    """Return which examples each rank parses. Texts that are parsed together stay together."""
    groups = -(-examples // AT_ONCE)
    bounds = [min(AT_ONCE * (groups * rank // count), examples) for rank in range(count + 1)]
    return [range(start, end) for start, end in pairwise(bounds)]


Places = NDArray[np.int64]


def held_out(
    strata: NDArray[np.int64], keys: NDArray[np.uint64], shares: Sequence[float], seed: int
) -> list[Places]:
    """The places of each share, taken from every stratum alike; what is left is for training.

    A text that stands there twice is never held out, so that no text is on both sides; nor is the last example
    of a stratum. Where a stratum is too small for its share, chance decides, and a share of everything still
    gets one example.
    """
    rng = np.random.default_rng(seed)
    _, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
    single = counts[inverse] == 1
    parts: list[list[int]] = [[] for _ in shares]
    for stratum in np.unique(strata):
        members = np.flatnonzero((strata == stratum) & single)
        free = min(len(members), int((strata == stratum).sum()) - 1)
        members = rng.permutation(members).tolist()
        for part, share in zip(parts, shares, strict=True):
            wanted = share * int((strata == stratum).sum())
            count = min(int(wanted) + bool(rng.random() < wanted % 1), free)
            part += [members.pop() for _ in range(count)]
            free -= count
    left = rng.permutation(
        np.setdiff1d(np.flatnonzero(single), [place for part in parts for place in part])
    ).tolist()
    for part in parts:
        if not part and len(left) > 1:
            part.append(left.pop())
    return [np.sort(np.array(part, dtype=np.int64)) for part in parts]


def strata_of(ratings: NDArray[np.float64], pieces: int = 10) -> NDArray[np.int64]:
    """(n,) ratings -> the tenth of the scale that each lies in."""
    low, width = ratings.min(), max(float(np.ptp(ratings)), 1e-12)
    strata: NDArray[np.int64] = np.minimum((ratings - low) / width * pieces, pieces - 1).astype(np.int64)
    return strata
