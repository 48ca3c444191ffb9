"""Warn about doubtful examples, and read the splits of examples from a column of their file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bough.data.examples import Example

Ints = NDArray[np.int64]
SHOWN = 4  # names in a message
NAMES = {
    **dict.fromkeys(("train", "training"), 0),
    **dict.fromkeys(("dev", "valid", "val", "validation", "development"), 1),
    **dict.fromkeys(("test", "testing"), 2),
}


def splits_of_column(examples: Sequence[Example], given: Sequence[str]) -> tuple[Ints | None, list[str]]:
    """Return the index of each example's split by the column `split` of their file, and messages for the user.

    Return None instead of the indices if there is no such column, if it has other values than names of splits or no
    training example, or if dev or test are `given` as files.
    """
    if not any(example.split for example in examples):
        return None, []
    if given:
        return None, [f"the column of splits is not used: {' and '.join(given)} is given"]
    for example in examples:
        if example.split.lower() not in NAMES:
            reason = f"{example.split!r} is not train, dev or test"
            return None, [f"{example.where}: the column of splits is not used: {reason}"]
    numbers = np.array([NAMES[example.split.lower()] for example in examples])
    sizes = zip(("train", "dev", "test"), np.bincount(numbers, minlength=3).tolist(), strict=True)
    if not (numbers == 0).any():
        return None, ["the column of splits is not used: no example is for training"]
    shown = ", ".join(f"{name} {size:,}" for name, size in sizes if size)
    return numbers, [f"splits by the column of the file: {shown}"]


def messages_about(examples: Sequence[Example], keys: Ints, splits: Ints, *, classes: bool) -> list[str]:
    """Return a message for each problem with the examples of one source.

    Args:
        examples: the examples.
        keys: (n,) integers, equal for equal texts or trees.
        splits: (n,) the index of each example's split.
        classes: whether the labels are classes.
    """
    messages = []
    first: dict[int, Example] = {}
    repeated = [
        e for e, key in zip(examples, keys.tolist(), strict=True) if first.setdefault(key, e) is not e
    ]
    if repeated:
        count = f"{len(repeated):,} examples repeat" if len(repeated) > 1 else "1 example repeats"
        messages.append(f"{repeated[0].where}: {count} an earlier one; what occurs twice is never held out")
    if not classes:
        return messages
    pairs = [
        (first[key], e) for e, key in zip(examples, keys.tolist(), strict=True) if first[key].label != e.label
    ]
    if pairs:
        one, two = pairs[0]
        count = f"{len(pairs):,} examples have" if len(pairs) > 1 else "1 example has"
        why = f"another label than an equal one ({two.label!r} here, {one.label!r} at {one.where})"
        messages.append(f"{two.where}: {count} {why}")
    labels = Counter(example.label for example in examples)
    alike: dict[str, list[str]] = {}
    for name in labels:
        alike.setdefault("".join(name.split()).casefold(), []).append(name)
    for names in alike.values():
        if len(names) > 1:
            shown = " and ".join(f"{name!r} ({labels[name]:,})" for name in names[:SHOWN])
            messages.append(f"the labels {shown} differ in case or spaces only; they are different classes")
    for number, split in ((0, "training"), (2, "test")):
        there = {e.label for e, own in zip(examples, splits.tolist(), strict=True) if own == number}
        absent = [name for name in labels if name not in there and labels[name] > 1]
        if there and absent:
            count = f"{len(absent)} classes have" if len(absent) > 1 else "1 class has"
            shown = ", ".join(map(repr, absent[:SHOWN])) + (", ..." if len(absent) > SHOWN else "")
            messages.append(f"{count} no {split} example: {shown}")
    return messages
