"""Divide the examples of a fit into train, dev and test, and warn about doubtful ones."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.data.examples import Example, Source
from bough.data.labelled import check_keys
from bough.data.text_filter import TextFilter, without_spaces
from bough.errors import DataError
from bough.outputs import Output, choose_output
from bough.outputs.base import TargetOptions
from bough.train.configure import start_folder
from bough.train.options import FitOptions
from bough.trees.tree import Tree

Ints = NDArray[np.int64]
SPLITS = ("train", "dev", "test")
SHARE = 0.1  # the share of the examples that is held out for dev, and the same for test
SHOWN = 4  # names in a message
# the values of a column of splits, and the index of each in SPLITS
NAMES = {
    **dict.fromkeys(("train", "training"), 0),
    **dict.fromkeys(("dev", "valid", "val", "validation", "development"), 1),
    **dict.fromkeys(("test", "testing"), 2),
}


@dataclass(frozen=True)
class Splits:
    """The examples of all sources, one source after the other, and their splits."""

    examples: Sequence[Example]
    targets: NDArray[Any]  # (n, ...) the labels of the examples, encoded by the output
    assigned: Ints  # (n,) the index of each example's split in SPLITS
    output: Output
    messages: Sequence[str]  # about the data, for the user

    @property
    def sizes(self) -> dict[str, int]:
        """The number of examples of each split."""
        counts = np.bincount(self.assigned, minlength=len(SPLITS)).tolist()
        return {name: count for name, count in zip(SPLITS, counts, strict=True) if count}

    @property
    def digest(self) -> str:
        """A hash of all examples with their labels, weights and splits, in order."""
        found = blake2b(digest_size=16)
        for example, number in zip(self.examples, self.assigned.tolist(), strict=True):
            inside = [[[*map(str, own or ())] for own in (t.labels, t.relations)] for t in example.trees]
            content = (contents(example), inside, example.label, example.weight, number)
            found.update(repr(content).encode("utf-8", "surrogatepass"))
        return found.hexdigest()


def read_splits(
    sources: Mapping[str, Source], options: TargetOptions, *, hold_test: bool, seed: int
) -> Splits:
    """Check all sources, and hold out a dev split and, with `hold_test`, a test split if it is not given.

    Raise a FormatError or a DataError, with the line of the example, for wrong labels, and a
    DataError for too few examples.
    """
    train = sources["train"]
    check_keys(train)
    output, messages = choose_output(train, options)
    in_order = [name for name in SPLITS if name in sources]
    messages += [line for name in in_order for line in _source_messages(sources[name], train)]
    examples = [example for name in in_order for example in sources[name].examples]
    targets = output.encode(examples)
    if (doubt := output.doubts(targets)) is not None:
        messages.append(f"{examples[doubt[0]].where}: {doubt[1]}")
    sizes = [len(sources[name].examples) for name in in_order]
    assigned = np.repeat([SPLITS.index(name) for name in in_order], sizes)
    of_train = slice(len(train.examples))
    numbers, more = _splits_of_column(train.examples, in_order[1:])
    messages += more
    if numbers is not None:
        assigned[of_train] = numbers
    numbered: dict[str, int] = {}  # equal examples have equal keys
    keys = np.array(
        [numbered.setdefault(_equality_key(example), len(numbered)) for example in examples], dtype=np.int64
    )
    messages += _overlaps(examples, keys, assigned)
    strata = output.strata(train.examples, targets[of_train])
    messages += _hold_out(assigned, strata, keys, hold_test=hold_test, seed=seed, by=output.stratified_by)
    messages += _doubts(train.examples, keys[of_train].tolist(), assigned[of_train], classes=output.exclusive)
    splits = Splits(examples, targets, assigned, output, messages)
    if "dev" not in splits.sizes:
        free = np.flatnonzero(assigned == 0)
        repeated = len(free) - int((np.unique(keys[free], return_counts=True)[1] == 1).sum())
        few = f"{len(train.examples)} examples are too few to hold some out"
        if repeated:
            few = f"{repeated:,} of {len(free):,} examples are repeats, which are never held out"
        raise DataError(f"{train.name}: {few}; give a dev split")
    return splits


def _source_messages(source: Source, train: Source) -> list[str]:
    """Return a message about rows that were left out. Raise a DataError for another kind of examples."""
    if (source.pairs, source.trees) != (train.pairs, train.trees):
        kinds = "texts, pairs or trees in both"
        raise DataError(f"{source.name} holds other examples than {train.name}: {kinds}")
    if not source.empty:
        return []
    rows = f"{len(source.empty)} rows" if len(source.empty) > 1 else "a row"
    return [f"{source.empty[0]}: {rows} without a text or a label, left out"]


def _hold_out(assigned: Ints, strata: Ints, keys: Ints, *, hold_test: bool, seed: int, by: str) -> list[str]:
    """Draw the missing splits from the training examples, write them to `assigned`, and return messages."""
    free = np.flatnonzero(assigned == 0)
    present = {SPLITS[number] for number in assigned.tolist()}
    wanted = [name for name in SPLITS[1:] if name not in present and (name == "dev" or hold_test)]
    drawn = held_out(strata[free], keys[free], [SHARE] * len(wanted), seed)
    messages = []
    for name, part in zip(wanted, drawn, strict=True):
        assigned[free[part]] = SPLITS.index(name)
        messages.append(f"{name}: {len(part):,} of {len(free):,} examples, stratified by {by}, seed {seed}")
    return messages


def contents(example: Example) -> list[object]:
    """Return the contents of each text or tree of an example, without its label."""
    found: list[object] = [" ".join(text.split()) for text in example.texts]
    for tree in example.trees:
        numbers = [None if rows is None else rows.tolist() for rows in (tree.features, tree.edge_features)]
        found.append((tree.parents.tolist(), tree.tokens, numbers, tree.categories and {**tree.categories}))
    return found


def _equality_key(example: Example) -> str:
    """Return a string that equal examples share. White space and the order of a pair do not matter."""
    whole = (without_spaces(one) if isinstance(one, str) else one for one in contents(example))
    return "\0".join(sorted(map(repr, whole)))


def _splits_of_column(examples: Sequence[Example], given: Sequence[str]) -> tuple[Ints | None, list[str]]:
    """Return the index of each example's split by the column `split` of their file, and messages for the user.

    Return None instead of the indices if there is no such column or if it cannot be used.
    """
    if not any(example.split for example in examples):
        return None, []
    unused = "the column of splits is not used"
    if given:
        return None, [f"{unused}: {' and '.join(given)} is given"]
    for example in examples:
        if example.split.lower() not in NAMES:
            return None, [f"{example.where}: {unused}: {example.split!r} is not train, dev or test"]
    numbers = np.array([NAMES[example.split.lower()] for example in examples])
    sizes = zip(SPLITS, np.bincount(numbers, minlength=3).tolist(), strict=True)
    if not (numbers == 0).any():
        return None, [f"{unused}: no example is for training"]
    shown = ", ".join(f"{name} {size:,}" for name, size in sizes if size)
    return numbers, [f"splits by the column of the file: {shown}"]


def _overlaps(examples: Sequence[Example], keys: Ints, assigned: Ints) -> list[str]:
    """Return a message for each two splits with an example in common."""
    messages = []
    for name, other in (("dev", "train"), ("test", "train"), ("test", "dev")):
        one, two = (assigned == SPLITS.index(split) for split in (name, other))
        if both := np.flatnonzero(one & np.isin(keys, keys[two])).tolist():
            are = "examples are" if len(both) > 1 else "example is"
            many = f"{len(both):,} {are} in {other} too; figures on {name} are too good"
            messages.append(f"{examples[both[0]].where}: {many}")
    return messages


def seen_by_start(splits: Splits, options: FitOptions) -> list[str]:
    """Return a message if examples are among the texts that the model to start from was trained on."""
    trained_on = None if (folder := start_folder(options)) is None else TextFilter.load(folder)
    if trained_on is None:
        return []
    texts = [[*example.texts, *map(_words, example.trees)] for example in splits.examples]
    example_of = np.repeat(np.arange(len(texts)), [len(sides) for sides in texts])
    seen = np.unique(example_of[trained_on.contains(text for sides in texts for text in sides)])
    if not len(seen):
        return []
    counts = dict(
        zip(SPLITS, np.bincount(splits.assigned[seen], minlength=len(SPLITS)).tolist(), strict=True)
    )
    shown = ", ".join(f"{name} {count:,}" for name, count in counts.items() if count)
    held = [name for name in SPLITS[1:] if counts[name]]
    figures = f"; figures on {' and '.join(held)} are too good" if held else ""
    many = f"{len(seen):,} of {len(texts):,} examples ({shown}) are"
    first = splits.examples[int(seen[0])].where
    return [
        f"{first}: {many} among the texts that {str(options.init_from)!r}, the start, was trained on{figures}"
    ]


def _words(tree: Tree) -> str:
    tokens = tree.tokens or ()
    return " ".join(str(tokens[node]) for node in tree.words.tolist() if tokens[node] is not None)


def _doubts(examples: Sequence[Example], keys: list[int], assigned: Ints, *, classes: bool) -> list[str]:
    """Return a message for each doubt: repeated examples and, for `classes`, doubtful labels."""
    messages = []
    first: dict[int, Example] = {}
    equal = [(first.setdefault(key, e), e) for key, e in zip(keys, examples, strict=True)]
    if repeated := [two.where for one, two in equal if one is not two]:
        count = f"{len(repeated):,} examples repeat" if len(repeated) > 1 else "1 example repeats"
        messages.append(f"{repeated[0]}: {count} an earlier one; what occurs twice is never held out")
    if not classes:
        return messages
    if differing := [(one, two) for one, two in equal if one.label != two.label]:
        one, two = differing[0]
        count = f"{len(differing):,} examples have" if len(differing) > 1 else "1 example has"
        why = f"another label than an equal one ({two.label!r} here, {one.label!r} at {one.where})"
        messages.append(f"{two.where}: {count} {why}")
    labels = Counter(example.label for example in examples)
    alike: dict[str, list[str]] = {}
    for name in labels:
        alike.setdefault("".join(name.split()).casefold(), []).append(name)
    for names in (names for names in alike.values() if len(names) > 1):
        shown = " and ".join(f"{name!r} ({labels[name]:,})" for name in names[:SHOWN])
        messages.append(f"the labels {shown} differ in case or spaces only; they are different classes")
    for number, split in ((0, "training"), (2, "test")):
        there = {e.label for e, own in zip(examples, assigned, strict=True) if own == number}
        absent = [name for name in labels if name not in there and labels[name] > 1]
        if there and absent:
            count = f"{len(absent)} classes have" if len(absent) > 1 else "1 class has"
            shown = ", ".join(map(repr, absent[:SHOWN])) + (", ..." if len(absent) > SHOWN else "")
            messages.append(f"{count} no {split} example: {shown}")
    return messages


def held_out(strata: Ints, keys: Ints, shares: Sequence[float], seed: int) -> list[Ints]:
    """Draw stratified random parts of the examples, and return the indices of each part.

    An example that occurs twice is never drawn, so that no text is in two splits. Nor is the
    last example of a stratum drawn. If a share of a stratum is not a whole number of examples, it is rounded
    at random. Each part gets at least one example, if there are enough. `strata` (n,) has the
    stratum of each example, `keys` (n,) integers that are equal for equal examples, and `shares`
    the share of the examples for each part.
    """
    rng = np.random.default_rng(seed)
    _, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
    single = counts[inverse] == 1
    parts: list[list[int]] = [[] for _ in shares]
    for stratum in np.unique(strata):
        members = np.flatnonzero((strata == stratum) & single)
        size = int((strata == stratum).sum())
        free = min(len(members), size - 1)
        drawn = rng.permutation(members).tolist()
        for part, share in zip(parts, shares, strict=True):
            wanted = share * size
            count = min(int(wanted) + bool(rng.random() < wanted % 1), free)
            part += [drawn.pop() for _ in range(count)]
            free -= count
    taken = [index for part in parts for index in part]
    left = rng.permutation(np.setdiff1d(np.flatnonzero(single), taken)).tolist()
    for part in parts:
        if not part and len(left) > 1:
            part.append(left.pop())
    return [np.sort(np.array(part, dtype=np.int64)) for part in parts]
